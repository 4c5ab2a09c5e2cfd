"""How a requirement is known: one closed list, and which word of it stands beside one, decided here alone.

A word of the proof is believed of our own judge of tests only; whatever another judge claims, it is *judged*. Source
of the list: `docs/proof.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from agent_fox.core.values import dataclass


class How(StrEnum):
    """How a requirement is known. What a person signed stands with a name: `waived by NAME`, `agreed by NAME`."""

    RED_WITHOUT = "red without"
    ALREADY_TRUE = "already true"
    NOT_SHOWN = "already true, not shown"
    PRESENCE_ONLY = "presence only"
    TAKEN_BACK = "taken back"
    HIDDEN = "hidden"
    PROVED = "proved"
    JUDGED = "judged"
    TESTS_PASSED = "tests passed"
    AGREED = "agreed"
    WAIVED = "waived"


TOLD_BY_TESTS = (How.RED_WITHOUT, How.ALREADY_TRUE, How.NOT_SHOWN, How.PRESENCE_ONLY, How.TAKEN_BACK, How.HIDDEN)
"""What only the judge of tests may say of a PASS of its own, besides *agreed by NAME*."""

SAID_APART = (How.ALREADY_TRUE, How.NOT_SHOWN, How.PRESENCE_ONLY, How.TESTS_PASSED, How.JUDGED)
"""Words that show less than that the work is needed: the requirements are named wherever others are only counted."""

_ORDER: tuple[str, ...] = (*How,)
_WEAKEST: tuple[str, ...] = (How.JUDGED, How.TESTS_PASSED)
_BY = " by "


@dataclass(frozen=True, slots=True)
class Facts:
    """What is recorded about one requirement: its current verdict, its gate, and what a person signed.

    `told`: the word that its PASS was stored with, empty where it has none; `is_by_tests`: our own judge was among
    those who gave it. `waived_by`: the name behind a waiver that counts now.
    """

    is_passing: bool
    told: str = ""
    is_by_tests: bool = False
    is_proved: bool = False
    waived_by: str = ""


def how_known(facts: Facts) -> str:
    """How a requirement is known; empty for one that is not. What passes needs no waiver."""
    if not facts.is_passing:
        return signed(How.WAIVED, facts.waived_by) if facts.waived_by else ""
    if facts.told.startswith(f"{How.AGREED}{_BY}"):
        return facts.told
    if facts.is_proved:
        return How.PROVED
    return facts.told or (How.TESTS_PASSED if facts.is_by_tests else How.JUDGED)


def word_of_pass(answer: str, *, is_by_tests: bool, is_ours: bool) -> str:
    """The word that a PASS of one judge is stored with. `answer`: what the judge itself says.

    `is_by_tests`: it is the judge of tests; `is_ours`: it ran something of its own, as the specification library does.
    """
    if is_by_tests and (answer in TOLD_BY_TESTS or is_agreed(answer)):
        return answer
    return How.TESTS_PASSED if is_ours else How.JUDGED


def is_agreed(word: str) -> bool:
    """Whether it is *agreed by NAME*, with a name."""
    kind, _, name = word.partition(_BY)
    return kind == How.AGREED and bool(name.strip())


def signed(how: How, name: str) -> str:
    """`waived by NAME`, `agreed by NAME`."""
    return f"{how}{_BY}{name}"


def strongest(words: Iterable[str]) -> str:
    """Of several judges of one PASS, the word that shows most: tests before a model, a proof before tests alone."""
    ranked = sorted(
        (word for word in words if word), key=lambda word: _WEAKEST.index(word) if word in _WEAKEST else len(_WEAKEST)
    )
    return ranked[-1] if ranked else ""


def counts_of(words: Iterable[str]) -> dict[str, int]:
    """How often each word stands, in the order of the list."""
    return _in_order(Counter(word for word in words if word))


def added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Several such counts as one."""
    total = Counter[str]()
    for each in counts:
        total.update(each)
    return _in_order(total)


def _in_order(found: Mapping[str, int]) -> dict[str, int]:
    return {word: found[word] for word in sorted(found, key=_place)}


def counts_in_words(counts: Mapping[str, int]) -> str:
    """`4 red without, 1 waived by Ada`."""
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def _place(word: str) -> tuple[int, str]:
    kind = word.partition(_BY)[0]
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER), word)


def told_apart(words: Mapping[str, str]) -> dict[str, list[str]]:
    """By word: the requirements that are to be named, not only counted."""
    return {how: ids for how in SAID_APART if (ids := [part for part, word in words.items() if word == how])}


def grouped(words: Mapping[str, str]) -> dict[str, list[str]]:
    """The requirements of each word, in the order of the list."""
    return {group: [part for part, word in words.items() if word == group] for group in counts_of(words.values())}
