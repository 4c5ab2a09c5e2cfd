"""Whose work a requirement is where no task says so: guessed from the names and words that it and the tasks share.

Weights come from the spec itself: what few groups say tells more than what most of them say. Who owns what is named is
in `blame`. Source of the rule: `docs/ownership.md`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core.spec import Group, Requirement, Spec

FIRM_SCORE, FIRM_LEAD = 0.1, 1.05
"""A guess with less of what a requirement says, or less than so many times what the next group has, is weak."""

NAME, PAIR = 2.0, 1.0
"""What a name of the code, and two words beside each other, tell beside a single word."""

OF_TITLE, OF_OTHERS = 0.6, 0.5
"""What the title of a requirement, and what all its other criteria say, tell of one of its criteria."""

BESIDE, WHOLE = 0.3, 0.3
"""What it adds that all other criteria are this group's; how much of a score is that of the requirement as a whole."""

TITLE, LENT, CHECKING = 1.6, 0.5, 0.5
"""How strongly a group says its title, what it owns by name, and what it only checks or describes."""

_MOST_SHOWN = 5
_LONGEST_TEXT = 20_000
_FEWEST_LETTERS = 3

_NO_SPACES = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_MARKED = regex(r"`([^`\n]{1,200})`")
_NAME = regex(
    r"(?:GET|POST|PUT|PATCH|DELETE|HEAD) +/\S{0,200}|--[a-z][\w-]{1,60}"
    r"|/?[\w.@-]{1,80}(?:/[\w.@{}:*\[\]-]{1,80}){1,12}/?"
    r"|[A-Za-z_]\w{0,80}\.[a-z]\w{0,9}\b|[A-Za-z]\w{0,80}_\w{1,80}|[A-Z]?[a-z0-9]{1,40}(?:[A-Z][A-Za-z0-9]{0,40}){1,8}"
)
_PIECE = regex(rf"[{_NO_SPACES}]+|[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z{_NO_SPACES}]+")
_WITHOUT_SPACES = regex(rf"[{_NO_SPACES}]")
_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "s", "e", "y", "")

_GRAMMAR = """
    a about across add after against al all also an and another any are as at based be been before being between
    both by can could create define did do does done during e each ensure et etc every feature first for from g
    given had has have how i if implement in into is it its last make may might must mvp new no nor not of on one
    only onto or other our out over own p1 p2 p3 per phase priority provide provides required requirement
    requirements same scenario shall should so some story such support system task tasks than that the their then
    there these this those three through to two under until up update upon us use used user users using via was were
    what when whenever where which while who whose why will with within without would write your
"""
_TELL_NOTHING = frozenset(_GRAMMAR.split())
"""Words of the grammar, of requirements, and of tasks, whatever they are about."""

_CHECKS = regex(
    r"\W*(?:(?:[Aa]dd|[Ww]rite|[Ii]mplement|[Cc]reate|[Rr]un|[Rr]e-?run)\s+(?:\S+\s+){0,3}?(?:tests?|specs?|coverage)\b"
    r"|(?:[Tt]est|[Vv]erify|[Vv]alidate|[Cc]heck|[Dd]ocument|[Rr]eview|[Cc]onfirm|[Tt]race|[Rr]un|[Rr]e-?run)\b"
    r"|(?:\S+\s+){1,4}?(?:audit|tests?|coverage)\b(?=:|$)|\S+ (?:tests?|coverage)\b)"
)
"""How a task begins that checks or describes what other tasks do."""

Words = frozenset[str]
Beside = Mapping[tuple[int, ...] | None, int]


@dataclass(frozen=True, slots=True)
class Guess:
    """The group that a requirement shares most with: how much of what it says (0 to 1.9), and by which words.

    beside: how many other criteria of the same requirement are named as this group's. runner_up: the next group; None
    where no other shares anything.
    """

    group: int
    score: float
    words: tuple[str, ...]
    beside: int = 0
    runner_up: int | None = None
    runner_up_score: float = 0.0

    @property
    def is_weak(self) -> bool:
        """Whether little is shared, or the next group shares nearly as much: what a failure shows is better than it."""
        return self.score < FIRM_SCORE or self.score < FIRM_LEAD * self.runner_up_score

    @property
    def why(self) -> str:
        """The ground in words, for a person."""
        shared = f"both say {', '.join(self.words)}" if self.words else ""
        beside = f"{self.beside} of its other criteria named there" if self.beside else ""
        return "; ".join(part for part in (shared, beside) if part) or "both say the same pairs of words or signs"


@dataclass(frozen=True, slots=True)
class Saying:
    """What a group says: each word with how strongly (1: a task that makes something does), and what each task says."""

    words: Mapping[str, float]
    tasks: Sequence[Words]


def guesses(spec: Spec, open_ids: Iterable[str], named: Mapping[str, tuple[int, ...]]) -> dict[str, Guess]:
    """The likely owner of each of these ids, where any group shares something. `named` are the owners of the others.

    A checkpoint owns nothing.
    """
    wanted = frozenset(open_ids)
    groups = [group for group in spec.groups if not group.is_checkpoint]
    if not wanted or not groups:
        return {}
    asked = {part.id: terms(part.text) for part in spec.parts}
    reading = Reading(
        {group.number: saying_of(group, lent_words(group.number, asked, named)) for group in groups}, asked
    )
    guessed: dict[str, Guess] = {}
    for requirement in spec.requirements:
        texts = {part.id: part.text for part in requirement.parts if part.id in wanted}
        likely = reading.guesses(requirement, texts, named)
        guessed |= {id: as_written(guess, f"{texts[id]} {requirement.title}") for id, guess in likely.items() if guess}
    return guessed


def as_written(guess: Guess, text: str) -> Guess:
    """The guess with whole words in place of their stems, as the requirement writes them."""
    written = {_stem(piece): piece.lower() for piece in reversed(_PIECE.findall(text[:_LONGEST_TEXT]))}
    return replace(guess, words=tuple(written.get(word, word) for word in guess.words))


def lent_words(number: int, asked: Mapping[str, Words], named: Mapping[str, tuple[int, ...]]) -> Words:
    """What the requirements say that are this group's alone, but for what every requirement of the spec says."""
    everywhere = frozenset.intersection(*asked.values())
    return frozenset().union(*(words for id, words in asked.items() if named.get(id) == (number,))) - everywhere


def saying_of(group: Group, lent: Words) -> Saying:
    words = dict.fromkeys(lent, LENT)
    texts = [f"{task.title}\n{' '.join(task.details)}" for task in group.subtasks] or [group.text]
    tasks: list[Words] = []
    for text in texts:
        strength = CHECKING if group.writes_tests_only or _CHECKS.match(text) else 1.0
        tasks.append(terms(text))
        words |= {word: max(words.get(word, 0.0), strength) for word in tasks[-1]}
    return Saying(words | dict.fromkeys(terms(group.title), TITLE), tasks)


def only_checks(group: Group) -> bool:
    """Whether at least three of four tasks of a group test, verify or document what others make."""
    checking = sum(_CHECKS.match(task.title) is not None for task in group.subtasks)
    return group.writes_tests_only or 0 < 0.75 * len(group.subtasks) <= checking


class Reading:
    """What the groups of a spec say, what its requirements ask, and so how much each word tells."""

    def __init__(self, sayings: Mapping[int, Saying], asked: Mapping[str, Words]) -> None:
        self._sayings, self._asked = sayings, asked
        self._holders = Counter(word for saying in sayings.values() for word in saying.words)
        self._askers = Counter(word for words in asked.values() for word in words)

    def guesses(
        self, requirement: Requirement, ids: Collection[str], named: Mapping[str, tuple[int, ...]]
    ) -> dict[str, Guess | None]:
        """For some parts of a requirement the group that says most of what they ask; None where none says anything, or
        two say as much. Of a score a part is that of all of these parts together.
        """
        worths = {
            id: {word: share * self.weight_of(word) for word, share in self.shares_of(id, requirement).items()}
            for id in ids
        }
        own = {id: self.scores_of(of_part) for id, of_part in worths.items()}
        beside, count = Counter(named.get(part.id) for part in requirement.parts), len(requirement.parts)
        of_whole = {
            number: (WHOLE * math.fsum(each[number] for each in own.values()) + BESIDE * beside[(number,)]) / count
            for number in self._sayings
        }
        scores = {id: {n: (1 - WHOLE) * score + of_whole[n] for n, score in each.items()} for id, each in own.items()}
        return {id: self.best(scores[id], worths[id], beside) for id in ids}

    def best(self, scores: Mapping[int, float], worths: Mapping[str, float], beside: Beside) -> Guess | None:
        """The group with the highest score; none where nothing is shared, or the next has the same."""
        best, *others = sorted(scores, key=lambda number: (-scores[number], number))
        second = others[0] if others and scores[others[0]] else None
        next_score = scores[second] if second is not None else 0.0
        if scores[best] <= next_score:
            return None
        words = self.shared_words(self._sayings[best], worths)
        return Guess(best, round(scores[best], 2), words, beside[(best,)], second, round(next_score, 2))

    def scores_of(self, worths: Mapping[str, float]) -> dict[int, float]:
        """For each group, how much of what these words are worth it says."""
        most = math.fsum(worths.values())
        return {
            number: self.score_of(saying, worths) / most if most else 0.0 for number, saying in self._sayings.items()
        }

    @staticmethod
    def shared_words(saying: Saying, worths: Mapping[str, float]) -> tuple[str, ...]:
        """The names and words that say most of what a group shares with what is asked."""
        shared = (word for word, worth in worths.items() if worth and word in saying.words and is_single(word))
        return tuple(sorted(shared, key=lambda word: (-worths[word], word))[:_MOST_SHOWN])

    def shares_of(self, id: str, requirement: Requirement) -> dict[str, float]:
        """What is asked: the part's own words; less, those of the title, and what its other parts say, too."""
        others = [self._asked[part.id] for part in requirement.parts if part.id != id]
        counts = Counter(word for words in others for word in words)
        return {
            **{word: OF_OTHERS * count / (1 + len(others)) for word, count in counts.items()},
            **dict.fromkeys(terms(requirement.title), OF_TITLE),
            **dict.fromkeys(self._asked[id], 1.0),
        }

    def weight_of(self, word: str) -> float:
        """How much a word tells: the less, the more groups say it and the more requirements ask it."""
        kind = NAME if word.startswith("`") else PAIR if " " in word else 1.0
        groups, parts = len(self._sayings), len(self._asked)
        count = self._holders[word]
        rare = math.log((1 + groups) / count) if count else math.log(1 + groups) / 2
        return kind * rare * math.sqrt(math.log((2 + parts) / (1 + self._askers[word])) / math.log(2 + parts))

    @staticmethod
    def score_of(saying: Saying, worths: Mapping[str, float]) -> float:
        """Half by what the whole group says, half by the task that says most of it. An exact sum has no order."""
        shared = {word: worth * saying.words[word] for word, worth in worths.items() if word in saying.words}
        task = max(math.fsum(shared[word] for word in shared.keys() & words) for words in saying.tasks)
        return (math.fsum(shared.values()) + task) / 2


def terms(text: str) -> Words:
    """The names of a text (in backticks), the stems of its words, and those beside each other; of words without spaces
    all pairs of signs."""
    text = text[:_LONGEST_TEXT]
    names = {name_of(name) for name in (*_MARKED.findall(text), *_NAME.findall(text))}
    stems = [_stem(piece) for piece in _PIECE.findall(text) if not _WITHOUT_SPACES.match(piece)]
    runs = (piece for piece in _PIECE.findall(text) if _WITHOUT_SPACES.match(piece))
    return frozenset(
        (
            *(f"`{name}`" for name in names if name),
            *(stem for stem in stems if stem),
            *(f"{stem} {following}" for stem, following in pairwise(stems) if stem and following),
            *(run[at : at + 2] for run in runs for at in range(len(run) - 1)),
        )
    )


def is_single(term: str) -> bool:
    return " " not in term or term.startswith("`")


def name_of(written: str) -> str:
    return " ".join(written.split()).strip(".,:;()[]'\"`")


def _stem(piece: str) -> str:
    """A word without its ending; empty for one that tells nothing."""
    word = piece.lower()
    if word in _TELL_NOTHING or len(word) < _FEWEST_LETTERS:
        return ""
    long_enough = (e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= _FEWEST_LETTERS)
    return word.removesuffix(next(long_enough))
