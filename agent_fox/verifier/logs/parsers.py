"""The frames of parsers: of one that takes one line after another, and of one that takes a document; a new reader for
each log. What lines and documents mean is each parser's own affair.

Most lines of a long log say nothing but that all is well. A reader that knows them by a pattern passes over many at
once, without splitting them; what it may pass over depends on where it stands, so it is asked before each line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import BinaryIO, Protocol

from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Parsed
from agent_fox.verifier.logs.decode import LONGEST_RECORD, Lines
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.protocol import Workspace

_LIKE = patterns_in(__file__)
_LINES_OF_BLOCK = 1_000


class LineReader(Protocol):
    """What is known of one log while it is read. It may pass over lines, as if it had taken each of them."""

    def take(self, line: str) -> object: ...
    def parsed(self) -> Parsed: ...

    def skip(self, block: str, at: int) -> int:
        """Where the first line begins that has to be taken. A line begins at `at`; each ends with `\\n`."""
        return at


@dataclass(frozen=True, slots=True)
class LineLog:
    """Makes a new reader for each log: a LogParser of what tools print, or a DocumentParser of what it recognises."""

    reader: Callable[[Workspace], LineReader]
    tools: tuple[str, ...] = ()
    recognises: Callable[[str], bool] = lambda head: False
    stands_alone: bool = True

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        return read_lines(lines, self.reader(workspace))

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        return self.parse(Lines(file, LONGEST_RECORD), workspace)


def read_lines(lines: Iterable[str], reader: LineReader) -> Parsed:
    """What `reader` makes of the lines."""
    rest = iter(() if isinstance(lines, Lines) else lines)
    batches = iter(lambda: [*islice(rest, _LINES_OF_BLOCK)], [])
    for block in lines.blocks() if isinstance(lines, Lines) else ("\n".join(batch) + "\n" for batch in batches):
        read_block(block, reader)
    return reader.parsed()


def read_block(block: str, reader: LineReader) -> None:
    """Give `reader` whole lines, each with its end."""
    skip, take, find, size = reader.skip, reader.take, block.find, len(block)
    at = skip(block, 0)
    while at < size:
        end = find("\n", at)
        if end < 0:  # a block ends with its last line: a reader stopped within it
            take(block[at:])
            return
        take(block[at:end])
        at = skip(block, end + 1)


def is_stream(ours: re.Pattern[str], other: re.Pattern[str]) -> Callable[[str], bool]:
    """Whether a log that begins so has lines of `ours`, and none of `other` above them."""

    def recognises(head: str) -> bool:
        match = ours.search(head)
        return match is not None and not other.search(head, 0, match.start())

    return recognises


MOST_LINES = 40  # before the start, of warnings that a wrapper printed


def stands_first(head: str, at: int) -> bool:
    """Whether only such lines stand before `at` as package managers and warnings print."""
    before = head[:at].split("\n")[:-1]
    return len(before) <= MOST_LINES and all(_LIKE["preamble"].match(line) for line in before)


def begin_of(head: str) -> int | None:
    """Where a document of XML or JSON begins: at the start of a line."""
    start = _LIKE["start"].search(head)
    return start.end() if start else None


class Cut(ValueError):
    """A document that cannot be read to its end. The message says why."""
