"""Logs kept under `data/`, and what a parser reads from them in a few words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agent_fox.verifier.ground.results import Failure, Parsed
from agent_fox.verifier.logs import decode
from agent_fox.verifier.logs.protocol import LogParser, Workspace
from agent_fox.verifier.logs.registry import BUILT_IN

DATA = Path(__file__).parent / "data"


def parser_of(tool: str) -> LogParser:
    """What reads the text that a tool prints; of several, the one that is trusted most."""
    found: LogParser = next(
        entry.load() for entry in (*BUILT_IN.of("texts"), *BUILT_IN.of("fallbacks")) if tool in entry.tools
    )
    return found


def read(parser: LogParser, name: str, root: str) -> Parsed:
    """What `parser` makes of the log `data/NAME.txt`, written in `root`."""
    with (DATA / f"{name}.txt").open("rb") as log:
        return parser.parse(decode.Lines(log), Workspace(PurePosixPath(root)))


def read_text(parser: LogParser, text: str, root: str = "/workspace") -> Parsed:
    return parser.parse(text.split("\n"), Workspace(PurePosixPath(root)))


@dataclass(frozen=True)
class Samples:
    """The logs of one tool: kept ones, and lines written on the spot. They were written in `root`."""

    tool: str
    folder: str
    root: str = "/workspace"

    def sample(self, name: str, root: str = "") -> Parsed:
        return read(parser_of(self.tool), f"{self.folder}/{name}", root or self.root)

    def text(self, *lines: str, root: str = "/workspace") -> Parsed:
        return read_text(parser_of(self.tool), "\n".join(lines), root)


def place(failure: Failure) -> str:
    """`file:line:column`, as far as they are known."""
    return ":".join(str(part) for part in (failure.file, failure.line, failure.column) if part is not None)


def places(parsed: Parsed) -> list[str]:
    return [place(failure) for failure in parsed.failures]


def messages(parsed: Parsed) -> list[str]:
    return [failure.message for failure in parsed.failures]


def kinds(parsed: Parsed) -> set[str]:
    return {failure.kind.value for failure in parsed.failures}
