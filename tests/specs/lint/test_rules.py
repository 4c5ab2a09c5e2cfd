"""The table of rules: each speaks where it should, at its place, and nowhere in a good spec."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from agent_fox.core.spec import Problem, Severity
from agent_fox.specs.lint.rules import below, check_of, lint, rule_of, unknown_rules
from agent_fox.specs.lint.values import Level, rules
from tests.specs.lint.examples import EXAMPLES, FIXABLE, TEST_SPEC, TRACES
from tests.specs.lint.worlds import OTHER, REQUIREMENTS, TASKS, found, of_rule, read, write

PAGE = Path(__file__).parents[3] / "docs" / "lint.md"
MADE_BY_HAND = {
    "doubled-name": "a/01_x is called 01_x too: nodes can't be told apart. Rename one of them",
    "stale-requirement": 'modifies "Login", which openspec/specs/auth/spec.md does not have. Correct the title',
    "no-scenario": 'requirement "Login" has no scenario: it is proven as a whole. Write one',
    "not-read": 'the boxes under "Later" are no tasks: not read. Move those that are',
    "read-as": "the groups are numbered 1, 3: counted as 1, 2. Number them upwards",
    "moved-id": "not known by the number in the file: 1.1 is 1.2. Verdicts, waivers and tests go by the known id",
    "uncertain-id": "taken for 1.2, rewritten, because of its place: its text is another one. It is to be proven again",
    "plan-error": "something new is wrong",
    "plan-warning": "something new is odd",
}
OF_MADE_SPECS = {"unnameable-id", "scenario-level", "modified-twice"}


def test_a_good_spec_has_no_findings(tmp_path: Path) -> None:
    assert found(tmp_path, OTHER) == []


@pytest.mark.parametrize("rule", EXAMPLES)
def test_a_rule_speaks_at_the_place_that_it_is_about(rule: str, tmp_path: Path) -> None:
    files, place = EXAMPLES[rule]
    told = of_rule(rule, found(tmp_path, files))
    assert [where for where, _ in told] == [place], told


@pytest.mark.parametrize("rule", EXAMPLES)
def test_a_rule_that_is_switched_off_says_nothing(rule: str, tmp_path: Path) -> None:
    assert of_rule(rule, found(tmp_path, EXAMPLES[rule][0], off=[rule])) == []


@pytest.mark.parametrize("rule", MADE_BY_HAND)
def test_a_sentence_of_planning_is_known_by_its_rule(rule: str) -> None:
    severity = Severity.ERROR if rule in ("plan-error", "doubled-name") else Severity.WARNING
    assert rule_of(Problem(severity, "a.md:1", MADE_BY_HAND[rule])).id == rule


def test_words_that_a_sentence_quotes_do_not_say_which_rule_it_is() -> None:
    what = 'requirement "Money is taken back, in a cycle, read as text" has no scenario: it is proven as a whole'
    assert rule_of(Problem(Severity.WARNING, "a.md:1", what)).id == "no-scenario"


def test_every_rule_has_an_example() -> None:
    assert {*rules()} == {*EXAMPLES, *MADE_BY_HAND, *OF_MADE_SPECS}
    assert {rule.id for rule in rules().values() if rule.is_fixable} == {*FIXABLE, "scenario-level"}


def test_ids_are_unique_and_every_rule_says_what_it_means_and_what_to_do() -> None:
    rows = tomllib.loads((PAGE.parents[1] / "agent_fox/specs/lint/rules.toml").read_text("utf-8"))["rule"]
    assert [row["id"] for row in rows] == [*rules()]
    assert all(rule.meaning.endswith(".") and rule.remedy for rule in rules().values())


def test_the_page_has_every_rule_as_the_table_has_it() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    made = [
        f"| `{rule.id}` | {rule.level} | {rule.meaning} | {rule.remedy} | {'yes' if rule.is_fixable else ''} |"
        for rule in rules().values()
    ]
    assert [" ".join(row.split()) for row in rows] == [" ".join(row.split()) for row in made]


def test_an_unreadable_document_that_a_spec_can_do_without_is_a_warning(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, {"01_sum/design.md": "a\0b"})
    assert (finding.rule, finding.level) == ("unreadable", Level.WARNING)


def test_a_group_that_is_done_or_that_a_row_gives_requirements_to_is_not_empty(tmp_path: Path) -> None:
    titles = "\n- [x] 3. Ask\n- [~] 4. Guess\n- [ ] 5. Build\n- [ ] 6. Nothing\n"
    tasks = TASKS + titles + TRACES + "| 01-REQ-1.1 | TS-01-1 | 5 | `test_a` |\n"
    told = of_rule("empty-group", found(tmp_path, {"01_sum/tasks.md": tasks}))
    assert [what for _, what in told] == ["group 6 has only a title"]


def test_entries_of_tests_are_declared_in_any_list_and_samples_name_none(tmp_path: Path) -> None:
    tests = TEST_SPEC + "\n- TS-01-2: more\n2. TS-01-3 even more\n"
    tasks = TASKS + "    - _Test Spec: TS-01-2, TS-01-3_\n\n```\nTS-01-8\n```\n\n<!-- TS-01-9 -->\n"
    assert found(tmp_path, {"01_sum/test_spec.md": tests, "01_sum/tasks.md": tasks}) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everywhere")
def test_a_file_in_a_folder_that_may_not_be_looked_into_is_not_called_missing(tmp_path: Path) -> None:
    root = write(tmp_path, {"01_sum/design.md": "# D\n\n1. **`closed/a.py`** (modified)\n"})
    (root / "closed").mkdir(0)
    assert lint(read(root)).findings == ()


def test_findings_stand_in_the_order_of_files_and_lines(tmp_path: Path) -> None:
    broken = TASKS.replace("[ ]", "[X]") + "\n- [ ] 3. Something\n"
    files = {"01_sum/tasks.md": broken, "02_other/tasks.md": broken, "02_other/requirements.md": "# R\n"}
    findings = found(tmp_path, files)
    assert [(f.path, f.line) for f in findings] == sorted((f.path, f.line) for f in findings)
    own = [(f.line, f.rule) for f in findings if f.path.startswith("specs/01")]
    assert own == [(3, "upper-case-box"), (11, "empty-group")]


def test_all_boxes_of_a_file_are_one_finding(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, {"01_sum/tasks.md": TASKS.replace("[ ]", "[X]")})
    assert finding.what == "4 boxes are ticked with X"
    assert [edit.line for edit in finding.edits] == [3, 4, 7, 8]


def test_what_needs_the_repository_is_told_as_not_checked_where_there_is_none(tmp_path: Path) -> None:
    root = write(tmp_path, EXAMPLES["missing-file"][0])
    (root / ".git").rmdir()
    report = lint(read(root))
    assert report.findings == ()
    assert report.not_checked == (("missing-file", "the files of the repository are not here"),)


def test_a_path_narrows_what_is_told(tmp_path: Path) -> None:
    broken = TASKS.replace("[ ] 1.1", "[X] 1.1")
    world = read(
        write(tmp_path, {**OTHER, "01_sum/tasks.md": broken, "02_other/tasks.md": broken.replace("01-", "02-")})
    )
    report = lint(world)
    assert len(report.findings) == 2
    assert [f.spec for f in below(report, ["specs/02_other"], world.plan.specs).findings] == ["02_other"]
    assert [f.spec for f in below(report, ["specs/01_sum/tasks.md"], world.plan.specs).findings] == ["01_sum"]
    assert below(report, ["."], world.plan.specs) == report
    assert below(report, ["specs/01"], world.plan.specs).findings == ()


def test_a_spec_that_was_taken_back_is_not_judged(tmp_path: Path) -> None:
    findings = found(
        tmp_path, {"01_sum/prd.md": "**SUPERSEDED** by 07\n", "01_sum/tasks.md": TASKS.replace("[ ]", "[X]")}
    )
    assert [(f.rule, f.level) for f in findings] == [("taken-back", Level.NOTE)]


def test_a_name_that_is_no_rule_is_known() -> None:
    assert unknown_rules(["vague-word", "vague"]) == ("vague",)


def test_every_rule_is_known_by_a_sentence_or_looks_for_something_itself() -> None:
    of_others = {"foreign-id", "plan-error", "plan-warning"}
    looking = {rule.id for rule in rules().values() if check_of(rule) is not None}
    by_sentence = {rule.id for rule in rules().values() if rule.says}
    assert looking | by_sentence | of_others == {*rules()}
    assert not looking & by_sentence


def test_a_finding_that_moved_keeps_its_fingerprint(tmp_path: Path) -> None:
    twice = REQUIREMENTS + "2. [01-REQ-1.E1] IF it fails, THEN THE system SHALL stop.\n"
    (before,) = found(tmp_path / "a", {"01_sum/requirements.md": twice})
    (after,) = found(tmp_path / "b", {"01_sum/requirements.md": "\n\n" + twice})
    assert (before.line, after.line) == (12, 14)
    assert before.fingerprint == after.fingerprint
