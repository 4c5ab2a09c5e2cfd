"""What a spec leaves open: questions marked for clarification, and words of the template that nobody replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.files import warning
from agent_fox.specs.lines import listed
from agent_fox.specs.spec_kit.words import Kind, kind_of
from agent_fox.specs.word_tables import words_in

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem
    from agent_fox.specs.document import Markdown

_OPEN = regex(r"(?<!`)\[NEEDS CLARIFICATION\b(?P<question>[^\]]{0,300})", re.IGNORECASE)
_WORDS = words_in(__file__)
_PLACEHOLDER = _WORDS["placeholder"]
_LONGEST = 160


def unfinished(markdown: Markdown) -> Iterator[Problem]:
    """A warning for each question that is marked, but below an aside such as a checklist, and one for the template's
    words."""
    placeholders: list[tuple[int, str]] = []
    aside = 0
    for line in markdown.lines:
        if line.heading is not None and not 0 < aside < line.heading.level:
            aside = line.heading.level if kind_of(line.heading.title) is Kind.ASIDE else 0
        if line.is_code or "[" not in line.text:
            continue
        placeholders += [(line.number, match[0].rstrip("]")) for match in _PLACEHOLDER.finditer(line.text)]
        if not aside:
            for match in _OPEN.finditer(line.text):
                yield warning(markdown.at(line.number), _asks(match["question"]))
    if placeholders:
        lines = listed(number for number, _ in placeholders)
        what = f"half-written: the template's words `{placeholders[0][1]}]` and such stand in {lines}. Replace them"
        yield warning(markdown.at(placeholders[0][0]), what)


def _asks(question: str) -> str:
    asked = " ".join(question.lstrip(":： ").split())[:_LONGEST]
    asked = asked or "no question is written"
    end = "" if asked.endswith(("?", "？", ".", "。")) else "."
    return f"needs clarification: {asked}{end} Planned as it stands; answer it in the text"
