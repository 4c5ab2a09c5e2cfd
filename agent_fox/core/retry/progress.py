"""Is the work converging? Compares the failing requirements of one report with those of earlier ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.signals import normalise_line
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core.verdicts.verdict import Verdict


class Progress(StrEnum):
    """`CHANGED` is neither better nor a repeat: other failures, or another owner's turn."""

    FIRST = "first"
    PROGRESS = "progress"
    REPEAT = "repeat"
    OSCILLATION = "oscillation"
    REGRESSION = "regression"
    CHANGED = "changed"

    @property
    def is_converging(self) -> bool:
        return self not in {Progress.REPEAT, Progress.OSCILLATION}


@dataclass(frozen=True, slots=True, order=True)
class Failure:
    """One entry of the requirement vector: what fails, for which cause, with how many failing tests."""

    requirement_id: str
    cause: str
    failing_tests: int | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """The failures of one report, and the coders that were blamed for them."""

    failures: frozenset[Failure]
    blamed: frozenset[str]

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(failure.requirement_id for failure in self.failures)


def failure_of(verdict: Verdict) -> Failure:
    """A verdict as an entry of the vector. Counts stay numbers; digits and times in prose are noise."""
    if verdict.signal is not None:
        cause = f"{verdict.signal.command}\n{verdict.signal.first_error}"
    else:
        cause = " ".join(normalise_line(line) for line in verdict.evidence.splitlines() if line.strip())
    return Failure(verdict.requirement_id, cause, verdict.failing_tests)


def compare(now: Round, previous: Sequence[Round]) -> Progress:
    """Compare with the rounds since the last reset, oldest first.

    The same failures are a repeat only where the same coders were blamed: another owner's turn is a new try.
    """
    if not previous:
        return Progress.FIRST
    last = previous[-1]
    if now.failures == last.failures:
        return Progress.REPEAT if now.blamed == last.blamed else Progress.CHANGED
    if len(previous) > 2 and now.failures == previous[-2].failures and last.failures == previous[-3].failures:
        return Progress.OSCILLATION
    if _is_fewer(now, last):
        return Progress.PROGRESS
    return Progress.REGRESSION if now.ids - last.ids else Progress.CHANGED


def _is_fewer(now: Round, last: Round) -> bool:
    if now.ids < last.ids:
        return True
    before, after = _counts(last), _counts(now)
    if before.keys() != after.keys():
        return False
    return all(after[key] <= before[key] for key in after) and after != before


def _counts(some: Round) -> Mapping[str, int]:
    return {
        failure.requirement_id: failure.failing_tests for failure in some.failures if failure.failing_tests is not None
    }
