"""Logs and reports at hand for tests: real ones kept beside the tests, and ones written on the spot."""

from __future__ import annotations

import io
from pathlib import Path, PurePosixPath

from agent_fox.verifier.ground.results import Failure, Parsed
from agent_fox.verifier.logs.decode import LONGEST_RECORD, Lines
from agent_fox.verifier.logs.parsers import LineLog
from agent_fox.verifier.logs.protocol import DocumentParser, LogParser, Workspace

DATA = Path(__file__).parent / "data" / "structured"


def workspace(root: str = "/workspace") -> Workspace:
    return Workspace(PurePosixPath(root))


def kept(name: str) -> bytes:
    return (DATA / name).read_bytes()


def read_lines(parser: LogParser | LineLog, text: bytes | str, root: str = "/workspace") -> Parsed:
    data = text.encode() if isinstance(text, str) else text
    return parser.parse(Lines(io.BytesIO(data), LONGEST_RECORD), workspace(root))


def read_document(parser: DocumentParser, text: bytes | str, root: str = "/workspace") -> Parsed:
    data = text.encode() if isinstance(text, str) else text
    return parser.parse_document(io.BytesIO(data), workspace(root))


def places(parsed: Parsed) -> list[tuple[str | None, int | None]]:
    return [(failure.file, failure.line) for failure in parsed.failures]


def told(failure: Failure) -> tuple[str | None, str | None, int | None, str]:
    """A failed test as one would tell it: its name, where, and what."""
    return (failure.test_name, failure.file, failure.line, failure.message)
