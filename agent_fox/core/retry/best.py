"""Which tree of a spec is the best that was read so far, and when a later one is worse. Pure.

Source of the rules: `docs/semantics.md`, "Going back to the best".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Word


@dataclass(frozen=True, slots=True)
class ReadTree:
    """One tree as a report left it: what counts of each expected requirement.

    `change` is the number of lines that the spec's own work changed in it, `order` its place among those read.
    """

    order: int
    words: Mapping[str, Word]
    change: int = 0

    @property
    def passing(self) -> frozenset[str]:
        return frozenset(part for part, word in self.words.items() if word is Word.PASS)


def shortfall(tree: ReadTree, proven_before: frozenset[str]) -> tuple[int, int, int]:
    """How far a tree falls short, the weightiest first; smaller is better.

    Regressions of what was proven before the spec's work began, what does not pass, what is UNKNOWN.
    """
    passing = tree.passing
    unknown = sum(word is Word.UNKNOWN for word in tree.words.values())
    return len((proven_before & tree.words.keys()) - passing), len(tree.words) - len(passing), unknown


def best_first(trees: Iterable[ReadTree], proven_before: frozenset[str]) -> list[ReadTree]:
    """First the tree that falls short least; then the one with the smaller change, then the earlier one."""
    return sorted(trees, key=lambda tree: (shortfall(tree, proven_before), tree.change, tree.order))


def best_of(trees: Iterable[ReadTree], proven_before: frozenset[str]) -> ReadTree | None:
    return next(iter(best_first(trees, proven_before)), None)


def is_worse(now: ReadTree, best: ReadTree, proven_before: frozenset[str]) -> bool:
    """Whether a tree is strictly worse than the best one: it falls further short, and has lost something.

    A tie is not worse, however large the change.
    """
    return bool(lost(now, best)) and shortfall(now, proven_before) > shortfall(best, proven_before)


def lost(now: ReadTree, best: ReadTree) -> tuple[str, ...]:
    """What passes in the best tree and not in this one, in the order of the spec."""
    return tuple(part for part in best.words if part in best.passing - now.passing)
