"""At which state of the files a test began to fail as it fails now: a search by halves, as `git bisect` makes it. Pure.

What a test did at a state is found out by running it there, elsewhere. Source of the rules: `docs/traces.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum

from agent_fox.core.values import dataclass


class Seen(StrEnum):
    """What a test did at one state. `OTHER`: it failed, but by another error than it fails by now."""

    PASSED = "passed"
    SAME = "failed as now"
    OTHER = "failed otherwise"
    SKIPPED = "could not be run"


class Onset(StrEnum):
    """What the search came to."""

    FOUND = "found"
    FROM_START = "red from the start"
    ELSEWHERE = "not in these steps"
    NONE = "none"
    """It was not searched, for there is none to be found: a flaky test, one that proves nothing, no states."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is known after some runs over the states 0 to `last`. `first_bad` is set where it is decided and FOUND; then
    `skipped` are the states just before it that could not be run, any of which may be the onset instead.
    """

    onset: Onset | None
    next: int | None = None
    first_bad: int | None = None
    skipped: tuple[int, ...] = ()


def look(last: int, seen: Mapping[int, Seen]) -> Search:
    """What to run next, or what it came to. The last state comes first, then state 0, then halves between.

    State 0 counts as good unless the test fails there as it does now: what cannot be run there does not fail so.
    After a state where it passed, failing otherwise is failing too.
    """
    if last not in seen:
        return Search(None, last)
    if seen[last] is not Seen.SAME:
        return Search(Onset.ELSEWHERE)
    if last == 0:
        return Search(Onset.FROM_START)
    if 0 not in seen:
        return Search(None, 0)
    if seen[0] is Seen.SAME:
        return Search(Onset.FROM_START)
    low, high = bounds(last, seen)
    inner = [state for state in range(low + 1, high) if state not in seen]
    if not inner:
        return Search(Onset.FOUND, first_bad=high, skipped=tuple(range(low + 1, high)))
    middle = (low + high) / 2
    return Search(None, min(inner, key=lambda state: (abs(state - middle), state)))


def bounds(last: int, seen: Mapping[int, Seen]) -> tuple[int, int]:
    """The last state that is good and the first that is bad after it, with nothing known to be good or bad between."""
    first_pass = min((state for state, what in seen.items() if what is Seen.PASSED), default=last)
    bad = {
        state
        for state, what in seen.items()
        if what is Seen.SAME or (what is Seen.OTHER and state > first_pass)
    }  # fmt: skip
    good = {state for state, what in seen.items() if what is not Seen.SKIPPED and state not in bad} | {0}
    low = max(good)
    return low, min(state for state in bad if state > low)


def narrowed(search: Search, alone: Mapping[int, Seen]) -> Search:
    """The search with what each skipped step did alone, laid over the last good state: the first that makes the test
    fail as now is the onset. One that cannot be run alone either stays unsure.
    """
    guilty = next((state for state in search.skipped if alone.get(state) is Seen.SAME), None)
    if guilty is not None:
        return replace(search, first_bad=guilty, skipped=())
    unsure = tuple(state for state in search.skipped if alone.get(state, Seen.SKIPPED) is Seen.SKIPPED)
    return replace(search, skipped=unsure)


def most_runs(last: int) -> int:
    """The most runs that the search takes beside those of states that could not be run: log2 of the steps, and two."""
    return (last - 1).bit_length() + 2 if last > 0 else 1


def searched(last: int, run: Callable[[int], Seen], most: int | None = None) -> tuple[Search, dict[int, Seen]]:
    """The search with its runs; undecided where more than `most` runs would be needed. Also what each state showed."""
    seen: dict[int, Seen] = {}
    while (search := look(last, seen)).next is not None and (most is None or len(seen) < most):
        seen[search.next] = run(search.next)
    return search, seen
