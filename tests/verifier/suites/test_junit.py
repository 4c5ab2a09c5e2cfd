"""JUnit XML is read as a stream; what is no report, or tries to reach outside, is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.verifier.ground.cases import Case, Outcome, ReportUnreadable
from agent_fox.verifier.logs.reports.junit_cases import LONGEST_TEXT
from agent_fox.verifier.suites.go_cases import plain_text, read_go
from agent_fox.verifier.suites.junit import read_junit
from agent_fox.verifier.suites.suite_reading import read_jest

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
    return read_junit(tmp_path / "report.xml", tmp_path)


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
    assert (second.message, second.text) == ("assert 1 == 2", "E   assert 1 == 2\nboom")
    assert (third.classes, third.function) == (("com", "shop", "CartTest"), "adds")


@pytest.mark.parametrize("told", ["tests/contract.py", "../../usr/lib/python3/site-packages/hypothesis/stateful.py"])
def test_an_inherited_test_belongs_to_the_file_that_it_was_collected_from(tmp_path: Path, told: str) -> None:
    """pytest tells where its function stands: in a base class of another file, or of an installed package."""
    for name in ("contract", "test_disk"):
        (tmp_path / "tests").mkdir(exist_ok=True)
        (tmp_path / "tests" / f"{name}.py").touch()
    text = f"<testsuite><testcase classname='tests.test_disk.TestDisk' name='test_it' file='{told}'/></testsuite>"
    (case,) = _read(tmp_path, text)
    assert case.id == "tests/test_disk.py::TestDisk::test_it"


def test_the_text_of_a_failure_is_bounded(tmp_path: Path) -> None:
    text = "<testsuite><testcase name='a'><failure>" + "x" * 1_000_000 + "</failure></testcase></testsuite>"
    assert len(_read(tmp_path, text)[0].text) <= 2 * LONGEST_TEXT


BOMB = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><testsuite><testcase name="&c;"/></testsuite>'
REACHES_OUT = '<!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd">]><testsuite>&f;</testsuite>'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, "document type"),
        (REACHES_OUT, "document type"),
        ("<testsuite><testcase name='a'>", "no readable JUnit report"),
        ("", "no readable JUnit report"),
        ("<html/>", "no readable JUnit report"),
    ],
)
def test_what_is_no_whole_honest_report_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ReportUnreadable, match=reason):
        _read(tmp_path, text)


VITEST = """<testsuites><testsuite name="src/cart.test.ts">
  <testcase classname="src/cart.test.ts" name="Cart &gt; 04-REQ-1.1 adds"/>
</testsuite></testsuites>"""
MOCHA = """<testsuite><testcase classname="Cart full" name="adds" file="/w/test/cart.js"/></testsuite>"""


def test_titles_around_a_test_of_javascript_are_its_classes(tmp_path: Path) -> None:
    assert _read(tmp_path, VITEST)[0].id == "src/cart.test.ts::Cart::04-REQ-1.1 adds"
    assert _read(tmp_path, MOCHA)[0].classes == ("Cart full",)


def test_a_java_test_has_the_file_that_its_modules_report_leads_to(tmp_path: Path) -> None:
    source = tmp_path / "shop" / "src" / "test" / "java" / "com" / "shop" / "CartTest.java"
    report = tmp_path / "shop" / "target" / "surefire-reports" / "TEST-com.shop.CartTest.xml"
    for path in (source, report):
        path.parent.mkdir(parents=True)
    source.write_text("class CartTest {}")
    report.write_text('<testsuite><testcase classname="com.shop.CartTest$Full" name="adds()"/></testsuite>')
    case = read_junit(report, tmp_path)[0]
    assert case.id == "shop/src/test/java/com/shop/CartTest.java::CartTest::Full::adds()"
    assert case.classes == ("com", "shop", "CartTest", "Full")


DEEP = '{"a": ' + "[" * 100_000


@pytest.mark.parametrize("text", ["", "[]", "{", DEEP, b"\xff".decode("latin-1")])
def test_what_is_no_report_of_jest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "jest.json").write_text(text, encoding="latin-1")
    with pytest.raises(ReportUnreadable, match="no readable report of Jest"):
        read_jest(tmp_path / "jest.json", tmp_path)


def test_a_line_of_go_that_is_nested_too_deeply_is_a_line_of_text(tmp_path: Path) -> None:
    event = '{"Action": "output", "Output": "ok\\n"}'
    (tmp_path / "go.log").write_text(f"{DEEP}\n{event}\n")
    run = read_go(tmp_path / "go.log", tmp_path)
    assert (run.cases, run.has_events) == ((), True)
    assert plain_text(f"{DEEP}\n{event}\n") == f"{DEEP}\nok\n"


def test_a_test_of_go_whose_process_ended_first_is_cut_off_and_one_that_failed_is_not(tmp_path: Path) -> None:
    events = [("run", "TestA"), ("fail", "TestA"), ("run", "TestB"), ("fail", "")]
    lines = [json.dumps({"Action": action, "Package": "p", "Test": test}) for action, test in events]
    (tmp_path / "go.log").write_text("\n".join(lines), "utf-8")
    cases = read_go(tmp_path / "go.log", tmp_path).cases
    assert [(case.name, case.outcome, case.is_cut_off) for case in cases] == [
        ("TestA", Outcome.FAILED, False),
        ("TestB", Outcome.FAILED, True),
    ]
