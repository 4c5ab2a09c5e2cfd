"""What new assertions may stand for ones that are gone: a test rewritten by a person, which wants a reason, no stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.expressions import Tokens, called_names, contains, names_of
from agent_fox.verifier.policy.reading import Assertion, Strength
from agent_fox.verifier.policy.weakening import difference, turns

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import Test
    from agent_fox.verifier.policy.matching import Match, Matched

MOST_REPLACED = 2  # assertions or tests that a new one may stand for: tests are also merged
LONG_TEXT = 10  # characters of a text that two assertions do not have in common by chance
_ERRORS = frozenset({"error", "err", "e"})
_CLOCKS = frozenset({"perf_counter", "monotonic", "perf_counter_ns", "monotonic_ns", "performance", "nanoTime"})


class Replacements:
    """Assertions and tests that a change gained beyond what it lost: each stands for some of what is gone."""

    def __init__(self, matched: Matched) -> None:
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
            gained += [each for match in self._matches for each in _beyond(match, path)]
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
    about = lost.expected if lost.operator in ("in", "not in") else _measured(lost.subject)
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


def _measured(subject: Tokens) -> Tokens:
    """`x` of `len(x)` and `x.length`."""
    if subject[:2] == ("len", "("):
        return subject[2:-1]
    return subject[:-2] if subject[-2:] == (".", "length") else subject


def _beyond(match: Match, path: str) -> Iterator[Assertion]:
    """What a test of the file gained that took the place of nothing."""
    if match.after is None or match.after.path != path:
        return
    taken = {id(turn.after) for turn in turns(match.before.assertions, match.after.assertions)}
    gained = difference(match.before.assertions, match.after.assertions)[1]
    yield from (each for each in gained if id(each) not in taken)


def _names(one: Assertion) -> frozenset[str]:
    """The names that an assertion uses, and the longer texts that it is about."""
    tokens = (*one.subject, *one.expected)
    return names_of(tokens) | {token for token in tokens if token[-1:] == '"' and len(token) >= LONG_TEXT}
