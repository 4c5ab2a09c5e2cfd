"""How text that we did not write is put into Markdown: freed of control characters, cut, quoted, fenced.

Which text goes where is not here.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from agent_fox.core.regex import regex

SHORTEST_FENCE = 3

_UNPRINTABLE = regex(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e01ef\ud800-\udfff]"
)
_ANSI = regex(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_BACKTICKS = regex(r"`+")
_OWN_TAG = regex(r"(?i)<(?=\s*/?\s*(?:verification-|build-systems|evidence))")


def printable(text: str) -> str:
    """`text` without colours, control characters, direction marks, invisible characters and lone surrogates."""
    if text.isascii() and text.isprintable():
        return text
    unified = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _UNPRINTABLE.sub("", unified)


def cut(text: str, limit: int) -> str:
    """The start of `text`, with a word on how much was left out where it has more than `limit` characters."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()}\n… ({len(text) - limit:,} more characters)"


def cut_middle(text: str, limit: int) -> str:
    """The start and the end of `text`, with a word on how much was left out between where it is longer than `limit`.

    Of a test's output both matter: what was asked, and what came of it.
    """
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 5, limit - limit * 2 // 5
    left_out = f"… ({len(text) - limit:,} characters left out here) …"
    return f"{text[:head].rstrip()}\n{left_out}\n{text[len(text) - tail :].lstrip()}"


def one_line(text: str, limit: int) -> str:
    """`text` as one line of at most `limit` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def fenced(text: str, info: str = "text") -> str:
    """A code block that `text` cannot end: its fence is longer than any run of backticks inside."""
    return in_fence(printable(text).strip("\n"), info)


def in_fence(body: str, info: str = "text") -> str:
    """A code block around what is clean already."""
    fence = "`" * (max(SHORTEST_FENCE - 1, _longest_run(body)) + 1)
    return f"{fence}{info}\n{body}\n{fence}"


def code(text: str, limit: int = 200) -> str:
    """`text` as a code span on one line."""
    return in_span(one_line(text, limit))


def in_span(line: str) -> str:
    """A code span around one line that is clean already; nothing around nothing."""
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}" if line else ""


def cell(text: str, limit: int = 200) -> str:
    """`text` for one cell of a table."""
    return one_line(text, limit).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def quoted(text: str) -> str:
    """`text` as a block quote, line by line."""
    return "\n".join(f"> {line}".rstrip() for line in printable(text).strip().splitlines())


def how_many_fit(parts: Iterable[str], limit: int) -> int:
    """How many of `parts`, from the first one on, have at most `limit` characters together."""
    return sum(length <= limit for length in accumulate(map(len, parts)))


def _longest_run(text: str) -> int:
    return max((len(run[0]) for run in _BACKTICKS.finditer(text)), default=0)


def without_our_tags(text: str) -> str:
    """Text as it is, for a model to read between tags of ours: only what could open or close one is spelled out."""
    return _OWN_TAG.sub("&lt;", text)
