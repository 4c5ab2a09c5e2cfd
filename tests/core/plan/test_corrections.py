"""What a person says of whose work requirements are, read against the plan as it is now."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_fox.core.plan.blame import Ground, Owned
from agent_fox.core.plan.corrections import corrected, doubt, number_of, numbers_of, unknown_specs, words_for
from agent_fox.core.plan.guesses import Guess
from agent_fox.core.spec import Criterion, Group, Problem, Requirement, Severity, Spec

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
    what = "there is no spec note; did you mean notes?: its lines are not used"
    assert [*unknown_specs(["notes", "note"], ["notes"], FILE)] == [Problem(Severity.WARNING, FILE, what)]


def test_two_requirements_each_stand_for_their_own_parts() -> None:
    other = Requirement("2", "t", "", (Criterion("2.1", "c"),))
    assert owners({"1": 1, "2": 3}, replace(SPEC, requirements=(REQUIREMENT, other))) == {
        "1.1": (1,),
        "1.2": (1,),
        "2.1": (3,),
    }


@pytest.mark.parametrize(
    ("value", "severity", "what"),
    [
        (
            "search",
            Severity.ERROR,
            "'search' names no group: write its number, or its number and title, such as 4 or '4. Checkout'",
        ),
        (
            [1, 9],
            Severity.WARNING,
            "there is no group 9 any more: not used. Name one that is there, or take the line out",
        ),
        ([], Severity.ERROR, "an empty list names no group: take the line out"),
    ],
)
def test_what_is_wrong_is_said_before_its_place_is_known(value: object, severity: Severity, what: str) -> None:
    assert numbers_of(SPEC, value) == Problem(severity, "", what, "notes")


def test_of_two_groups_with_one_title_the_number_tells_which() -> None:
    groups = (Group(1, "Same"), Group(2, "Same"))
    assert (number_of(groups, 2, "Same"), number_of(groups, 3, "Same")) == (2, None)


def test_only_a_guess_is_doubted_and_says_who_would_be_next() -> None:
    said = "a guess, for no task names it: both say bell."
    alone = Owned((2,), Ground.GUESSED, Guess(2, 0.5, ("bell",)))
    next_one = Owned((1, 2), Ground.GUESSED, Guess(2, 0.5, ("bell",), runner_up=3))
    assert doubt(SPEC, alone) == f"That this is the work of group 2. The search is {said}"
    assert doubt(SPEC, next_one) == (
        f"That this is the work of group 1. Setup, 2. The search is {said} "
        "If it is not, it would next be that of group 3. The list."
    )
    assert doubt(SPEC, alone, "Ann") == f"That this is the work of Ann is {said}"
    assert doubt(SPEC, Owned((2,), Ground.GUESSED)) == (
        "That this is the work of group 2. The search is a guess, for no task names it: ."
    )
    assert (doubt(SPEC, None), doubt(SPEC, Owned((2,), Ground.NAMED))) == ("", "")
