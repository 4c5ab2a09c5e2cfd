"""JUnit XML is read as a stream; what is no report, or tries to reach outside, is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.verifier.junit import LONGEST_TEXT, Case, Outcome, ReportUnreadable, read_junit

REPORT = """<?xml version="1.0"?>
<testsuites><testsuite>
  <testcase classname="tests.test_a.TestCart" name="test_total[1]" file="tests/test_a.py"/>
  <testcase classname="tests.test_a" name="test_b" file="tests/test_a.py">
    <failure message="assert 1 == 2">E   assert 1 == 2</failure><error message="teardown">boom</error>
  </testcase>
  <testcase classname="com.shop.CartTest" name="adds()"><skipped/></testcase>
  <testcase classname="x" name="y"><skipped type="pytest.xfail" message=""/></testcase>
  <testcase classname="x" name="z"><system-out>not &lt;failure&gt;</system-out></testcase>
</testsuite></testsuites>
"""


def _read(tmp_path: Path, text: str) -> tuple[Case, ...]:
    (tmp_path / "report.xml").write_text(text, encoding="utf-8")
    return read_junit(tmp_path / "report.xml")


def test_each_test_has_one_outcome(tmp_path: Path) -> None:
    outcomes = [case.outcome for case in _read(tmp_path, REPORT)]
    assert outcomes == [
        Outcome.PASSED,
        Outcome.FAILED,
        Outcome.SKIPPED,
        Outcome.EXPECTED_FAILURE,
        Outcome.PASSED,
    ]


def test_a_case_is_named_as_pytest_names_it(tmp_path: Path) -> None:
    first, second, third, *_ = _read(tmp_path, REPORT)
    assert first.id == "tests/test_a.py::TestCart::test_total[1]"
    assert (first.classes, first.function) == (("TestCart",), "test_total")
    assert (second.message, second.text) == ("assert 1 == 2", "E   assert 1 == 2boom")
    assert (third.classes, third.function) == (("com", "shop", "CartTest"), "adds")


def test_the_text_of_a_failure_is_bounded(tmp_path: Path) -> None:
    text = "<testsuite><testcase name='a'><failure>" + "x" * 1_000_000 + "</failure></testcase></testsuite>"
    assert len(_read(tmp_path, text)[0].text) == LONGEST_TEXT


BOMB = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><testsuite><testcase name="&c;"/></testsuite>'
REACHES_OUT = '<!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd">]><testsuite>&f;</testsuite>'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, "document type"),
        (REACHES_OUT, "document type"),
        ("<testsuite><testcase name='a'>", "not a readable XML"),
        ("", "not a readable XML"),
        ("<html/>", "no JUnit report"),
    ],
)
def test_what_is_no_whole_honest_report_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ReportUnreadable, match=reason):
        _read(tmp_path, text)
