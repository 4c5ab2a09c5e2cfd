"""JUnit XML of every writer gives the same: names, places in the project, counts; nothing a test printed counts."""

from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import FailureKind, TestSummary
from agent_fox.verifier.logs.reports.junit import JUNIT
from agent_fox.verifier.logs.reports.junit_cases import LONGEST_TEXT
from tests.verifier.logs.at_hand import kept, places, read_document, told

PARSER = JUNIT


def test_pytest_places_are_the_deepest_of_the_project() -> None:
    parsed = read_document(PARSER, kept("py-xunit2.xml"), "/workspace/py/demo")
    more = "tests/sub/test_more.py"
    assert [told(failure) for failure in parsed.failures[:7]] == [
        (f"{more}::test_helper", more, 5, "AssertionError: helper says 4"),
        (f"{more}::test_library", "lib.py", 3, parsed.failures[1].message),
        (f"{more}::test_chain", "lib.py", 8, "ValueError: bad x"),
        (f"{more}::test_multi", more, 11, "AssertionError: assert {'a': 1, 'b': [1, 2]} == {'a': 1, 'b': [1, 3]}"),
        (f"{more}::test_raises", more, 13, "Failed: DID NOT RAISE KeyError"),
        (f"{more}::test_fail", more, 15, "Failed: explicit: see a.py:3: x"),
        (f"{more}::test_strict", more, None, "[XPASS(strict)] should"),
    ]
    assert parsed.summary == TestSummary(tests=17, failures=15, errors=2)


def test_pytest_names_hold_classes_and_parameters() -> None:
    parsed = read_document(PARSER, kept("py-xunit2.xml"), "/workspace/py/demo")
    names = [failure.test_name for failure in parsed.failures if "TestB" in (failure.test_name or "")]
    assert names == [f"tests/sub/test_more.py::TestA::TestB::test_p[{p}]" for p in ("a/b", "c::d", "e f")]


COLLECTION = """<testsuites name="pytest tests"><testsuite name="pytest" errors="1" tests="1">
<testcase classname="" name="tests.test_a"><error message="collection failure">tests/test_a.py:1: in &lt;module&gt;
    import nope
E   ModuleNotFoundError: No module named 'nope'</error></testcase></testsuite></testsuites>"""


def test_a_file_that_pytest_cannot_collect_is_an_error_but_no_test() -> None:
    parsed = read_document(PARSER, COLLECTION)
    failure = parsed.failures[0]
    assert (failure.kind, failure.file, failure.line) == (FailureKind.COMPILE_ERROR, "tests/test_a.py", 1)
    assert (failure.message, failure.test_name) == ("ModuleNotFoundError: No module named 'nope'", None)
    assert parsed.summary == TestSummary(tests=0, errors=1)


def test_gradle_names_the_line_in_the_test_class_and_the_message_once() -> None:
    parsed = read_document(PARSER, kept("gradle.xml"))
    failure = parsed.failures[0]
    assert told(failure) == (
        "com.acme.CartTest.adds",
        "src/test/kotlin/com/acme/CartTest.kt",
        14,
        "expected: <3> but was: <4>",
    )
    assert failure.exception == "org.opentest4j.AssertionFailedError"
    assert parsed.summary == TestSummary(tests=3, passed=1, failures=1, skipped=1)


SUREFIRE = """<testsuite name="com.acme.A">
<properties><property name="basedir" value="/workspace/shop/api"/></properties>
<testcase name="t" classname="com.acme.ATest$Inner"><error type="java.lang.IllegalStateException"><![CDATA[
java.lang.IllegalStateException
	at com.acme.A.run(A.java:9)
	at com.acme.ATest$Inner.t(ATest.java:21)
	at java.base/java.lang.reflect.Method.invoke(Method.java:569)]]></error></testcase>
<testcase name="f" classname="com.acme.ATest"><flakyFailure message="once"/><rerunFailure message="twice"/></testcase>
</testsuite>"""


def test_surefire_says_which_module_it_is_and_a_flaky_pass_is_a_pass() -> None:
    parsed = read_document(PARSER, SUREFIRE, "/workspace/shop")
    failure = parsed.failures[0]
    assert told(failure) == (
        "com.acme.ATest$Inner.t",
        "api/src/test/java/com/acme/ATest.java",
        21,
        "java.lang.IllegalStateException",
    )
    assert (failure.is_error, failure.exception) == (True, "java.lang.IllegalStateException")
    assert parsed.summary == TestSummary(tests=2, passed=1, errors=1)


def test_a_panic_in_rust_has_its_place_and_its_assertion() -> None:
    parsed = read_document(PARSER, kept("nextest.xml"))
    failure = parsed.failures[0]
    assert (failure.test_name, failure.file, failure.line) == ("lw > tests::adds", "src/lib.rs", 12)
    assert (failure.column, failure.message) == (9, "assertion `left == right` failed: sum")


@pytest.mark.parametrize(
    ("report", "names", "lines"),
    [
        ("vitest.xml", ["group > adds", "group > nested > boom"], [("test/vit.test.mjs", 4), ("test/vit.test.mjs", 6)]),
        ("jest.xml", ["group adds", "group nested boom"], [("test/jest.test.cjs", 3), ("test/jest.test.cjs", 5)]),
        ("mocha.xml", ["group.adds", "group nested > boom"], [("test/mocha.spec.js", 4), ("test/mocha.spec.js", 6)]),
    ],
)
def test_javascript_places_are_where_it_was_thrown(report: str, names: list[str], lines: list[object]) -> None:
    parsed = read_document(PARSER, kept(report), "/workspace/tap/demo")
    found = {f.test_name: (f.file, f.line) for f in parsed.failures if not (f.test_name or "").startswith("test/")}
    assert found == dict(zip(names, lines, strict=True))


def test_a_file_that_vitest_cannot_load_is_no_failed_test() -> None:
    parsed = read_document(PARSER, kept("vitest.xml"), "/workspace/tap/demo")
    kinds = {failure.file: failure.kind for failure in parsed.failures}
    assert kinds["test/vitbroken.test.mjs"] == kinds["test/jestbroken.test.cjs"] == FailureKind.COMPILE_ERROR
    assert kinds["test/mocha.spec.js"] == FailureKind.TEST_FAILURE


def test_node_names_groups_and_a_todo_does_not_fail() -> None:
    parsed = read_document(PARSER, kept("node24.junit"), "/workspace/node/demo")
    assert [failure.test_name for failure in parsed.failures[:3]] == [
        "adds",
        "outer > inner suite > fails deep",
        "rejects # with hash",
    ]
    assert places(parsed)[:2] == [("test/a.test.mjs", 6), ("src/load.mjs", 5)]
    assert parsed.summary == TestSummary(tests=12, passed=3, failures=6, skipped=3)


GO = """<testsuites><testsuite name="example.com/lw"><testcase classname="example.com/lw" name="TestAdd">
<failure message="Failed">=== RUN   TestAdd
    add_test.go:7: Add(2, 3) = -1, want 5
--- FAIL: TestAdd (0.00s)</failure></testcase></testsuite></testsuites>"""


def test_a_converter_for_go_leaves_the_place_in_the_text() -> None:
    assert places(read_document(PARSER, GO)) == [("add_test.go", 7)]


def test_what_a_test_printed_is_evidence_only_where_nothing_else_is() -> None:
    report = """<testsuite><testcase name="a"><failure message="boom"/><system-out>printed</system-out></testcase>
    <testcase name="b"><system-out>&lt;failure/&gt;</system-out></testcase></testsuite>"""
    parsed = read_document(PARSER, report)
    assert [(failure.message, failure.evidence) for failure in parsed.failures] == [("boom", "printed")]
    assert parsed.summary == TestSummary(tests=2, passed=1, failures=1)


def test_the_end_of_a_long_trace_is_kept_too() -> None:
    trace = "filler\n" * LONGEST_TEXT + "tests/test_a.py:12: AssertionError"
    report = (
        f'<testsuite name="pytest"><testcase name="a"><failure message="m">{trace}</failure></testcase></testsuite>'
    )
    assert places(read_document(PARSER, report)) == [("tests/test_a.py", 12)]


@pytest.mark.parametrize(("mark", "failures"), [(b"<failure", 0), (b"<skipped", 1), (b"</testsuite>", 1)])
def test_a_report_that_breaks_off_gives_its_beginning_and_says_so(mark: bytes, failures: int) -> None:
    report = kept("gradle.xml")
    parsed = read_document(PARSER, report[: report.index(mark)])
    assert (len(parsed.failures), parsed.is_complete) == (failures, False)


def test_other_xml_is_no_report() -> None:
    parsed = read_document(PARSER, "<coverage/>")
    assert (parsed.is_complete, parsed.summary) == (False, None)


def test_a_report_in_a_log_counts_only_where_the_log_begins_with_it() -> None:
    assert PARSER.recognises("> test\n> vitest\n\n<testsuites>\n")
    assert not PARSER.recognises("collected 3 items\n<testsuites><testsuite/></testsuites>\n")


def test_what_a_linter_writes_are_problems_and_no_tests() -> None:
    report = (
        '<testsuites><testsuite name="/workspace/a.py" package="org.ruff"><testcase name="org.ruff.F401" '
        'classname="/workspace/a" line="1" column="8"><failure message="`os` imported but unused">'
        "line 1, col 8, `os` imported but unused</failure></testcase></testsuite></testsuites>"
    )
    parsed = read_document(JUNIT, report)
    (failure,) = parsed.failures
    assert (failure.kind, failure.code, failure.test_name) == (FailureKind.LINT_FAILURE, "F401", None)
    assert told(failure)[1:] == ("a.py", 1, "`os` imported but unused")
    assert parsed.summary is None


def test_googletest_names_the_place_before_the_message() -> None:
    said = "/workspace/t.cc:9&#x0A;Expected equality"
    report = (
        '<testsuites><testsuite name="T"><testcase name="Adds" file="/workspace/t.cc" line="7" classname="T">'
        f'<failure message="{said}"/></testcase></testsuite></testsuites>'
    )
    (failure,) = read_document(JUNIT, report).failures
    assert told(failure) == ("T.Adds", "t.cc", 9, "Expected equality")


def test_a_failure_counts_in_a_report_that_breaks_off_behind_it() -> None:
    parsed = read_document(JUNIT, '<testsuite><testcase name="a"><failure message="no">x</failure>')
    assert ([failure.message for failure in parsed.failures], parsed.is_complete) == (["no"], False)


def test_spaces_around_a_tests_name_do_not_count() -> None:
    report = '<testsuite><testcase classname=" too slow" name=" too slow"><failure/></testcase></testsuite>'
    assert read_document(JUNIT, report).failures[0].test_name == "too slow"
