"""What became of the assertions of one test: which are gone, weaker, or expect something else. Values only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from agent_fox.verifier.policy.expressions import contains, number_of
from agent_fox.verifier.policy.reading import Assertion, Strength
from agent_fox.verifier.policy.tables import words_of
from agent_fox.verifier.policy.values import without

MOST_PAIRED = 100  # assertions gained by one test that are looked at for each that it lost
FINE_TOLERANCE = 1e-3
"""Relative; what is as close as this still says the value."""
_OPPOSITES = ({"truthy", "falsy"}, {"is something", "is none"})
COARSER = 10.0  # times the tolerance before


class Fate(StrEnum):
    GONE = "gone"
    VOID = "void"
    WEAKER = "weaker"
    OTHER_EXPECTATION = "other expectation"
    OTHER_SUBJECT = "other subject"
    STRONGER = "stronger"


class Turn(NamedTuple):
    """One assertion of a test, before and after. `after` is None where it is gone."""

    before: Assertion
    after: Assertion | None
    fate: Fate


def beyond(these: Iterable[Assertion], those: Iterable[Assertion]) -> list[Assertion]:
    """Assertions that only the one side has, by count."""
    return without(these, (each.key for each in those), lambda each: each.key)


def turns(before: tuple[Assertion, ...], after: tuple[Assertion, ...]) -> Iterator[Turn]:
    """Pair what a test lost with what it gained, by subject, then by what is left; a stronger one says what it said."""
    lost, left = beyond(before, after), beyond(after, before)
    waiting = [each for each in lost if each.strength is not Strength.NONE]
    for fits in _FITS:
        still_waiting = []
        for each in waiting:
            partner = next((other for other in left[:MOST_PAIRED] if fits(each, other)), None)
            if partner is None:
                still_waiting.append(each)
            else:
                left.remove(partner)
                yield Turn(each, partner, fate_of(each, partner))
        waiting = [each for each in still_waiting if not any(_implies(other, each) for other in after)]
    yield from (Turn(each, None, Fate.GONE) for each in waiting)


_FITS: tuple[Callable[[Assertion, Assertion], bool], ...] = (
    lambda one, other: one.subject == other.subject and one.operator == other.operator,
    lambda one, other: one.written == other.written and one.operator == other.operator,
    lambda one, other: other.strength > one.strength and contains(other.subject, one.subject),
    lambda one, other: one.subject == other.subject,
    lambda one, other: contains(other.subject, one.subject),
    lambda one, other: one.expected == other.expected and one.operator == other.operator,
    lambda one, other: other.strength is Strength.NONE,
    lambda one, other: not {token for token in one.subject if token[0].isalpha()}.isdisjoint(other.subject),
)
"""What took an assertion's place, the likeliest first."""


def _implies(strong: Assertion, weak: Assertion) -> bool:
    is_about = strong.subject == weak.subject and strong.guard == weak.guard
    return is_about and strong.strength > weak.strength and not _is_opposite(strong.operator, weak.operator)


def fate_of(one: Assertion, other: Assertion) -> Fate:
    """What happened from one assertion to the other, which took its place."""
    if other.strength is Strength.NONE or (_answers_itself(other) and not _answers_itself(one)):
        return Fate.VOID
    if _is_weaker(one, other):
        return Fate.WEAKER
    is_unpacked = other.strength > one.strength and contains(one.subject, other.subject)
    if one.subject != other.subject and not is_unpacked and not contains(other.subject, one.subject):
        return Fate.OTHER_SUBJECT
    is_opposite = one.subject == other.subject and _is_opposite(one.operator, other.operator)
    is_kept = other.strength > one.strength or one.expected == other.expected
    return Fate.STRONGER if is_kept and not is_opposite else Fate.OTHER_EXPECTATION


def _is_opposite(one: str, other: str) -> bool:
    """Whether one operator holds where the other does not."""
    return {one, other} in _OPPOSITES or other == f"not {one}" or one == f"not {other}"


def _answers_itself(one: Assertion) -> bool:
    """Whether what is expected is made of what is looked at: the code under test says what it should have said."""
    return one.is_equality and bool(one.expected) and contains(one.expected, one.subject)


def _is_weaker(one: Assertion, other: Assertion) -> bool:
    is_guarded = len(other.guard) > len(one.guard) and other.guard[: len(one.guard)] == one.guard
    is_silent = bool(one.detail) and not other.detail and other.strength == one.strength
    if other.strength < one.strength or is_guarded or is_silent:
        return True
    old, new = number_of(one.expected), number_of(other.expected)
    if (one.subject, one.operator) == (other.subject, other.operator) and old is not None and new is not None:
        is_looser = new < old if other.operator in (">", ">=") else new > old and other.operator in ("<", "<=")
        return is_looser or _is_coarser(one, other)
    return _is_coarser(one, other) or _is_measured(one, other)


def _is_measured(one: Assertion, other: Assertion) -> bool:
    """Whether only the length, or the type, of what was compared as a whole is looked at; zero says it all."""
    if one.strength < Strength.EXACT or one.operator not in ("equal", "same") or other.expected == ("0",):
        return False
    if one.subject == other.subject:
        return other.operator in words_of("any", "measures")
    is_wrapped = other.subject[1:2] == ("(",) and other.subject[0] in words_of("any", "measuring")
    whole = one.subject[:-2] if words_of("any", "calls") & set(one.subject[-1:]) else one.subject
    wrapped, rest = other.subject[2:-1] if is_wrapped else (), other.subject[len(whole) + 1 :]
    asked = other.subject[: len(whole)] if rest and rest[0] in words_of("any", "measured") else ()
    typed = other.subject[1:] if other.subject[:1] == ("typeof",) else ()
    return not {whole, one.subject}.isdisjoint((wrapped, asked, typed))


def _is_coarser(one: Assertion, other: Assertion) -> bool:
    """Whether the tolerance grew so far that another value passes."""
    if other.operator != "close" or other.tolerance is None:
        return False
    if one.tolerance is not None:
        return other.tolerance >= one.tolerance * COARSER and other.tolerance > one.tolerance
    is_count = "".join(other.expected).lstrip("-").isdecimal()  # of which its neighbours pass from 1 on
    finest = FINE_TOLERANCE * abs(number_of(other.expected) or 1.0)
    return (is_count and other.tolerance >= 1) or other.tolerance > finest


def shown(assertion: Assertion | None) -> str:
    """An assertion as a reader may see it: the source, or its parts."""
    if assertion is None or assertion.text:
        return assertion.text if assertion is not None else ""
    return " ".join(filter(None, (*assertion.guard, *assertion.subject, assertion.operator, *assertion.expected)))
