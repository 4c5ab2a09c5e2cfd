"""Delivering to a tracker forgets neither how often it wrote nor who delivers, wherever the clock jumps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from agent_fox.store.desk import HOUR, MINUTE, Rates, give_lease_back, recall, remember, take_lease, take_write
from tests.states import fresh_state
from tests.store.world import state

RATES = Rates(seconds_between=1.0, per_minute=5, per_hour=12)
WINDOWS = ((1.0, 1), (MINUTE, 5), (HOUR, 12))
START, LEASE = 1_000_000.0, 120.0
STEP = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0, 1.5, 4.0, 13.0, 30.0, 61.0, 290.0, 1800.0])
BACK = st.sampled_from([0.0] * 12 + [0.5, 2.0, 45.0, 600.0, 3600.0, 86_400.0])

places = (f"host/o/r{number}" for number in count())


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One state file for all examples: each has a place of its own."""
    opened = fresh_state(tmp_path_factory.mktemp("desk") / "state.db")
    yield opened
    opened.close()


def most_in(times: list[float], window: float) -> int:
    """The largest number of writes in any stretch of time that is shorter than the window."""
    return max((sum(0 <= other - one < window - 1e-6 for other in times) for one in times), default=0)


def written(db: Database, steps: list[tuple[float, float]]) -> list[float]:
    """Real times of the writes, where somebody asks after each step of real time, and the clock is set back before."""
    place, real, behind, times = next(places), START, 0.0, []
    for step, back in steps:
        real, behind = real + step, behind + back
        if take_write(db, place, real - behind, RATES) == 0.0:
            times.append(real)
    return times


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(steps=st.lists(st.tuples(STEP, BACK), max_size=60))
@example(steps=[(0.5, 0.0)] * 60)
@example(steps=[(13.0, 0.0)] * 40)
@example(steps=[(13.0, 2.0)] * 40)
@example(steps=[(61.0, 45.0)] * 60)
def test_no_window_holds_more_writes_than_allowed_however_often_the_clock_goes_back(
    db: Database, steps: list[tuple[float, float]]
) -> None:
    times = written(db, steps)
    assert [most_in(times, window) <= most for window, most in WINDOWS] == [True] * 3


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(steps=st.lists(st.tuples(STEP, BACK.map(lambda back: -back)), max_size=60))
def test_a_clock_that_is_set_forward_lets_through_one_more_measure_a_jump(
    db: Database, steps: list[tuple[float, float]]
) -> None:
    """What was written seems longer ago than it is; no clock that outlives a process tells otherwise."""
    times, jumps = written(db, steps), sum(jump < 0 for _, jump in steps)
    assert [most_in(times, window) <= most * (1 + jumps) for window, most in WINDOWS] == [True] * 3


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(steps=st.lists(st.tuples(STEP, BACK), max_size=40))
def test_who_waits_as_long_as_was_told_may_write_and_never_waits_longer_than_the_longest_window(
    db: Database, steps: list[tuple[float, float]]
) -> None:
    place, now = next(places), START
    for step, back in steps:
        now += step - back
        wait = take_write(db, place, now, RATES)
        assert 0.0 <= wait <= HOUR
        if wait:
            now += wait + 1e-3
            assert take_write(db, place, now, RATES) == 0.0


def test_the_rate_is_that_of_one_place_and_outlives_a_process(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        assert [take_write(db, "a", START + second, RATES) for second in range(5)] == [0.0] * 5
    with state(tmp_path) as db:
        assert take_write(db, "a", START + 6, RATES) == pytest.approx(MINUTE - 6)
        assert take_write(db, "b", START + 6, RATES) == 0.0


def test_what_was_refused_is_not_counted_and_what_is_old_is_dropped(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        for _ in range(20):
            take_write(db, "a", START, RATES)
        assert db.execute("SELECT count(*) FROM tracker_writes").fetchone() == (1,)
        assert take_write(db, "a", START + HOUR, RATES) == 0.0
        assert db.execute("SELECT at FROM tracker_writes").fetchall() == [(START + HOUR,)]


def holds(db: Database, holder: str, now: float, place: str = "a") -> bool:
    return take_lease(db, place, holder, now, LEASE)


def test_one_holds_a_place_until_it_gives_it_back(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        assert (holds(db, "one", START), holds(db, "two", START + 1)) == (True, False)
        give_lease_back(db, "a", "two")
        assert holds(db, "two", START + 2) is False
        give_lease_back(db, "a", "one")
        assert holds(db, "two", START + 3) is True


def test_a_lease_ends_unless_it_is_renewed(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        assert holds(db, "one", START)
        assert holds(db, "one", START + 100)
        assert holds(db, "two", START + LEASE + 1) is False
        assert holds(db, "two", START + 100 + LEASE) is True
        assert holds(db, "one", START + 101 + LEASE) is False


def test_places_are_leased_for_themselves(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        assert holds(db, "one", START)
        assert holds(db, "two", START, "b")


def test_a_lease_from_before_the_clock_went_back_holds_up_nobody(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        assert holds(db, "one", START)
        assert holds(db, "two", START - 3600) is True
        assert holds(db, "one", START - 3599) is False


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(asked=st.lists(st.tuples(st.sampled_from("abc"), STEP, BACK, st.booleans()), max_size=40))
def test_there_is_one_holder_at_a_time_and_nobody_waits_for_ever(
    db: Database, asked: list[tuple[str, float, float, bool]]
) -> None:
    """While the clock goes on, who was told that it holds does so until it gives back or the lease is over."""
    place, now, holder, until = next(places), START, "", 0.0
    for who, step, back, gives in asked:
        now += step - back
        until = 0.0 if back else until
        is_held = take_lease(db, place, who, now, LEASE)
        assert is_held or who != holder or back or until == 0.0 or now >= until
        if is_held:
            assert who == holder or now >= until
            holder, until = who, now + LEASE
        if gives:
            give_lease_back(db, place, who)
            until = 0.0 if who == holder else until
    assert take_lease(db, place, "d", now + 3 * LEASE, LEASE)


def test_what_is_remembered_is_that_of_its_place_and_the_last_that_was_said(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        for place, value in (("a", "1"), ("a", "2"), ("b", "3")):
            remember(db, place, "newest", value)
    with state(tmp_path) as db:
        assert [recall(db, place, "newest") for place in ("a", "b", "c")] == ["2", "3", ""]
