"""What the end of a test says of what was broken meanwhile. Runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.verdicts.proof import Before, Effect
from agent_fox.verifier.ground.cases import Outcome
from agent_fox.verifier.proof.sides import is_test_side

if TYPE_CHECKING:
    from agent_fox.verifier.proof.lab import End

_ASSERTION = regex(
    r"(?:.*\.)?(?:\w*AssertionError|Failed|failureException|ERR_ASSERTION|JestAssertionError"
    r"|AssertionFailedError|ComparisonFailure)"
)


_UNASKED = regex(r"(?:.*\.)?(?:Unsatisfiable|FailedHealthCheck)")
"""What Hypothesis says where a property assumed all its examples away: it asked nothing."""


def effect_of(end: End | None, *, is_definition: bool = False) -> Effect:
    """KILLED by an assertion that a test's own code raised, or by an error without a frame of the product. What fails
    in something that is made for other tests, too, is not noticed by this one.

    `is_definition`: what a definition brought was taken away; an error that is no assertion shows only that.
    """
    if end is None or end.outcome in (Outcome.SKIPPED, Outcome.EXPECTED_FAILURE) or _UNASKED.fullmatch(end.kind):
        return Effect.VOID
    if end.outcome is not Outcome.FAILED:
        return Effect.UNNOTICED
    if end.is_apart:
        return Effect.CRASHED
    if is_own_assertion(end):
        return Effect.KILLED
    is_missed = is_definition and not _ASSERTION.fullmatch(end.kind)
    is_missed |= not all(map(is_test_side, end.frames))
    return Effect.CRASHED if is_missed else Effect.KILLED


def hurts_bystander(end: End | None) -> bool:
    """Whether a test failed that executes nothing of what was broken: then what the others did shows nothing."""
    return end is not None and end.outcome is Outcome.FAILED


def is_own_assertion(end: End) -> bool:
    """Whether an assertion failed that stands on the test side."""
    return bool(end.frames) and is_test_side(end.frames[-1]) and _ASSERTION.fullmatch(end.kind) is not None


def of_several(effects: Sequence[Effect]) -> Effect:
    """Of several tests of one requirement: one that notices is enough."""
    for word in (Effect.KILLED, Effect.CRASHED, Effect.UNNOTICED):
        if word in effects:
            return word
    return Effect.VOID


def before_of(ends: Sequence[End]) -> Before:
    """What tests did on the base commit's product. One that did not get to its own body, or did not run, is not red."""
    if any(end.outcome is Outcome.FAILED and not end.is_unbegun for end in ends):
        return Before.RED
    return Before.GREEN if {end.outcome for end in ends} == {Outcome.PASSED} else Before.UNKNOWN
