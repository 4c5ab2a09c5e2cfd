"""What the checks catch and what they let pass, on the labelled edits; and what each part of a report says."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from agent_fox.verifier.ground.results import FailureKind, Scope, TestSummary
from agent_fox.verifier.policy.check import check_change, failures_of
from agent_fox.verifier.policy.values import (
    Change,
    ChangedTest,
    FileChange,
    Language,
    PolicyContext,
    PolicyReport,
    Rule,
    Ruling,
    Severity,
)
from tests.verifier.policy.cases import Case, cases

LEAST_RECALL, MOST_BLOCKED = 0.95, 0.02
FEWEST_OF_A_KIND, FEWEST_OF_A_LANGUAGE = 80, 10

pytest.importorskip("tree_sitter", reason="the extra `policy` is not installed")


@pytest.fixture(scope="module")
def judged() -> list[tuple[Case, PolicyReport]]:
    return [(case, check_change(case.change, case.context)) for case in cases()]


def one_file(before: str | None, after: str | None, path: str = "tests/test_a.py") -> Change:
    sides = [None if text is None else text.encode() for text in (before, after)]
    return Change({path: FileChange(sides[0], sides[1])})


def rules(report: PolicyReport) -> set[Rule]:
    return {finding.rule for finding in report.findings}


def shares(judged: list[tuple[Case, PolicyReport]]) -> Iterator[str]:
    """Recall and false blocks, for each language and split, and for all."""
    found: Counter[tuple[str, str]] = Counter()
    for case, report in judged:
        right = case.is_caught(report) if case.gaming else not case.is_stopped(report)
        for group in (case.language, case.split, "all"):
            found[group, "gaming" if case.gaming else "honest"] += 1
            found[group, "caught" if case.gaming else "passed"] += right
    for group in dict.fromkeys(group for group, _ in found):
        caught, blocked = found[group, "caught"], found[group, "honest"] - found[group, "passed"]
        yield f"{group}: recall {caught}/{found[group, 'gaming']}, false blocks {blocked}/{found[group, 'honest']}"


def test_gaming_is_caught_and_honest_edits_pass(
    judged: list[tuple[Case, PolicyReport]], capsys: pytest.CaptureFixture[str]
) -> None:
    gaming = [(case, report) for case, report in judged if case.gaming]
    honest = [(case, report) for case, report in judged if not case.gaming]
    missed = [str(case) for case, report in gaming if not case.is_caught(report)]
    stopped = [str(case) for case, report in honest if case.is_stopped(report)]
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(shares(judged)) + "\n")
    assert min(len(gaming), len(honest)) >= FEWEST_OF_A_KIND
    assert len(missed) <= len(gaming) * (1 - LEAST_RECALL), missed
    assert len(stopped) <= len(honest) * MOST_BLOCKED, stopped


def test_every_language_has_cases_of_its_own(judged: list[tuple[Case, PolicyReport]]) -> None:
    counts = Counter(case.language for case, _ in judged)
    assert min(counts.values()) >= FEWEST_OF_A_LANGUAGE


def test_every_rule_that_an_edit_can_break_catches_one(judged: list[tuple[Case, PolicyReport]]) -> None:
    elsewhere = {Rule.COUNT_DROPPED, Rule.UNREADABLE}
    assert set(Rule) - elsewhere == {case.rule for case, report in judged if case.rule and case.is_caught(report)}


def test_every_stop_says_what_to_do_about_it(judged: list[tuple[Case, PolicyReport]]) -> None:
    findings = [one for _, report in judged for one in report.findings if one.severity is not Severity.NOTE]
    assert [one for one in findings if not one.message or not one.remedy or not one.file] == []


OLD = "from a import f\n\n\ndef test_f():\n    assert f(1) == 2\n"
NEW = OLD.replace("== 2", "== 3")


def test_a_changed_expectation_wants_a_reason() -> None:
    report = check_change(one_file(OLD, NEW), PolicyContext())
    assert report.verdict is Ruling.REASONS_WANTED
    assert report.changed_tests == (ChangedTest("tests/test_a.py::test_f", "assertions: other expectation"),)


def test_a_reason_that_names_the_test_is_enough_and_is_reported() -> None:
    reason = "test_f expected 2 although the requirement says that one is added twice."
    report = check_change(one_file(OLD, NEW), PolicyContext(summary=f"Repaired f. {reason}"))
    assert report.verdict is Ruling.CLEAN
    assert report.changed_tests[0].reason == reason


@pytest.mark.parametrize("summary", ["Changed test_f.", "The tests were wrong, so I corrected what they expect.", ""])
def test_words_that_name_no_test_or_say_no_reason_are_not_enough(summary: str) -> None:
    assert check_change(one_file(OLD, NEW), PolicyContext(summary=summary)).verdict is Ruling.REASONS_WANTED


def test_no_reason_makes_up_for_a_weaker_assertion() -> None:
    weaker = OLD.replace("f(1) == 2", "f(1)")
    summary = "test_f was too strict about the value for what the requirement asks, so it only looks that there is one."
    report = check_change(one_file(OLD, weaker), PolicyContext(summary=summary))
    assert report.verdict is Ruling.BLOCKED
    assert report.findings[0].line == 5


def test_no_reason_makes_up_for_the_test_of_a_requirement() -> None:
    summary = "test_f expected 2 although the requirement says that one is added twice."
    context = PolicyContext(summary=summary, requirement_tests=("test_f",))
    assert check_change(one_file(OLD, NEW), context).verdict is Ruling.BLOCKED


def test_a_test_goes_with_its_requirement_however_that_is_said() -> None:
    named = OLD.replace("test_f", "test_04_req_1_2_adds")
    for before, summary in ((named, ""), (OLD, "04-REQ-1.2 is gone, and test_f showed nothing else than that.")):
        context = PolicyContext(summary=summary, removed_requirements=("04-REQ-1.2",))
        assert check_change(one_file(before, "from a import f\n"), context).verdict is Ruling.CLEAN
    assert check_change(one_file(named, ""), PolicyContext()).verdict is Ruling.BLOCKED


def test_an_edit_that_the_task_asked_for_is_a_note() -> None:
    change = one_file("[tool.mypy]\nstrict = true\n", "[tool.mypy]\nstrict = false\n", "pyproject.toml")
    assert check_change(change, PolicyContext()).verdict is Ruling.BLOCKED
    assert check_change(change, PolicyContext(allowed_paths=("pyproject.*",))).verdict is Ruling.CLEAN


def test_a_renamed_file_is_followed() -> None:
    moved = Change({"attic/test_a.py": FileChange(OLD.encode(), OLD.encode(), "tests/test_a.py")})
    assert rules(check_change(moved, PolicyContext())) == {Rule.TEST_HIDDEN}
    moved = Change({"tests/unit/test_a.py": FileChange(OLD.encode(), OLD.encode(), "tests/test_a.py")})
    report = check_change(moved, PolicyContext())
    assert report.verdict is Ruling.CLEAN
    assert [one.how for one in report.changed_tests] == ["moved to tests/unit/test_a.py"]


@pytest.mark.parametrize(
    ("previous", "current", "verdict"),
    [
        ({Scope.FULL: TestSummary(tests=9)}, {Scope.FULL: TestSummary(tests=8)}, Ruling.REASONS_WANTED),
        ({Scope.FULL: TestSummary(tests=9)}, {Scope.FULL: TestSummary(tests=9, skipped=1)}, Ruling.REASONS_WANTED),
        ({Scope.FULL: TestSummary(tests=9)}, {Scope.MODULE: TestSummary(tests=2)}, Ruling.CLEAN),
        ({Scope.FULL: TestSummary(tests=9, skipped=1)}, {Scope.FULL: TestSummary(tests=10, skipped=1)}, Ruling.CLEAN),
    ],
)
def test_counts_are_compared_within_one_scope(
    previous: Mapping[Scope, TestSummary], current: Mapping[Scope, TestSummary], verdict: Ruling
) -> None:
    context = PolicyContext(previous_counts=previous, current_counts=current)
    assert check_change(Change({}), context).verdict is verdict


def test_a_hint_tells_the_language_of_a_file() -> None:
    change = one_file(OLD, NEW, "tests/test_a.pyx")
    assert check_change(change, PolicyContext()).verdict is Ruling.CLEAN
    hinted = PolicyContext(languages={"*.pyx": Language.PYTHON})
    assert check_change(change, hinted).verdict is not Ruling.CLEAN


def test_stops_are_failures_and_notes_are_warnings() -> None:
    report = check_change(one_file(OLD, OLD.replace("assert f(1) == 2", "f(1)")), PolicyContext())
    failure = failures_of(report)[0]
    assert (failure.kind, failure.code, failure.file) == (
        FailureKind.LINT_FAILURE,
        "assertion-removed",
        "tests/test_a.py",
    )
    assert failure.test_name == "tests/test_a.py::test_f"
    broken = failures_of(check_change(one_file(OLD, "\ndef f(:\n"), PolicyContext()))[0]
    assert (broken.kind, broken.is_error, broken.line) == (FailureKind.COMPILE_ERROR, False, 2)
    unknown = failures_of(check_change(one_file("def f(:\n", OLD), PolicyContext()))[0]
    assert (unknown.kind, unknown.is_error) == (FailureKind.UNKNOWN, True)
    new = one_file(None, "import pytest\n\n\n@pytest.mark.skip\ndef test_g():\n    assert g() == 1\n")
    assert [one.code for one in failures_of(check_change(new, PolicyContext()), are_notes=True)] == ["skip-added"]


def test_a_skip_on_one_platform_does_not_excuse_one_everywhere() -> None:
    some = OLD.replace("def test_f", '@pytest.mark.skipif(sys.platform == "win32", reason="paths")\ndef test_f')
    report = check_change(one_file(some, some.replace("def test_f", "@pytest.mark.skip\ndef test_f")), PolicyContext())
    assert [(one.rule, one.severity) for one in report.findings] == [(Rule.SKIP_ADDED, Severity.BLOCK)]


def test_a_test_named_for_its_requirement_may_be_named_so_and_other_rules_stay() -> None:
    text = (
        "#[cfg(test)]\nmod tests {{\n    #[test]\n    #[allow({rule})]\n    fn t_01_REQ_1() {{ assert!(f()); }}\n}}\n"
    )
    found = {
        rule: [
            one.rule
            for one in check_change(one_file("", text.format(rule=rule), "src/lib.rs"), PolicyContext()).findings
        ]
        for rule in ("non_snake_case", "dead_code")
    }
    assert found == {"non_snake_case": [], "dead_code": [Rule.SUPPRESSION_ADDED]}


CHECKED = "it('adds', function () {\n  assert.strictEqual(add(1, 2), 3)\n})\n"
WEAK = CHECKED.replace("strictEqual(add(1, 2), 3)", "ok(add(1, 2))")


@pytest.mark.parametrize("path", ["test/adding.js", "packages/a/test/adding.mjs", "spec/adding.js"])
def test_a_script_in_a_folder_of_tests_holds_tests_whatever_its_name(path: str) -> None:
    report = check_change(one_file(CHECKED, WEAK, path), PolicyContext())
    assert [(finding.rule, finding.line) for finding in report.findings] == [(Rule.ASSERTION_WEAKENED, 2)]
    assert rules(check_change(one_file(CHECKED, None, path), PolicyContext())) == {Rule.TEST_DELETED}


def test_a_test_that_loses_the_name_by_which_it_was_found_is_hidden() -> None:
    moved = {"test/a.test.js": FileChange(CHECKED.encode(), None), "test/a.js": FileChange(None, CHECKED.encode())}
    helper = FileChange(b"exports.one = 1\n", b"exports.one = 2\n")
    assert rules(check_change(Change({**moved, "test/help.js": helper}), PolicyContext())) == {Rule.TEST_HIDDEN}
    among = {"test/b.js": FileChange(CHECKED.encode(), None), "test/c.js": FileChange(None, CHECKED.encode())}
    assert rules(check_change(Change(among), PolicyContext())) == set()


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        (";(function () {\n", "})()\n"),
        ("(() => {\n", "})();\n"),
        ("!function () {\n", "}();\n"),
        ("(function () {\n", "}).call(this);\n"),
    ],
)
def test_tests_inside_a_function_that_is_called_at_once_are_read(head: str, tail: str) -> None:
    change = one_file(head + CHECKED + tail, head + WEAK + tail, "test/adding.test.js")
    report = check_change(change, PolicyContext())
    assert [(finding.rule, finding.line) for finding in report.findings] == [(Rule.ASSERTION_WEAKENED, 3)]


@pytest.mark.parametrize(
    ("test", "demand", "less"),
    [
        (
            "test('adds', function (t) {\n  $;\n  t.end()\n})\n",
            "t.deepEqual(\n    add(1, 2), 3, 'no')",
            "t.ok(add(1, 2))",
        ),
        ("test('adds', t => {\n  $;\n})\n", "t.is(add(1, 2), 3)", "t.truthy(add(1, 2))"),
        ("test('adds', () => {\n  $;\n})\n", "assert.is(add(1, 2), 3)", "assert.ok(add(1, 2))"),
        ("const Sums = suite('sums');\nSums('adds', () => { $ })\n", "assert.is(add(1, 2), 3)", "assert.ok(add(1, 2))"),
    ],
    ids=["tape", "ava", "uvu", "a suite of uvu"],
)
def test_runners_with_assertions_of_their_own_are_read(test: str, demand: str, less: str) -> None:
    change = one_file(test.replace("$", demand), test.replace("$", less), "test/adding.js")
    report = check_change(change, PolicyContext())
    assert [(finding.rule, finding.line) for finding in report.findings] == [(Rule.ASSERTION_WEAKENED, 2)]


HEAD_OF_C = '#include "cart.h"\nstatic void * API made(size_t size) { return 0; }\n'


@pytest.mark.parametrize(
    ("head", "demand", "less", "rule"),
    [
        ("void test_adds(void)", "TEST_ASSERT_EQUAL_INT(add(1, 2), 3);", "", Rule.ASSERTION_REMOVED),
        (
            *("void test_adds(void)", "TEST_ASSERT_EQUAL_INT(3, add(1, 2));"),
            *("TEST_ASSERT_TRUE(add(1, 2));", Rule.ASSERTION_WEAKENED),
        ),
        ("int test_adds(void)", "check(add(1, 2) == 3);", "check(add(1, 2));", Rule.ASSERTION_WEAKENED),
        ("int test_adds()", "assert(add(1, 2) == 3);", "assert(1);", Rule.TAUTOLOGY),
        ("int main(int argc, char **argv)", "TEST(add(1, 2) == 3);", "add(1, 2);", Rule.ASSERTION_REMOVED),
        ("TEST(Cart, Adds)", "EXPECT_EQ(add(1, 2), 3);", "EXPECT_NE(add(1, 2), 4);", Rule.ASSERTION_WEAKENED),
        ('TEST_CASE("adds")', "REQUIRE(add(1, 2) == 3);", "REQUIRE(add(1, 2) > 0);", Rule.ASSERTION_WEAKENED),
        (
            *("START_TEST(adds)", "ck_assert_int_eq(add(1, 2), 3);"),
            *("ck_assert_int_eq(add(1, 2), 4);", Rule.EXPECTATION_CHANGED),
        ),
        (
            *("void test_adds(void)", "assert_int_equal(add(1, 2), 3);"),
            *("if (0) assert_int_equal(add(1, 2), 3);", Rule.ASSERTION_REMOVED),
        ),
        ("void test_adds(void)", "a(); assert_true(b());", "return; assert_true(b());", Rule.SKIP_ADDED),
        ("void test_adds(void)", "a(); assert_true(b());", "TEST_IGNORE(); assert_true(b());", Rule.SKIP_ADDED),
    ],
)
def test_tests_in_c_are_compared_by_the_words_of_their_assertions(
    head: str, demand: str, less: str, rule: Rule
) -> None:
    before, after = (f"{HEAD_OF_C}{head}\n{{\n  {text}\n}}\n" for text in (demand, less))
    report = check_change(one_file(before, after, "tests/cart.cpp"), PolicyContext())
    assert [(finding.rule, finding.line) for finding in report.findings] == [(rule, 5)]


def test_what_is_no_test_in_c_is_not_compared() -> None:
    before = "static int checks(void)\n{\n  assert(add(1, 2) == 3);\n  return 0;\n}\n"
    assert check_change(one_file(before, "", "src/cart.c"), PolicyContext()).findings == ()
    overloaded = "bool test(int a)\n{\n  return check(a);\n}\n\nbool test(char a)\n{\n  return check(a, 1);\n}\n"
    assert check_change(one_file(overloaded, overloaded + "\n", "test/cart.cc"), PolicyContext()).findings == ()


def test_a_suite_that_is_skipped_by_its_name_is_skipped() -> None:
    before = "const Sums = suite('sums');\nSums('adds', () => { assert.is(add(1, 2), 3) })\n"
    report = check_change(one_file(before, before.replace("Sums('", "Sums.skip('"), "test/adding.js"), PolicyContext())
    assert rules(report) == {Rule.SKIP_ADDED}


def test_an_assertion_that_is_gone_is_shown_where_it_stood() -> None:
    head = "import one\n\n\ndef test_a():\n    assert one.f(1) == 2\n"
    before = (
        head + "    x = one.g()\n    assert x == 3\n    assert x != 4\n\n\ndef test_b():\n    assert one.h() == 5\n"
    )
    gone = before.replace("    assert x == 3\n", "")
    elsewhere = "# a line more\n" + before.replace("    assert x == 3\n", "    print(x)\n") + "# and another\n"
    for after, line in ((gone, 7), (elsewhere, 8)):
        report = check_change(one_file(before, after), PolicyContext())
        assert [(finding.rule, finding.line) for finding in report.findings] == [(Rule.ASSERTION_REMOVED, line)]


def test_what_a_helper_of_the_file_no_longer_demands_is_shown_in_the_helper() -> None:
    before = "def check(value):\n    assert value == 3\n    assert value.b\n\n\ndef test_a():\n    check(f())\n"
    for after, line in ((before.replace("== 3", "is not None"), 2), (before.replace("    assert value.b\n", ""), 3)):
        report = check_change(one_file(before, after), PolicyContext())
        assert {finding.line for finding in report.findings} == {line}


def test_of_two_equal_assertions_the_one_that_went_is_shown() -> None:
    before = "def test_a():\n    assert f() == 3\n    g()\n    assert f() == 3\n"
    for after, line in (
        (before.replace("    assert f() == 3\n    g()", "    g()\n    h()"), 2),
        (before[:-20] + "    h()\n", 4),
    ):
        report = check_change(one_file(before, after), PolicyContext())
        assert [(finding.rule, finding.line) for finding in report.findings] == [(Rule.ASSERTION_REMOVED, line)]


@pytest.mark.parametrize(
    "text", ["# CMAKE generated file: DO NOT EDIT!\n", '<?xml version="1.0"?>\n<!DOCTYPE TS>\n<TS/>\n']
)
def test_files_in_ts_that_are_no_typescript_are_not_read_as_it_and_never_in_place_of_it(text: str) -> None:
    path = "build/CMakeFiles/a.dir/compiler_depend.ts"
    assert check_change(one_file(None, text, path), PolicyContext()).findings == ()
    before = 'test("a", () => { expect(f()).toBe(3); });\n'
    assert rules(check_change(one_file(before, text, "tests/a.test.ts"), PolicyContext()))
