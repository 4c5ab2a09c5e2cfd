"""The frame of a parser that takes one line after another. What the lines mean is each parser's own affair."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Protocol

from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.results import Parsed


class LineReader(Protocol):
    """What is known of one log while it is read."""

    def take(self, line: str) -> None: ...

    def parsed(self) -> Parsed: ...


class LineLog(ABC):
    """A LogParser that makes a new reader for each log."""

    tools: tuple[str, ...] = ()

    @abstractmethod
    def reader(self, workspace: Workspace) -> LineReader: ...

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        reader = self.reader(workspace)
        take = reader.take
        for line in lines:
            take(line)
        return reader.parsed()
