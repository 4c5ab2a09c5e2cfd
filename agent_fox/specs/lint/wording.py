"""Rules about sentences: is it said what must hold, and how it is measured. Only English is judged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.detection import AGENT_FOX, KIRO, SPEC_KIT
from agent_fox.specs.lint.values import Found
from agent_fox.specs.lint.world import is_english
from agent_fox.specs.word_tables import words_in

if TYPE_CHECKING:
    from agent_fox.core.spec import Criterion
    from agent_fox.specs.lint.world import Case

_LOOK = 4_000
_EARS_ALONE = frozenset({AGENT_FOX, KIRO})
_OTHERWISE_WORDED = ("SC-", "EC.")
"""spec-kit's success criteria are what is measured, and its edge cases a question with its answer."""
_OBLIGES = regex(r"\b(?:shall|must)\b", re.IGNORECASE)
_IF = regex(r"\W{0,8}if\b", re.IGNORECASE)
_THEN = regex(r"\bthen\b", re.IGNORECASE)
_GIVEN = regex(r"\b(?:given|when)\b", re.IGNORECASE)
_CODE = regex(r"`[^`\n]{0,400}`|\"[^\"\n]{0,400}\"")
_WORDS = words_in(__file__)
_MEASURE = regex(
    r"\d|\b(?:exactly|identical(?:ly)?|at least|at most|no more than|within (?:a|one|two))\b", re.IGNORECASE
)
_UNCLEAR = regex(r"\[\s?NEEDS[ _-]CLARIFICATION\b", re.IGNORECASE)
_UNWRITTEN = regex(r"\b(?:TBD|TBC|FIXME|XXX)\b|\bTODO\b\s?[:(]|\?\?\?")


def no_obligation(case: Case) -> Iterator[tuple[str, str]]:
    """A criterion that obliges nobody: no SHALL or MUST, and none of the forms that its dialect has beside them. A spec
    that writes nothing so has a form of its own, which is not judged."""
    texts = [part.text[:_LOOK] for part in case.spec.parts]
    if not case.is_english or not any(map(_OBLIGES.search, texts)):
        return
    is_ears = case.spec.dialect in _EARS_ALONE
    for part, text in zip(case.spec.parts, texts, strict=True):
        is_fine = bool(_OBLIGES.search(text)) or part.id.startswith(_OTHERWISE_WORDED)
        is_fine = is_fine or bool(not is_ears and _GIVEN.search(text) and _THEN.search(text))
        if not is_fine and is_english(part.text):
            yield part.id, f"{part.id} says neither SHALL nor MUST: {_shown(part)}"


def if_without_then(case: Case) -> Iterator[tuple[str, str]]:
    """An IF without THEN: EARS names both."""
    for part in case.spec.parts if case.spec.dialect != SPEC_KIT and case.is_english else ():
        text = part.text[:_LOOK]
        if _IF.match(text) and not _THEN.search(text) and is_english(part.text):
            yield part.id, f"{part.id} says IF without THEN: {_shown(part)}"


def vague_word(case: Case) -> Iterator[tuple[str, str]]:
    """A word that everyone measures differently, in a sentence without any measure."""
    for part in case.spec.parts if case.is_english else ():
        text = _CODE.sub(" ", part.text[:_LOOK])
        words = dict.fromkeys(word.lower() for word in _WORDS["vague"].findall(text))
        if words and not _MEASURE.search(text) and is_english(part.text):
            yield part.id, f"{part.id} says {', '.join(words)} and gives no measure"


def needs_clarification(case: Case) -> Iterator[Found]:
    """A question that was left in a document, where reading does not say so itself."""
    for page in case.pages:
        for line in page.markdown.words if _UNCLEAR.search(page.file.text) else ():
            is_reported = page.at(line.number) in case.world.questions
            if not is_reported and _UNCLEAR.search(_CODE.sub(" ", line.text)):
                yield Found(page.at(line.number), "a question is left open here: NEEDS CLARIFICATION")


def unwritten(case: Case) -> Iterator[tuple[str, str]]:
    for part in case.spec.parts:
        match = _UNWRITTEN.search(_CODE.sub(" ", part.text[:_LOOK]))
        if match:
            yield part.id, f"{part.id} is not written to its end: {match[0].strip(' :(')}"
        elif not part.text.strip():
            yield part.id, f"{part.id} has no text"


def _shown(part: Criterion) -> str:
    text = " ".join(part.text[:200].split())
    return text if len(text) <= 70 else text[:69] + "…"
