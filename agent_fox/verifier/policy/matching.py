"""Which test after a change is which test before it: by place, by name, by what it does. Nothing is judged here."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import StrEnum
from functools import cached_property, partial
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.weakening import Turn, beyond, turns

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import Test
    from agent_fox.verifier.policy.reading import Assertion

ALIKE = 0.5  # of the assertions of a test, for another to be taken for it
SAME_NAME = 0.7  # of the words of a name
FEWEST_WORDS = 5  # of a name that is compared by its words
LONG_NAME = 12  # characters of a name that two tests do not bear by chance
MOST_COMPARED = 300  # unmatched tests on either side that are compared one by one


class How(StrEnum):
    SAME = "same"
    MOVED = "moved"
    RENAMED = "renamed"
    MERGED = "merged"
    HIDDEN = "hidden"
    GONE = "gone"


class Match:
    """A test before, and what it is now. `after` is None for a test that is gone or merged into others."""

    def __init__(self, before: Test, after: Test | None, how: How) -> None:
        self.before = before
        self.after = after
        self.how = how

    @cached_property
    def _sides(self) -> tuple[tuple[Assertion, ...], tuple[Assertion, ...]]:
        """What it asserted and asserts; nothing where that is the same, or where it is gone."""
        is_other = self.after is not None and self.after.keys != self.before.keys
        return (self.before.assertions, self.after.assertions) if self.after is not None and is_other else ((), ())

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turns(*self._sides))

    @cached_property
    def gained(self) -> list[Assertion]:
        return beyond(*reversed(self._sides))


class Matching:
    """One pass over the tests of a change; each step takes away what it matched. matches: all tests before. fresh:
    those that were not there before. spare: counts assertions gained.
    """

    def __init__(self, before: Iterable[Test], after: tuple[Test, ...], moves: Mapping[str, str]) -> None:
        self._left = [test for test in before if test.function.is_test]
        self.fresh = [test for test in after if test.function.is_test]
        self.matches: list[Match] = []
        self._moves = moves
        self._pair(lambda test: (moves.get(test.path, test.path), test.place[1]), How.SAME, lambda test: test.place)
        for key, how in _KEYS:
            self._pair(key, how)
        self._pair_alike()
        self.spare = self._spared()
        self._hide([test for test in after if not test.function.is_test])
        self._pair(  # a test with a new name and other expectations
            lambda test: (test.path, *sorted({each.subject for each in test.assertions})) if test.assertions else None,
            How.RENAMED,
        )
        self.matches.extend(Match(test, None, How.GONE) for test in self._left)

    def _pair(self, old: _Key, how: How, new: _Key | None = None) -> None:
        """Pair tests with equal keys, in order; a key of None matches nothing."""
        offered: dict[Hashable, list[Test]] = defaultdict(list)
        for test in reversed(self.fresh) if self._left else ():
            offered[(new or old)(test)].append(test)
        keys = ((test, old(test)) for test in self._left)
        self._take({id(test): (offered[key].pop(), how) for test, key in keys if key is not None and offered[key]})

    def _take(self, taken: Mapping[int, tuple[Test | None, How]]) -> None:
        """Note what tests before are now, by their identity, and take them and these away."""
        self.matches.extend(Match(test, *taken[id(test)]) for test in self._left if id(test) in taken)
        self._left = [test for test in self._left if id(test) not in taken]
        others = {id(test) for test, _ in taken.values()}
        self.fresh = [test for test in self.fresh if id(test) not in others]

    def _pair_alike(self) -> None:
        """Tests of one file with other names, of which half the assertions stayed: a test that grew or was renamed."""
        offered: dict[str, list[tuple[Test, Counter[Hashable]]]] = defaultdict(list)
        for test in self.fresh[:MOST_COMPARED] if self._left else ():
            offered[test.path].append((test, Counter(map(_demand, test.assertions))))
        alike: dict[int, tuple[Test | None, How]] = {}
        for test in self._left[:MOST_COMPARED] if offered else ():
            near = offered[self._moves.get(test.path, test.path)]
            likeness = partial(_likeness, test, Counter(map(_demand, test.assertions)))
            nearest = max(near, key=lambda other: sum(likeness(*other)), default=None)
            if nearest is not None and max(likeness(*nearest)) >= ALIKE:
                near.remove(nearest)
                alike[id(test)] = nearest[0], How.RENAMED
        self._take(alike)

    def _spared(self) -> Counter[Hashable]:
        """What tests that run assert now and did not before, and what new tests assert; without that of tests of which
        every assertion turns up among it: these were merged into others.
        """
        spare: Counter[Hashable] = Counter(each.key for test in self.fresh if test.is_run for each in test.assertions)
        for match in self.matches:
            spare.update(each.key for each in match.gained if match.after is not None and match.after.is_run)
        merged: dict[int, tuple[Test | None, How]] = {}
        for test in self._left:
            needed = Counter(assertion.key for assertion in test.assertions)
            if needed and all(spare[key] >= times for key, times in needed.items()):
                spare.subtract(needed)
                merged[id(test)] = None, How.MERGED
        self._take(merged)
        return spare

    def _hide(self, others: list[Test]) -> None:
        """Tests that are still there, where no runner finds them."""
        others = others[: MOST_COMPARED * 10] if self._left else []
        by_shape = {test.function.shape(): test for test in others if len(test.function.shape()) > 3}
        by_word = {_word(test.function.name): test for test in others}
        hidden: dict[int, tuple[Test | None, How]] = {}
        for test in self._left:
            if other := by_shape.get(test.function.shape()) or by_word.get(_word(test.function.name)):
                hidden[id(test)] = other, How.HIDDEN
        self._take(hidden)


def _likeness(test: Test, old: Counter[Hashable], other: Test, new: Counter[Hashable]) -> tuple[float, float]:
    """How alike another test is: by the words of long names, and by how much of what this one asserted it asserts."""
    words, others = (set(each.function.leaf.split("_")) for each in (test, other))
    shared = len(words & others) / len(words | others)
    of_name = shared if shared >= SAME_NAME and len(words) >= FEWEST_WORDS else 0.0
    return of_name, (old & new).total() / old.total() if old else 0.0


def _demand(one: Assertion) -> Hashable:
    """An assertion as it is written, whatever its names stand for."""
    return (one.written or one.subject, one.operator, one.expected)


_Key = Callable[["Test"], Hashable]


def _by_checks(test: Test) -> Hashable:
    return tuple(sorted(str(assertion.key) for assertion in test.assertions)) or None


_KEYS: tuple[tuple[_Key, How], ...] = (
    (lambda test: test.function.name, How.MOVED),
    (lambda test: (test.function.leaf, _by_checks(test)) if test.assertions else None, How.MOVED),
    (lambda test: test.function.shape() or None, How.RENAMED),
    (_by_checks, How.RENAMED),
    (lambda test: (test.path, test.function.leaf), How.RENAMED),
    (lambda test: test.function.leaf if len(test.function.leaf) >= LONG_NAME else None, How.MOVED),
)
"""By what a test is found again, and how it is then called, the surest first."""
_MARKS_OF_A_TEST = regex(
    r"^_*(?:x|no|do_?not|dont|skip|old|disabled|off)?_*(?:tests?|check|verify|should)?_+|_(?:old|disabled|off|skip)$"
)


def _word(name: str) -> str:
    """What is left of a test's name without the marks of a test: `test_a`, `_test_a`, `check_a`, `TestA`, `a`."""
    leaf = name.rpartition("::")[2]
    flat = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", leaf).lower()
    return _MARKS_OF_A_TEST.sub("", f"_{flat}")
