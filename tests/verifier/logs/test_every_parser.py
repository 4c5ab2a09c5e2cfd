"""What holds of every parser: no line makes it raise, hang or hold on to memory, and what it finds lies in bounds."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.verifier.ground.results import Parsed
from agent_fox.verifier.logs.decode import LONGEST_LINE, LONGEST_RECORD, Lines
from agent_fox.verifier.logs.gathering import LONGEST_EVIDENCE, LONGEST_MESSAGE, MOST_KEPT
from agent_fox.verifier.logs.protocol import DocumentParser, LogParser
from agent_fox.verifier.logs.registry import BUILT_IN
from tests.verifier.logs.at_hand import DATA, workspace

LINES = {
    f"{kind} of {entry.tools[0]}": entry.load()
    for kind, entries in (
        ("text", (*BUILT_IN.of("texts"), *BUILT_IN.of("fallbacks"))),
        ("stream", BUILT_IN.of("streams")),
    )
    for entry in entries
}
DOCUMENTS = {f"{n} of {entry.tools[0]}": entry.load() for n, entry in enumerate(BUILT_IN.of("documents"))}
LOGS = sorted(path for path in DATA.parent.rglob("*") if path.is_file() and path.suffix not in (".json", ".xml"))
SLOWEST = 0.8  # seconds for a hostile line: far more than it takes where time grows with its length

WORDS = (
    "error:",
    "FAILED",
    "E  ",
    "at ",
    "(",
    ")",
    "[",
    "]",
    ":1",
    ":",
    "/",
    "a.py",
    "A.java",
    "x.c",
    "`",
    "“",
    "→",
    " ",
)
hostile = [
    *(word * (LONGEST_LINE // len(word)) for word in WORDS),
    *(" " * 4_000 + word * (4_000 // len(word)) for word in WORDS),
    *("a.c:1:1: error: " + word * (LONGEST_LINE // len(word) - 20) for word in WORDS),
    *(word * (4_000 // len(word)) + "!" + word * (4_000 // len(word)) for word in WORDS),
    *("[ERROR] " + word * (LONGEST_LINE // len(word) - 20) for word in WORDS),
]


def in_bounds(parsed: Parsed) -> bool:
    found = (*parsed.failures, *parsed.warnings)
    return len(parsed.failures) <= MOST_KEPT and all(
        len(one.message) <= LONGEST_MESSAGE and len(one.evidence) <= LONGEST_EVIDENCE and one.line != 0 for one in found
    )


@pytest.mark.parametrize("parser", LINES.values(), ids=LINES)
def test_another_tools_log_does_no_harm(parser: LogParser) -> None:
    for path in LOGS:
        with path.open("rb") as file:
            assert in_bounds(parser.parse(Lines(file, LONGEST_RECORD), workspace()))


@pytest.mark.parametrize("parser", LINES.values(), ids=LINES)
def test_no_line_takes_long(parser: LogParser) -> None:
    slow = {}
    for line in hostile:
        start = time.process_time()
        parser.parse([line, "", line], workspace())
        if (seconds := time.process_time() - start) > SLOWEST:
            slow[line[:40]] = seconds
    assert slow == {}


@pytest.mark.parametrize("parser", LINES.values(), ids=LINES)
@settings(max_examples=30, deadline=None)
@given(text=st.lists(st.sampled_from([*WORDS, "1", "--- FAIL: ", "not ok 1", "✖ ", "ℹ", "{", "#", "\t"]), max_size=60))
def test_torn_lines_do_no_harm(parser: LogParser, text: list[str]) -> None:
    torn = ["".join(text[at : at + 7]) for at in range(0, len(text), 7)]
    assert in_bounds(parser.parse(torn, workspace()))


@pytest.mark.parametrize("parser", DOCUMENTS.values(), ids=DOCUMENTS)
@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200) | st.text(alphabet='[]{}",:<>/=a1 testsuite\n', max_size=200).map(str.encode))
def test_other_documents_do_no_harm(parser: DocumentParser, data: bytes) -> None:
    assert in_bounds(parser.parse_document(io.BytesIO(data), workspace()))


def test_failures_without_end_cost_no_memory_without_end() -> None:
    def endless() -> Iterator[str]:
        for n in range(50_000):
            yield f"src/m.c:{n + 1}:5: error: ‘x{n}’ undeclared"
            yield from islice(("    5 |   x;", "      |   ^"), 2)

    parsed = BUILT_IN.for_tool("gcc").texts[0].parse(endless(), workspace())
    assert len(parsed.failures) == MOST_KEPT
