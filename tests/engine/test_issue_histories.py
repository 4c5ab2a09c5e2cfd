"""Random histories of issues at the fake GitHub (a double for the service alone): never two, none lost, none left open.

One that fails is played again by `python -m tests.engine.issue_history SEED`. `FAULT_ROUNDS` asks for more of them. The
small stories at the end are what such histories have found.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.store import desk as desk_rows
from agent_fox.store import outbox
from agent_fox.store.desk import Rates
from agent_fox.store.state import transaction
from agent_fox.testing.github import Answer, Fault, Grant, Request, faults
from agent_fox.testing.github.contract import checked, read_description
from agent_fox.trackers.desk import Desk, LeaseLost
from tests.engine.issue_history import FAULTS, history
from tests.engine.issue_world import World, connected, template, world
from tools import github_description

ROUNDS = max(2_000, 100 * int(os.environ.get("FAULT_ROUNDS", "0")))
CHUNK = 100
KINDS = (
    *(f"fault: {name}" for name in FAULTS),
    *(f"mode: {name}" for name in (
        "lag", "comment lag", "empty lists", "a missing page", "labels dropped", "token expired", "no permission",
        "invisible", "issues off", "archived",
    )),
    *(f"crash {where}" for where in (
        "before a decision commits", "at a transaction", "before a request arrives", "after a request was answered",
    )),
    *(f"decided: {what}" for what in ("fails", "blocked", "proven", "waived", "a part waived", "removed")),
    *(f"person: {what}" for what in (
        "closes", "refuses", "opens again", "comments", "edits", "removes the mark", "locks", "transfers",
        "transfers away", "deletes", "bot comments", "copies a comment",
    )),
    *(f"stranger: {what}" for what in ("copied mark", "forged mark", "pull request", "discussion")),
    *(f"clock: {what}" for what in ("jumps on", "jumps back", "hours", "a month")),
    "state: copied", "state: restored", "another engine", "restart",
)  # fmt: skip
SHARED = {"01-REQ-1.1": "boom"}


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return template(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="module")
def met() -> Counter[str]:
    """What happened in all histories of this module."""
    return Counter()


def played(seed: int, folder: Path, state: Path, met: Counter[str]) -> list[str]:
    with history(seed, folder, state) as at:
        problems = at.play()
    met.update(at.counts + at.world.doom.met)
    met["exchanges"] += len(at.world.fake.exchanges)
    met["histories"] += 1
    return problems


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(CHUNK, ROUNDS, CHUNK))]
)
def test_whatever_happens_each_cause_has_one_issue_and_it_is_open_while_it_fails(
    first: int, tmp_path: Path, state: Path, met: Counter[str]
) -> None:
    for seed in range(first, first + CHUNK):
        problems = played(seed, tmp_path, state, met)
        assert not problems, f"python -m tests.engine.issue_history {seed}: {problems}"


@pytest.mark.slow
def test_everything_that_can_go_wrong_went_wrong_in_these_histories(met: Counter[str]) -> None:
    if met["histories"] < ROUNDS:
        pytest.skip("only some of the histories were played")
    assert [kind for kind in KINDS if met[kind] < 5] == []
    assert met["excused"] < met["histories"] / 50


def test_every_exchange_of_histories_is_as_github_describes_it(tmp_path: Path, state: Path) -> None:
    file = github_description.cached()
    if not file.exists():
        pytest.skip("GitHub's description of its API is not here: `python -m tools.github_description` fetches it")
    met: Counter[str] = Counter()
    with checked(read_description(file), is_tolerant=True) as seen:
        for seed in range(10_000, 10_012):
            assert played(seed, tmp_path, state, met) == []
    assert seen.problems == []
    assert met["exchanges"] > 300


def test_without_the_fence_two_engines_file_twice(tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Desk, "hold", lambda desk: True)
    monkeypatch.setattr(Desk, "keep", lambda desk: None)
    found = (played(seed, tmp_path, state, Counter()) for seed in range(196, 400))
    assert any("is filed although it has an open issue" in problem for problems in found for problem in problems)


# what such histories have found


@pytest.fixture
def here(tmp_path: Path, state: Path) -> Iterator[World]:
    with world(tmp_path, state) as found:
        found.start()
        yield found


def at_request(here: World, number: int, act: Callable[[], None]) -> None:
    """`act` happens just before that request from now on arrives."""
    left = [number]

    def watch(request: Request) -> None:
        left[0] -= 1
        if left[0] == -1:
            act()

    here.watchers.append(watch)


def another(here: World, seconds: float, is_leaving: bool) -> Callable[[], None]:
    """This process is held up for so long, and another one delivers."""

    def act() -> None:
        mine = here.engine
        here.times.pass_by(seconds)
        db = connected(here.folder / "state.db", here.doom)
        other = here.engine = here.seated(db)
        here.deliver(other)
        if is_leaving:
            other.desk.leave()
        db.close()
        here.engine = mine
        here.times.pass_by(2.0)

    return act


@pytest.mark.parametrize("request_number", range(12))
@pytest.mark.parametrize("is_leaving", [True, False])
def test_who_was_held_up_while_another_delivered_does_nothing_of_it_again(
    here: World, request_number: int, is_leaving: bool
) -> None:
    here.fails("01_gate", SHARED, "first")
    at_request(here, request_number, another(here, 400.0, is_leaving))
    assert here.engine is not None
    here.deliver(here.engine)
    here.settle()
    assert [issue.number for _, issue, _ in here.ours()] == [1]
    assert here.problems == []


def test_a_lease_that_another_had_meanwhile_is_not_kept_even_if_it_was_given_back(here: World) -> None:
    assert here.engine is not None
    mine, other = here.engine.desk, replace(here.engine.desk, holder="another")
    assert mine.hold()
    here.times.pass_by(130.0)
    mine.keep()
    here.times.pass_by(130.0)
    assert other.hold()
    other.leave()
    with pytest.raises(LeaseLost):
        mine.keep()
    with pytest.raises(LeaseLost):
        mine.write()
    assert mine.hold()


def test_a_spec_that_was_removed_and_comes_back_failing_has_its_issue_opened_again(here: World) -> None:
    assert here.engine is not None
    here.fails("01_gate", SHARED, "first")
    here.deliver(here.engine)
    here.is_removed("01_gate")
    here.deliver(here.engine)
    here.begin(here.engine)
    (issue,) = here.fake.issues
    assert (issue.face.state, issue.face.reason) == ("closed", "not_planned")
    here.fails("01_gate", SHARED, "again")
    here.settle()
    assert issue.is_open
    alex = here.fake.person()
    alex.closes(1, "not_planned")
    here.fails("01_gate", SHARED, "third")
    here.settle()
    assert not issue.is_open


def test_words_that_the_list_of_comments_does_not_show_yet_keep_an_issue_open(here: World) -> None:
    assert here.engine is not None
    here.fails("01_gate", SHARED, "first")
    here.deliver(here.engine)
    here.fake.person().comments(1, "Please leave this open.")
    here.fake.knobs.comment_lag = 300.0
    here.is_proven("01_gate")
    here.settle()
    assert here.fake.issues[0].is_open
    assert len(here.fake.issues[0].comments) == 2


def test_comments_that_are_never_shown_hold_up_a_proof_for_a_while_only(here: World) -> None:
    assert here.engine is not None
    here.fails("01_gate", SHARED, "first")
    here.deliver(here.engine)
    here.fake.person().comments(1, "Spam, hidden for good.")
    here.fake.knobs.comment_lag = 1e9
    here.is_proven("01_gate")
    here.settle()
    assert not here.fake.issues[0].is_open


def test_an_issue_with_the_same_number_in_another_repository_of_ours_is_no_witness(here: World) -> None:
    assert here.engine is not None
    assert here.other is not None
    here.fails("01_gate", SHARED, "first")
    here.deliver(here.engine)
    assert here.fake.person().transfers(1, here.other).number == 1
    here.fails("03_well", {"03-REQ-1.1": "no rule"}, "other")
    assert here.settle() < 5
    assert [(issue.number, where.name) for _, issue, where in here.ours()] == [(1, "other"), (2, "project")]


def test_an_issue_is_not_taken_as_gone_while_the_token_may_see_nothing(here: World) -> None:
    assert here.engine is not None
    assert here.other is not None
    here.fails("01_gate", SHARED, "first")
    here.deliver(here.engine)
    here.fake.person().transfers(1, here.other)
    here.new_run()
    here.fails("01_gate", SHARED, "again")
    here.fake.token.grant = Grant.NONE
    here.deliver(here.engine)
    assert len(outbox.held(here.db)) == 1
    here.fake.token.grant = Grant.WRITE
    here.settle()
    assert len(here.other.issues[1].comments) == 1


def test_a_limit_met_by_one_question_is_obeyed_by_the_next_ones_and_by_the_next_process(here: World) -> None:
    assert here.engine is not None
    here.fails("01_gate", SHARED, "first")
    here.fake.faults.append(Fault(faults.lists, faults.limited("60")))
    here.deliver(here.engine)
    here.begin(here.start())
    assert len(here.fake.exchanges) == 1
    here.times.pass_by(120.0)
    here.settle()
    assert here.fake.violations == ()
    assert len(here.ours()) == 1


def test_a_write_that_must_wait_asks_a_few_times_and_not_for_ever(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert here.engine is not None
    asked: list[float] = []
    take = desk_rows.take_write

    def counted(db: Database, place: str, now: float, rates: Rates) -> float:
        asked.append(now)
        return take(db, place, now, rates)

    monkeypatch.setattr(desk_rows, "take_write", counted)
    assert here.engine.desk.hold()
    for _ in range(5):
        here.times.pass_by(0.2004)
        here.engine.desk.write()
    assert len(asked) <= 10


def test_what_another_process_has_settled_stays_as_it_is(here: World) -> None:
    assert here.engine is not None
    here.fails("01_gate", SHARED, "first")
    (row,) = outbox.due(here.db, here.times.now())

    def settle(request: Request, answer: Answer) -> None:
        here.hearers.clear()
        with transaction(here.db):
            outbox.set_outbox(here.db, row.id, "moot", here.times.now(), "by another process")

    here.hearers.append(settle)
    here.fake.faults.append(Fault(faults.creates, faults.dropped()))
    here.deliver(here.engine)
    assert outbox.waiting(here.db) == 0
