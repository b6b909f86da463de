"""Literals that say nothing where they stand: None, True, False and numbers passed by position.

Only calls of our own functions and classes are judged, because only their parameters have names of our
choosing. Used by the test beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.house.definitions import ClassInfo, Definitions, FunctionNode, Signature, dotted_name, signature_of
from tests.house.repository import Finding, SourceFile

ALLOWED: dict[str, str] = {}
"""Callables that may take such literals by position, each with the reason."""


def _literal(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=None | bool() | int() | float() | complex()):
            return ast.unparse(node)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return None if _literal(operand) is None else ast.unparse(node)
        case _:
            return None


@dataclass(slots=True)
class _Scope:
    """What is known about names inside one function: nested functions, and variables with their class."""

    functions: dict[str, FunctionNode] = field(default_factory=dict)
    variables: dict[str, ClassInfo | None] = field(default_factory=dict)


class _Calls(ast.NodeVisitor):
    """Walks one module and collects every literal that lands in a parameter with a name."""

    def __init__(self, module: str, definitions: Definitions) -> None:
        self.found: list[tuple[int, str, Signature, str]] = []
        self._module = module
        self._definitions = definitions
        self._classes: list[ClassInfo | None] = []
        self._scopes: list[_Scope] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        known = None if self._scopes else self._definitions.resolve(node.name, self._module)
        self._classes.append(known if isinstance(known, ClassInfo) else None)
        self.generic_visit(node)
        self._classes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: FunctionNode) -> None:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        scope = _Scope()
        for argument in arguments:
            scope.variables[argument.arg] = self._definitions.annotated(argument.annotation, self._module)
        if arguments and arguments[0].arg in {"self", "cls"} and self._classes:
            scope.variables[arguments[0].arg] = self._classes[-1]
        scope.functions = {child.name: child for child in node.body if isinstance(child, FunctionNode)}
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._scopes.append(scope)
        self.generic_visit(
            ast.Module(body=[ast.Expr(default) for default in node.args.defaults], type_ignores=[])
        )
        for statement in node.body:
            self.visit(statement)
        self._scopes.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        if self._scopes:
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._scopes[-1].variables[target.id] = self._class_of(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.generic_visit(node)
        if self._scopes and isinstance(node.target, ast.Name):
            annotated = self._definitions.annotated(node.annotation, self._module)
            self._scopes[-1].variables[node.target.id] = annotated

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            if self._scopes and isinstance(item.optional_vars, ast.Name):
                self._scopes[-1].variables[item.optional_vars.id] = self._class_of(item.context_expr)
        self.generic_visit(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        self.visit_With(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        signature = self._signature(node.func)
        if signature is None:
            return
        for index, argument in enumerate(node.args[: len(signature.parameters)]):
            if isinstance(argument, ast.Starred):
                return
            text = _literal(argument)
            if text is not None and signature.by_keyword[index]:
                self.found.append((argument.lineno, text, signature, signature.parameters[index]))

    def _variable(self, name: str) -> tuple[bool, ClassInfo | None]:
        for scope in reversed(self._scopes):
            if name in scope.variables:
                return True, scope.variables[name]
        return False, None

    def _class_of(self, node: ast.expr) -> ClassInfo | None:
        """The class of ours that an expression is an instance of, when that can be read off."""
        match node:
            case ast.Await(value=value):
                return self._class_of(value)
            case ast.Name(id=name):
                return self._variable(name)[1]
            case ast.Call(func=ast.Name(id="super")) if self._classes and self._classes[-1] is not None:
                ancestors = self._definitions.bases(self._classes[-1])[1:]
                return ancestors[0] if ancestors else None
            case ast.Call(func=function):
                return self._class_called(function, self._module)
            case ast.Attribute(value=value, attr=attribute):
                return self._attribute_class(self._class_of(value), attribute)
            case _:
                return None

    def _class_called(self, function: ast.expr, module: str) -> ClassInfo | None:
        name = dotted_name(function)
        target = None if name is None else self._definitions.resolve(name, module)
        return target if isinstance(target, ClassInfo) else None

    def _attribute_class(self, owner: ClassInfo | None, attribute: str) -> ClassInfo | None:
        if owner is None:
            return None
        for cls in self._definitions.bases(owner):
            for node in ast.walk(cls.node):
                match node:
                    case ast.AnnAssign(
                        target=ast.Name(id=name) | ast.Attribute(attr=name), annotation=annotation
                    ):
                        if name == attribute:
                            return self._definitions.annotated(annotation, cls.module)
                    case ast.Assign(
                        targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                        value=ast.Call(func=function),
                    ) if name == attribute:
                        return self._class_called(function, cls.module)
                    case _:
                        pass
        return None

    def _signature(self, function: ast.expr) -> Signature | None:
        if isinstance(function, ast.Name):
            return self._named(function.id)
        if not isinstance(function, ast.Attribute):
            return None
        owner = self._class_of(function.value)
        if owner is not None:
            return self._definitions.method(owner, function.attr, bound=True)
        name = dotted_name(function)
        if name is None or self._variable(name.partition(".")[0])[0]:
            return None
        return self._callable(self._definitions.resolve(name, self._module))

    def _named(self, name: str) -> Signature | None:
        for scope in reversed(self._scopes):
            if name in scope.functions:
                return signature_of(scope.functions[name], name, receiver=False)
            if name in scope.variables:
                is_class = name == "cls" and scope.variables[name] is not None
                return self._callable(scope.variables[name]) if is_class else None
        return self._callable(self._definitions.resolve(name, self._module))

    def _callable(self, target: ClassInfo | Signature | None) -> Signature | None:
        return self._definitions.constructor(target) if isinstance(target, ClassInfo) else target


def judged_calls(files: tuple[SourceFile, ...]) -> Iterator[tuple[Finding, str]]:
    """Each literal passed by position, with the dotted name of what is called."""
    definitions = Definitions(files)
    for file in files:
        calls = _Calls(file.module, definitions)
        calls.visit(file.parse())
        for line, text, signature, parameter in calls.found:
            yield (
                Finding(file.path, line, f"pass `{parameter}={text}` to {signature.name} by keyword"),
                signature.name,
            )


def unnamed_literals(files: Iterable[SourceFile]) -> Iterator[Finding]:
    """Literals passed by position to callables that `ALLOWED` does not name."""
    for finding, name in judged_calls(tuple(files)):
        if name not in ALLOWED:
            yield finding
