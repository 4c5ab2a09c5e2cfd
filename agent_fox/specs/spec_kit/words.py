"""The words that spec-kit's templates put over their parts, in the languages that people translate them to.

Structure decides wherever it can; these words help. What a part says is not read here.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_STARTS = [_LIKE[f"starts_{step}"] for step in ("given", "when", "then", "and")]
_HOLDS = [_LIKE[f"holds_{step}"] for step in ("given", "when", "then")]
AND = 3
_LONGEST_TITLE = 120


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


_KINDS = {
    "aside": Kind.ASIDE,
    "checklist": Kind.ASIDE,
    "entities": Kind.ENTITIES,
    "edges": Kind.EDGES,
    "success": Kind.SUCCESS,
    "scenarios": Kind.SCENARIOS,
    "requirements": Kind.REQUIREMENTS,
}


def kind_of(title: str) -> Kind | None:
    """What a heading or label announces; None where its words say nothing."""
    return next((kind for name, kind in _KINDS.items() if _LIKE[name].match(title[:200])), None)


def names_a_part(titles: Sequence[str]) -> bool:
    """Whether a title such as *Notes* names what the app has: requirements are the chapter that it stands in.
    `titles`: the nearest first. *Out of scope* says the same wherever it stands."""
    kinds = [kind_of(title) for title in titles]
    asides = [title for title, kind in zip(titles, kinds, strict=True) if kind is Kind.ASIDE]
    return Kind.REQUIREMENTS in kinds and all(_LIKE["may_name_a_part"].match(title[:200]) for title in asides)


def titled(text: str) -> str:
    """The first line of a text, as a title."""
    first = text.split("\n", 1)[0].strip()
    return first if len(first) <= _LONGEST_TITLE else first[: _LONGEST_TITLE - 1].rstrip() + "…"
