"""What OpenSpec's headings say, in the languages they are written in. What stands below them is not here.

Structure counts first: these words only tell what a heading is where its place does not.
"""

from __future__ import annotations

import re
from enum import StrEnum

from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_STEP_WORDS = frozenset({"given", "when", "then", "and"})


class Operation(StrEnum):
    """What a delta does with a requirement. `stated`: it stands outside of any delta section."""

    ADDED = "added"
    MODIFIED = "modified"
    REMOVED = "removed"
    RENAMED = "renamed"
    STATED = "stated"


_OPERATIONS = (Operation.RENAMED, Operation.REMOVED, Operation.MODIFIED, Operation.ADDED)
_LONGEST = 200


def requirement_title(title: str) -> str | None:
    """The title after `Requirement:`, or all of one that begins with an id such as `REQ-AUTH-3`; else None."""
    match = _LIKE["is_requirement"].match(title[:_LONGEST])
    if match is None:
        return _clean(title) if _LIKE["is_named_requirement"].match(title[:_LONGEST]) else None
    return _clean(title[match.end() :]) or _clean(title)


def scenario_title(title: str) -> str | None:
    """The title after `Scenario:`; empty where it has none. None for a heading without the word."""
    if _LIKE["is_named_scenario"].match(title[:_LONGEST]):
        return _clean(title)
    match = _LIKE["is_scenario"].match(title[:_LONGEST])
    if match is None:
        return "" if _LIKE["bare_scenario"].match(title[:_LONGEST]) else None
    return _clean(title[match.end() :])


def scenario_in_line(text: str) -> str | None:
    """The title of a scenario that begins in a line that is no heading: `- **Scenario: T**`."""
    match = _LIKE["scenario_line"].match(text[:_LONGEST])
    return _clean(text[match.start("title") :]) if match else None


def section_of(title: str) -> Operation | None:
    """What a section does with the requirements below its heading. None for headings of other kinds."""
    head = title[:_LONGEST]
    says_what = _LIKE["noun"].search(head) or _LIKE["alone"].match(head.strip("*_ "))
    if requirement_title(head) is not None or not says_what:
        return None
    # without what stands in brackets, in quotes or after a dash: `ADDED Requirements (renamed from X)`
    bare = re.split(r"[(（:：]|\s[-–—]\s", _LIKE["words_quoted"].sub(" ", head).strip(), maxsplit=1)[0] or head
    stated = Operation.STATED if _LIKE["section_of_all"].match(head) else None
    return next((operation for operation in _OPERATIONS if _LIKE[operation.value].search(bare)), stated)


def operated(title: str) -> tuple[Operation, str] | None:
    """What is done with the one requirement that a heading names, and its title: `MODIFIED Requirement: T`."""
    before, _, named = title.partition(" ")
    written = requirement_title(named.lstrip()) if _LIKE["alone"].match(before) else None
    operation = section_of(title) if written else None
    return (operation, written) if operation and written else None


def ids_in(text: str) -> list[str]:
    return _LIKE["id"].findall(text)


def unstruck(text: str) -> str | None:
    """What stands in a text that is struck out as a whole, with a note in brackets behind it or none; else None."""
    match = _LIKE["struck"].match(text)
    return match["text"].strip() if match else None


def is_unfilled(title: str) -> bool:
    """Whether a title is none yet: only its number or kind, or a template's words in brackets."""
    return _LIKE["unfilled"].match(title.strip("*_`# ")) is not None


def has_only_steps(text: str) -> bool:
    """Whether a scenario says WHEN and THEN, and nothing of what."""
    words = re.findall(r"\w+", text[:_LONGEST].casefold())
    return bool(words) and _STEP_WORDS.issuperset(words)


def is_aside(title: str) -> bool:
    """Whether a heading below a requirement explains, and asks for nothing."""
    return _LIKE["aside"].match(title.strip("*_ ")) is not None


def is_criteria(title: str) -> bool:
    """Whether a heading below a requirement stands above a list of criteria."""
    return _LIKE["criteria"].match(title.strip("*_ ")) is not None


def same(title: str) -> str:
    """A title as it is compared: case, white space and marks do not count."""
    return " ".join(title.replace("`", "").replace("*", "").split()).casefold()


def bare_name(text: str) -> str:
    """A requirement's title as it is written in a list: without the heading's marks before it."""
    text = text.strip().strip("`*_ ").lstrip("# ")
    return (requirement_title(text) or _clean(text)).strip("`* ")


def _clean(title: str) -> str:
    text = title.strip().rstrip("#").strip(" -–—:\uff1a")
    is_all_bold = text.startswith("**") and text.endswith("**")
    return text.strip("*_ ") if is_all_bold or text.count("**") % 2 else text
