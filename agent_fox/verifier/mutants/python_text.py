"""A Python text with its syntax tree, and where in the text's bytes a node stands; nothing of what is broken."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TypeGuard

from agent_fox.core.regex import regex
from agent_fox.verifier.mutants.sites import Unreadable

_LINE = regex(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_MARK = "\ufeff"
_COMMENT = regex(rb"#[^\r\n]*")
_COOKIE = regex(rb"[ \t\f]*#(?:!|.*?coding[:=])")

Function = ast.FunctionDef | ast.AsyncFunctionDef
_FORMATS = ("JoinedStr", "TemplateStr")  # the latter since Python 3.14


class PythonText:
    """The text's bytes, its module, and offsets. Raises Unreadable for what this interpreter cannot parse."""

    def __init__(self, text: str) -> None:
        try:
            self.written = text.encode()
            self.module = parsed(text.removeprefix(_MARK))
        except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
            raise Unreadable(str(error)) from error
        self._mark = len(_MARK.encode()) if text.startswith(_MARK) else 0
        self.lines = _LINE.findall(self.written[self._mark :])
        self._starts = list(accumulate(map(len, self.lines), initial=self._mark))
        self.newline = next((line[len(line.rstrip(b"\r\n")) :].decode() for line in self.lines), "") or "\n"

    def offset(self, line: int, column: int) -> int:
        """Of a line from 1 and a column of bytes, as the tree has them."""
        return self._starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt | ast.pattern) -> tuple[int, int]:
        """Where a node starts and ends; decorators belong to what they decorate."""
        return self.offset(first_line(node), node.col_offset), self.offset(*_end(node))

    def part(self, start: int, end: int) -> str:
        return self.written[start:end].decode()

    def gap(self, start: int, end: int) -> str:
        """What stands between two nodes, of the same length in bytes, with blanks instead of comments."""
        blanked = _COMMENT.sub(lambda found: b" " * len(found[0]), self.written[start:end])
        return blanked.decode("utf-8", "replace")

    def is_exact(self, node: ast.expr) -> bool:
        """Whether the tree's position of a node is right; inside f-strings Python 3.11 may err."""
        try:
            start, end = self.span(node)
            return ast.dump(parsed(f"({self.part(start, end)})").body[0]) == ast.dump(ast.Expr(node))
        except (IndexError, ValueError, SyntaxError):
            return False

    def helper_place(self) -> tuple[int, str, str]:
        """Where something that everything below may use is inserted, with what goes before it and behind it.

        On a line of its own only where the file starts with a definition; behind the docstring and `__future__`.
        """
        head = self.module.body[: _head_length(self.module.body)]
        if head:
            return self.span(head[-1])[1], "; ", ""
        first = self.module.body[0]
        start = self.span(first)[0]
        if not hasattr(first, "body") and not isinstance(first, ast.Match):
            return start, "", "; "
        for number, line in enumerate(self.lines[: first_line(first) - 1]):
            if not any(_COOKIE.match(each) for each in self.lines[number:2]):
                return self._starts[number], "", "  " if line.strip() else ""
        return start, "", self.newline


def parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        return ast.parse(text)


def first_line(node: ast.expr | ast.stmt | ast.pattern) -> int:
    """A definition's is its first decorator's, as in `co_firstlineno`."""
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min(node.lineno, *(each.lineno for each in decorators)) if decorators else node.lineno


def last_line(node: ast.expr | ast.stmt | ast.pattern) -> int:
    return node.end_lineno or node.lineno


def own_nodes(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes and all in them that the same function executes, in the order of the text; nothing of nested ones."""
    for node in nodes:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from own_nodes(list(ast.iter_child_nodes(node)))


def has_yield(nodes: Sequence[ast.AST]) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(nodes))


def is_format(node: ast.AST) -> TypeGuard[ast.expr]:
    """An f-string or its like."""
    return type(node).__name__ in _FORMATS


def is_text(node: ast.AST) -> TypeGuard[ast.expr]:
    return isinstance(node, ast.Constant) or is_format(node)


def is_docstring(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(ast.Constant(str())):
            return True
        case _:
            return False


def without_docstring(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    return body[1:] if body and is_docstring(body[0]) else body


def _end(node: ast.expr | ast.stmt | ast.pattern) -> tuple[int, int]:
    return last_line(node), node.end_col_offset or 0


def _head_length(body: Sequence[ast.stmt]) -> int:
    length = 1 if body and is_docstring(body[0]) else 0
    while length < len(body) and getattr(body[length], "module", None) == "__future__":
        length += 1
    return length
