"""Which texts of two readings are the same: exactly, by their likeness, or by their place. What follows is not here."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise

from agent_fox.core.regex import regex

Words = frozenset[str]
Pairs = dict[str, str]
"""Names in the new reading to names in the earlier one; each name stands once on each side."""

MARGIN = 0.05
"""How much likelier the nearest text must be than the next one."""

_NO_SPACES = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"  # scripts in which a sentence may be one word
_WORD = regex(rf"[{_NO_SPACES}]|[^\W{_NO_SPACES}]+")
_MOST_PAIRS = 1_000_000
"""Thousands of texts that were all rewritten at once would be compared for minutes."""
_FEWEST_TEXTS = 6
"""With fewer texts nothing can be said about which words stand in all of them."""


def words_of(text: str) -> Words:
    """The words of a text, and which of them stand beside each other."""
    words = _WORD.findall(text.lower())
    return frozenset((*words, *(f"{word} {other}" for word, other in pairwise(words))))


def common_words(texts: Sequence[Words]) -> Words:
    """What more than half of the texts say: it tells none of them from another."""
    if len(texts) < _FEWEST_TEXTS:
        return frozenset()
    times = Counter(word for words in texts for word in words)
    return frozenset(word for word, count in times.items() if 2 * count > len(texts))


def exactly(new: Iterable[tuple[str, Hashable]], known: Iterable[tuple[str, Hashable]], *, only_once: bool) -> Pairs:
    """Pairs of names whose texts are equal, in order. `only_once`: a text that stands twice on a side pairs nothing.

    None is no text.
    """
    there, here = _names(known), _names(new)
    usable = (text for text, names in here.items() if not only_once or len(names) == len(there.get(text, ())) == 1)
    return {id: other for text in usable for id, other in zip(here[text], there.get(text, ()), strict=False)}


def _names(texts: Iterable[tuple[str, Hashable]]) -> dict[Hashable, list[str]]:
    names: dict[Hashable, list[str]] = {}
    for name, text in texts:
        if text is not None:
            names.setdefault(text, []).append(name)
    return names


def likenesses(new: Mapping[str, Words], known: Mapping[str, Words]) -> Iterator[tuple[float, str, str]]:
    """How much of two texts is the same, up to 1, for those that share a word at all; in the order of both sides.

    Among very many texts only those are held against each other that share one of the rarer words.
    """
    holders = _holders(known)
    rare = _rarest(_holders(new), holders)
    places = {name: at for at, name in enumerate(known)}
    for id, words in new.items():
        near = set(chain.from_iterable(holders[word] for word in words & rare))
        for other in sorted(near, key=places.__getitem__):
            yield 2 * len(words & known[other]) / (len(words) + len(known[other])), id, other


def _holders(texts: Mapping[str, Words]) -> dict[str, list[str]]:
    """The names of the texts that each word stands in."""
    holders: dict[str, list[str]] = {}
    for name, words in texts.items():
        for word in words:
            holders.setdefault(word, []).append(name)
    return holders


def _rarest(new: Mapping[str, Sequence[str]], known: Mapping[str, Sequence[str]]) -> Words:
    """The words by which pairs are found: all that both sides have, or as many of the rarest as can be looked at."""
    pairs = sorted((len(names) * len(known[word]), word) for word, names in new.items() if word in known)
    sums = [*accumulate(times for times, _ in pairs)]
    return frozenset(word for _, word in pairs[: bisect_right(sums, _MOST_PAIRS)])


class Near:
    """The texts that are near enough to each other to be paired, the nearest first; ties by place."""

    def __init__(self, new: Mapping[str, Words], known: Mapping[str, Words], least: float) -> None:
        close = [near for near in likenesses(new, known) if near[0] >= least]
        self._ranked = sorted(close, key=lambda near: -near[0])
        self._of_new: dict[str, list[tuple[float, str]]] = {}
        self._of_known: dict[str, list[tuple[float, str]]] = {}
        for score, id, other in self._ranked:
            self._of_new.setdefault(id, []).append((score, other))
            self._of_known.setdefault(other, []).append((score, id))

    def pairs(self) -> tuple[Pairs, dict[str, tuple[str, ...]]]:
        """Those that nothing else comes near; and the new texts for which something does, with what they are near."""
        pairs: Pairs = {}
        doubts: dict[str, tuple[str, ...]] = {}
        used: set[str] = set()
        for score, id, other in self._ranked:
            if id in pairs or id in doubts or other in used:
                continue
            rivals = [name for name in self._close(self._of_new[id], score) if name not in used]
            twins = [name for name in self._close(self._of_known[other], score) if name not in pairs]
            if rivals == [other] and twins == [id]:
                pairs[id] = other
                used.add(other)
            else:
                doubts.update({name: doubts.get(name, (other,)) for name in twins})
                doubts[id] = tuple(rivals)
        return pairs, doubts

    @staticmethod
    def _close(scores: Iterable[tuple[float, str]], score: float) -> Iterator[str]:
        return (name for value, name in scores if value > score - MARGIN)


def by_place(new: Sequence[str], known: Sequence[str], pairs: Mapping[str, str]) -> Pairs:
    """Pairs of what is left between the same neighbours, in order."""
    left = _between(known, frozenset(pairs.values()))
    placed: Pairs = {}
    for (before, after), names in _between(new, frozenset(pairs)).items():
        place = (pairs.get(before, ""), pairs.get(after, ""))
        placed.update(zip(names, left.get(place, ()), strict=False))
    return placed


def _between(names: Sequence[str], paired: frozenset[str]) -> dict[tuple[str, str], list[str]]:
    """The names that are not paired, by their nearest paired neighbours; empty at an end."""
    ends = [at for at, name in enumerate(names) if name in paired]
    runs: dict[tuple[str, str], list[str]] = {}
    for start, end in pairwise((-1, *ends, len(names))):
        place = (names[start] if start >= 0 else "", names[end] if end < len(names) else "")
        runs[place] = [*names[start + 1 : end]]
    return runs
