"""At a desk nothing is written too often, nor by two at a time, and nobody waits long for its turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_utils import Database

from agent_fox.store import outbox
from agent_fox.store.desk import Rates
from agent_fox.store.state import transaction
from agent_fox.system.clock import later
from agent_fox.trackers.desk import LEASE_SECONDS, PATIENCE, Desk, LeaseLost, TooSoon, seconds_of
from tests.states import fresh_state

AT = "2026-03-01T12:00:00.000Z"
RATES = Rates(seconds_between=1.2, per_minute=4, per_hour=6)


@dataclass
class Times:
    """A clock that goes on when somebody waits. `pauses`: how long each wait was."""

    at: str = AT
    pauses: list[float] = field(default_factory=list)

    def now(self) -> str:
        return self.at

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.at = later(self.at, seconds)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(fresh_state(tmp_path / "state.db")) as opened:
        yield opened


def desk(db: Database, times: Times, holder: str = "one", place: str = "host/o/r") -> Desk:
    return Desk(db, place, holder, RATES, times.now, times.pause)


def test_a_short_wait_is_waited_for_and_a_long_one_is_told(db: Database) -> None:
    times = Times()
    mine = desk(db, times)
    mine.hold()
    for _ in range(4):
        mine.write()
    assert all(0 < pause <= PATIENCE for pause in times.pauses)
    assert len(times.pauses) == 3
    with pytest.raises(TooSoon) as early:
        mine.write()
    left = seconds_of(early.value.until) - seconds_of(times.at)
    assert PATIENCE < left <= 60
    assert early.value.until not in str(early.value)
    times.pause(left)
    mine.write()


def test_only_who_holds_the_place_writes(db: Database) -> None:
    times = Times()
    mine, other = desk(db, times), desk(db, times, "other")
    with pytest.raises(LeaseLost):
        mine.write()
    assert (mine.hold(), other.hold()) == (True, False)
    with pytest.raises(LeaseLost):
        other.write()
    mine.write()
    mine.leave()
    assert other.hold()
    with pytest.raises(LeaseLost):
        mine.write()


def test_each_write_renews_the_lease(db: Database) -> None:
    times = Times()
    mine, other = desk(db, times), desk(db, times, "other")
    mine.hold()
    for _ in range(3):
        times.pause(LEASE_SECONDS - 1)
        mine.write()
        assert other.hold() is False


def test_who_was_held_up_for_longer_than_the_lease_writes_only_if_nobody_came(db: Database) -> None:
    times = Times()
    mine, other = desk(db, times), desk(db, times, "other")
    mine.hold()
    times.pause(LEASE_SECONDS + 1)
    mine.write()
    times.pause(LEASE_SECONDS + 1)
    assert other.hold()
    other.leave()
    with pytest.raises(LeaseLost):
        mine.write()


def test_two_places_are_written_to_at_once(db: Database) -> None:
    times = Times()
    for place in ("host/o/a", "host/o/b"):
        one = desk(db, times, place=place)
        one.hold()
        one.write()
    assert times.pauses == []


def test_another_process_knows_what_was_written_and_seen(db: Database, tmp_path: Path) -> None:
    times = Times()
    mine = desk(db, times)
    mine.hold()
    mine.write()
    mine.note_newest(7)
    mine.note_newest(3)
    mine.remember("login", "fox-bot")
    mine.leave()
    with closing(fresh_state(tmp_path / "state.db")) as again:
        other = desk(again, times, "other")
        assert (other.newest(), other.recall("login"), other.recall("nothing")) == (7, "fox-bot", "")
        other.hold()
        other.write()
        assert len(times.pauses) == 1


def test_numbers_that_should_be_there_are_those_that_were_filed(db: Database) -> None:
    with transaction(db):
        for number in ("3", "11", ""):
            outbox.open_issue(db, f"f{number}", "title", "cause", "s", ["R1"], AT)
            outbox.name_issue(db, f"f{number}", number, "url", "open", AT)
    assert desk(db, Times()).ours() == (11, 3)


@given(seconds=st.floats(-1e8, 1e8))
def test_a_later_time_is_later_by_so_much_and_sorts_so(seconds: float) -> None:
    then = later(AT, seconds)
    assert seconds_of(then) == pytest.approx(seconds_of(AT) + seconds, abs=0.001)
    assert (then > AT) == (seconds >= 0.001)
    assert len(then) == len(AT)
