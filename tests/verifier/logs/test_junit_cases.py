"""The tests of a JUnit report come one by one, with the outcome that their tools mean."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from agent_fox.verifier.logs.reports.junit_cases import LONGEST_TEXT, CaseOutcome, JunitCase, read_cases
from agent_fox.verifier.logs.streams.xml_stream import XmlCut

PYTEST = """<?xml version="1.0"?>
<testsuites><testsuite name="pytest">
<testcase classname="tests.test_a" name="test_ok" file="tests/test_a.py" line="0"/>
<testcase classname="tests.test_a" name="test_b" file="tests/test_a.py" line="6">
<failure message="assert 1 == 2">E   assert 1 == 2</failure><error message="teardown">boom</error></testcase>
<testcase classname="tests.test_a" name="test_c"><skipped type="pytest.skip" message="later"/></testcase>
<testcase classname="tests.test_a" name="test_d"><skipped type="pytest.xfail" message=""/></testcase>
<testcase classname="tests.test_a" name="test_e"><skipped type="pytest.skip"/><error message="teardown"/></testcase>
</testsuite></testsuites>
"""
CTEST = """<testsuite name="(empty)">
<testcase name="good" classname="good" status="run"><system-out></system-out></testcase>
<testcase name="off" classname="off" status="disabled"><system-out>Disabled</system-out></testcase>
<testcase name="lost" classname="lost" status="notrun"><skipped message="Unable to find executable"/></testcase>
<testcase name="not now" classname="not now" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
</testsuite>
"""
TO_DO = '<testsuite><testcase name="a"><skipped type="todo"/><failure message="x"/></testcase></testsuite>'


def cases(text: str) -> list[JunitCase]:
    return list(read_cases(io.BytesIO(text.encode())))


def outcomes(text: str) -> list[tuple[str, CaseOutcome]]:
    return [(case.name, case.outcome) for case in cases(text)]


def test_a_failure_or_error_counts_beside_a_skip() -> None:
    assert outcomes(PYTEST) == [
        ("test_ok", CaseOutcome.PASSED),
        ("test_b", CaseOutcome.FAILED),
        ("test_c", CaseOutcome.SKIPPED),
        ("test_d", CaseOutcome.EXPECTED_FAILURE),
        ("test_e", CaseOutcome.BROKEN),
    ]


def test_a_test_that_is_still_to_do_may_fail() -> None:
    assert outcomes(TO_DO) == [("a", CaseOutcome.SKIPPED)]


def test_ctest_says_by_a_status_that_a_test_did_not_run() -> None:
    assert outcomes(CTEST) == [
        ("good", CaseOutcome.PASSED),
        ("off", CaseOutcome.SKIPPED),
        ("lost", CaseOutcome.BROKEN),
        ("not now", CaseOutcome.SKIPPED),
    ]


def test_lines_count_from_1_whoever_wrote_them() -> None:
    first, second, *_ = cases(PYTEST)
    (other,) = cases('<testsuite name="x"><testcase name="a" file="a.c" line="7"/></testsuite>')
    assert (first.line, second.line, other.line) == (1, 7, 7)


def test_message_and_texts_are_those_of_the_endings() -> None:
    second = cases(PYTEST)[1]
    assert (second.message, second.text) == ("assert 1 == 2", "E   assert 1 == 2\nboom")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<html/>", "no JUnit report"),
        ("<testsuite><testcase name='a'/>", "cut off"),
        ("<!DOCTYPE a><testsuite/>", "document type"),
        ("", "cut off"),
    ],
)
def test_what_is_no_whole_report_is_told_after_the_tests_that_were_read(text: str, reason: str) -> None:
    read: list[str] = []
    with pytest.raises(XmlCut, match=reason):
        read.extend(case.name for case in read_cases(io.BytesIO(text.encode())))
    assert read == (["a"] if "name='a'" in text else [])


def test_memory_does_not_grow_with_the_report() -> None:
    case = b'<testcase name="a" classname="b"><failure message="m">' + b"x" * 100_000 + b"</failure></testcase>"
    report = io.BytesIO(b"<testsuite>" + case * 200 + b"</testsuite>")
    tracemalloc.start()
    try:
        longest = max(len(case.text) for case in read_cases(report))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert longest <= 2 * LONGEST_TEXT
    assert peak < 3_000_000
