"""Whose work a requirement is where no task says so: hard cases that were written before the rule, and its grounds."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from agent_fox.core.plan.blame import Ground, named_owners, ownership
from agent_fox.core.plan.guesses import LEAST_LEAD, LEAST_SCORE, terms
from agent_fox.core.regex import regex
from agent_fox.core.spec import Criterion, Group, Requirement, Spec, Subtask

MADE = Path(__file__).resolve().parents[3] / "fixtures" / "owners" / "made.toml"
CASES: list[dict[str, Any]] = tomllib.loads(MADE.read_text(encoding="utf-8"))["case"]
NAMED = regex(r"\s*\{(\d+(?:\.\d+)?)\}")


def made(groups: list[str], texts: dict[str, str], **marks: list[int]) -> Spec:
    """A spec: groups as `title :: task {1.1} | task`, requirements as id to text."""
    parts: dict[str, list[Criterion]] = {}
    for id, text in texts.items():
        parts.setdefault(id.partition(".")[0], []).append(Criterion(id, text))
    requirements = (
        Requirement(id, "", own[0].text) if own[0].id == id else Requirement(id, "", "", tuple(own))
        for id, own in parts.items()
    )
    made_groups = (group(number, text, **marks) for number, text in enumerate(groups, 1))
    return Spec("a", "kiro", "a", requirements=tuple(requirements), groups=tuple(made_groups))


def group(number: int, text: str, **marks: list[int]) -> Group:
    title, _, tasks = text.partition(" :: ")
    subtasks = (
        Subtask(f"{number}.{count}", NAMED.sub("", task), requirements=tuple(NAMED.findall(task)))
        for count, task in enumerate(tasks.split(" | "), 1)
    )
    return Group(
        number, title, subtasks=tuple(subtasks), is_checkpoint=number in marks.get("checkpoints", []),
        writes_tests_only=number in marks.get("tests_only", []),
    )  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_hard_case_goes_where_a_careful_person_sends_it(case: dict[str, Any]) -> None:
    marks = {name: case[name] for name in ("checkpoints", "tests_only") if name in case}
    owned = ownership(made(case["groups"], case["requirements"], **marks))
    assert {id: [*owned.owners[id]] for id in case["owners"]} == case["owners"]


BELLS = ["Doors :: Close the doors {1.1}", "Bells :: Ring `bell.py` at noon", "Bells of others :: Ring at `noon`"]


def test_each_owner_carries_its_ground() -> None:
    texts = {"1.1": "THE doors SHALL close", "2.1": "WHEN it is noon, `bell.py` SHALL ring", "3.1": "Nice"}
    grounds = ownership(made(BELLS, texts)).grounds
    assert {id: (owned.groups, owned.ground) for id, owned in grounds.items()} == {
        "1.1": ((1,), Ground.NAMED),
        "2.1": ((2,), Ground.GUESSED),
        "3.1": ((), Ground.NOBODY),
    }
    assert grounds["1.1"].why == "a task or a row names it"
    assert grounds["2.1"].why == "both say `bell.py`, bell, noon, ring"
    assert grounds["3.1"].why == "no task names it, and none shares enough with it"


def test_a_guess_names_the_group_that_comes_next_and_by_how_much() -> None:
    owned = ownership(made(BELLS, {"2.1": "WHEN it is noon, `bell.py` SHALL ring"})).grounds["2.1"]
    assert owned.guess is not None
    assert (owned.guess.group, owned.guess.runner_up) == (2, 3)
    assert owned.guess.score > LEAST_LEAD * owned.guess.runner_up_score > LEAST_SCORE


def test_one_group_that_makes_something_is_no_guess() -> None:
    spec = made(["All :: Do it", "Checkpoint :: Look"], {"1.1": "Greet"}, checkpoints=[2])
    owned = ownership(spec).grounds["1.1"]
    assert (owned.groups, owned.ground, owned.why) == ((1,), Ground.ALONE, "no other group makes anything")


def test_other_criteria_of_the_requirement_are_a_ground() -> None:
    texts = {"1.1": "Close", "1.2": "Lock", "1.3": "Close and lock again"}
    owned = ownership(made(["A :: a {1.1} {1.2}", "B :: b", "C :: c"], texts)).grounds["1.3"]
    assert (owned.groups, owned.why) == ((1,), "both say close, lock; 2 of its other criteria named there")


def test_a_persons_word_wins_over_what_is_named_and_guessed() -> None:
    spec = replace(made(BELLS, {"1.1": "a", "2.1": "`bell.py`"}), corrected={"1.1": (3,), "2.1": (1, 3)})
    owned = ownership(spec)
    assert owned.owners == {"1.1": (3,), "2.1": (1, 3)}
    assert {found.why for found in owned.grounds.values()} == {"a person says so"}
    assert named_owners(spec) == {"1.1": (1,), "2.1": ()}


def test_words_are_compared_by_their_stems_and_names_as_they_are() -> None:
    assert terms("Deleted comments") >= terms("delete a comment")
    assert "`GET /api/orders/{id}`" in terms("Add `GET /api/orders/{id}`")
    assert "`user_store`" not in terms("the user_store_archive")
    assert terms("THE system SHALL be able to") == terms("able")


def test_a_large_spec_costs_in_proportion() -> None:
    def seconds(count: int) -> float:
        groups = [f"Part {n} :: Build widget_{n} in src/widget_{n}.py | Test widget_{n}" for n in range(40)]
        spec = made(groups, {f"{n}.1": f"widget_{n % 40} SHALL answer request {n} politely" for n in range(count)})
        start = process_time()
        assert len(ownership(spec).guessed) == count
        return process_time() - start

    seconds(50)
    assert seconds(800) < 10 * seconds(200)
