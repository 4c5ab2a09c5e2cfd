"""Which user stories a label or a title names: `[US1]`, `[US1-US3]`, `[US1a]`, `Phase 3: User Story 1`. Names are in
capitals; what stands in a story is not known here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_fox.core.regex import regex
from agent_fox.specs.spec_kit.words import NUMBERED_STORY, STORY_NUMBER

_NUMBER = rf"(?P<number>{STORY_NUMBER})"
_LABEL = regex(rf"(?:US|Story|User Story)[\s-]?{_NUMBER}(?![\d.])", re.IGNORECASE)
_RANGE = regex(r"(?:US|Story)?[\s-]?(\d{1,4})\s?[-–—~]\s?(?:US|Story)?[\s-]?(\d{1,4})$", re.IGNORECASE)
_MORE = regex(rf"\s?(?:,|&|\+|/|and\b|-|–)\s?(?:US|Story\s|User Story\s)?{_NUMBER}(?![\d.])", re.IGNORECASE)
_IN_TITLE = regex(rf"(?<![A-Za-z])(?:US[ -]?|User Stor(?:y|ies) ){_NUMBER}(?![\d.])", re.IGNORECASE)
_MOST_STORIES = 99


def story_name(number: str) -> str:
    """`US1` for `01`, `US1A` for `1a`."""
    return f"US{number.lstrip('0') or '0'}".upper()


def stories_in_label(label: str) -> Iterator[str]:
    """The stories of a label such as `US1`, `US1, US3`, `US1-US3`, `Story 2`, `US1a`."""
    if _LABEL.match(label) is None:
        return
    spans = _RANGE.match(label)
    if spans is not None:
        yield from (f"US{n}" for n in range(int(spans[1]), min(int(spans[2]), int(spans[1]) + _MOST_STORIES) + 1))
        return
    yield from map(story_name, re.findall(STORY_NUMBER, label))


def stories_in_title(title: str) -> Iterator[str]:
    """The stories that a phase's title names, in whatever language it says story."""
    seen: dict[str, None] = {}
    for place in _places(title):
        number: re.Match[str] | None = place
        while number is not None:
            seen[story_name(number["number"])] = None
            number = _MORE.match(title, number.end("number"))
    yield from seen


def _places(title: str) -> Iterator[re.Match[str]]:
    from_start = _without_phase(title)
    if from_start is not None:
        yield from_start
    yield from _IN_TITLE.finditer(title)


def _without_phase(title: str) -> re.Match[str] | None:
    """A story's name after the phase's: `Phase 3: 用户故事 1 - ...`."""
    starts = (0, *(match.end() for match in re.finditer(r"[:：.–—-]", title[:60])))
    matches = (NUMBERED_STORY.match(title, start) for start in starts)
    return next((match for match in matches if match is not None), None)
