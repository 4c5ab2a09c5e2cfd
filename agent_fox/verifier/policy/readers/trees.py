"""Trees behind small functions: grammars, parsing with a bound, fields, text, tokens. Not what nodes mean.

A node that is not there has no children and no text, so that readers need not ask for each. Python's trees are made of
`ast`, since tree-sitter is an extra: a node is of the type that its class of `ast` has, a list of statements is a
`block`, fields go by the names that the grammars use, and the text is what `ast.unparse` makes of it. Nothing is run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.expressions import Tokens, tokens_of
from agent_fox.verifier.policy.reading import Broken, Unreadable
from agent_fox.verifier.policy.values import Language

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node as Node
else:
    Node = object  # an extra, of which readers need the name alone

MOST_NODES = 400_000
DEEPEST = 150  # levels; readers go down by recursion

_TYPE_OF_MODULE = regex(r"""\btypeof import\(["'][^"'\n]*["']\)""")
_COMMENTS = frozenset({"comment", "line_comment", "block_comment"})


@cache
def _grammar(language: Language) -> Grammar:
    """Raises ImportError where tree-sitter or the grammar is not installed."""
    is_typed = language in (Language.TYPESCRIPT, Language.TSX)
    package, function = ("typescript", f"language_{language.value}") if is_typed else (language.value, "language")
    made: Grammar = import_module("tree_sitter").Language(getattr(import_module(f"tree_sitter_{package}"), function)())
    return made


def parsed(text: str, language: Language) -> Node:
    """The root of a tree. Raises Unreadable for syntax errors (but for C, whose macros are no grammar's affair) and for
    what is nested beyond measure, ImportError where the grammar is missing. `typeof import("./a")`, which is more than
    the grammar knows, becomes a name.
    """
    if language is Language.PYTHON:
        try:
            return cast("Node", PythonNode(ast.parse(text)))
        except (SyntaxError, ValueError) as error:
            raise Broken(f"no Python: {type(error).__name__}", getattr(error, "lineno", None)) from error
    text = _TYPE_OF_MODULE.sub(lambda match: "typeof " + "_" * (len(match[0].encode()) - 7), text)
    root: Node = import_module("tree_sitter").Parser(_grammar(language)).parse(text.encode()).root_node
    if language is not Language.CPP and root.has_error:
        raise Broken("a syntax error", _first_error(root))
    if root.descendant_count > MOST_NODES or _is_deep(root):
        raise Unreadable("nested too deeply, or too large")
    return root


def _first_error(root: Node) -> int:
    node, inner = root, [root]
    while inner and not (node.is_error or node.is_missing):  # some errors have no node of their own
        node = inner[0]
        inner = [child for child in node.children if child.has_error or child.is_missing]
    return node.start_point[0] + 1


def _is_deep(root: Node) -> bool:
    cursor = root.walk()
    while cursor.depth <= DEEPEST:
        if not cursor.goto_first_child():
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return False
    return True


def children(node: Node | None) -> list[Node]:
    """Named children, comments left out."""
    return [child for child in node.named_children if child.type not in _COMMENTS] if node is not None else []


def field(node: Node | None, name: str) -> Node | None:
    return node.child_by_field_name(name) if node is not None else None


def text_of(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def plain(node: Node | None) -> str:
    """What a string says, and anything else as it is written."""
    return text_of(node).strip("'\"`")


def first(node: Node | None, *types: str) -> Node | None:
    """The first child, or the first that is of one of these types."""
    return next((child for child in children(node) if not types or child.type in types), None)


def is_a(node: Node | None, *types: str) -> TypeGuard[Node]:
    return node is not None and node.type in types


def line_of(node: Node) -> int:
    return node.start_point[0] + 1


def tokens(node: Node | None) -> Tokens:
    """A node as tokens, comments left out."""
    leaves, waiting = [], [node] if node is not None else []
    while waiting:
        current = waiting.pop()
        kind = current.type
        if kind in _COMMENTS:
            continue
        if current.child_count == 0 or "string" in kind or "char" in kind:
            leaves.append(text_of(current))
        else:
            waiting.extend(reversed(current.children))
    return tokens_of(" ".join(leaves)) if leaves else ()


def walk(node: Node | None, *types: str) -> Iterator[Node]:
    """The node and everything below it, or what is of these types, in no promised order."""
    waiting = [node] if node is not None else []
    while waiting:
        current = waiting.pop()
        if not types or current.type in types:
            yield current
        waiting.extend(current.named_children)


_FIELDS = {
    **{"condition": ("test",), "consequence": ("body",), "alternative": ("orelse",), "function": ("func",)},
    **{"arguments": ("args",), "left": ("target", "targets"), "right": ("iter", "value")},
}
_ROLELESS = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)


class PythonNode:
    """One node: of `ast`, or a list of these."""

    child_count = 0
    children: tuple[PythonNode, ...] = ()

    def __init__(self, made_of: ast.AST | list[ast.AST], parent: PythonNode | None = None) -> None:
        self.made_of = made_of
        self.parent = parent
        self.type = "block" if isinstance(made_of, list) else type(made_of).__name__
        self._parts = made_of if isinstance(made_of, list) else [made_of]
        self._fields: dict[str, PythonNode | None] = {}

    @cached_property
    def text(self) -> bytes:
        return (_dotted(self.made_of) or "\n".join(map(ast.unparse, self._parts))).encode("utf-8", "surrogatepass")

    @property
    def start_point(self) -> tuple[int, int]:
        return getattr(self._parts[0], "lineno", 1) - 1, 0

    @property
    def end_point(self) -> tuple[int, int]:
        return getattr(self._parts[-1], "end_lineno", 1) - 1, 0

    @cached_property
    def named_children(self) -> list[PythonNode]:
        of = self.made_of
        made: list[Any] = self._parts
        if isinstance(of, ast.Attribute):
            made = [of.value, ast.Name(of.attr)]
        elif isinstance(of, ast.AST):
            made = []
            for name in of._fields:
                value = getattr(of, name, None)
                is_block = isinstance(value, list) and bool(value) and isinstance(value[0], ast.stmt)
                made += value if isinstance(value, list) and not is_block else [value]
        return [PythonNode(x, self) for x in made if isinstance(x, ast.AST | list) and not isinstance(x, _ROLELESS)]

    def child_by_field_name(self, name: str) -> PythonNode | None:
        """A field; the arguments of a call with those that have names, a body without its docstring."""
        if name in self._fields:
            return self._fields[name]
        of = self.made_of
        value: Any = getattr(of, name, None)
        for each in _FIELDS.get(name, ()) if value is None else ():
            value = getattr(of, each, value)
        if isinstance(of, ast.Call) and name == "arguments":
            value = [*of.args, *of.keywords]
        elif isinstance(of, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and name == "body":
            value = of.body if ast.get_docstring(of, clean=False) is None else of.body[1:]
        elif isinstance(value, str):
            value = ast.Name(value)
        self._fields[name] = PythonNode(value, self) if isinstance(value, ast.AST | list) else None
        return self._fields[name]


def _dotted(of: object) -> str:
    """A name with its attributes, which needs no unparsing; empty for anything else."""
    if isinstance(of, ast.Attribute) and (owner := _dotted(of.value)):
        return f"{owner}.{of.attr}"
    return of.id if isinstance(of, ast.Name) else ""


def nodes_in(node: ast.AST) -> Iterator[ast.AST]:
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


def ast_of(node: Node) -> ast.AST | list[ast.AST]:
    return cast("PythonNode", node).made_of
