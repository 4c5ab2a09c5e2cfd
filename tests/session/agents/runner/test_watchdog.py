"""When a session must be ended, by a clock that the test gives."""

from __future__ import annotations

from agent_fox.session.agents.runner.tally import Tally
from agent_fox.session.agents.runner.watchdog import LONGEST_LATE, Cause, Watchdog
from agent_fox.session.agents.task import Limits

HOURS = 5 * 3600.0


def nothing() -> Tally:
    return Tally(lambda tool: True)


class Clock:
    """A clock that goes on only when it is told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def go(self, seconds: float, watchdog: Watchdog) -> Cause | None:
        """So many seconds with a look after each."""
        for _ in range(int(seconds)):
            self.now += 1.0
            stop = watchdog.look(nothing(), None)
            if stop is not None:
                return stop.cause
        return None


def watched() -> tuple[Clock, Watchdog]:
    clock = Clock()
    return clock, Watchdog(Limits(wall=600.0, idle=120.0, answer=60.0), True, clock)


def test_silence_and_the_end_of_its_time_end_a_session() -> None:
    clock, watchdog = watched()
    assert clock.go(119, watchdog) is None
    assert clock.go(1, watchdog) is Cause.SILENCE
    for _ in range(9):
        watchdog.hear()
        assert clock.go(50, watchdog) is None
    watchdog.hear()
    assert clock.go(50, watchdog) is Cause.WALL


def test_hours_that_a_machine_slept_are_neither_silence_nor_time_of_the_session() -> None:
    clock, watchdog = watched()
    assert clock.go(100, watchdog) is None
    clock.now += HOURS
    assert watchdog.look(nothing(), None) is None
    assert clock.go(19, watchdog) is None
    assert clock.go(1, watchdog) is Cause.SILENCE


def test_a_look_that_is_late_on_a_busy_machine_counts() -> None:
    clock, watchdog = watched()
    for _ in range(9):
        clock.now += LONGEST_LATE
        watchdog.hear()
        assert watchdog.look(nothing(), None) is None
    clock.now += LONGEST_LATE
    watchdog.hear()
    stop = watchdog.look(nothing(), None)
    assert stop is not None
    assert stop.cause is Cause.WALL


def test_a_clock_that_goes_back_ends_nothing() -> None:
    clock, watchdog = watched()
    assert clock.go(100, watchdog) is None
    clock.now -= 50
    assert clock.go(69, watchdog) is None
