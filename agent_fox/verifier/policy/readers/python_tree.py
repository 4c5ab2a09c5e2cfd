"""Python's `ast` behind the face of a tree of tree-sitter, so that one walk reads all languages. Nothing is run.

A node is of the type that its class of `ast` has; a list of statements is a `block`. Fields go by the names that the
grammars of tree-sitter use. The text of a node is what `ast.unparse` makes of it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, cast

from agent_fox.verifier.policy.reading import Broken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_FIELDS = {
    **{"condition": "test", "consequence": "body", "alternative": "orelse"},
    **{"left": "target", "right": "iter", "function": "func", "arguments": "args"},
}
_ROLELESS = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)


class PythonNode:
    """One node: of `ast`, or a list of these."""

    __slots__ = ("_children", "_fields", "_text", "made_of", "parent", "type")
    child_count = 0
    children: tuple[PythonNode, ...] = ()

    def __init__(self, made_of: ast.AST | list[ast.AST], parent: PythonNode | None = None) -> None:
        self.made_of = made_of
        self.parent = parent
        self.type = "block" if isinstance(made_of, list) else type(made_of).__name__
        self._text = b""
        self._children: list[PythonNode] | None = None
        self._fields: dict[str, PythonNode | None] = {}

    @property
    def text(self) -> bytes:
        if not self._text:
            parts = self.made_of if isinstance(self.made_of, list) else [self.made_of]
            text = _dotted(self.made_of) or "\n".join(map(ast.unparse, parts))
            self._text = text.encode("utf-8", "surrogatepass")
        return self._text

    @property
    def start_point(self) -> tuple[int, int]:
        first = self.made_of[0] if isinstance(self.made_of, list) else self.made_of
        return getattr(first, "lineno", 1) - 1, 0

    @property
    def end_point(self) -> tuple[int, int]:
        last = self.made_of[-1] if isinstance(self.made_of, list) else self.made_of
        return getattr(last, "end_lineno", 1) - 1, 0

    @property
    def named_children(self) -> list[PythonNode]:
        if self._children is None:
            self._children = [PythonNode(each, self) for each in _parts(self.made_of)]
        return self._children

    def child_by_field_name(self, name: str) -> PythonNode | None:
        """A field; the arguments of a call with those that have names, a body without its docstring."""
        if name not in self._fields:
            self._fields[name] = self._made_field(name)
        return self._fields[name]

    def _made_field(self, name: str) -> PythonNode | None:
        of = self.made_of
        value: Any = getattr(of, name, None) or getattr(of, _FIELDS.get(name, name), None)
        if isinstance(of, ast.Call) and name == "arguments":
            value = [*of.args, *of.keywords]
        elif isinstance(of, ast.Assign | ast.AnnAssign | ast.AugAssign) and name in ("left", "right"):
            targets = of.targets if isinstance(of, ast.Assign) else [of.target]
            value = of.value if name == "right" else targets[0] if len(targets) == 1 else None
        elif isinstance(of, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and name == "body":
            value = of.body[ast.get_docstring(of, clean=False) is not None :]
        elif isinstance(value, str):
            value = ast.Name(value)
        return PythonNode(value, self) if isinstance(value, ast.AST | list) else None


def _parts(of: ast.AST | list[ast.AST]) -> Iterator[ast.AST | list[ast.AST]]:
    if isinstance(of, list):
        yield from of
    elif isinstance(of, ast.Attribute):
        yield from (of.value, ast.Name(of.attr))
    else:
        for value in (getattr(of, name, None) for name in of._fields):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value
            else:
                parts = value if isinstance(value, list) else [value]
                yield from (part for part in parts if isinstance(part, ast.AST) and not isinstance(part, _ROLELESS))


def parsed(text: str) -> Node:
    """Raises Broken for what `ast` does not take."""
    try:
        return node_of(ast.parse(text))
    except (SyntaxError, ValueError) as error:
        raise Broken(f"no Python: {type(error).__name__}", getattr(error, "lineno", None)) from error


def _dotted(made_of: object) -> str:
    """A name with its attributes, which needs no unparsing; empty for anything else."""
    names = []
    while isinstance(made_of, ast.Attribute):
        names.append(made_of.attr)
        made_of = made_of.value
    return ".".join([made_of.id, *reversed(names)]) if isinstance(made_of, ast.Name) else ""


def nodes_below(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it; much quicker than `ast.walk`."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        for name in current._fields:
            value = getattr(current, name, None)
            if isinstance(value, list):
                waiting.extend(each for each in value if isinstance(each, ast.AST))
            elif isinstance(value, ast.AST) and not isinstance(value, _ROLELESS):
                waiting.append(value)


def node_of(made_of: ast.AST) -> Node:
    return cast("Node", PythonNode(made_of))


def ast_of(node: Node) -> ast.AST:
    """What a node of Python is made of."""
    made_of = cast("PythonNode", node).made_of
    return made_of[0] if isinstance(made_of, list) else made_of
