"""Files as lines, for rules about text: which lines a change adds and takes away, comments left out; and which parts of
a Python file are text rather than code."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.verifier.policy.values import Change, FileChange

LARGEST_TEXT = 512 * 1024  # bytes; of a larger file the beginning is looked at, and the report says so
LONGEST_LINE = 2_000  # characters

_HASH = regex(r"(?:^|(?<=\s))#(?![!\[]).*$")
_SLASHES = regex(r"(?:^|(?<=[\s;{}(),]))//.*$|^\s*/?\*.*$|/\*.*?\*/")
_MARKUP = regex(r"<!--.*?-->", re.DOTALL)
_SLASHED = frozenset(
    {".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".java", ".go", ".rs", ".gradle", ".kts"}
)


class Line(NamedTuple):
    number: int  # from 1
    text: str


Lines = tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class TextChange:
    """One file as text on both sides; empty where it is not there."""

    path: str
    before: str
    after: str
    is_new: bool
    is_gone: bool


def added_and_removed(change: TextChange) -> tuple[Lines, Lines]:
    """The lines that only one side has, comments left out."""
    old, new = code_lines(change.path, change.before), code_lines(change.path, change.after)
    return _only(new, old), _only(old, new)


def text_changes(change: Change) -> Iterator[TextChange]:
    for path, file in sorted(change.files.items()):
        yield TextChange(path, text_of(file.before), text_of(file.after), file.before is None, file.after is None)


def text_of(data: bytes | None) -> str:
    return (data or b"")[:LARGEST_TEXT].decode("utf-8", "replace")


def is_only_moved(path: str, file: FileChange, change: Change) -> bool:
    """Whether what a deleted file held is now in another file."""
    return file.after is None and any(
        other.after == file.before for name, other in change.files.items() if name != path and other.before is None
    )


def code_lines(path: str, text: str) -> Lines:
    """The lines of a file that hold more than a comment, stripped."""
    suffix = PurePosixPath(path).suffix
    if suffix in (".xml", ".html"):
        text = _MARKUP.sub(lambda found: "\n" * found[0].count("\n"), text)
    comment, marks = (_SLASHES, "/*") if suffix in _SLASHED else (_HASH, "#")
    cut = (line[:LONGEST_LINE] for line in text.splitlines())
    bare = (comment.sub("", line) if any(mark in line for mark in marks) else line for line in cut)
    return tuple(Line(number, line) for number, line in enumerate(map(str.strip, bare), 1) if line)


def _only(these: Lines, those: Lines) -> Lines:
    known = Counter(_spaceless(line.text) for line in those)
    left = []
    for line in these:
        text = _spaceless(line.text)
        known[text] -= 1
        if known[text] < 0:
            left.append(line)
    return tuple(left)


def _spaceless(text: str) -> str:
    return "".join(text.split()).rstrip(",")


@lru_cache(maxsize=32)
def quoted_lines(text: str) -> frozenset[int]:
    """Numbers of the lines that begin inside a string; none where the text is not Python."""
    try:
        nodes = ast.walk(ast.parse(text))
        strings = [node for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr)]
        spans = [(node.lineno, node.end_lineno or node.lineno) for node in strings]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(line for first, last in spans for line in range(first + 1, last + 1))


@lru_cache(maxsize=32)
def comment_columns(text: str) -> Mapping[int, int] | None:
    """Line number to the column where its comment begins; None where the text is not Python."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return {token.start[0]: token.start[1] for token in tokens if token.type == tokenize.COMMENT}
