"""A coder whose session did not fit into its model's context: what follows, and what its next brief is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent_fox.core.ids import Archetype
from agent_fox.core.policy import Policy
from agent_fox.core.retry.decision import Block, Cause, Retry
from agent_fox.engine.handlers.coder_handler import TOO_LONG
from agent_fox.engine.handlers.handling import EndedSession
from agent_fox.engine.launching.briefing import brief_facts
from agent_fox.engine.record.docket import Handled
from agent_fox.session.order import EndKind
from agent_fox.store import sessions
from agent_fox.store.state import transaction
from tests.engine.desk import Desk, small_spec

SPEC = "01_gate"
CODER = f"{SPEC}:1"
SMALL = small_spec(SPEC, {1: ("1.1",)})


def too_long(desk: Desk) -> Handled:
    """The coder's awaited session ends with a context that is too long, written down as its end is."""
    planned = desk.node(CODER)
    with transaction(desk.db):
        number = desk.session(planned)
        end = {"status": "failed", "end_kind": EndKind.TOO_LONG, "reason": "context too long: 9 > 8"}
        sessions.set_session(desk.db, number, end)
        ended = EndedSession(
            planned.standing.ticket, desk.commit, desk.commit, failure="context too long: 9 > 8", session_id=number,
            facts={TOO_LONG: True},
        )  # fmt: skip
        return desk.registry.handle(desk.docket(), Archetype.CODER, ended)


def is_short(desk: Desk) -> bool:
    planned = desk.node(CODER)
    with transaction(desk.db):
        session = sessions.session_by_id(desk.db, desk.session(planned))
    return brief_facts(desk.db, planned, session, desk.shelf.take(desk.db, SPEC)).is_short


def test_the_next_brief_is_short_and_a_second_time_a_person_is_needed(tmp_path: Path) -> None:
    desk = Desk.open(tmp_path, [SMALL], Policy(attempts=5))
    assert not is_short(desk)
    assert too_long(desk).decision == Retry(0)
    assert is_short(desk)
    assert too_long(desk).decision == Block(Cause.NEEDS_PERSON)
    ((reason,),) = desk.rows("SELECT reason FROM blocking_history WHERE node_id = '01_gate:1'")
    assert "a model with a larger context" in str(reason)
    assert "smaller group" in str(reason)


def test_a_stronger_agent_is_asked_first_where_there_is_one(tmp_path: Path) -> None:
    desk = Desk.open(tmp_path, [SMALL], replace(Policy(attempts=5), top_rung=2))
    assert [too_long(desk).decision for _ in range(3)] == [Retry(1), Retry(2), Block(Cause.NEEDS_PERSON)]


def test_another_failure_after_it_does_not_make_the_brief_longer(tmp_path: Path) -> None:
    desk = Desk.open(tmp_path, [SMALL], Policy(attempts=5))
    too_long(desk)
    assert desk.end(CODER, failure="exit 7").decision == Retry(0)
    assert is_short(desk)
