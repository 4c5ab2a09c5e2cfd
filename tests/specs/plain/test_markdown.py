"""A plain Markdown spec, as people write it in five minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.spec import Criterion, Dependency, Problem, Requirement, Severity, Spec, TaskState
from agent_fox.specs.plain.dialect import PlainDialect
from agent_fox.specs.reader import read_specs
from tests.specs.worlds import usual

TASKS = "## Tasks\n\n- [ ] Build\n"


def read(tmp_path: Path, text: str, name: str = "lock.md") -> tuple[Spec, tuple[Problem, ...]]:
    specs, problems = read_all(tmp_path, text, name)
    assert len(specs) == 1
    return specs[0], problems


def read_all(tmp_path: Path, text: str, name: str = "lock.md") -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return PlainDialect().read_all(tmp_path / name, tmp_path)


def requirements(tmp_path: Path, text: str) -> tuple[Requirement, ...]:
    spec, problems = read(tmp_path, f"# Spec: Lock\n\n## Requirements\n\n{text}\n\n{TASKS}")
    assert problems == ()
    return spec.requirements


def test_a_list_is_enough(tmp_path: Path) -> None:
    text = "# Spec: Lock\n\n## Requirements\n\n- It opens.\n* It closes.\n\n## Tasks\n\n- [ ] Open\n- [x] Close\n"
    spec, problems = read(tmp_path, text)
    assert (spec.name, spec.title, spec.dialect, spec.path, problems) == ("lock", "Lock", "plain", "lock.md", ())
    assert spec.requirements == (Requirement("1", "It opens."), Requirement("2", "It closes."))
    assert [(group.number, group.title, group.state) for group in spec.groups] == [
        (1, "Open", TaskState.OPEN),
        (2, "Close", TaskState.DONE),
    ]
    assert spec.implied == {"1", "2"}
    assert (spec.place("2"), spec.place("group 2")) == ("lock.md:6", "lock.md:11")


def test_what_stands_below_an_item_is_proven_with_it(tmp_path: Path) -> None:
    (found,) = requirements(tmp_path, "- It opens.\n  - By phone.\n\n  **Edge cases:**\n\n  - Not without power.")
    assert found == Requirement(
        "1",
        "It opens.",
        "",
        (Criterion("1.1", "It opens.\nBy phone."),),
        (Criterion("1.E1", "It opens.\nNot without power."),),
    )


def test_a_heading_is_a_requirement_and_its_words_count_for_each_criterion(tmp_path: Path) -> None:
    (found,) = requirements(
        tmp_path, "### Opening\n\nDoors open.\n\n1. By phone.\n2. By key.\n\n#### Edge cases\n\n- No."
    )
    assert (found.id, found.title, found.text) == ("1", "Opening", "Doors open.")
    assert [part.id for part in found.parts] == ["1.1", "1.2", "1.E1"]
    assert found.criteria[0].text == "Doors open.\nBy phone."


@pytest.mark.parametrize(
    ("written", "identifier", "text"),
    [
        ("[LOCK-1] It opens.", "LOCK-1", "It opens."),
        ("[R-LOG] It logs.", "R-LOG", "It logs."),
        ("**FR-001**: It opens.", "FR-001", "It opens."),
        ("**FR-001:** It opens.", "FR-001", "It opens."),
        ("`04-REQ-1.2` It opens.", "04-REQ-1.2", "It opens."),
        ("FR-001\uff1a開く", "FR-001", "開く"),
        ("US1: It opens.", "US1", "It opens."),
        ("**2FA** is asked for.", "1", "**2FA** is asked for."),
        ("10:30 is when it opens.", "1", "10:30 is when it opens."),
        ("[paper2](a.md) says so.", "1", "[paper2](a.md) says so."),
        ("Note: it opens.", "1", "Note: it opens."),
    ],
)
def test_an_id_counts_where_it_is_plainly_one(tmp_path: Path, written: str, identifier: str, text: str) -> None:
    assert requirements(tmp_path, f"- {written}") == (Requirement(identifier, text),)


def test_a_place_whose_id_is_taken_gets_the_next_one(tmp_path: Path) -> None:
    found = requirements(tmp_path, "- First\n- [2] Second\n- [3] Third\n- Fourth\n- [1] One")
    assert [one.id for one in found] == ["4", "2", "3", "5", "1"]


def test_an_id_that_stands_twice_is_an_error_with_both_lines(tmp_path: Path) -> None:
    text = f"# Spec: Lock\n\n## Requirements\n\n- [A-1] x\n- [A-1] y\n\n{TASKS}"
    spec, (problem,) = read(tmp_path, text)
    assert [one.title for one in spec.requirements] == ["x"]
    assert (problem.severity, problem.where, problem.spec) == (Severity.ERROR, "lock.md:6", "lock")
    assert "lines 5 and 6" in problem.what


def test_what_is_struck_out_keeps_its_place_and_is_not_expected(tmp_path: Path) -> None:
    spec, _ = read(tmp_path, f"# Spec: L\n\n## Requirements\n\n- A\n- ~~B~~\n- C\n\n{TASKS}")
    assert (spec.expected, spec.withdrawn) == (("1", "3"), ("2",))


def test_code_comments_and_deeper_lists_are_text_or_nothing(tmp_path: Path) -> None:
    text = "### A\n\n- One\n  ```\n  - not two\n  ```\n  - a detail\n<!-- - gone -->\n- Two"
    (found,) = requirements(tmp_path, text)
    assert [part.id for part in found.parts] == ["1.1", "1.2"]
    assert found.criteria[0].text == "One\n```\n- not two\n```\n- a detail"


def test_tasks_need_no_numbers_and_name_requirements(tmp_path: Path) -> None:
    text = (
        "# Spec: L\n\n## Requirements\n\n- A\n  - B\n  - C\n\n"
        "## Tasks\n\n- [ ] First (optional)\n  - [ ] Sub (parallel)\n"
        "    - _Requirements: 1.1_\n  - [X] Other (after 1.1)\n    - a detail\n    - _Requirements: 1_\n"
        "- [ ] Checkpoint\n- [~] 7. Last\n"
    )
    spec, problems = read(tmp_path, text)
    assert problems == ()
    first, check, last = spec.groups
    assert (first.title, first.optional, first.requirements) == ("First", True, ("1.1", "1.2"))
    assert [(task.number, task.title, task.parallel, task.after, task.state) for task in first.subtasks] == [
        ("1.1", "Sub", True, (), TaskState.OPEN),
        ("1.2", "Other", False, ("1.1",), TaskState.DONE),
    ]
    assert first.subtasks[1].details == ("a detail",)
    assert (check.number, check.is_checkpoint, last.number, last.state) == (2, True, 7, TaskState.SKIPPED)
    assert spec.place("task 1.2") == "lock.md:14"


def test_a_reference_that_leads_nowhere_is_a_warning(tmp_path: Path) -> None:
    _, (problem,) = read(
        tmp_path, "# Spec: L\n\n## Requirements\n\n- A\n\n## Tasks\n\n- [ ] B\n  - _Requirements: 1.9_\n"
    )
    assert (problem.severity, problem.where) == (Severity.WARNING, "lock.md:10")
    assert "1.9" in problem.what


def test_commands_and_dependencies_are_lists_too(tmp_path: Path) -> None:
    text = (
        f"# Spec: L\n\n## Requirements\n\n- A\n\n{TASKS}\n## Test commands\n\n- `make test`\n- linter: ruff check\n\n"
        "## Depends on\n\n- 01_core\n- `02 b`: its group 2 before group 1 (archived)\n- none\n"
    )
    spec, problems = read(tmp_path, text)
    assert problems == ()
    assert spec.test_commands == {"all_tests": "make test", "linter": "ruff check"}
    assert spec.dependencies == (
        Dependency("01_core", None, None, "lock.md:18"),
        Dependency("02 b", 2, 1, "lock.md:19", is_archived=True),
    )


def test_any_language_any_line_ends(tmp_path: Path) -> None:
    text = "\ufeff# Spec\uff1a 鍵\r\n\r\n## 内容\r\n\r\n+ 開く\r\n+ 閉じる\r\n\r\n## 作業\r\n\r\n+\t[ ] 作る\r\n"
    (tmp_path / "lock.md").write_bytes(text.encode())
    (spec,), problems = PlainDialect().read_all(tmp_path / "lock.md", tmp_path)
    assert (spec.title, spec.expected, [g.title for g in spec.groups], problems) == ("鍵", ("1", "2"), ["作る"], ())


def test_several_specs_in_a_file_have_names(tmp_path: Path) -> None:
    one = f"## Requirements\n\n- A\n\n{TASKS}\n"
    specs, (problem,) = read_all(tmp_path, f"# Spec: `a`: A\n\n{one}# Spec: B\n\n{one}# Spec: `c`\n\n{one}")
    assert [(spec.name, spec.title) for spec in specs] == [("a", "A"), ("c", "c")]
    assert (problem.where, problem.spec) == ("lock.md:11", "lock")


def test_a_title_may_hold_a_colon(tmp_path: Path) -> None:
    spec, _ = read(tmp_path, f"# Spec: Locks: the second\n\n## Requirements\n\n- A\n\n{TASKS}")
    assert (spec.name, spec.title) == ("lock", "Locks: the second")


@pytest.mark.parametrize(
    ("words", "is_withdrawn", "is_baseline"),
    [("> SUPERSEDED by `new`", True, False), ("Status: baseline", False, True), ("A lock.", False, False)],
)
def test_the_first_words_may_take_it_back(tmp_path: Path, words: str, is_withdrawn: bool, is_baseline: bool) -> None:
    spec, _ = read(tmp_path, f"# Spec: L\n\n{words}\n\n## Requirements\n\n- A\n\n{TASKS}")
    assert (spec.is_withdrawn, spec.is_baseline, bool(spec.withdrawn)) == (is_withdrawn, is_baseline, is_withdrawn)


def test_half_a_spec_is_ours_and_its_trouble_is_named(tmp_path: Path) -> None:
    _, (problem,) = read(tmp_path, "# Spec: Half\n\n## Ideas\n")
    assert (problem.severity, problem.where, problem.spec) == (Severity.WARNING, "lock.md:1", "lock")
    assert "`## Requirements` and `## Tasks` (its sections: Ideas)" in problem.what


@pytest.mark.parametrize(
    ("content", "where", "word"),
    [
        (b"# Spec: A\n\x00", "lock.md", "binary"),
        (b"# Spec: A\n\xff\n", "lock.md:2", "UTF-8"),
        (b"# Spec: A\n<<<<<<< a\n=======\n>>>>>>> b\n", "lock.md:2", "merge"),
        (b"# Spec: A\n" + b"a" * (8 << 20), "lock.md", "limit"),
    ],
    ids=["binary", "not UTF-8", "merge", "huge"],
)
def test_a_bad_file_is_named_and_hides_no_other(tmp_path: Path, content: bytes, where: str, word: str) -> None:
    usual(tmp_path, "01_a")
    (tmp_path / "lock.md").write_bytes(content)
    specs, problems = read_specs(tmp_path, tmp_path)
    assert "01_a" in [spec.name for spec in specs]
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    assert [(problem.where, problem.spec) for problem in errors] == [(where, "lock")]
    assert word in errors[0].what


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.md", "# Notes\n\n# Spec: A\n"),
        ("notes.md", "## Spec: A\n"),
        ("notes.md", "```\n# Spec: A\n```\n"),
        ("spec.md", "# Spec: A\n"),
        ("README.md", "# Spec: A\n"),
        ("a.txt", "# Spec: A\n"),
        ("pyproject.toml", "requirements = []\n[project]\n"),
        ("config.toml", 'title = "A"\n[test_commands]\n'),
        ("other.toml", "[a]\nrequirements = []\n"),
    ],
)
def test_other_files_are_not_ours(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert not PlainDialect().recognises(tmp_path / name)


def test_folders_links_to_nowhere_and_pipes_are_not_ours(tmp_path: Path) -> None:
    (tmp_path / "a.md").mkdir()
    (tmp_path / "b.md").symlink_to("gone.md")
    assert not any(PlainDialect().recognises(tmp_path / name) for name in ("a.md", "b.md", "c.md"))


def said(problems: tuple[Problem, ...]) -> list[tuple[str, str]]:
    return [(problem.where, problem.what.partition(":")[0]) for problem in problems]


@pytest.mark.parametrize("front", ["", "---\ntitle: x\n---\n"])
def test_a_banner_above_the_heading_takes_a_spec_back(tmp_path: Path, front: str) -> None:
    spec, problems = read(tmp_path, f"{front}> **SUPERSEDED** by 05\n\n# Spec: Lock\n\n## Requirements\n- a\n\n{TASKS}")
    assert (spec.is_withdrawn, spec.requirements) == (True, ())
    assert [what for _, what in said(problems)] == ["lock is superseded"]


def test_a_banner_above_several_specs_is_none_of_theirs(tmp_path: Path) -> None:
    text = "SUPERSEDED\n\n# Spec: `a`\n\n## Requirements\n- a\n\n## Tasks\n- x\n"
    specs, _ = read_all(tmp_path, text + text.replace("`a`", "`b`").removeprefix("SUPERSEDED\n"))
    assert [spec.is_withdrawn for spec in specs] == [False, False]


def test_a_baseline_needs_no_tasks(tmp_path: Path) -> None:
    _, problems = read(tmp_path, "# Spec: Lock\nStatus: baseline\n\n## Requirements\n- a\n")
    assert problems == ()


def test_a_section_may_be_one_requirement(tmp_path: Path) -> None:
    text = "# Spec: Lock\n\n## Requirement: Close\nIt SHALL close.\n- now\n\n## Requirement 2: Open\n- then\n\n" + TASKS
    spec, problems = read(tmp_path, text)
    assert problems == ()
    assert [(one.id, one.title, one.text) for one in spec.requirements] == [
        ("1", "Requirement: Close", "It SHALL close."),
        ("2", "Open", ""),
    ]
    assert spec.requirements[0].criteria == (Criterion("1.1", "It SHALL close.\nnow"),)


def test_notes_ask_for_nothing(tmp_path: Path) -> None:
    text = "### A\n- a\n\n**Notes:**\n\n- no\n\n**Edge cases:**\n- e\n\n#### Out of scope\n- no\n\n### B\n- b"
    first, second = requirements(tmp_path, text)
    assert [part.text for one in (first, second) for part in one.parts] == ["a", "e", "b"]


def test_notes_may_be_what_a_program_keeps_and_what_they_ask_for_is_said(tmp_path: Path) -> None:
    kept = "### Notes\n- It SHALL keep notes.\n\n#### Notes\n- It MUST not lose any."
    text = f"# Spec: Lock\n\n## Requirements\n\n{kept}\n\n{TASKS}"
    spec, problems = read(tmp_path, text)
    assert [one.title for one in spec.requirements] == ["Notes"]
    assert [part.text for one in spec.requirements for part in one.parts] == ["It SHALL keep notes."]
    assert said(problems) == [("lock.md:9", "what this line asks for is not read")]


def test_boxes_below_questions_are_no_tasks_and_said(tmp_path: Path) -> None:
    text = f"# Spec: Lock\n\n## Requirements\n- a\n\n{TASKS}\n## Open questions\n- [ ] Who?\n"
    spec, problems = read(tmp_path, text)
    assert [group.title for group in spec.groups] == ["Build"]
    assert said(problems) == [("lock.md:10", 'the boxes under "Open questions" are no tasks')]


def test_what_is_asked_for_in_no_item_is_said(tmp_path: Path) -> None:
    text = f"# Spec: Lock\n\n## Requirements\n\nAll of this:\n\n- a\n\nThe lock MUST close.\n\n{TASKS}"
    _, problems = read(tmp_path, text)
    assert said(problems) == [("lock.md:9", "what this line asks for is not read")]


def test_empty_items_are_said_and_nobody_s(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, f"# Spec: Lock\n\n## Requirements\n- a\n  - b\n- [ ]\n-\n- c\n\n{TASKS}")
    assert [one.id for one in spec.requirements] == ["1", "4"]
    assert said(problems) == [("lock.md:6", "this item says nothing"), ("lock.md:7", "this item says nothing")]


def test_headings_among_tasks_are_said(tmp_path: Path) -> None:
    text = "# Spec: Lock\n\n## Requirements\n- a\n\n## Tasks\n\n### Set up\n- [ ] x\n\n### Build\n- [ ] y\n"
    spec, problems = read(tmp_path, text)
    assert [group.title for group in spec.groups] == ["x", "y"]
    assert said(problems) == [("lock.md:8", "no groups by themselves")]


def test_names_of_specs_may_stand_in_one_line_or_be_links(tmp_path: Path) -> None:
    text = f"# Spec: Lock\n\n## Requirements\n- a\n\n{TASKS}\n## Depends on\n\na, `b`\n\n- [c](c.md)\n- (see above)\n"
    spec, problems = read(tmp_path, text)
    assert [(row.spec, row.where) for row in spec.dependencies] == [
        ("a", "lock.md:12"),
        ("b", "lock.md:12"),
        ("c", "lock.md:14"),
    ]
    assert said(problems) == [("lock.md:15", "this line names no spec")]


def test_marks_beyond_any_number_stay_in_the_title(tmp_path: Path) -> None:
    spec, _ = read(tmp_path, f"# Spec: Lock\n\n## Requirements\n- a\n\n## Tasks\n- x{' (optional)' * 20_000}\n")
    assert spec.groups[0].optional
