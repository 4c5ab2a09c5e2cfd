"""Which test after a change is which test before it: by place, by name, by what it does. Nothing is judged here."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.weakening import difference

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import Test
    from agent_fox.verifier.policy.reading import Assertion

ALIKE = 0.5  # of the assertions of a test, for another to be taken for it
SAME_NAME = 0.7  # of the words of a name
FEWEST_WORDS = 5  # of a name that is compared by its words
LONG_NAME = 12  # characters of a name that two tests do not bear by chance
MOST_COMPARED = 300  # unmatched tests on either side that are compared one by one


class How(StrEnum):
    """By what a test was found again."""

    SAME = "same"
    MOVED = "moved"
    RENAMED = "renamed"
    MERGED = "merged"
    HIDDEN = "hidden"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Match:
    """A test before, and what it is now. `after` is None for a test that is gone or merged into others."""

    before: Test
    after: Test | None
    how: How


@dataclass(frozen=True, slots=True)
class Matched:
    """All tests of a change. `fresh` are those that were not there before; `spare` counts assertions gained."""

    matches: tuple[Match, ...]
    fresh: tuple[Test, ...]
    spare: Counter[Hashable]


class Matching:
    """One pass over the tests of a change; each step takes away what it matched."""

    def __init__(self, before: Iterable[Test], after: Iterable[Test], moves: Mapping[str, str]) -> None:
        everything = tuple(after)
        self._left = [test for test in before if test.function.is_test]
        self._free = [test for test in everything if test.function.is_test]
        self._others = [test for test in everything if not test.function.is_test]
        self._spare: Counter[Hashable] = Counter()
        self._moves = moves
        self._found: list[Match] = []

    def run(self) -> Matched:
        self._pair(lambda test: (self._moves.get(test.path, test.path), test.function.name), How.SAME, _by_place)
        for key, how in _KEYS:
            self._pair(key, how)
        self._pair_alike()
        self._spare = _gained(self._found, self._free)
        self._merge()
        self._hide()
        self._pair(_by_subjects, How.RENAMED)
        self._found.extend(Match(test, None, How.GONE) for test in self._left)
        return Matched(tuple(self._found), tuple(self._free), self._spare)

    def _pair(self, old: _Key, how: How, new: _Key | None = None) -> None:
        """Pair tests with equal keys, in order; a key of None matches nothing."""
        offered: dict[Hashable, list[Test]] = defaultdict(list)
        for test in reversed(self._free):
            offered[(new or old)(test)].append(test)
        before, self._left = self._left, []
        for test in before:
            key = old(test)
            if key is None or not offered[key]:
                self._left.append(test)
            else:
                self._found.append(Match(test, offered[key].pop(), how))
        self._take()

    def _take(self) -> None:
        """Take away the tests that are matched now."""
        taken = {id(match.after) for match in self._found}
        self._free = [test for test in self._free if id(test) not in taken]

    def _pair_alike(self) -> None:
        """Tests of one file with other names, of which half the assertions stayed: a test that grew or was renamed."""
        if not self._left or not self._free:
            return
        offered: dict[str, list[tuple[Test, Counter[Hashable]]]] = defaultdict(list)
        for test in self._free[:MOST_COMPARED]:
            offered[test.path].append((test, Counter(map(_demand, test.assertions))))
        kept: list[Test] = []
        for test in self._left[:MOST_COMPARED]:
            old = Counter(map(_demand, test.assertions))
            near = offered[self._moves.get(test.path, test.path)]
            nearest = max(near, key=lambda one: _likeness(test, one[0]) + _share(old, one[1]), default=None)
            if nearest is None or max(_likeness(test, nearest[0]), _share(old, nearest[1])) < ALIKE:
                kept.append(test)
                continue
            near.remove(nearest)
            self._found.append(Match(test, nearest[0], How.RENAMED))
        self._left = kept + self._left[MOST_COMPARED:]
        self._take()

    def _merge(self) -> None:
        """Tests of which every assertion turns up among those that other tests gained."""
        before, self._left = self._left, []
        for test in before:
            needed = Counter(assertion.key for assertion in test.assertions)
            if needed and all(self._spare[key] >= count for key, count in needed.items()):
                self._spare.subtract(needed)
                self._found.append(Match(test, None, How.MERGED))
            else:
                self._left.append(test)

    def _hide(self) -> None:
        """Tests that are still there, where no runner finds them."""
        others = self._others[: MOST_COMPARED * 10]
        by_shape = {test.function.shape: test for test in others if len(test.function.shape) > 3}
        by_word = {_word(test.function.name): test for test in others}
        before, self._left = self._left, []
        for test in before:
            hidden = by_shape.get(test.function.shape) or by_word.get(_word(test.function.name))
            if hidden is None:
                self._left.append(test)
            else:
                self._found.append(Match(test, hidden, How.HIDDEN))


def _gained(found: Iterable[Match], fresh: Iterable[Test]) -> Counter[Hashable]:
    """What tests that run assert now and did not before, and what new tests assert."""
    gained: Counter[Hashable] = Counter(each.key for test in fresh if _runs(test) for each in test.assertions)
    for match in found:
        if match.after is not None and _runs(match.after):
            gained.update(each.key for each in difference(match.before.assertions, match.after.assertions)[1])
    return gained


def _runs(test: Test) -> bool:
    return all(skip.is_conditional for skip in test.function.skips)


def _share(old: Counter[Hashable], new: Counter[Hashable]) -> float:
    """How much of what a test asserted another one asserts."""
    return (old & new).total() / old.total() if old else 0.0


def _likeness(one: Test, other: Test) -> float:
    """How many of the words of two long names they have in common; none where that is little."""
    words, others = (set(test.function.leaf.split("_")) for test in (one, other))
    shared = len(words & others) / len(words | others)
    return shared if shared >= SAME_NAME and len(words) >= FEWEST_WORDS else 0.0


def _demand(one: Assertion) -> Hashable:
    """An assertion as it is written, whatever its names stand for."""
    return (one.written or one.subject, one.operator, one.expected)


_Key = Callable[["Test"], Hashable]


def _by_place(test: Test) -> Hashable:
    return (test.path, test.function.name)


def _by_checks(test: Test) -> Hashable:
    return tuple(sorted(str(assertion.key) for assertion in test.assertions)) or None


def _by_subjects(test: Test) -> Hashable:
    """Its file and all that it asserts about: a test with a new name and other expectations."""
    return (test.path, *sorted({assertion.subject for assertion in test.assertions})) if test.assertions else None


_KEYS: tuple[tuple[_Key, How], ...] = (
    (lambda test: test.function.name, How.MOVED),
    (lambda test: (test.function.leaf, _by_checks(test)) if test.assertions else None, How.MOVED),
    (lambda test: test.function.shape or None, How.RENAMED),
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
