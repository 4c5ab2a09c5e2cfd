"""The frame of a parser of documents: whether one is the log itself, or something that a test printed; a new reader for
each. What documents mean is elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Protocol

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import Parsed
    from agent_fox.verifier.logs.protocol import Workspace

_START = regex(
    r"^[ \t\ufeff]*(?=<(?:\?xml|testsuites?\b|checkstyle\b|pmd\b)|\[\s*(?:[\[{\"\]]|$)|\{\s*(?:[\"}]|$))", re.MULTILINE
)
MOST_LINES = 40  # before the start, of warnings that a wrapper printed
_PREAMBLE = regex(
    r"^\s*$|^\s*(?:[>$+#]|npm\b|yarn\b|pnpm\b|bun\b|warn|debug|info\b|\(node:|\(Use `node|\[\w+\] (?:warn|info)"
    r"|Browserslist|Progress:|Scope:|Lockfile|Already up to date|Done in |make\b|go: "
    r"|TAP version|1\.\.\d|Compiling|Downloading|error: Failed to parse )",
    re.IGNORECASE,
)


def stands_first(head: str, at: int) -> bool:
    """Whether only such lines stand before `at` as package managers and warnings print."""
    before = head[:at].split("\n")[:-1]
    return len(before) <= MOST_LINES and all(_PREAMBLE.match(line) for line in before)


def begin_of(head: str) -> int | None:
    """Where a document of XML or JSON begins: at the start of a line."""
    start = _START.search(head)
    return start.end() if start else None


class Cut(ValueError):
    """A document that cannot be read to its end. The message says why."""


class DocumentReader(Protocol):
    """What is known of one document while it is read."""

    def read(self, file: BinaryIO) -> None:
        """Raises Cut after what could be read."""
        ...

    def parsed(self, *, is_complete: bool) -> Parsed: ...


@dataclass(frozen=True, slots=True)
class Document:
    """A DocumentParser that makes a new reader for each document that `begins` fits from its first character."""

    begins: re.Pattern[str]
    reader: Callable[[Workspace], DocumentReader]
    stands_alone: bool = True

    def recognises(self, head: str) -> bool:
        at = begin_of(head)
        return at is not None and bool(self.begins.match(head, at)) and stands_first(head, at)

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        reader = self.reader(workspace)
        try:
            reader.read(file)
        except Cut:
            return reader.parsed(is_complete=False)
        return reader.parsed(is_complete=True)
