"""Regression memory: births, lives, what is read, what is named, what decays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_fox.core import memory
from agent_fox.core.memory import (
    Birth,
    Item,
    Life,
    Limits,
    Move,
    Named,
    Reading,
    Remembered,
    Sketch,
    Status,
    Step,
    Watch,
)
from agent_fox.core.verdicts.proof import Trials, Tried
from agent_fox.core.verdicts.scope import Scope
from agent_fox.core.verdicts.verdict import RunTest, Word

OLD, THEN, LATER = "2026-01-01T00:00:00.000Z", "2026-03-01T12:00:00.000Z", "2026-03-02T12:00:00.000Z"


def run_test(number: int = 1) -> RunTest:
    return RunTest("pytest -q", "tests/test_a.py", (), f"test_{number}", f"tests/test_a.py::test_{number}")


def item(number: int = 1, birth: Birth = Birth.REPAIR, files: tuple[str, ...] = ("tests/test_a.py", "a.py")) -> Item:
    return Item(f"{number:016}", "01_a", f"01-REQ-{number}", "v1", run_test(number), birth, THEN, files)


def remembered(number: int = 1, files: tuple[str, ...] = ("tests/test_a.py", "a.py"), **life: object) -> Remembered:
    return Remembered(item(number, files=files), replace(Life(Status.FIXED), **life))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "now", "birth"),
    [
        (Word.PASS, Reading(Word.FAIL, (run_test(),)), Birth.REGRESSION),
        (Word.FAIL, Reading(Word.PASS, (run_test(),), how="red without"), Birth.REPAIR),
        (Word.FAIL, Reading(Word.PASS, (run_test(),), how="already true"), None),
        (Word.FAIL, Reading(Word.FAIL, (run_test(),)), None),
        (None, Reading(Word.FAIL, (run_test(),)), None),
        (None, Reading(Word.PASS, (run_test(),), how="red without"), None),
        (None, Reading(Word.FAIL, (run_test(),), evidence="Falsifying example: test_1(n=0)"), Birth.COUNTEREXAMPLE),
        (Word.UNKNOWN, Reading(Word.FAIL, (run_test(),)), None),
        (Word.PASS, Reading(Word.FAIL), None),
    ],
)
def test_a_verdict_makes_items_only_by_tests_that_ran(before: Word | None, now: Reading, birth: Birth | None) -> None:
    assert memory.birth_of(Reading(before), now) is birth


def test_a_repair_remembers_first_what_had_failed_and_was_seen_to_fail() -> None:
    tried = Tried("broken", "killed", file="b.py", test=run_test(3).id)
    trials = Trials("discriminates", "red", "c0", 1, is_recalled=False, tried=(tried,))
    now = Reading(Word.PASS, tuple(map(run_test, range(1, 6))), trials, "red without")
    then = Reading(Word.FAIL, (run_test(4),))
    assert memory.tests_born(Birth.REPAIR, then, now) == (run_test(4), run_test(3), run_test(1))
    assert memory.files_of(run_test(4), (then, now), {"c.py"}) == ("b.py", "c.py", "tests/test_a.py")
    scope = Scope(files=("d.py", "conftest.py"))
    rested = replace(now, rests_on=scope)
    assert memory.files_of(run_test(4), (rested,), ()) == ("b.py", "conftest.py", "d.py", "tests/test_a.py")
    whole = replace(now, trials=None, rests_on=replace(scope, whole="it asks the network"))
    assert memory.files_of(run_test(4), (whole,), ()) == ("tests/test_a.py",)


def test_a_change_of_very_many_files_says_nothing_of_what_an_item_depends_on() -> None:
    many = tuple(f"{number:03}.py" for number in range(101))
    assert memory.files_of(run_test(), (), many) == ("tests/test_a.py",)
    assert memory.files_of(run_test(), (), many[1:]) == (*many[1:], "tests/test_a.py")
    assert Reading(rests_on=Scope(files=many)).measured == ()
    assert Reading(rests_on=Scope(files=many[1:])).measured == many[1:]


def test_a_life_goes_from_birth_over_green_and_red_readings() -> None:
    moves = [
        Move(Step.BORN, THEN, commit="c1"), Move(Step.PASSED, THEN, commit="c2"), Move(Step.PASSED, THEN, commit="c3"),
    ]  # fmt: skip
    green = Life(Status.FIXED, Watch.EVERY, 2, "", THEN, THEN, "c3")
    assert memory.life_of(item(), moves) == green
    red = memory.moved(green, Move(Step.FAILED, LATER))
    assert red == Life(Status.REGRESSED, Watch.EVERY, 0, LATER, LATER, LATER, "c3")
    assert memory.moved(red, Move(Step.PASSED, LATER, commit="c4")).status is Status.FIXED


@pytest.mark.parametrize(
    ("birth", "life", "failed"),
    [
        (Birth.REPAIR, Life(Status.FIXED, touched_at=THEN, read_at=THEN), Status.REGRESSED),
        (Birth.REGRESSION, Life(Status.REGRESSED, last_seen=THEN, touched_at=THEN), Status.REGRESSED),
        (Birth.COUNTEREXAMPLE, Life(Status.OPEN, last_seen=THEN, touched_at=THEN), Status.OPEN),
        (Birth.PERSON, Life(Status.OPEN, touched_at=THEN), Status.OPEN),
    ],
)
def test_where_an_item_stands_at_its_birth(birth: Birth, life: Life, failed: Status) -> None:
    assert memory.born(item(birth=birth)) == memory.life_of(item(birth=birth), ()) == life
    assert memory.moved(life, Move(Step.FAILED, LATER)).status is failed


def test_a_repair_is_green_on_the_commit_of_its_birth() -> None:
    green = Life(Status.FIXED, touched_at=THEN, read_at=THEN, green_on="c1")
    assert memory.born(item(), "c1") == memory.life_of(item(), [Move(Step.BORN, THEN, commit="c1")]) == green


LOST = Life(Status.FIXED, Watch.TOUCH, 2, OLD, OLD, OLD, "c1", is_lost=True)


@pytest.mark.parametrize(
    ("move", "after"),
    [
        (Move(Step.FAILED, LATER), Life(Status.REGRESSED, Watch.EVERY, 0, LATER, LATER, LATER, "c1")),
        (Move(Step.PASSED, LATER), Life(Status.FIXED, Watch.TOUCH, 3, OLD, OLD, LATER, "c1")),
        (
            Move(Step.PASSED, LATER, "b.py", is_touched=True, commit="c2"),
            Life(Status.FIXED, Watch.TOUCH, 3, OLD, LATER, LATER, "c2", "b.py"),
        ),
        (Move(Step.LOST, LATER), replace(LOST, read_at=LATER)),
        (Move(Step.DEMOTED, LATER, is_touched=True), replace(LOST, touched_at=LATER)),
        (Move(Step.UNREAD, LATER, "b.py", is_touched=True), replace(LOST, read_at=LATER)),
    ],
)
def test_a_move_changes_of_a_life_what_it_is_about_and_nothing_else(move: Move, after: Life) -> None:
    assert memory.moved(LOST, move) == after


def test_a_test_that_is_gone_is_lost_and_no_failure_and_comes_back_when_it_is_found() -> None:
    lost = memory.moved(Life(Status.FIXED), Move(Step.LOST, LATER))
    assert (lost.status, lost.watch, lost.is_lost) == (Status.FIXED, Watch.TOUCH, True)
    found = memory.moved(lost, Move(Step.PASSED, LATER, file="tests/test_b.py"))
    assert (found.is_lost, found.file) == (False, "tests/test_b.py")
    assert Remembered(item(), found).test == replace(run_test(), file="tests/test_b.py")
    assert Remembered(item(), lost).test == run_test()


@pytest.mark.parametrize("status", Status)
def test_a_failure_of_what_worked_is_a_regression(status: Status) -> None:
    assert remembered(status=status).is_regression is (status in (Status.FIXED, Status.REGRESSED))


def test_an_item_has_the_same_id_for_ever() -> None:
    assert memory.item_id("01_a", "01-REQ-1", "v1", run_test()) == "ca97e793d1643d47"


@pytest.mark.parametrize("step", sorted(memory.ENDINGS))
def test_what_is_over_stays_over_whatever_is_said_of_it(step: Step) -> None:
    over = memory.moved(Life(Status.FIXED), Move(step, LATER))
    assert over.is_over
    assert all(memory.moved(over, Move(other, LATER)) == over for other in Step)
    assert (over.status is Status.ACCEPTED) is (step is Step.ACCEPTED)


def test_an_item_decays_by_green_readings_and_by_days_both() -> None:
    limits = Limits(green_readings=3, days=90)
    worn = Life(Status.FIXED, greens=3, touched_at=OLD)
    assert memory.is_worn(worn, limits, THEN)
    assert not memory.is_worn(replace(worn, greens=2), limits, THEN)
    assert not memory.is_worn(replace(worn, touched_at=THEN), limits, THEN)
    assert not memory.is_worn(replace(worn, status=Status.REGRESSED), limits, THEN)
    demoted = memory.moved(worn, Move(Step.DEMOTED, THEN))
    assert demoted.watch is Watch.TOUCH
    assert not memory.is_worn(demoted, limits, THEN)
    assert memory.moved(demoted, Move(Step.FAILED, LATER)).watch is Watch.EVERY


def test_a_pre_reading_runs_what_failed_then_what_is_touched_then_what_was_read_longest_ago() -> None:
    items = [
        remembered(1, read_at=LATER), remembered(2, read_at=OLD), remembered(3, files=("x.py",), read_at=THEN),
        remembered(4, status=Status.REGRESSED, read_at=LATER), remembered(5, watch=Watch.TOUCH),
        remembered(6, files=("tests/test_a.py", "x.py"), watch=Watch.TOUCH), remembered(7, watch=Watch.OVER),
    ]  # fmt: skip
    picked = memory.to_read(items, frozenset({"x.py"}), 4)
    assert [each.item.id[-1] for each in picked.items] == ["4", "6", "3", "2"]
    assert picked.left_out == 1
    assert memory.to_read(reversed(items), frozenset({"x.py"}), 4) == picked
    assert memory.to_read(items, frozenset({"x.py"}), 5).left_out == 0
    ranks = [memory.rank_to_read(each, frozenset({"x.py"})) for each in items]
    assert ranks == [2, 2, 1, 0, None, 1, None]


def test_an_item_whose_files_nobody_knows_is_touched_by_any_change() -> None:
    blind = item(files=("tests/test_a.py",))
    assert blind.is_touched_by(frozenset({"anything.py"}))
    assert not blind.is_touched_by(frozenset())
    assert not item().is_touched_by(frozenset({"anything.py"}))


def test_a_brief_names_its_own_requirements_first_and_counts_what_it_leaves_out() -> None:
    sketches = [
        Sketch("i3", "02_b/1", frozenset({"a.py"})), Sketch("i1", "01_a/2", frozenset({"z.py"})),
        Sketch("i2", "01_a/1", frozenset()), Sketch("i4", "03_c/1", frozenset({"y.py"})),
    ]  # fmt: skip
    parts, files = frozenset({"01_a/1", "01_a/2"}), frozenset({"a.py"})
    assert memory.to_name(sketches, parts, files, 2) == Named(("i2", "i1"), 1)
    assert memory.to_name(reversed(sketches), parts, files, 5) == Named(("i2", "i1", "i3"), 0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("E   Falsifying example: test_1(\nE       n=0, s='(',\nE   )\nE   more", "test_1( n=0, s='(', )"),
        ("E   Falsifying explicit example: test_1(n=0)", "test_1(n=0)"),
        ("E   Falsifying example: test_1(  \nE       n=0,\nE   )\nE   more", "test_1( n=0, )"),
        ("E   Falsifying example: test_1(\nE       n=0,", "test_1( n=0,"),
        ('Counterexample: [0,""]', '[0,""]'),
        ("minimal failing input: x = 0", "x = 0"),
        ("AssertionError: 1 != 2", ""),
    ],
)
def test_a_minimal_input_is_read_as_tools_print_it(text: str, found: str) -> None:
    assert memory.counterexample_in(text) == found


def test_items_of_one_cause_stand_under_the_oldest() -> None:
    first, second, other = remembered(1), remembered(2), remembered(3)
    joined = replace(second, item=replace(second.item, joins=first.item.id))
    assert memory.roots([first, joined, other]) == {first.item.id: (first, joined), other.item.id: (other,)}
