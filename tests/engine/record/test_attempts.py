"""Which attempts count, by what is recorded, and that the choice by worth keeps to what was decided."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent_fox.core.policy import Policy, Start
from agent_fox.core.retry.arms import ByWorth, Chances, Cost, Stage, Try
from agent_fox.core.retry.decision import Block, Cause, Recode
from agent_fox.core.retry.onset import Onset
from agent_fox.core.retry.replay import Finding
from agent_fox.core.retry.standing import Step
from agent_fox.core.values import to_document
from agent_fox.engine.handlers.reset import reset
from agent_fox.engine.record.attempts import CHOICES, chosen_in, history_of
from agent_fox.engine.record.best_tree import WayBack, best_at
from agent_fox.engine.record.docket import Docket, Handled, Move
from agent_fox.engine.record.review_persistence import Judge
from agent_fox.engine.running.results import EndedSession
from agent_fox.session.workspaces.landing import Landing
from agent_fox.store.records import decisions_of_spec, last_sending_back
from agent_fox.store.sessions import coder_work
from agent_fox.store.state import transaction
from tests.engine.desk import Desk, answer, small_spec

SPEC, CODER, VERIFIER, UID = "01_calc", "01_calc:1", "01_calc:2", "01_calc:coder:1"
A, B = "01-REQ-1.1", "01-REQ-1.2"
SMALL, LARGE = "claude:small", "claude:large"
CHANCES = Chances(4.0, (0.1, 0.05), (0.25, 0.2), {Start.BEST: 1.2})
BY_WORTH = ByWorth(20.0, CHANCES, {"": (SMALL, LARGE)}, {"": 1.0})
PATIENT = Policy(attempts=9, stop_without_progress=False, top_rung=1, second_agent=True)
FAIL, PASS = {A: "FAIL", B: "PASS"}, {A: "PASS", B: "PASS"}


@dataclass
class Worth(Desk):
    """A desk whose next attempts are chosen by worth, where `by_worth` is set."""

    by_worth: ByWorth | None = BY_WORTH
    waived: frozenset[str] = frozenset()

    def docket(self) -> Docket:
        return replace(super().docket(), by_worth=self.by_worth, waived=lambda name: self.waived)

    def code(self, agent: str = SMALL, *, cost: float | None = 1.0, end: str = "ended", is_empty: bool = False) -> None:
        """The coder's next session ends; one that is `is_empty` changes nothing, another `end` leaves it to be read."""
        planned = self.node(CODER)
        with transaction(self.db):
            number = self.session(planned)
        if end == "ended" and not is_empty:
            self.end(CODER)
        elif end == "ended":
            with transaction(self.db):
                ended = EndedSession(planned.standing.ticket, self.commit, self.commit, (), session_id=number)
                self.registry.handle(self.docket(), planned.node.archetype, ended)
        with transaction(self.db):
            row = {"verifier": agent, "end_kind": end, "cost_usd": cost, "ended_at": "2026-03-01T12:00:00.000Z"}
            assignments = ", ".join(f"{column} = ?" for column in row)
            self.db.execute(f"UPDATE sessions SET {assignments} WHERE id = ?", [*row.values(), number])

    def read(self, words: Mapping[str, str], back: WayBack | None = None, *judges: Judge) -> Handled:
        planned = self.node(VERIFIER)
        with transaction(self.db):
            number = self.session(planned)
            said = judges or (Judge("command", answer(words)),)
            ended = EndedSession(
                planned.standing.ticket, self.commit, self.commit, said, session_id=number, way_back=back
            )
            return self.registry.handle(self.docket(), planned.node.archetype, ended)

    @property
    def tries(self) -> list[Try]:
        return list(history_of(self.docket(), BY_WORTH, coder_work(self.db))[0].tries)

    def facts(self) -> Mapping[str, object]:
        return decisions_of_spec(self.db, SPEC)[-1].facts


@pytest.fixture
def desk(tmp_path: Path) -> Worth:
    opened = Worth.open(tmp_path, [small_spec(SPEC, {1: ("1.1", "1.2")})], PATIENT)
    assert isinstance(opened, Worth)
    return opened


ONCE, NEW = Stage(False, 1), Stage(True, 1)


def test_an_attempt_counts_for_whoever_made_it_once_it_was_read(desk: Worth) -> None:
    desk.code(SMALL)
    desk.read(FAIL)
    assert desk.tries == []
    desk.code(LARGE)
    desk.read(FAIL)
    assert desk.tries == [Try(LARGE, Start.TIP, NEW, False)]
    desk.code(SMALL)
    desk.read(PASS)
    assert desk.tries == [Try(LARGE, Start.TIP, NEW, False), Try(SMALL, Start.TIP, ONCE, True)]


def test_it_passed_where_nothing_fails_any_more_of_what_it_was_to_repair(desk: Worth) -> None:
    desk.code()
    desk.read(FAIL)
    desk.code()
    desk.read({A: "PASS", B: "FAIL"})
    assert [each.has_passed for each in desk.tries] == [True]


def test_a_proof_begins_anew(desk: Worth) -> None:
    for words in (FAIL, PASS):
        desk.code()
        desk.read(words)
    planned = desk.node(VERIFIER)
    with transaction(desk.db):
        desk.docket().record(planned, "Reopen", [Move(planned, Step.REOPEN)])
    desk.commit = "with work of others"
    desk.read(FAIL)
    desk.code(LARGE)
    desk.read(PASS)
    assert [each.stage for each in desk.tries] == [ONCE, NEW]


def test_what_infrastructure_ended_is_nobodys_attempt(desk: Worth) -> None:
    desk.code(SMALL)
    desk.read(FAIL)
    desk.code(LARGE, end="infrastructure")
    desk.read(FAIL)
    assert desk.tries == []


def test_a_reading_that_told_nothing_leaves_the_attempt_open(desk: Worth) -> None:
    desk.code()
    desk.read(FAIL)
    desk.code()
    desk.read({A: "UNKNOWN", B: "PASS"})
    assert desk.tries == []
    desk.read(PASS)
    assert [each.has_passed for each in desk.tries] == [True]


def test_what_passes_although_nothing_changed_was_flaky(desk: Worth) -> None:
    desk.code()
    desk.read(FAIL)
    desk.code(is_empty=True)
    desk.read(PASS)
    assert desk.tries == []


def test_what_fails_although_nothing_changed_is_a_failure(desk: Worth) -> None:
    desk.code()
    desk.read(FAIL)
    desk.code(is_empty=True)
    desk.read(FAIL)
    assert [each.has_passed for each in desk.tries] == [False]


def test_a_waiver_is_nobodys_success(desk: Worth) -> None:
    desk.code()
    desk.read(FAIL)
    desk.code()
    desk.waived = frozenset({A})
    desk.read(FAIL)
    assert decisions_of_spec(desk.db, SPEC)[-1].kind == "Accept"
    assert desk.tries == []


def test_a_reset_cuts_an_attempt_short(desk: Worth) -> None:
    desk.code(SMALL)
    desk.read(FAIL)
    desk.code(LARGE)
    with transaction(desk.db):
        reset(desk.docket(), CODER, "another way")
    desk.code(SMALL)
    desk.read(FAIL)
    assert desk.tries == []
    assert desk.node(CODER).standing.rung == 1, "the large one is new to it again"


def test_what_needs_a_person_is_no_verdict_on_who_worked(desk: Worth) -> None:
    desk.code()
    desk.read(FAIL)
    desk.code()
    row = {"requirement_id": A, "verdict": "FAIL", "disposition": "spec fault", "disposition_proven": True}
    spec_fault = Judge("checks", json.dumps({"verdicts": [row]}), is_trusted=True)
    assert desk.read({}, None, spec_fault).decision == Block(Cause.SPEC_FAULT)
    assert desk.tries == []


def test_the_ladders_attempts_count_as_well(desk: Worth) -> None:
    desk.by_worth = None
    desk.code(SMALL)
    desk.read(FAIL)
    assert CHOICES not in desk.facts()
    desk.code(LARGE)
    desk.read(PASS)
    assert desk.tries == [Try(LARGE, Start.TIP, NEW, True)]


def test_costs_are_means_of_what_each_agent_told(desk: Worth) -> None:
    for agent, cost in ((SMALL, 1.0), (SMALL, 2.0), (SMALL, None), (LARGE, None)):
        desk.code(agent, cost=cost)
        desk.read(FAIL)
    history, failed = history_of(desk.docket(), BY_WORTH, coder_work(desk.db))
    assert history.costs == {SMALL: Cost(1.5, 2)}
    assert failed == {UID: [SMALL, SMALL, SMALL, LARGE]}


def test_the_choice_is_recorded_whole_and_chosen_from_its_record(desk: Worth) -> None:
    desk.code(SMALL)
    handled = desk.read(FAIL)
    assert isinstance(handled.decision, Recode)
    recorded = desk.facts()[CHOICES]
    assert recorded == to_document(handled.decision.choices)
    sent = last_sending_back(desk.db, SPEC, UID)
    assert sent is not None
    assert chosen_in(sent.facts, UID) is Start.TIP
    assert desk.node(CODER).standing.rung == handled.decision.choices[UID].arm.rung == 1


def test_a_budget_that_is_spent_is_spent_whatever_it_were_worth(desk: Worth) -> None:
    desk.policy = replace(PATIENT, attempts=1)
    desk.code(SMALL)
    handled = desk.read(FAIL)
    assert handled.decision == Block(Cause.ATTEMPTS_SPENT)
    assert CHOICES not in desk.facts()


def test_a_repeat_stops_once_every_agent_has_failed(desk: Worth) -> None:
    desk.policy = replace(PATIENT, stop_without_progress=True)
    desk.by_worth = replace(BY_WORTH, agents={"": (SMALL, LARGE)})
    desk.code(LARGE)
    assert isinstance(desk.read(FAIL).decision, Recode)
    assert desk.node(CODER).standing.rung == 0, "the small one is new to it"
    desk.policy = replace(desk.policy, top_rung=0)
    desk.code(LARGE)
    assert isinstance(desk.read(FAIL).decision, Recode), "the small one has not failed at it yet"
    desk.code(SMALL)
    assert desk.read(FAIL).decision == Block(Cause.NO_PROGRESS)


def way_back(desk: Worth) -> WayBack:
    """As the engine builds it where attempt 2 lost B, and attempt 1 had it."""
    first = decisions_of_spec(desk.db, SPEC)[1]
    return WayBack(best_at(desk.docket(), desk.node(VERIFIER), first), (B,), (), Landing("c2", "c9"))


@pytest.mark.parametrize(("factor", "start"), [(1.2, Start.BEST), (0.5, Start.TIP), (1.0, Start.BEST)])
def test_going_back_to_the_best_tree_is_weighed_against_staying(desk: Worth, factor: float, start: Start) -> None:
    desk.by_worth = replace(BY_WORTH, chances=replace(CHANCES, starts={Start.BEST: factor}))
    desk.code(SMALL)
    desk.read(FAIL)
    desk.code(LARGE)
    handled = desk.read({A: "FAIL", B: "FAIL"}, way_back(desk))
    assert isinstance(handled.decision, Recode)
    choice = handled.decision.choices[UID]
    assert choice.arm.start is start
    assert choice.stake_usd == 40.0
    assert choice.instead_usd == pytest.approx(40 * 0.1 * (factor if start is Start.TIP else 1.0) - 1)
    assert ("best" in desk.facts()) == (start is Start.BEST)
    assert desk.rows("SELECT count(*) FROM verification_results WHERE restores IS NOT NULL") == [
        (2 if start is Start.BEST else 0,)
    ]


def test_before_the_onset_is_possible_where_one_was_found_in_its_own_session(desk: Worth) -> None:
    desk.code(SMALL)
    desk.read(FAIL)
    desk.code(LARGE)
    (session,) = [each.id for each in coder_work(desk.db)][-1:]
    starts = []
    for found_in in (session, session + 100):
        finding = Finding(A, "test_a", Onset.FOUND, session=found_in, step=3)
        said = {"verdicts": json.loads(answer(FAIL))["verdicts"], "onsets": [to_document(finding)]}
        judge = Judge("checks", json.dumps(said), is_trusted=True)
        handled = desk.read({}, None, judge)
        assert isinstance(handled.decision, Recode)
        starts.append({arm.start for arm in handled.decision.choices[UID].arms})
        desk.code(LARGE)
    assert starts == [{Start.TIP, Start.BEFORE_ONSET}, {Start.TIP}]
