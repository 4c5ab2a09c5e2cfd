"""The frame of a parser that takes one line after another. What the lines mean is each parser's own affair.

Most lines of a long log say nothing but that all is well. A reader that knows them by a pattern passes over many at
once, without splitting them; what it may pass over depends on where it stands, so it is asked before each line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, Protocol, runtime_checkable

from agent_fox.core.values import dataclass
from agent_fox.verifier.logs.decode import LONGEST_RECORD, Lines

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import Parsed
    from agent_fox.verifier.logs.protocol import Workspace

_LINES_OF_BLOCK = 1_000


class LineReader(Protocol):
    """What is known of one log while it is read."""

    def take(self, line: str) -> object: ...
    def parsed(self) -> Parsed: ...


@runtime_checkable
class SkippingReader(LineReader, Protocol):
    """A reader that can pass over lines, with the same result as if it had taken each of them."""

    def skip(self, block: str, at: int) -> int:
        """Where the first line begins that has to be taken. A line begins at `at`; each ends with `\\n`."""
        ...


@dataclass(frozen=True, slots=True)
class LineLog:
    """A LogParser that makes a new reader for each log."""

    tools: tuple[str, ...]
    reader: Callable[[Workspace], LineReader]

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        return read_lines(lines, self.reader(workspace))


@dataclass(frozen=True, slots=True)
class LineStream:
    """A DocumentParser that makes a new reader for each log of lines."""

    reader: Callable[[Workspace], LineReader]
    recognises: Callable[[str], bool]
    stands_alone: bool = True

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        return read_lines(lines, self.reader(workspace))

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        return self.parse(Lines(file, LONGEST_RECORD), workspace)


def read_lines(lines: Iterable[str], reader: LineReader) -> Parsed:
    """What `reader` makes of the lines, of which it skips what adds nothing new where it can."""
    if isinstance(reader, SkippingReader):
        for block in _blocks(lines):
            read_block(block, reader)
        return reader.parsed()
    take = reader.take
    for line in lines:
        take(line)
    return reader.parsed()


def read_block(block: str, reader: SkippingReader) -> None:
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


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    if isinstance(lines, Lines):
        yield from lines.blocks()
        return
    rest = iter(lines)
    while some := list(islice(rest, _LINES_OF_BLOCK)):
        yield "\n".join(some) + "\n"
