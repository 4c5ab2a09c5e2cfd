"""What every result handler keeps to, the plugin's too: a ticket counts once, and all of it or nothing is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_fox.core.ids import Archetype, Ticket
from agent_fox.core.retry.decision import Ignore
from agent_fox.engine.planning.guarded import GuardedHandler
from agent_fox.engine.record.docket import Handled
from agent_fox.engine.record.review_persistence import Judge
from agent_fox.engine.running.results import EndedSession, Registry
from agent_fox.specs.planner import PlanShape
from agent_fox.store.plan import node_by_uid
from agent_fox.store.state import transaction
from examples.plugins.handler.counted_plugin import CountedReviews
from tests.engine.desk import Desk, answer, small_spec

REVIEWED = '{"findings": []}'
FAILED = answer({"01-REQ-1.1": "FAIL"})


@dataclass(frozen=True)
class Case:
    """A node whose sessions the handler handles, with what ends before it and what its session prints."""

    node_id: str
    output: str
    before: tuple[tuple[str, str], ...] = ()
    registry: Registry = Registry()  # noqa: RUF009 - holds no state


REVIEWER = "01_a:0:reviewer:pre-review"
GUARDED = GuardedHandler("notebook", Archetype.REVIEWER, CountedReviews())
HANDLERS = {
    "reviewers": Case(REVIEWER, REVIEWED),
    "coders": Case("01_a:1", "", ((REVIEWER, REVIEWED),)),
    "verifiers": Case("01_a:2", FAILED, ((REVIEWER, REVIEWED), ("01_a:1", ""))),
    "a plugin's": Case(REVIEWER, REVIEWED, registry=Registry([CountedReviews()])),
    "a plugin's, guarded": Case(REVIEWER, REVIEWED, registry=Registry([GUARDED])),
}


@pytest.fixture(params=sorted(HANDLERS))
def case(request: pytest.FixtureRequest) -> Case:
    return HANDLERS[request.param]


@pytest.fixture
def desk(case: Case, tmp_path: Path) -> Desk:
    desk = Desk.open(tmp_path, [small_spec("01_a", {1: ("1.1",)})], shape=PlanShape(audit_review=False))
    desk.registry = case.registry
    for node_id, output in case.before:
        desk.end(node_id, output=output)
    return desk


def ended(desk: Desk, case: Case, ticket: Ticket | None = None, failure: str = "") -> Handled:
    return desk.end(case.node_id, ticket=ticket, output=case.output, failure=failure)


def decided(desk: Desk) -> list[tuple[object, ...]]:
    return desk.rows("SELECT id, kind, steps FROM decisions ORDER BY id")


def test_an_end_is_recorded_as_one_decision_with_the_moves_that_it_gives(desk: Desk, case: Case) -> None:
    before = len(decided(desk))
    handled = ended(desk, case)
    assert len(decided(desk)) == before + 1
    assert handled.decision_id == before + 1
    assert handled.transitions
    for moved in handled.transitions:
        assert node_by_uid(desk.db, moved.uid).standing == moved.standing


def test_an_end_that_comes_twice_counts_once(desk: Desk, case: Case) -> None:
    ticket = desk.node(case.node_id).standing.ticket
    ended(desk, case, ticket)
    before = decided(desk)
    again = ended(desk, case, ticket)
    assert isinstance(again.decision, Ignore)
    assert (again.transitions, again.effects, again.waits) == ((), (), ())
    assert decided(desk) == before


def test_a_foreign_ticket_changes_nothing(desk: Desk, case: Case) -> None:
    standing = desk.node(case.node_id).standing
    handled = ended(desk, case, Ticket(standing.uid, 7, 7))
    assert isinstance(handled.decision, Ignore)
    assert desk.node(case.node_id).standing == standing


def test_a_failed_session_never_completes_a_node(desk: Desk, case: Case) -> None:
    ended(desk, case, failure="exit status 1")
    assert not desk.node(case.node_id).standing.is_settled


def test_what_is_rolled_back_never_was(desk: Desk, case: Case) -> None:
    before = list(desk.db.conn.iterdump())
    with pytest.raises(RuntimeError, match="power is gone"):
        lose_power_after(desk, case)
    assert list(desk.db.conn.iterdump()) == before


def lose_power_after(desk: Desk, case: Case) -> None:
    planned = desk.node(case.node_id)
    ticket, judges = planned.standing.ticket, (Judge("command", case.output),)
    with transaction(desk.db):
        ended = EndedSession(ticket, desk.commit, desk.commit, judges, session_id=desk.session(planned))
        desk.registry.handle(desk.docket(), planned.node.archetype, ended)
        raise RuntimeError("power is gone")
