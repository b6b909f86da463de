"""What our own code defines: functions, classes and their parameters, found by name across modules.

It resolves names as a reader would, from imports and definitions; it runs nothing and knows no values.
Used by `positional`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.house.repository import SourceFile

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_MAX_BASES = 20


@dataclass(frozen=True, slots=True)
class Signature:
    """What can be passed to a callable by position.

    Attributes:
        name: dotted name of the callable.
        parameters: names of the parameters that take positional arguments, receiver excluded.
        by_keyword: whether the parameter of the same index can also be passed by keyword.
    """

    name: str
    parameters: tuple[str, ...]
    by_keyword: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class ClassInfo:
    """One class of ours.

    Attributes:
        name: dotted name.
        module: the module that holds it, for resolving the names in its body.
        node: its syntax tree.
        methods: its own methods.
    """

    name: str
    module: str
    node: ast.ClassDef
    methods: Mapping[str, FunctionNode] = field(default_factory=dict)

    @property
    def is_dataclass(self) -> bool:
        """Whether the constructor is made from the fields."""
        return any(_last_name(decorator) == "dataclass" for decorator in self.node.decorator_list)


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """The names that a module defines and those that it imports, as dotted names."""

    functions: Mapping[str, FunctionNode]
    classes: Mapping[str, ClassInfo]
    imports: Mapping[str, str]


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Call(func=function):
            return _last_name(function)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Subscript(value=value):
            return _last_name(value)
        case _:
            return ""


def dotted_name(node: ast.expr) -> str | None:
    """`a.b.c` for a chain of plain names, otherwise None."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            base = dotted_name(value)
            return None if base is None else f"{base}.{attribute}"
        case _:
            return None


def signature_of(node: FunctionNode, name: str, *, receiver: bool) -> Signature:
    """The signature of a function; with `receiver` its first parameter is bound already."""
    only = [argument.arg for argument in node.args.posonlyargs]
    both = [argument.arg for argument in node.args.args]
    parameters = [(parameter, False) for parameter in only] + [(parameter, True) for parameter in both]
    bound = parameters[1:] if receiver else parameters
    return Signature(
        name=name,
        parameters=tuple(parameter for parameter, _ in bound),
        by_keyword=tuple(keyword for _, keyword in bound),
    )


def _functions(body: Iterable[ast.stmt]) -> dict[str, FunctionNode]:
    return {node.name: node for node in body if isinstance(node, FunctionNode)}


def _imports(tree: ast.Module) -> dict[str, str]:
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.split(".")[0]
                names[bound] = alias.name if alias.asname else bound
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return names


class Definitions:
    """Everything that a set of files defines."""

    def __init__(self, files: Iterable[SourceFile]) -> None:
        self._modules = {file.module: self._read(file) for file in files}

    @staticmethod
    def _read(file: SourceFile) -> ModuleInfo:
        tree = file.parse()
        classes = {
            node.name: ClassInfo(f"{file.module}.{node.name}", file.module, node, _functions(node.body))
            for node in tree.body
            if isinstance(node, ast.ClassDef)
        }
        return ModuleInfo(functions=_functions(tree.body), classes=classes, imports=_imports(tree))

    def _find(self, name: str, seen: frozenset[str]) -> ClassInfo | Signature | None:
        """What an absolute dotted name stands for; names that a module only re-exports are followed."""
        module, _, last = name.rpartition(".")
        if not module or name in seen:
            return None
        info = self._modules.get(module)
        if info is None:
            owner = self._find(module, seen | {name})
            return self.method(owner, last, bound=False) if isinstance(owner, ClassInfo) else None
        if last in info.classes:
            return info.classes[last]
        if last in info.functions:
            return signature_of(info.functions[last], name, receiver=False)
        return self._find(info.imports[last], seen | {name}) if last in info.imports else None

    def resolve(self, name: str, module: str) -> ClassInfo | Signature | None:
        """What a dotted name stands for in a module, or None when it is not ours."""
        info = self._modules[module]
        first, dot, rest = name.partition(".")
        if first in info.classes or first in info.functions:
            return self._find(f"{module}.{name}", frozenset())
        return self._find(f"{info.imports[first]}{dot}{rest}", frozenset()) if first in info.imports else None

    def bases(self, cls: ClassInfo) -> list[ClassInfo]:
        """Our own classes among a class and its ancestors, nearest first."""
        found = [cls]
        for known in found:
            for base in known.node.bases:
                name = dotted_name(base.value if isinstance(base, ast.Subscript) else base)
                target = None if name is None else self.resolve(name, known.module)
                if isinstance(target, ClassInfo) and target not in found and len(found) < _MAX_BASES:
                    found.append(target)
        return found

    def method(self, cls: ClassInfo, name: str, *, bound: bool) -> Signature | None:
        """The signature of a method; `bound` tells a call on an instance from a call on the class."""
        for owner in self.bases(cls):
            node = owner.methods.get(name)
            if node is not None:
                decorators = {_last_name(decorator) for decorator in node.decorator_list}
                takes_receiver = "staticmethod" not in decorators and (bound or "classmethod" in decorators)
                return signature_of(node, f"{owner.name}.{name}", receiver=takes_receiver)
        return None

    def constructor(self, cls: ClassInfo) -> Signature | None:
        """How a class is called, or None when that is not written in our code."""
        explicit = self.method(cls, "__init__", bound=True) or self.method(cls, "__new__", bound=True)
        if explicit is not None:
            return Signature(cls.name, explicit.parameters, explicit.by_keyword)
        is_record = cls.is_dataclass or any(_last_name(base) == "NamedTuple" for base in cls.node.bases)
        if not is_record:
            return None
        fields = [
            statement.target.id
            for owner in reversed(self.bases(cls))
            for statement in owner.node.body
            if isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and "ClassVar" not in ast.unparse(statement.annotation)
        ]
        return Signature(cls.name, tuple(fields), (True,) * len(fields))

    def annotated(self, annotation: ast.expr | None, module: str) -> ClassInfo | None:
        """The class of ours that an annotation names, alone or beside None."""
        match annotation:
            case ast.Constant(value=str(text)):
                return self.annotated(ast.parse(text, mode="eval").body, module)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.annotated(left, module) or self.annotated(right, module)
            case ast.Name() | ast.Attribute():
                name = dotted_name(annotation)
                target = None if name is None else self.resolve(name, module)
                return target if isinstance(target, ClassInfo) else None
            case _:
                return None
