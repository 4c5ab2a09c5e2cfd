"""What a session under way has printed so far, from its launch's folder, masked as it is read.

Its log is kept only when it has ended; until then both streams lie there as the shim writes them, whatever the backend.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from agent_fox.cli.place import OWN
from agent_fox.config import load
from agent_fox.core.ids import Archetype
from agent_fox.session.order import LIVE
from agent_fox.system.files import open_regular
from agent_fox.system.redaction.masking import BytesRedactor, secret_values

if TYPE_CHECKING:
    from agent_fox.config import Agents

STREAMS = (LIVE, "stdout", "stderr")
CHUNK = 1 << 16


@dataclass
class Stream:
    """One stream of one process. It stays readable when the launch's folder is removed at the session's end."""

    name: str
    file: BinaryIO
    redactor: BytesRedactor

    def more(self) -> Iterator[bytes]:
        while piece := self.file.read(CHUNK):
            yield self.redactor.feed(piece)


@dataclass
class LiveLog:
    """The streams of a launch; of several judges, each one's. `more` gives what is new; use as a context."""

    folder: Path
    secrets: tuple[str, ...]
    streams: dict[Path, Stream] = field(default_factory=dict)
    last: str = ""
    """The stream that was told last: another one's words get a heading."""
    has_tests: bool = False
    """Whether anything was shown of what a verifier's tests printed."""

    def __enter__(self) -> LiveLog:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self.streams.values():
            stream.file.close()

    def look(self) -> bool:
        """Open what has come since; whether there is anything to read at all."""
        for place in (self.folder, *sorted(self.folder.glob("judge-*"))):
            for name in STREAMS:
                path = place / "session" / name
                if path not in self.streams:
                    shown = name if place == self.folder else f"{place.name} {name}"
                    with suppress(OSError):
                        self.streams[path] = Stream(shown, open_regular(path), BytesRedactor(self.secrets))
        return bool(self.streams)

    def more(self) -> Iterator[str]:
        """Whole lines that are new, masked; a line that has not ended waits."""
        self.look()
        for stream in self.streams.values():
            for piece in stream.more():
                yield from self._lines_of(stream, piece)

    def rest(self) -> Iterator[str]:
        """The last lines, which have no end."""
        for stream in self.streams.values():
            yield from self._lines_of(stream, stream.redactor.close())

    def _lines_of(self, stream: Stream, piece: bytes) -> Iterator[str]:
        if not piece:
            return
        self.has_tests = self.has_tests or stream.name.endswith(LIVE)
        if self.last != stream.name:
            self.last = stream.name
            yield f"--- {stream.name}, so far\n"
        yield piece.decode("utf-8", "replace")


def secrets_of(root: Path) -> tuple[str, ...]:
    """What must not be shown: secret values of our own environment, of the run's, and of what agents are given."""
    settings = load(root, os.environ)
    tables = (settings.agents, *(own.agents for own in settings.specs.named.values()))
    environments = (os.environ, environment_of_run(root), *(agent for agents in tables for agent in of_agents(agents)))
    return tuple(dict.fromkeys(value for environment in environments for value in secret_values(environment)))


def of_agents(agents: Agents) -> Iterator[Mapping[str, str]]:
    for archetype in Archetype:
        agent = agents.of(archetype)
        yield agent.environment
        yield from (rung.environment for rung in agent.rungs)


def environment_of_run(root: Path) -> dict[str, str]:
    """The environment of the process that runs, which may hold keys that ours does not; empty where it is not there."""
    try:
        number = int((root / OWN / "run.lock").read_text())
        raw = Path(f"/proc/{number}/environ").read_bytes()
    except (OSError, ValueError):
        return {}
    pairs = (entry.partition("=") for entry in raw.decode("utf-8", "replace").split("\0"))
    return {name: value for name, _, value in pairs if value}
