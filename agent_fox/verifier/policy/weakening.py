"""What became of the assertions of one test: which are gone, weaker, or expect something else. And what new ones may
stand for those that are gone: a test rewritten by a person, which wants a reason, no stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from agent_fox.verifier.policy.expressions import Tokens, called_names, contains, names_of, number_of
from agent_fox.verifier.policy.reading import Assertion, Strength
from agent_fox.verifier.policy.values import beyond

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import Test
    from agent_fox.verifier.policy.matching import Matching

MOST_PAIRED = 100  # assertions gained by one test that are looked at for each that it lost
FINE_TOLERANCE = 1e-3
"""Relative; what is as close as this still says the value."""
_MEASURES = frozenset({"toHaveLength", "toHaveSize", "lengthOf", "length", "hasSize", "Len", "hasSameSizeAs"})
_MEASURING = frozenset({"len", "bool", "type", "count", "id", "hash"})
_MEASURED = frozenset({("length",), ("size",), ("len",), ("is_empty",), ("constructor",)})
_OPPOSITES = ({"truthy", "falsy"}, {"is something", "is none"})
COARSER = 10.0  # times the tolerance before
MOST_REPLACED = 2  # assertions or tests that a new one may stand for: tests are also merged
LONG_TEXT = 10  # characters of a text that two assertions do not have in common by chance
_ERRORS = frozenset({"error", "err", "e"})
_CLOCKS = frozenset({"perf_counter", "monotonic", "perf_counter_ns", "monotonic_ns", "performance", "nanoTime"})


class Fate(StrEnum):
    """What happened to an assertion."""

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


def difference(before: tuple[Assertion, ...], after: tuple[Assertion, ...]) -> tuple[list[Assertion], list[Assertion]]:
    """Assertions that only one side has, by count."""
    old, new = ([each.key for each in side] for side in (before, after))
    return beyond(before, new, lambda each: each.key), beyond(after, old, lambda each: each.key)


def turns(before: tuple[Assertion, ...], after: tuple[Assertion, ...]) -> Iterator[Turn]:
    """Pair what one test lost with what it gained: by subject, then by what is left, in order.

    What a stronger assertion about the same subject says already is not lost.
    """
    lost, left = difference(before, after)
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
        return other.operator in _MEASURES
    wrapped = other.subject[2:-1] if other.subject[1:2] == ("(",) and other.subject[0] in _MEASURING else ()
    asked = other.subject[: len(one.subject)] if other.subject[len(one.subject) :][1:2] in _MEASURED else ()
    typed = other.subject[1:] if other.subject[:1] == ("typeof",) else ()
    return one.subject in (wrapped, asked, typed)


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
    if assertion is None:
        return ""
    if assertion.text:
        return assertion.text
    parts = (" ".join(assertion.guard), " ".join(assertion.subject), assertion.operator, " ".join(assertion.expected))
    return " ".join(part for part in parts if part)


class Replacements:
    """Assertions and tests that a change gained beyond what it lost: each stands for some of what is gone."""

    def __init__(self, matched: Matching) -> None:
        self._fresh = tuple(test for test in matched.fresh if all(skip.is_conditional for skip in test.function.skips))
        self._matches = matched.matches
        self._free: dict[str, list[Assertion]] = {}
        self._tests: Counter[str] = Counter()

    def replaces_test(self, lost: Test) -> bool:
        """Whether a new test asserts on what the lost one called: one of its file, or of any other."""
        called = frozenset(name for assertion in lost.assertions for name in called_names(assertion.subject))
        near = sorted(self._fresh, key=lambda test: test.path != lost.path) if called else []
        for test in near:
            if self._tests[test.name] < MOST_REPLACED and any(
                each.strength >= Strength.PARTIAL and not called.isdisjoint(called_names(each.subject))
                for each in test.assertions
            ):
                self._tests[test.name] += 1
                return True
        return False

    def replaces(self, lost: Assertion, path: str) -> bool:
        """Whether a new assertion of the file, as strong and about a name that both use, stands for `lost`."""
        if path not in self._free:
            gained = [each for test in self._fresh if test.path == path for each in test.assertions]
            for match in (each for each in self._matches if each.after is not None and each.after.path == path):
                taken = {id(turn.after) for turn in match.turns}  # it took the place of something
                gained += [each for each in match.gained if id(each) not in taken]
            self._free[path] = [each for each in gained if each.strength >= Strength.PARTIAL] * MOST_REPLACED
        for place, each in enumerate(self._free[path]):
            is_as_strong = each.strength >= lost.strength and len(each.guard) <= len(lost.guard)
            if is_as_strong and _names(lost) & _names(each):
                del self._free[path][place]
                return True
        return False


def is_within(lost: Assertion, after: Iterable[Assertion]) -> bool:
    """Whether something exact about the whole, or about what the whole is made of, is still asserted; or it was time.

    The length of what is compared as a whole, a part of it, calls counted where their arguments are compared, the
    message of an error whose message is matched now, the error that a callback was given.
    """
    is_message = {"value", "exception"} & set(lost.subject) or {"value", "exception"} & set(lost.expected)
    if _CLOCKS & set(lost.subject) or (len(lost.subject) == 1 and lost.subject[0] in _ERRORS):
        return True
    whole = lost.subject[2:-1] if lost.subject[:2] == ("len", "(") else lost.subject
    whole = whole[:-2] if whole[-2:] == (".", "length") else whole
    about = lost.expected if lost.operator in ("in", "not in") else whole
    return any(
        (is_message and each.operator == "raises" and bool(each.detail))
        or (each.strength is Strength.EXACT and each.guard == lost.guard and _says_more(each, lost, about))
        for each in after
    )


def _says_more(one: Assertion, lost: Assertion, about: Tokens) -> bool:
    """A whole list, text or object, rather than another single fact about the same thing."""
    if one.operator != "equal":
        return False
    is_part = len(one.subject) < len(lost.subject) and contains(about, one.subject)
    is_list = one.expected[:1] in (("[",), ("{",), ("(",))
    is_told = is_part and bool(lost.expected) and contains(one.expected, lost.expected)
    is_count = lost.subject[:2] == ("len", "(") or lost.subject[-1:] == ("length",)
    is_lesser = lost.strength < Strength.EXACT or is_count or lost.operator.startswith("toHaveBeen")
    is_near = is_part or (is_lesser and (contains(about, one.subject) or contains(one.subject, about)))
    return is_told or (is_list and is_near)


def _names(one: Assertion) -> frozenset[str]:
    """The names that an assertion uses, and the longer texts that it is about."""
    tokens = (*one.subject, *one.expected)
    return names_of(tokens) | {token for token in tokens if token[-1:] == '"' and len(token) >= LONG_TEXT}
