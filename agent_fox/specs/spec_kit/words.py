"""The words that spec-kit's templates put over their parts, in the languages that people translate them to.

Structure decides wherever it can; these words help. What a part says is not read here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from agent_fox.core.regex import regex
from agent_fox.specs.word_tables import words_in

_WORDS = words_in(__file__)
_STORY_WORDS = _WORDS["user_story"].pattern
STORY_NUMBER = r"\d{1,4}(?:[A-Za-z](?![^\W_]))?"
STORY = regex(_STORY_WORDS, re.IGNORECASE)
NUMBERED_STORY = regex(
    rf"[\W_]{{0,8}}(?:{_STORY_WORDS})[\s#:_–—-]{{0,4}}(?P<number>{STORY_NUMBER})(?P<rest>.*)", re.IGNORECASE
)
NAMED_STORY = regex(rf"[\W_]{{0,8}}(?:{_STORY_WORDS})\s{{0,3}}[:：–—-]\s{{0,3}}(?P<rest>[^\s].*)", re.IGNORECASE)
PRIORITY = regex(r"[(（\[【][^()（）\[\]【】]{0,60}(?<![A-Za-z0-9])P\d")
ANY_NUMBERED = regex(r"(?P<words>[^\W\d][^\d]{1,40}?)\s{0,3}(?P<number>\d{1,3})(?P<rest>\s{0,3}[-–—:：.)].*)")

_PHASE_WORDS = _WORDS["phase_word"].pattern
PHASE = regex(
    rf"[\W_]{{0,8}}(?:(?:{_PHASE_WORDS})[\s#:_-]{{0,3}}(?P<number>\d{{1,4}}(?:\.\d{{1,4}}){{0,3}}(?![\w.]*-?\d)|[NX]\b)"
    r"|第\s?(?P<asian>\d{1,4}|[一二三四五六七八九十]{1,3})\s?(?:阶段|階段|段階|フェーズ)"
    r"|(?P<korean>\d{1,4})\s?단계)(?P<rest>.*)",
    re.IGNORECASE,
)

_GHERKIN = tuple(_WORDS[step].pattern for step in ("given", "when", "then"))
_AND = _WORDS["and_step"].pattern
_STARTS = [
    regex(rf"\W{{0,4}}(?:{words})(?:[*_]{{0,2}}[\s:：,、，]|[*_]{{2}})", re.IGNORECASE) for words in (*_GHERKIN, _AND)
]
_HOLDS = [regex(rf"(?:\*\*|\b)(?:{words})(?:\*\*|\b)", re.IGNORECASE) for words in _GHERKIN]
SCENARIO = regex(
    r"\W{0,6}(?:acceptance )?(?:scenario|cen[aá]rio|escenario|scénario|szenario|сценарий|シナリオ|场景|場景|시나리오)"
    r"(?!s\b)\s?(?:\d{1,3}(?:\.\d{1,3})?|[A-Z](?![a-z]))?\s?[:：.–—-]\s?(?P<rest>.*)",
    re.IGNORECASE,
)
AND = 3


def step_at_start(text: str) -> int | None:
    """0, 1, 2 for a text that begins with Given, When, Then; 3 for And."""
    return next((n for n, words in enumerate(_STARTS) if words.match(text)), None)


def steps_in(text: str) -> frozenset[int]:
    """Which of Given, When, Then a text holds."""
    return frozenset(n for n, words in enumerate(_HOLDS) if words.search(text))


class Kind(Enum):
    """What a part of spec.md holds, told from its heading or label."""

    ASIDE = "aside"
    EDGES = "edges"
    SUCCESS = "success"
    SCENARIOS = "scenarios"
    REQUIREMENTS = "requirements"
    ENTITIES = "entities"
    OTHER = "other"


_KINDS = (
    (Kind.ASIDE, _WORDS["aside"]),
    (Kind.ASIDE, _WORDS["checklist"]),
    *(
        (kind, _WORDS[kind.value])
        for kind in (Kind.ENTITIES, Kind.EDGES, Kind.SUCCESS, Kind.SCENARIOS, Kind.REQUIREMENTS)
    ),
)


def kind_of(title: str) -> Kind | None:
    """What a heading or label announces; None where its words say nothing."""
    return next((kind for kind, words in _KINDS if words.match(title[:200])), None)


def names_a_part(titles: Sequence[str]) -> bool:
    """Whether a title such as *Notes* names what the app has: requirements are the chapter that it stands in.
    `titles`: the nearest first. *Out of scope* says the same wherever it stands."""
    kinds = [kind_of(title) for title in titles]
    asides = [title for title, kind in zip(titles, kinds, strict=True) if kind is Kind.ASIDE]
    return Kind.REQUIREMENTS in kinds and all(_WORDS["may_name_a_part"].match(title[:200]) for title in asides)
