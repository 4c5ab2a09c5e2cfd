"""Trees behind small functions: grammars, parsing with a bound, fields, text, tokens. Not what nodes mean.

A node that is not there has no children and no text, so that readers need not ask for each. Python's trees are made of
`ast`, since tree-sitter is an extra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeGuard

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.expressions import Tokens, tokens_of
from agent_fox.verifier.policy.readers import python_tree
from agent_fox.verifier.policy.reading import Broken, Unreadable
from agent_fox.verifier.policy.values import Language

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node

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
    what is nested beyond measure, and ImportError where the grammar of the language is not installed.

    The type of a module, `typeof import("./a")`, is more than the grammar knows: a name stands for it.
    """
    if language is Language.PYTHON:
        return python_tree.parsed(text)
    text = _TYPE_OF_MODULE.sub(lambda match: "typeof " + "_" * (len(match[0].encode()) - 7), text)
    root: Node = import_module("tree_sitter").Parser(_grammar(language)).parse(text.encode()).root_node
    if language is not Language.CPP and root.has_error:
        raise Broken("a syntax error", _first_error(root))
    if root.descendant_count > MOST_NODES or _is_deep(root):
        raise Unreadable("nested too deeply, or too large")
    return root


def _first_error(root: Node) -> int:
    """The line of the first error, from 1."""
    node, inner = root, [root]
    while inner and not (node.is_error or node.is_missing):  # some errors have no node of their own
        node = inner[0]
        inner = [child for child in node.children if child.has_error or child.is_missing]
    return node.start_point[0] + 1


def _is_deep(root: Node) -> bool:
    cursor, depth = root.walk(), 0
    while depth <= DEEPEST:
        if cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False
            depth -= 1
    return True


def children(node: Node | None) -> list[Node]:
    """Named children, comments left out."""
    return [child for child in node.named_children if child.type not in _COMMENTS] if node is not None else []


def field(node: Node | None, name: str) -> Node | None:
    return node.child_by_field_name(name) if node is not None else None


def text_of(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


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


def shape_of(body: Node | None) -> Callable[[], str]:
    """What gives a body as joined tokens: they are made where somebody asks for them."""
    return cache(lambda: " ".join(tokens(body)))


def walk(node: Node | None, *types: str) -> Iterator[Node]:
    """The node and everything below it, or what is of these types, in no promised order."""
    waiting = [node] if node is not None else []
    while waiting:
        current = waiting.pop()
        if not types or current.type in types:
            yield current
        waiting.extend(current.named_children)
