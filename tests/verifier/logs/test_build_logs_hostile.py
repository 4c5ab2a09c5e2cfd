"""Lines made to hurt, for the parsers of build logs: each is read in a time that grows with its length alone."""

from __future__ import annotations

import time

import pytest

from agent_fox.verifier.logs.protocol import LogParser
from tests.verifier.logs.samples import parser_of, read_text

PARSERS = ("maven", "gradle", "javac", "gcc", "go", "cargo")
OPENINGS = ("[ERROR] Failures: ", "> Task :test", "a.B > c FAILED", "=== RUN   T", "error: x", "a.c:1:2: error: x")
LONG = 8_000  # characters, as long as a line gets
QUADRATIC = 3.0  # seconds: what reading in the square of a line's length would take many times over
PIECES = (
    " ",
    "a",
    ":",
    "/",
    "a:",
    "a.",
    "a b ",
    "(",
    "(a",
    "a:(",
    "1:",
    "> a",
    "error: ",
    "[ERROR] ",
    "Tests run: 1, ",
)
STARTS = (
    "",
    "    ",
    "[ERROR] ",
    "ld: ",
    "go: ",
    "CMake Error at ",
    "1/1 Test #1: ",
    "*** [",
    "thread 'a' panicked at '",
)
ENDS = ("", " FAILED", ".java:1: error", "Time elapsed: 1 s <<< FAILURE!")


@pytest.mark.parametrize("parser", [*map(parser_of, PARSERS)], ids=PARSERS)
@pytest.mark.parametrize("piece", PIECES)
def test_a_long_line_is_read_in_linear_time(parser: LogParser, piece: str) -> None:
    lines = [start + piece * (LONG // len(piece)) + end for start in STARTS for end in ENDS]
    began = time.monotonic()
    read_text(parser, "\n".join([*OPENINGS, *lines]))
    assert time.monotonic() - began < QUADRATIC


@pytest.mark.parametrize("parser", [*map(parser_of, PARSERS)], ids=PARSERS)
def test_what_is_kept_has_a_limit(parser: LogParser) -> None:
    errors = [f"/w/a.java:{n}: error: x\n/w/a.c:{n}:1: error: x\nb/a.go:{n}:1: x" for n in range(1, 1_500)]
    parsed = read_text(parser, "\n".join(errors))
    assert len(parsed.failures) <= 1_000
    assert all(len(failure.evidence) <= 1_500 for failure in parsed.failures)
