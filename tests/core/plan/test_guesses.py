"""Whose work a requirement is where no task says so: hard cases that were written before the rule, and its grounds."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from agent_fox.core.plan.blame import Ground, named_owners, ownership
from agent_fox.core.plan.guesses import (
    FIRM_LEAD,
    FIRM_SCORE,
    Guess,
    Reading,
    Saying,
    guesses,
    name_of,
    only_checks,
    saying_of,
    terms,
)
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
    assert owned.guess.score > FIRM_LEAD * owned.guess.runner_up_score > FIRM_SCORE


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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Cats", {"cat"}),
        ("sing", {"sing"}),
        ("able", {"abl"}),
        ("\u65e5\u672c\u8a9e", {"\u65e5\u672c", "\u672c\u8a9e"}),
        ("`bell()`,", {"`bell`", "bell"}),
        ("", set()),
    ],
)
def test_a_text_says_names_stems_and_pairs(text: str, found: set[str]) -> None:
    assert terms(text) == found


def test_a_name_is_what_stands_between_its_signs() -> None:
    assert name_of(" (`Xbox  run()`). ") == "Xbox run"


def reading() -> Reading:
    sayings = {
        1: Saying(dict.fromkeys(("bell", "ring", "`bell.py`", "ring bell"), 1.0), ()),
        2: Saying({"bell": 0.5, "gong": 1.0}, ()),
    }
    asked = {
        "1.1": frozenset({"bell", "ring", "ring bell", "noon"}),
        "1.2": frozenset({"bell", "`bell.py`", "door"}),
        "1.3": frozenset({"door", "lock"}),
        "2.1": frozenset({"lock"}),
    }
    return Reading(sayings, asked)


@pytest.mark.parametrize(
    ("word", "weight"),
    [
        ("ring", 0.8603),
        ("`bell.py`", 1.7205),
        ("ring bell", 0.8603),
        ("bell", 0.2522),
        ("gong", 1.0986),
        ("noon", 0.4301),
        ("`GET /bell`", 1.0986),
    ],
)
def test_a_word_tells_the_less_the_more_groups_say_it_and_requirements_ask_it(word: str, weight: float) -> None:
    assert reading().weight_of(word) == pytest.approx(weight, abs=0.0001)


def test_a_criterion_asks_its_own_words_most_and_those_around_it_too() -> None:
    criteria = tuple(Criterion(id, "") for id in ("1.1", "1.2", "1.3"))
    assert reading().shares_of("1.1", Requirement("1", "Doors of noon", "", criteria)) == pytest.approx(
        {"bell": 1.0, "ring": 1.0, "ring bell": 1.0, "noon": 1.0, "door": 0.6, "`bell.py`": 1 / 6, "lock": 1 / 6}
    )
    assert reading().shares_of("1.1", Requirement("1", "", "", criteria))["door"] == pytest.approx(1 / 3)


def test_a_score_is_half_the_whole_groups_and_half_its_best_tasks() -> None:
    saying = Saying({"a": 1.0, "b": 0.5, "d": 1.0}, [frozenset("a"), frozenset("bd"), frozenset("d")])
    assert Reading.score_of(saying, {"a": 2.0, "b": 8.0, "c": 1.0}) == 5.0


def test_what_is_shared_is_told_by_what_tells_most_and_no_pair_is() -> None:
    worths = {"a": 1.0, "z": 2.0, "`GET /n`": 2.0, "a z": 9.0, "nil": 0.0, "gone": 5.0}
    saying = Saying(dict.fromkeys(["a", "z", "`GET /n`", "a z", "nil"], 1.0), ())
    assert Reading.shared_words(saying, worths) == ("`GET /n`", "z", "a")


def test_a_group_says_its_title_most_its_makers_fully_and_half_what_it_checks_or_owns_by_name() -> None:
    tasks = (Subtask("1.1", "Ring gongs", details=("at dawn", "daily")), Subtask("1.2", "Test gongs twice"))
    assert saying_of(Group(1, "Bells", subtasks=tasks), frozenset({"lent", "bell"})) == Saying(
        {
            **{"ring": 1.0, "gong": 1.0, "ring gong": 1.0, "dawn": 1.0, "dawn dail": 1.0, "dail": 1.0},
            **{"test": 0.5, "test gong": 0.5, "twic": 0.5, "gong twic": 0.5, "lent": 0.5, "bell": 1.6},
        },
        [
            frozenset({"ring", "gong", "ring gong", "dawn", "dawn dail", "dail"}),
            frozenset({"test", "gong", "test gong", "gong twic", "twic"}),
        ],
    )


def test_a_guess_says_how_much_is_shared_and_who_comes_next() -> None:
    spec = made(BELLS, {"2.1": "WHEN it is noon, `bell.py` SHALL ring"})
    words = ("`bell.py`", "bell", "noon", "ring")
    assert guesses(spec, ["2.1"], {}) == {"2.1": Guess(2, 0.95, words, 0, 3, 0.35)}


def asking(count: int, groups: int = 2) -> Spec:
    """The last of so many criteria says nothing, as those beside it, which are named."""
    return made([f"G{n} :: a" for n in range(groups)], {f"1.{n}": "" for n in range(1, count + 1)})


@pytest.mark.parametrize(
    ("count", "first", "second", "guess"),
    [
        (3, 2, 0, Guess(1, 0.2, (), 2)),
        (15, 5, 0, Guess(1, 0.1, (), 5)),
        (15, 4, 0, Guess(1, 0.08, (), 4)),
        (42, 21, 20, Guess(1, 0.15, (), 21, 2, 0.14)),
        (43, 21, 21, None),
    ],
)
def test_criteria_beside_one_that_says_nothing_decide_where_they_are_enough_and_lead(
    count: int, first: int, second: int, guess: Guess | None
) -> None:
    owners = [*[(1,)] * first, *[(2,)] * second]
    named = {f"1.{number}": owner for number, owner in enumerate(owners, 1)}
    found = guesses(asking(count), [f"1.{count}"], named)
    assert found == ({} if guess is None else {f"1.{count}": guess})


@pytest.mark.parametrize(
    ("score", "next_score", "is_weak"), [(0.1, 0.0, False), (0.09, 0.0, True), (0.22, 0.2, False), (0.2, 0.2, True)]
)
def test_a_guess_is_weak_where_little_is_shared_or_another_group_shares_as_much(
    score: float, next_score: float, is_weak: bool
) -> None:
    assert Guess(1, score, (), 0, 2, next_score).is_weak is is_weak


@pytest.mark.parametrize(
    ("tasks", "checks"),
    [
        ("Verify that doors close | Run the suite | Trace each path | Close it", True),
        ("Write tests of doors | Close doors | Dead-code audit: doors", False),
        ("Implement smoke test: doors | Implement test for a lock", True),
        ("Close doors", False),
        ("", False),
    ],
)
def test_a_group_only_checks_where_three_of_four_tasks_do(tasks: str, checks: bool) -> None:
    assert only_checks(group(1, f"Doors :: {tasks}")) is checks
    assert not only_checks(Group(1, "Doors"))


def test_one_group_has_no_other_beside_it_and_no_group_owns_nothing() -> None:
    assert guesses(asking(3, 1), ["1.3"], {"1.1": (1,), "1.2": (1,)}) == {"1.3": Guess(1, 0.2, (), 2)}
    assert guesses(asking(1, 0), ["1.1"], {}) == {}


def test_a_ground_tells_only_what_there_is() -> None:
    assert Guess(1, 0.2, (), 2).why == "2 of its other criteria named there"
    assert Guess(1, 0.2, ("bell", "ring")).why == "both say bell, ring"
    assert Guess(1, 0.2, ()).why == "both say the same pairs of words or signs"


def test_a_large_spec_costs_in_proportion() -> None:
    def seconds(count: int) -> float:
        groups = [f"Part {n} :: Build widget_{n} in src/widget_{n}.py | Test widget_{n}" for n in range(40)]
        spec = made(groups, {f"{n}.1": f"widget_{n % 40} SHALL answer request {n} politely" for n in range(count)})
        start = process_time()
        assert len(ownership(spec).guessed) == count
        return process_time() - start

    seconds(50)
    assert min(seconds(800), seconds(800)) < 10 * seconds(200)  # either may meet a collection of all there is
