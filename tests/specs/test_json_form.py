"""The JSON form says the same as the Markdown form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.core.spec import Dependency, Severity, Spec, TaskState, Trace
from tests.specs.worlds import needs, read_one, write_spec

REQUIREMENTS = {
    "$schema": None,
    "requirements": [
        {
            "id": "05-REQ-1",
            "title": "T",
            "user_story": {"role": "user", "goal": "act", "benefit": "it works"},
            "acceptance_criteria": [
                {
                    "id": "05-REQ-1.1",
                    "ears_pattern": "event_driven",
                    "system": "THE app",
                    "action": "act",
                    "trigger": "asked",
                    "extra": 1,
                }
            ],
            "edge_cases": [
                {
                    "id": "05-REQ-1.E1",
                    "error_condition": "it fails",
                    "system": "the app",
                    "action": "say so",
                    "trigger": None,
                }
            ],
        }
    ],
}
TASKS = {
    "test_commands": {"spec_tests": "go test", "all_tests": None},
    "dependencies": [
        {"depends_on_spec": "01", "from_group": 0, "to_group": 2},
        {"depends_on_spec": "02", "from_group": 1, "to_group": 1, "sentinel": True},
    ],
    "task_groups": [
        {
            "id": 1,
            "kind": "tests",
            "title": "Write tests",
            "subtasks": [{"id": "1.1", "title": "a", "state": "done"}],
            "verification": {"id": "1.V", "checks": ["red"]},
        },
        {
            "id": 2,
            "kind": "standard",
            "title": "Build",
            "subtasks": [
                {"id": "2.1", "title": "b", "state": "done", "requirement_refs": ["05-REQ-1"], "details": None},
                {"id": "2.2", "title": "c", "state": "pending", "requirement_refs": ["05-REQ-9.1"]},
            ],
            "verification": None,
        },
        {
            "id": 3,
            "kind": "checkpoint",
            "title": "Check",
            "subtasks": [{"id": "3.1", "title": "d", "state": "dropped"}],
        },
    ],
    "traceability": [{"requirement_id": "05-REQ-1.1", "test_spec_id": "TS-05-1", "task_id": "2.1", "test_path": None}],
}


def folder(tmp_path: Path, requirements: object = REQUIREMENTS, tasks: object = TASKS, **more: str) -> Path:
    write_spec(
        tmp_path / "specs",
        "05_app",
        requirements_json=json.dumps(requirements, indent=1),
        tasks_json=json.dumps(tasks, indent=1),
        **more,
    )
    return tmp_path / "specs"


def test_requirements_have_their_ids_and_sentences(tmp_path: Path) -> None:
    spec, _ = read_one(folder(tmp_path))
    assert spec.dialect == "agent-fox"
    assert [(part.id, part.text) for part in spec.parts] == [
        ("05-REQ-1.1", "WHEN asked, THE app SHALL: act"),
        ("05-REQ-1.E1", "IF it fails, THEN the app SHALL: say so"),
    ]
    assert spec.requirements[0].text == "As a user, I want to act, so that it works."


def test_groups_stand_where_their_subtasks_stand(tmp_path: Path) -> None:
    spec, _ = read_one(folder(tmp_path))
    assert [(g.number, g.state, g.writes_tests_only) for g in spec.groups] == [
        (1, TaskState.DONE, True),
        (2, TaskState.IN_PROGRESS, False),
        (3, TaskState.SKIPPED, False),
    ]
    assert [subtask.number for subtask in spec.groups[0].subtasks] == ["1.1", "1.V"]
    assert spec.groups[1].requirements == ("05-REQ-1.1", "05-REQ-1.E1")
    assert "2.1 b" in spec.groups[1].text


def test_a_sentinel_and_group_zero_mean_the_last_group(tmp_path: Path) -> None:
    spec, _ = read_one(folder(tmp_path))
    assert [(d.spec, d.from_group, d.to_group) for d in spec.dependencies] == [("01", None, 2), ("02", None, 1)]
    assert spec.dependencies[0].where.startswith("specs/05_app/tasks.json:")


def test_rows_of_the_prd_count_for_specs_that_the_tasks_do_not_name(tmp_path: Path) -> None:
    spec, _ = read_one(folder(tmp_path, prd=needs("01_core | 3 | 1", "04_more | - | -")))
    assert [d.spec for d in spec.dependencies] == ["01", "02", "04_more"]
    assert spec.dependencies[2] == Dependency("04_more", None, None, "specs/05_app/prd.md:8")


def test_commands_and_traceability_are_read(tmp_path: Path) -> None:
    spec, _ = read_one(folder(tmp_path))
    assert spec.test_commands == {"spec_tests": "go test"}
    assert spec.traceability == (Trace("05-REQ-1.1", ("TS-05-1",), ("2.1",), ()),)


def test_a_reference_that_is_not_there_is_a_warning_with_its_line(tmp_path: Path) -> None:
    _, (problem,) = read_one(folder(tmp_path))
    assert problem.severity is Severity.WARNING
    assert "05-REQ-9.1" in problem.what
    assert problem.where.startswith("specs/05_app/tasks.json:")


def test_a_doubled_id_is_an_error_that_names_both_lines(tmp_path: Path) -> None:
    twice = {"requirements": [{"id": "05-REQ-1", "acceptance_criteria": [{"id": "05-REQ-1.1"}, {"id": "05-REQ-1.1"}]}]}
    spec, problems = read_one(folder(tmp_path, twice, {"task_groups": []}))
    assert spec.expected == ("05-REQ-1.1",)
    assert [p.severity for p in problems] == [Severity.ERROR]
    assert "lines 7 and 10" in problems[0].what


@pytest.mark.parametrize("text", ["{", "[1, 2]", '{"task_groups": 3}', '{"task_groups": [{"id": "x"}]}', "[" * 100_000])
def test_a_file_that_is_not_what_it_should_be_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    write_spec(tmp_path / "specs", "05_bad", tasks_json=text)
    write_spec(tmp_path / "specs", "06_good", tasks="- [ ] 1. A\n")
    spec, problems = read_one(tmp_path / "specs")
    assert spec.name == "06_good"
    assert [(p.severity, p.spec) for p in problems] == [(Severity.ERROR, "05_bad")]
    assert "specs/05_bad/tasks.json" in problems[0].where


def test_a_superseded_prd_withdraws_the_spec(tmp_path: Path) -> None:
    spec, _ = read_one(folder(tmp_path, prd="---\nspec_id: '05'\nstatus: superseded\n---\n# T\n"))
    assert spec.is_withdrawn
    assert spec.expected == ()


def test_a_requirement_that_is_withdrawn_by_status_is_not_expected(tmp_path: Path) -> None:
    first = REQUIREMENTS["requirements"]
    assert isinstance(first, list)
    more = {"requirements": [*first, {"id": "05-REQ-2", "status": "withdrawn"}]}
    spec, _ = read_one(folder(tmp_path, more))
    assert (spec.expected, spec.withdrawn) == (("05-REQ-1.1", "05-REQ-1.E1"), ("05-REQ-2",))


SECOND_REQUIREMENTS = {
    "schema_version": 2,
    "requirements": [
        {
            "id": "05-REQ-1",
            "title": "Moor",
            "rationale": "Boats drift.",
            "criteria": [
                {"id": "05-REQ-1.1", "pattern": "ubiquitous", "system": "the pier", "action": "hold"},
                {
                    "id": "05-REQ-1.2",
                    "pattern": "unwanted",
                    "condition": "a rope snaps",
                    "system": "the pier",
                    "action": "ring",
                    "contract": "a bell is heard",
                },
            ],
        },
        {
            "id": "05-REQ-2",
            "title": "Cast off",
            "criteria": [
                {
                    "id": "05-REQ-2.1",
                    "pattern": "complex_event",
                    "condition": "asked",
                    "guard": "at ebb",
                    "action": "go",
                }
            ],
        },
    ],
    "execution_paths": [{"id": "05-PATH-1", "title": "Out", "steps": []}],
}
SECOND_TASKS = {
    "schema_version": 2,
    "test_commands": {"all_tests": "make test"},
    "dependencies": [{"spec": "04_pier", "reason": "uses its planks"}],
    "tasks": [
        {
            "id": 1,
            "kind": "implement",
            "title": "Tie the ropes",
            "criteria": ["05-REQ-1"],
            "tests": ["TS-05-1"],
            "steps": ["Tie one", "Tie two"],
            "touches": ["ropes.py"],
            "state": "done",
        },
        {
            "id": 2,
            "kind": "implement",
            "title": "Untie them",
            "criteria": ["05-REQ-2.1", "05-REQ-7"],
            "tests": ["TS-05-2"],
            "depends_on": [1],
            "optional": True,
            "state": "in_progress",
        },
        {
            "id": 3,
            "kind": "integration",
            "title": "Sail",
            "tests": ["TS-05-3"],
            "done_when": ["out"],
            "state": "pending",
        },
    ],
}
SECOND_TESTS = {
    "tests": [
        {"id": "TS-05-1", "kind": "unit", "verifies": ["05-REQ-1.1", "05-REQ-1.2"]},
        {"id": "TS-05-2", "kind": "unit", "verifies": ["05-REQ-2.1"]},
        {"id": "TS-05-3", "kind": "smoke", "verifies": ["05-PATH-1"]},
    ]
}


def second(tmp_path: Path) -> Path:
    return folder(tmp_path, SECOND_REQUIREMENTS, SECOND_TASKS, test_spec_json=json.dumps(SECOND_TESTS))


def test_the_second_version_has_its_criteria_in_one_list_with_a_pattern_each(tmp_path: Path) -> None:
    spec, _ = read_one(second(tmp_path))
    assert [(part.id, part.text) for part in spec.parts] == [
        ("05-REQ-1.1", "the pier SHALL: hold"),
        ("05-REQ-1.2", "IF a rope snaps, THEN the pier SHALL: ring (observed: a bell is heard)"),
        ("05-REQ-2.1", "WHEN asked, AND at ebb, the system SHALL: go"),
    ]
    assert spec.requirements[0].text == "Boats drift."


def test_the_tasks_of_the_second_version_are_groups_without_subtasks(tmp_path: Path) -> None:
    spec, (problem,) = read_one(second(tmp_path))
    assert [(g.number, g.title, g.state, g.optional, g.requirements, g.subtasks) for g in spec.groups] == [
        (1, "Tie the ropes", TaskState.DONE, False, ("05-REQ-1.1", "05-REQ-1.2"), ()),
        (2, "Untie them", TaskState.IN_PROGRESS, True, ("05-REQ-2.1",), ()),
        (3, "Sail", TaskState.OPEN, False, (), ()),
    ]
    assert all(said in spec.groups[0].text for said in ("Tie one", "Tie two", "TS-05-1", "ropes.py", "05-REQ-1"))
    assert "group 2 names 05-REQ-7" in problem.what


def waiting(tmp_path: Path, *waits: object) -> tuple[Spec, list[str]]:
    """A group for each of what is waited for, and what is said of them."""
    groups = [{"id": n, "title": f"Do {n}", "depends_on": wait} for n, wait in enumerate(waits, 1)]
    tasks = {"tasks": groups}
    spec, problems = read_one(folder(tmp_path, SECOND_REQUIREMENTS, tasks))
    return spec, [problem.what for problem in problems]


def test_what_a_group_of_the_second_version_waits_for_is_kept_by_the_order_and_told_to_its_coder(
    tmp_path: Path,
) -> None:
    spec, problems = waiting(tmp_path, None, [1], [1], [], [4, "2"], None)
    assert problems == []
    assert [group.number for group in spec.groups if group.parallel] == [3, 4]
    assert [group.text.partition("Waits for: ")[2] for group in spec.groups] == ["", "1", "1", "", "4; 2", ""]


def test_a_group_that_waits_for_what_does_not_stand_before_it_is_told(tmp_path: Path) -> None:
    _, problems = waiting(tmp_path, [2], [2, 1, 7], ["T1"])
    assert [problem.partition(": groups")[0] for problem in problems] == [
        "group 1 waits for 2, which does not stand before it",
        "group 2 waits for 2, 7, which does not stand before it",
        "group 3 waits for T1, which does not stand before it",
    ]


def test_the_second_version_depends_on_whole_specs(tmp_path: Path) -> None:
    spec, _ = read_one(second(tmp_path))
    assert [(d.spec, d.from_group, d.to_group) for d in spec.dependencies] == [("04_pier", None, None)]


def test_the_tests_of_the_second_version_say_what_they_verify(tmp_path: Path) -> None:
    spec, _ = read_one(second(tmp_path))
    assert spec.traceability == (
        Trace("05-REQ-1.1", ("TS-05-1",), ("1",)),
        Trace("05-REQ-1.2", ("TS-05-1",), ("1",)),
        Trace("05-REQ-2.1", ("TS-05-2",), ("2",)),
    )


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ("{no json", "is not JSON"),
        ('<<<<<<< ours\n{}\n=======\n{"tests": []}\n>>>>>>> theirs\n', "merge"),
        ('{"tests": [{"id": "TS-05-1", "verifies": "05-REQ-1.1"}]}', "tests.0.verifies"),
        ('{"tests": [{"id": "TS-05-9", "verifies": ["05-REQ-9.9", "05-PATH-1"]}]}', "TS-05-9 verifies 05-REQ-9.9:"),
    ],
)
def test_tests_that_can_not_be_read_are_told_and_the_spec_is_planned(tests: str, said: str, tmp_path: Path) -> None:
    spec, (*_, problem) = read_one(folder(tmp_path, SECOND_REQUIREMENTS, SECOND_TASKS, test_spec_json=tests))
    assert (len(spec.groups), spec.traceability) == (3, ())
    assert problem.severity is Severity.WARNING
    assert problem.where.startswith("specs/05_app/test_spec.json")
    assert said in problem.what


def test_groups_of_the_second_version_stand_where_their_titles_stand(tmp_path: Path) -> None:
    folder_path = second(tmp_path)
    spec, _ = read_one(folder_path)
    lines = (folder_path / "05_app" / "tasks.json").read_text().splitlines()
    where, _, number = spec.places["group 2"].rpartition(":")
    assert where == "specs/05_app/tasks.json"
    assert "Untie them" in lines[int(number) - 1]


def test_a_group_that_stands_twice_is_kept_under_another_number_and_said(tmp_path: Path) -> None:
    groups = [{"id": 1, "title": "A"}, {"id": 1, "title": "B"}, {"id": 2, "title": "C"}]
    spec, problems = read_one(folder(tmp_path, tasks={"task_groups": groups}))
    assert [(group.number, group.title) for group in spec.groups] == [(1, "A"), (3, "B"), (2, "C")]
    (said,) = [problem for problem in problems if "stands twice" in problem.what]
    assert said.severity is Severity.WARNING
