"""What a person says of whose work requirements are, read against the plan as it is now."""

from __future__ import annotations

from dataclasses import replace

from agent_fox.core.plan.corrections import corrected, unknown_specs, words_for
from agent_fox.core.spec import Criterion, Group, Requirement, Severity, Spec

GROUPS = (Group(1, "Setup"), Group(2, "The  search"), Group(3, "The list"))
REQUIREMENT = Requirement("1", "t", "", (Criterion("1.1", "a"), Criterion("1.2", "b")))
SPEC = Spec("notes", "kiro", "notes", requirements=(REQUIREMENT,), groups=GROUPS)
FILE = ".agent-fox/owners.toml"


def owners(said: dict[str, object], spec: Spec = SPEC) -> dict[str, tuple[int, ...]]:
    found, problems = corrected(spec, said, FILE)
    assert problems == ()
    return found.corrected


def complaint(said: dict[str, object], spec: Spec = SPEC) -> tuple[Severity, str]:
    found, problems = corrected(spec, said, FILE)
    (problem,) = problems
    assert (found.corrected, problem.where, problem.spec) == ({}, FILE, "notes")
    return problem.severity, problem.what


def test_a_group_is_named_by_its_number_its_title_or_several_by_a_list() -> None:
    assert owners({"1.1": 2}) == {"1.1": (2,)}
    assert owners({"1.1": "2"}) == {"1.1": (2,)}
    assert owners({"1.1": words_for(GROUPS[1])}) == {"1.1": (2,)}
    assert owners({"1.1": [3, "1. Setup", 3]}) == {"1.1": (1, 3)}


def test_a_requirement_stands_for_its_parts_without_a_line_of_their_own() -> None:
    assert owners({"1.2": 3, "1": 1}) == {"1.1": (1,), "1.2": (3,)}


def test_a_title_is_found_again_under_another_number() -> None:
    moved = replace(SPEC, groups=(GROUPS[0], Group(2, "New"), replace(GROUPS[1], number=3)))
    assert owners({"1.1": "2. The search"}, moved) == {"1.1": (3,)}


def test_a_group_that_is_gone_is_said_and_not_used() -> None:
    renamed = replace(SPEC, groups=(GROUPS[0], Group(2, "Something else"), GROUPS[2]))
    severity, what = complaint({"1.1": "2. The search"}, renamed)
    assert severity is Severity.WARNING
    assert what == (
        "notes, 1.1: there is no group 2. The search any more: not used. Name one that is there, or take the line out"
    )
    assert complaint({"1.1": 9})[0] is Severity.WARNING


def test_an_id_that_is_gone_is_said() -> None:
    assert complaint({"1.12": 1}) == (
        Severity.WARNING,
        "notes: nothing of it is called 1.12; did you mean 1.2?: its line is not used. Take it out",
    )


def test_what_names_no_group_is_an_error() -> None:
    for value in ("the search", True, 2.5j, "", {"a": 1}, -1):
        assert complaint({"1.1": value})[0] is Severity.ERROR
    assert complaint({"1.1": []})[1].endswith("an empty list names no group: take the line out")


def test_a_table_for_a_spec_that_is_not_there_is_said() -> None:
    (problem,) = unknown_specs(["notes", "note"], ["notes"], FILE)
    assert problem.what == "there is no spec note; did you mean notes?: its lines are not used"
