"""A coder is shown the lines that tell, and no more than fits."""

from __future__ import annotations

import pytest

from agent_fox.verifier.ground.cases import Case
from agent_fox.verifier.suites.evidence_text import (
    LONGEST_EVIDENCE,
    capped,
    evidence_of,
    evidence_of_broken,
    first_error,
    first_error_of_broken,
)
from agent_fox.verifier.suites.suite import Broken


@pytest.mark.parametrize(
    ("message", "text", "error"),
    [
        ("AssertionError: no", "E   AssertionError: no\nE   assert 2 == 1", "AssertionError: no"),
        ("collection failure", 'E     File "a.py", line 1\nE   SyntaxError: invalid', "SyntaxError: invalid"),
        ("collection failure", "ImportError while\nE   ModuleNotFoundError: x", "ModuleNotFoundError: x"),
        ("assert 3 == 4", "E   assert 3 == 4", "assert 3 == 4"),
        (
            "",
            "java.lang.IllegalStateException: shut\n\tat com.Shop.open(Shop.java:3)",
            "java.lang.IllegalStateException: shut",
        ),
        ("expected 3 but was 4", "", "expected 3 but was 4"),
        ("", "", ""),
    ],
)
def test_the_first_error_is_the_line_that_names_it(message: str, text: str, error: str) -> None:
    assert first_error(Case(("a",), "b", message=message, text=text)) == error


def test_what_is_broken_is_named_by_its_error_or_by_what_it_is() -> None:
    assert first_error_of_broken(Broken("hangs", text="....")) == "hangs"
    assert first_error_of_broken(Broken("breaks", text="E   KeyError: 'x'")) == "KeyError: 'x'"
    assert evidence_of_broken(Broken("hangs", text="....")) == "hangs\n...."


def test_evidence_shows_assertions_not_the_whole_trace() -> None:
    text = "def test_b():\n    one = 1\n>   assert one == 2\nE   assert 1 == 2\n\na.py:3: AssertionError"
    shown = evidence_of([Case((), "test_b", "a.py", message="assert 1 == 2", text=text)])
    assert shown == "a.py::test_b\n>   assert one == 2\nE   assert 1 == 2\na.py:3: AssertionError"


def test_where_the_error_stands_above_its_trace_the_frames_are_left_out() -> None:
    frames = "\n".join(f"    at run (node:internal/{n})" for n in range(20))
    shown = evidence_of([Case((), "adds", "a.js", text=f"Error: no\n\nExpected: 2\n{frames}")])
    assert shown == "a.js::adds\nError: no\n\nExpected: 2"


def test_evidence_is_capped_and_free_of_control_characters() -> None:
    assert len(evidence_of([Case(("a",), str(n), text="x" * 9_000) for n in range(9)])) <= LONGEST_EVIDENCE
    assert capped("\x1b[31mred\x1b[0m\x07 and plain") == "red and plain"
