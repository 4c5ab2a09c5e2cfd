"""A log says the same whatever its line ends, colours, encoding and times before lines are, and in whatever pieces."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.verifier.ground.results import Parsed
from agent_fox.verifier.logs.decode import Lines
from agent_fox.verifier.logs.registry import BUILT_IN
from tests.verifier.logs.at_hand import DATA, workspace

TOOL_OF = {"c_build": "gcc", "clang_tools": "clang", "node": "node", "dependencies": "npm"}
LOGS = sorted(DATA.parent.rglob("*.txt"))
COLOURS = re.compile(rb"\x1b\[[0-9;]*m")


class InPieces(io.BytesIO):
    """A file that gives less than it is asked for, as a pipe does: this many bytes at a time, over and over."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        super().__init__(data)
        self._sizes = sizes
        self._reads = 0

    def seekable(self) -> bool:
        return False

    def read(self, size: int | None = -1) -> bytes:
        self._reads += 1
        return super().read(min(self._sizes[self._reads % len(self._sizes)], size or 1))


def plain(path: Path) -> bytes:
    return COLOURS.sub(b"", path.read_bytes()).replace(b"\r", b"")


def readings(path: Path, data: bytes) -> list[Parsed]:
    tool = TOOL_OF.get(path.parent.name, path.parent.name)
    return [parser.parse(Lines(io.BytesIO(data)), workspace()) for parser in BUILT_IN.for_tool(tool).texts]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_line_ends_colours_encodings_and_times_before_lines_change_nothing(path: Path) -> None:
    data = plain(path)
    wanted = readings(path, data)
    assert readings(path, data.replace(b"\n", b"\r\n")) == wanted
    assert readings(path, b"\xef\xbb\xbf" + data) == wanted
    assert readings(path, b"\n".join(b"\x1b[31m" + line + b"\x1b[0m" for line in data.split(b"\n"))) == wanted
    assert readings(path, b"\n".join(b"2026-11-21T10:00:00.1234567Z " + line for line in data.split(b"\n"))) == wanted
    assert readings(path, data.decode(errors="replace").encode("utf-16")) == readings(
        path, data.decode(errors="replace").encode()
    )


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "ü", "→", "\r\n", "\n", "\r", "\x1b[31m", "\x1b[0m", "x" * 50, " "]), max_size=40),
    st.lists(st.integers(1, 60), min_size=1, max_size=4),
    st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
)
def test_lines_do_not_depend_on_how_they_come_in_pieces(text: list[str], sizes: list[int], encoding: str) -> None:
    data = "".join(["start\n", *text]).encode(encoding)
    assert list(Lines(InPieces(data, sizes))) == list(Lines(io.BytesIO(data)))
