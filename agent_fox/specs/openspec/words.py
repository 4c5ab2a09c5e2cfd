"""What OpenSpec's headings say, in the languages they are written in. What stands below them is not here.

Structure counts first: these words only tell what a heading is where its place does not.
"""

from __future__ import annotations

import re
from enum import StrEnum

from agent_fox.core.regex import regex
from agent_fox.specs.word_tables import words_in

_WORDS = words_in(__file__)
_REQUIREMENT = _WORDS["requirement"].pattern
_REQUIREMENTS = _WORDS["requirements"].pattern
_SCENARIO = _WORDS["scenario"].pattern
_WORD_ENDS = r"(?![^\W\d_])"
_TAIL = (
    r"(?:\s{0,3}(?:outline\s{0,3})?(?:[#\[(]?\d[\d.]{0,9}[\])]?)?\s{0,3}[:\uff1a–—]"
    r"|\s{1,3}-\s|\s{1,3}\d[\d.]{0,9}\s{0,3}[-.)]?"
    r"|\s{1,3}(?=[A-Z]{1,12}(?:-[A-Z0-9]{1,12}){0,4}-\d))"
)

_IS_REQUIREMENT = regex(rf"[*_]{{0,3}}(?:{_REQUIREMENT}){_WORD_ENDS}[*_]{{0,3}}{_TAIL}", re.IGNORECASE)
_IS_NAMED_REQUIREMENT = regex(r"[\[*`]{0,3}(?:REQ|NFR|FR)(?:-[A-Z0-9]{1,16}){0,6}-\d{1,6}\b")
_IS_NAMED_SCENARIO = regex(r"[\[*`]{0,3}SCENARIO(?:-[A-Z0-9]{1,16}){0,6}-\d{1,6}\b")
_IS_SCENARIO = regex(rf"[*_]{{0,3}}(?:{_SCENARIO}){_WORD_ENDS}[*_]{{0,3}}{_TAIL}", re.IGNORECASE)
_BARE_SCENARIO = regex(rf"[*_]{{0,3}}(?:{_SCENARIO})[*_]{{0,3}}$", re.IGNORECASE)
_SCENARIO_LINE = regex(
    rf"\s*(?:(?:[-*+]|\d{{1,3}}[.)])\s{{1,9}})?(?P<bold>[*_]{{2,3}})?\s?(?:{_SCENARIO})(?:\s(?:outline|template))?"
    rf"(?:\s?#?\d[\d.]{{0,9}})?[*_]{{0,3}}\s{{0,3}}[:\uff1a][*_]{{0,3}}(?P<title>.*)$",
    re.IGNORECASE,
)
_SECTION_OF_ALL = regex(
    rf"[*_\d.\s]{{0,9}}(?:(?:non-?)?functional\s)?(?:{_REQUIREMENTS})(?=$|[\s*_:\uff1a(])", re.IGNORECASE
)
_HAS_ID = regex(r"[\[*`]{0,3}[A-Z][A-Z0-9]{0,11}(?:-[A-Z0-9]{1,12}){0,5}-\d{1,6}\b")
_ID = regex(r"(?<![\w-])[A-Z][A-Z0-9]{0,11}(?:-[A-Z0-9]{1,12}){0,5}-\d{1,6}(?![\w-])")
_STRUCK = regex(r"[*_]{0,3}~~(?P<text>[^~]{1,300})~~[*_]{0,3}(?:\s{0,3}[(\[（][^()\[\]（）]{0,300}[)\]）])?\s{0,3}$")
_UNFILLED = regex(r"(?:requirement|scenario|[\d.\s]{0,12})$|[\[<{][^\[\]<>{}\d]{1,200}[\]>}]$", re.IGNORECASE)
_STEP_WORDS = frozenset({"given", "when", "then", "and"})


class Operation(StrEnum):
    """What a delta does with a requirement. `stated`: it stands outside of any delta section."""

    ADDED = "added"
    MODIFIED = "modified"
    REMOVED = "removed"
    RENAMED = "renamed"
    STATED = "stated"


_OPERATIONS = tuple(
    (operation, _WORDS[operation.value])
    for operation in (Operation.RENAMED, Operation.REMOVED, Operation.MODIFIED, Operation.ADDED)
)
_ALONE = regex(r"(?:added|modified|removed|renamed)$", re.IGNORECASE)
_NOUN = regex(r"requirement|需求|要件|要求|requisi|exigence|anforderung|требован|요구", re.IGNORECASE)
_QUOTED = regex(r"[\"“«「`][^\"“”«»「」`]{1,120}[\"”»」`]")
"""`"Keys removed"`, `“New keys”`, `` `Deleted` ``; not the apostrophe of `a guest's key`."""
_LONGEST = 200


def requirement_title(title: str) -> str | None:
    """The title after `Requirement:`, or the whole of one that begins with an id such as `REQ-AUTH-3`; None for a
    heading with neither."""
    match = _IS_REQUIREMENT.match(title[:_LONGEST])
    if match is None:
        return _clean(title) if _IS_NAMED_REQUIREMENT.match(title[:_LONGEST]) else None
    return _clean(title[match.end() :]) or _clean(title)


def scenario_title(title: str) -> str | None:
    """The title after `Scenario:`; empty where it has none. None for a heading without the word."""
    if _IS_NAMED_SCENARIO.match(title[:_LONGEST]):
        return _clean(title)
    match = _IS_SCENARIO.match(title[:_LONGEST])
    if match is None:
        return "" if _BARE_SCENARIO.match(title[:_LONGEST]) else None
    return _clean(title[match.end() :])


def scenario_in_line(text: str) -> str | None:
    """The title of a scenario that begins in a line that is no heading: `- **Scenario: T**`."""
    match = _SCENARIO_LINE.match(text[:_LONGEST])
    return _clean(text[match.start("title") :]) if match else None


def section_of(title: str) -> Operation | None:
    """What a section does with the requirements below its heading. None for headings of other kinds."""
    head = title[:_LONGEST]
    if requirement_title(head) is not None or not (_NOUN.search(head) or _ALONE.match(head.strip("*_ "))):
        return None
    if operation_found := next(
        (operation for operation, stems in _OPERATIONS if stems.search(_before_aside(head))), None
    ):
        return operation_found
    return Operation.STATED if _SECTION_OF_ALL.match(head) else None


def operated(title: str) -> tuple[Operation, str] | None:
    """What is done with the one requirement that a heading names, and its title: `MODIFIED Requirement: T`."""
    before, _, named = title.partition(" ")
    written = requirement_title(named.lstrip()) if _ALONE.match(before) else None
    operation = section_of(title) if written else None
    return (operation, written) if operation and written else None


def says_nothing(text: str) -> bool:
    """Whether a section's text says that there is nothing in it."""
    return _WORDS["nothing"].match(text[:_LONGEST]) is not None


def has_id(title: str) -> bool:
    """Whether a title begins with an id such as `REQ-AUTH-3`."""
    return _HAS_ID.match(title) is not None


def ids_in(text: str) -> list[str]:
    return _ID.findall(text)


def unstruck(text: str) -> str | None:
    """What stands in a text that is struck out as a whole, with a note in brackets behind it or none; else None."""
    match = _STRUCK.match(text)
    return match["text"].strip() if match else None


def is_unfilled(title: str) -> bool:
    """Whether a title is none yet: only its number or kind, or a template's words in brackets."""
    return _UNFILLED.match(title.strip("*_`# ")) is not None


def has_only_steps(text: str) -> bool:
    """Whether a scenario says WHEN and THEN, and nothing of what."""
    words = re.findall(r"\w+", text[:_LONGEST].casefold())
    return bool(words) and _STEP_WORDS.issuperset(words)


def is_aside(title: str) -> bool:
    """Whether a heading below a requirement explains, and asks for nothing."""
    return _WORDS["aside"].match(title.strip("*_ ")) is not None


def is_criteria(title: str) -> bool:
    """Whether a heading below a requirement stands above a list of criteria."""
    return _WORDS["criteria"].match(title.strip("*_ ")) is not None


def same(title: str) -> str:
    """A title as it is compared: case, white space and marks do not count."""
    return " ".join(title.replace("`", "").replace("*", "").split()).casefold()


def bare_name(text: str) -> str:
    """A requirement's title as it is written in a list: without the heading's marks before it."""
    text = text.strip().strip("`*_ ").lstrip("# ")
    return (requirement_title(text) or _clean(text)).strip("`* ")


def _before_aside(title: str) -> str:
    """Without what stands in brackets, in quotes or after a dash: `ADDED Requirements (renamed from X)`, `Add a
    requirement after "Keys removed"`."""
    return re.split(r"[(（:：]|\s[-–—]\s", _QUOTED.sub(" ", title).strip(), maxsplit=1)[0] or title


def _clean(title: str) -> str:
    text = title.strip().rstrip("#").strip(" -–—:\uff1a")
    is_all_bold = text.startswith("**") and text.endswith("**")
    return text.strip("*_ ") if is_all_bold or text.count("**") % 2 else text
