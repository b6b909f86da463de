"""Where code may ask which system it runs on, and where it may read the environment.

This says per name what the linter can only switch off per file. It does not look at tests, which set
up hosts of their own. Used by the test beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from tests.house.repository import Finding, SourceFile

HOMES = {
    "sys.platform": ("sandboxing/run/registry.py",),
    "os.name": ("sandboxing/run/registry.py",),
    "platform.system": ("sandboxing/run/registry.py",),
    "platform.platform": ("sandboxing/run/registry.py",),
    "os.environ": ("sandboxing/run/hostfacts.py", "sandboxing/cli/*.py", "execserver/cli/*.py"),
    "os.environb": ("sandboxing/run/hostfacts.py", "sandboxing/cli/*.py", "execserver/cli/*.py"),
    "os.getenv": ("sandboxing/run/hostfacts.py", "sandboxing/cli/*.py", "execserver/cli/*.py"),
    "time.sleep": (),
    "os.system": (),
    "os.popen": (),
    "os.fork": ("sandboxing/launch/*.py", "sandboxing/backends/*.py"),
    "subprocess.Popen": ("sandboxing/launch/*.py", "sandboxing/backends/*.py"),
}
"""The files in which each name may be used."""

ASSERTION_HOMES = (
    "sandboxing/backends/*.py",
    "sandboxing/launch/*.py",
    "sandboxing/run/*.py",
    "sandboxing/cli/*.py",
    "execserver/adapters/*.py",
    "execserver/cli/*.py",
)
"""Where a module may begin with `assert sys.platform == "..."`, which tells the type checker what exists.

Nothing above such a module can be loaded on another system either, so the pure floors have no place here.
"""

SHELL_TAKERS = frozenset({"Popen", "run", "call", "check_call", "check_output"})
"""Names of the calls whose `shell` argument hands text to a shell."""


def _imported_names(tree: ast.Module) -> dict[str, str]:
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({alias.asname or alias.name: alias.name for alias in node.names})
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return names


def _asserted(tree: ast.Module) -> set[ast.AST]:
    nodes: set[ast.AST] = set()
    for statement in tree.body:
        match statement:
            case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()])):
                nodes.update(ast.walk(left))
            case _:
                pass
    return nodes


def _at_home(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _uses(tree: ast.Module) -> Iterator[tuple[ast.AST, int, str]]:
    imported = _imported_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=base), attr=attribute):
                yield node, node.lineno, f"{imported.get(base, base)}.{attribute}"
            case ast.ImportFrom(module=str(module), names=aliases):
                for alias in aliases:
                    yield node, node.lineno, f"{module}.{alias.name}"
            case _:
                pass


def misplaced_questions(files: Iterable[SourceFile]) -> Iterator[Finding]:
    """Uses of a name of `HOMES` outside its home, platform assertions excepted where they are at home."""
    for file in files:
        if file.is_test:
            continue
        tree = file.parse()
        excused = _asserted(tree) if _at_home(file.path, ASSERTION_HOMES) else set()
        for node, line, name in _uses(tree):
            if name in HOMES and node not in excused and not _at_home(file.path, HOMES[name]):
                home = " or ".join(HOMES[name]) or "nowhere"
                yield Finding(file.path, line, f"`{name}` belongs in {home}")


def stray_assertions(files: Iterable[SourceFile]) -> Iterator[Finding]:
    """Assertions in product code that do not merely name the platform: `python -O` would drop them."""
    for file in files:
        if file.is_test:
            continue
        tree = file.parse()
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert) and ast.unparse(node.test).split(" ")[0] != "sys.platform":
                yield Finding(file.path, node.lineno, "an assertion guards nothing under -O: raise an error")


def _fault_of_argument(call: ast.Call, keyword: ast.keyword) -> str | None:
    called = ast.unparse(call.func).rpartition(".")[2]
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else keyword
    if keyword.arg == "preexec_fn" and value is not None:
        return "`preexec_fn` runs Python between fork and exec: give a spawner steps"
    if keyword.arg == "shell" and called in SHELL_TAKERS and value is not False:
        return "`shell` hands text to a shell: give a spawner an argument vector"
    return None


def forbidden_arguments(files: Iterable[SourceFile]) -> Iterator[Finding]:
    """Calls that run Python after a fork or hand text to a shell, tests included."""
    for file in files:
        for node in ast.walk(file.parse()):
            if isinstance(node, ast.Call):
                faults = (_fault_of_argument(node, keyword) for keyword in node.keywords)
                yield from (Finding(file.path, node.lineno, fault) for fault in faults if fault is not None)
