"""What is kept of a long passage of a log: how it begins and how it ends. Meaning is elsewhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

FIRST = 60  # lines
LAST = 240
LONGEST_LINE = 2_000  # characters


@dataclass(slots=True)
class Excerpt:
    """The first and the last lines of a passage of any length."""

    first: list[str] = field(default_factory=list)
    last: deque[str] = field(default_factory=lambda: deque(maxlen=LAST))

    def add(self, line: str) -> None:
        kept = self.first if len(self.first) < FIRST else self.last
        kept.append(line[:LONGEST_LINE])

    def __iter__(self) -> Iterator[str]:
        yield from self.first
        yield from self.last

    @property
    def text(self) -> str:
        return "\n".join(self)

    def starting(self, *marks: str) -> str:
        """Only the lines that begin with a mark, after their indentation."""
        return "\n".join(line for line in self if line.lstrip().startswith(marks))
