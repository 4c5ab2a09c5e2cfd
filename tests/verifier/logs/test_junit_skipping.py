"""Tests that passed are counted without being read: the same as where each element is."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_fox.verifier.logs.reports.junit_cases import CaseOutcome, CaseReader, JunitCase, read_cases
from agent_fox.verifier.logs.streams.xml_stream import XmlCut
from tests.verifier.logs.test_same_in_other_clothes import InPieces

FORM = '<testcase classname="%s" name="%s" time="0.1"/>\n'
PASSED = FORM % ("a.B", "does")
FAILURE = '<testcase classname="a.B" name="fails" time="1"><failure message="no">'
PIECES = (
    *(PASSED, PASSED, PASSED * 3),
    '<testcase classname="é &amp; x" name="→ ＡＢ" time=""/>',
    "<testcase classname='a.B' name='does' time='0.1'/>",
    '<testcase name="other form"\n file="a.py" ></testcase>',
    '<testcase name="twice" name="twice"/>',
    FORM % ("a < b", ""),
    FORM % ("a & b", ""),
    FORM % ("\ufffe", ""),
    '<testcase name="off" status="notrun"/>',
    '<testcase name="run" status="run"/>',
    FAILURE,
    '<failure message="a ><testcase x="/>"/>',
    '<failure type="x.Error" message="no">trace\n',
    "</failure>",
    "<skipped/>",
    "<system-out>",
    "</system-out>",
    "</testcase>",
    "<testcases/>",
    "<testsuite name='s'>",
    "</testsuite>",
    "<properties>",
    "</properties>",
    "<!-- ",
    " -->",
    "<![CDATA[",
    "]]>",
    "]]",
    "<?x ",
    "?>",
    "a < b",
    '"',
    ">",
    "&#1;",
    "&lt;",
    "\r\n",
)
HEADS = (
    "<testsuites><testsuite>",
    '<?xml version="1.0" encoding="UTF-8"?><testsuites><testsuite>',
    '<?xml version="1.0" encoding="iso-8859-1"?><testsuites><testsuite>',
    "<testsuite>" + PASSED,
    "",
)
Told = tuple[list[JunitCase], int, bool]


def told(batches: Iterator[list[JunitCase]]) -> tuple[list[JunitCase], bool]:
    """The tests, and whether the report could be read to its end."""
    found: list[JunitCase] = []
    try:
        for batch in batches:
            found += batch
    except XmlCut:
        return found, False
    return found, True


def skipping(file: io.BytesIO) -> Told:
    reader = CaseReader()
    found, is_whole = told(reader.read(file))
    return found, reader.passed, is_whole and reader.is_junit


def reading_all(file: io.BytesIO) -> Told:
    found, is_whole = told([case] for case in read_cases(file))
    others = [case for case in found if case.outcome is not CaseOutcome.PASSED]
    return others, len(found) - len(others), is_whole


@settings(max_examples=1_000, deadline=None)
@given(
    st.sampled_from(HEADS),
    st.lists(st.sampled_from(PIECES), max_size=25),
    st.sampled_from(["", "</testsuite></testsuites>", "</testsuite></testsuites>" + PASSED]),
    st.lists(st.integers(1, 90), min_size=1, max_size=4),
)
@example(HEADS[0], [PASSED, "<![CDATA[", PASSED, "]]>", PASSED, PASSED], "</testsuite></testsuites>", [1 << 16])
@example(HEADS[0], [PASSED, "<!-- ", PASSED, " -->", PASSED, PASSED], "</testsuite></testsuites>", [60])
@example(HEADS[0], [PASSED, FAILURE, "</failure>", PASSED, "</testcase>", PASSED], "", [1 << 16])
@example(HEADS[0], [PASSED, FAILURE, PASSED, "</failure>", "</testcase>", PASSED], "", [1 << 16])
def test_what_is_passed_over_changes_nothing(head: str, pieces: list[str], end: str, sizes: list[int]) -> None:
    data = "".join([head, *pieces, end]).encode()
    assert skipping(InPieces(data, sizes)) == reading_all(InPieces(data, sizes))


@pytest.mark.parametrize("piece", PIECES)
def test_each_oddity_among_tests_that_passed_changes_nothing(piece: str) -> None:
    data = "".join([HEADS[0], PASSED * 3, piece, PASSED * 3, "</testsuite></testsuites>"]).encode()
    assert skipping(io.BytesIO(data)) == reading_all(io.BytesIO(data))
    assert skipping(InPieces(data, [7])) == reading_all(io.BytesIO(data))


def test_a_test_that_passed_is_told_apart_from_one_in_what_a_test_printed() -> None:
    printed = f"<testcase name='x' classname='' time=''><system-out><![CDATA[{PASSED}]]></system-out></testcase>"
    data = f"<testsuite>{PASSED}{printed}{PASSED * 2}</testsuite>".encode()
    assert skipping(io.BytesIO(data)) == ([], 4, True)


def test_a_report_in_another_encoding_is_read_whole() -> None:
    text = '<?xml version="1.0" encoding="windows-1252"?><testsuite>' + PASSED + FORM % ("@", "") + "</testsuite>"
    data = text.encode().replace(b"@", b"\x81")  # no letter of that encoding
    assert skipping(io.BytesIO(data)) == reading_all(io.BytesIO(data)) == ([], 1, False)


def test_a_failure_counts_whatever_follows_the_report() -> None:
    failed = '<testcase name="x"><failure message="no"/></testcase>'
    found, passed, is_whole = skipping(io.BytesIO(f"<testsuite>{failed}{PASSED}</testsuite>\nnpm ERR! <b>".encode()))
    assert ([case.message for case in found], passed, is_whole) == (["no"], 1, True)
