"""What a path in a policy file may look like, stricter than on the wire.

It owns the refusals (relative, `..`, unexpanded variables, globs that would silently be ignored) and their
hints; it never resolves a path and never looks at a file system. The models use it field by field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandboxing.policyfile.settings import TEST_SYMBOLS

GLOB_WORKSPACE_PREFIXES = (":workspace_roots/", "codex-project-roots://")
"""How a deny glob says "below every workspace root": our spelling, and the wire's."""

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_UNC = re.compile(r"\\\\[^\\/]+[\\/][^\\/]")
_VARIABLE = re.compile(r"\$(?:\w+|\{[^}]*\}?)")
_GLOB = re.compile(r"[*?]")
_EITHER_SEPARATOR = re.compile(r"[\\/]")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a text is refused.

    Attributes:
        cause: ends the sentence "cannot accept path `x`: ...".
        hint: what to write instead.
    """

    cause: str
    hint: str | None = None


def path_fault(text: str) -> Fault | None:
    """What is wrong with the path of a rule, or None.

    Absolute POSIX and Windows paths, `~` and `~/x` are right. A `[` is an ordinary character, because file
    names with brackets are common; `*` and `?` are not, because a path with one is nearly always a glob
    that would silently protect or grant nothing.
    """
    return _plain_fault(text) or _glob_in_path(text)


def glob_fault(text: str) -> Fault | None:
    """What is wrong with the pattern of a deny glob, or None."""
    for prefix in GLOB_WORKSPACE_PREFIXES:
        if text.startswith(prefix):
            return _below_fault(text.removeprefix(prefix))
    if _is_relative(text):
        return Fault("it is relative", "start it with `/`, `~/` or `:workspace_roots/`")
    return _plain_fault(text) or _literal_in_glob(text)


def subpath_fault(text: str) -> Fault | None:
    """What is wrong with the `subpath` of a symbolic location, or None."""
    return _below_fault(text) or _glob_in_path(text)


def test_path_fault(text: str) -> Fault | None:
    """What is wrong with the path of a policy's own test, or None."""
    if not text.startswith(":"):
        return path_fault(text)
    symbol, slash, below = text.partition("/")
    if symbol not in TEST_SYMBOLS:
        known = ", ".join(f"`{name}`" for name in TEST_SYMBOLS)
        return Fault(f"unknown symbol `{symbol}`", f"the symbols are {known}")
    return subpath_fault(below) if slash else None


def without_final_separator(text: str) -> str:
    """The same path without a separator at its end; the root of a file system keeps it."""
    shorter = text.rstrip("/") if text.startswith(("/", "~", ":")) else text.rstrip("\\/")
    return text if shorter == "" or shorter.endswith(":") else shorter


def _plain_fault(text: str) -> Fault | None:
    return _shape_fault(text) or _variable_fault(text) or _segment_fault(text)


def _below_fault(text: str) -> Fault | None:
    if text == "":
        return Fault("it is empty", "leave it out to mean the directory itself")
    if text.startswith(("/", "~", "\\")) or _DRIVE.match(text):
        return Fault(
            "it must be relative to the directory it is below", "drop what comes before the first name"
        )
    return _characters_fault(text) or _variable_fault(text) or _segment_fault(text)


def _shape_fault(text: str) -> Fault | None:
    if text == "":
        return Fault("it is empty")
    if text.startswith("file:"):
        return Fault("it is a URI", "write the absolute path itself")
    if text.startswith(":"):
        return Fault("a symbol is not a path", 'use {"type": "special", "value": {"kind": ...}}')
    if text.startswith("~") and text != "~" and not text.startswith("~/"):
        return Fault("`~` stands for the caller's home only", "write `~/...` or the absolute path")
    if _is_relative(text):
        hint = "start it with `/` or `~/`, or use the special kind `project_roots` with a `subpath`"
        return Fault("it is relative", hint)
    return _characters_fault(text)


def _is_relative(text: str) -> bool:
    """Whether a text that is neither empty nor symbolic nor a URI starts nowhere in particular."""
    if text.startswith(("/", "~", ":", "file:")) or text == "":
        return False
    return _DRIVE.match(text) is None and _UNC.match(text) is None


def _characters_fault(text: str) -> Fault | None:
    return Fault("it contains a NUL character") if "\0" in text else None


def _variable_fault(text: str) -> Fault | None:
    found = _VARIABLE.search(text)
    if found is None:
        return None
    return Fault(
        f"`{found.group()}` would not be expanded",
        "write the path out, or use `~/` or a special kind such as `tmpdir`",
    )


def _segment_fault(text: str) -> Fault | None:
    for segment in _segments(text):
        if segment == "..":
            return Fault("it contains a `..` segment", "write the path it leads to")
        if segment == ".":
            return Fault("it contains a `.` segment", "leave the segment out")
        if segment == "":
            return Fault("it contains a doubled separator", "write the separator once")
    return None


def _segments(text: str) -> list[str]:
    """Names between separators; one separator at the end is tolerated, the prefix of a UNC path is cut."""
    if _UNC.match(text):
        text = text[2:]
    elif text.startswith("/"):
        text = text[1:]
    posix = not (_DRIVE.match(text) or "\\" in text)
    parts = text.split("/") if posix else _EITHER_SEPARATOR.split(text)
    return parts[:-1] if parts[-1] == "" else parts


def _glob_in_path(text: str) -> Fault | None:
    found = _GLOB.search(text)
    if found is None:
        return None
    if text.endswith("/**") and _GLOB.search(text[:-3]) is None:
        return Fault(
            "a glob where a path is expected", f"write `{text[:-3] or '/'}`: a rule covers what is below it"
        )
    return Fault(
        f"`{found.group()}` makes it a glob, and only `deny` may use globs",
        'use {"type": "glob_pattern", "pattern": ...} with `deny`, or write the paths out',
    )


def _literal_in_glob(text: str) -> Fault | None:
    if re.search(r"[*?\[{]", text):
        return None
    return Fault("it has no wildcard", 'use {"type": "path", "path": ...}: it covers what is below it too')
