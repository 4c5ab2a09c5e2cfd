"""Which parts of a Python file are text rather than code: strings over several lines, and where comments begin."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping
from functools import lru_cache


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
