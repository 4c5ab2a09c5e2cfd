"""Ids as spec-kit's users write them: `FR-001`, `NFR-2`, `FR-AUTH-001`, `FR-001a`; what is struck out with `~~`: taken
back, or only reworded, with what holds instead beside it; the user stories that a label or a title names: `[US1]`,
`[US1-US3]`, `Phase 3: User Story 1`; and which parts of a spec are meant by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from agent_fox.specs.collected import ReadRequirements
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_CLOSES = tuple("])）`*_.;")
"""`The shop MUST sell. (FR-001)`; not `as FR-001`, which only mentions it."""
_STRIKE = "~~"
_MARKS = " \t\n*_.:：,;-–—→"
_OPENS_NOTE, _ENDS_NOTE = "([（【", ")]）】"
_LONGEST_NOTE, _MOST_STORIES = 2000, 99
MOST_NAMED = 1_000_000
Key = tuple[str, ...]


class Declared(NamedTuple):
    """An id with what it declares. `is_known`: it has the letters of the templates. `is_struck`: taken back."""

    id: str
    text: str
    is_known: bool
    is_struck: bool


def declared(text: str, *, is_item: bool) -> Declared | None:
    """The id that a text begins with. In a list item or a heading (`is_item`) nothing needs to follow it."""
    match = _LIKE["declared"].match(text)
    if match is None or _LIKE["is_range"].match(match["rest"]) or _LIKE["is_list"].match(match["rest"]):
        return None
    is_marked = "**" in match["mark"] and "**" in match["rest"][:140]
    if not (is_item or is_marked or _LIKE["separated"].match(match["rest"])):
        return None
    rest = match["rest"].replace("**", "")
    lead = _LIKE["before_text"].match(rest)
    body = rest[lead.end() :] if lead else rest
    is_struck = "~~" in match["mark"]
    opens = _LIKE["opens_text"].search(lead[0]) if lead else None
    if opens and not (is_struck and "~" in opens[0]):
        body = opens["mark"] + body
    return Declared(match["id"], body.strip(), is_known(match["id"]), is_struck or is_taken_back(body))


def closing(text: str) -> Declared | None:
    """The id of the templates' letters that a text ends with, in brackets or marks, and what stands before it."""
    match = _LIKE["closing"].search(text) if text[-1:] in _CLOSES else None
    if match is None or not is_known(match["id"]):
        return None
    text_before = text[: match.start("open")].rstrip(" —–-")
    return Declared(match["id"], text_before, True, is_taken_back(text_before)) if text_before else None


def same(identifier: str) -> tuple[str, ...]:
    """What two spellings of one id share: `FR-001`, `FR-1` and `FR001`."""
    parts = _LIKE["parts"].findall(identifier)
    return tuple(part.lstrip("0") or "0" if part.isdecimal() else part.upper() for part in parts)


def is_known(identifier: str) -> bool:
    return _LIKE["known"].match(identifier) is not None


def is_taken_back(text: str) -> bool:
    """Whether a text begins struck out, and what follows is nothing, a note in brackets, or says that it is gone.

    A text that says what holds instead is not taken back, nor is one where that can't be told.
    """
    text = text.lstrip(_MARKS)
    end = text.find(_STRIKE, len(_STRIKE)) if text.startswith(_STRIKE) else -1
    if end < 0:
        return False
    left = text[end + len(_STRIKE) :].strip(_MARKS)
    is_gone = _LIKE["taken_back"].match(left) or _LIKE["taken_back"].fullmatch(text[len(_STRIKE) : end])
    return not left or _is_note(left) or (is_gone is not None and _LIKE["obliges"].search(left) is None)


def _is_note(text: str) -> bool:
    """Whether one pair of brackets holds all of a text."""
    depth = 0
    for place, letter in enumerate(text[:_LONGEST_NOTE]):
        depth += (letter in _OPENS_NOTE) - (letter in _ENDS_NOTE)
        if depth == 0:
            return place > 0 and not text[place + 1 :].strip(_MARKS)
    return False


def story_name(number: str) -> str:
    """`US1` for `01`, `US1A` for `1a`."""
    return f"US{number.lstrip('0') or '0'}".upper()


def stories_in_label(label: str) -> Iterator[str]:
    """The stories of a label such as `US1`, `US1, US3`, `US1-US3`, `Story 2`, `US1a`."""
    if _LIKE["label"].match(label) is None:
        return
    spans = _LIKE["range"].match(label)
    if spans is not None:
        yield from (f"US{n}" for n in range(int(spans[1]), min(int(spans[2]), int(spans[1]) + _MOST_STORIES) + 1))
        return
    yield from map(story_name, _LIKE["story_number"].findall(label))


def stories_in_title(title: str) -> Iterator[str]:
    """The stories that a phase's title names: behind the phase's name, as in `Phase 3: 用户故事 1`, or anywhere."""
    seen: dict[str, None] = {}
    starts = (0, *(match.end() for match in re.finditer(r"[:：.–—-]", title[:60])))
    named = (match for start in starts if (match := _LIKE["numbered_story"].match(title, start)) is not None)
    for place in (*islice(named, 1), *_LIKE["in_title"].finditer(title)):
        number: re.Match[str] | None = place
        while number is not None:
            seen[story_name(number["number"])] = None
            number = _LIKE["more"].match(title, number.end("number"))
    yield from seen


@dataclass
class References:
    """The ids of a spec, found by what people write for them; stories by their names in capitals.

    `spare`: how many more its ranges may name.
    """

    order: dict[Key, int] = field(default_factory=dict)
    rows: tuple[tuple[Key, tuple[str, ...]], ...] = ()
    stories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    withdrawn: frozenset[Key] = frozenset()
    spare: int = MOST_NAMED

    def of_stories(self, stories: Iterable[str]) -> tuple[str, ...]:
        return tuple(part for story in stories for part in self.stories.get(story, ()))

    def named(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parts that a text names, and ids of the templates' make that are not there."""
        names: dict[str, None] = {}
        unknown: dict[str, None] = {}
        for match in _LIKE["named"].finditer(text):
            name, end = match["id"], match["end"] or ""
            end = f"{name.rpartition('-')[0]}-{end}" if end and end[0].isdecimal() else end
            keys = [(other, same(other)) for other in (name, end) if other]
            first, last = self.order.get(keys[0][1]), self.order.get(keys[-1][1])
            if first is not None:  # the first alone where too many are named
                last = max(first, last or 0)
                self.spare -= last - first
                rows = self.rows[first : first + 1 if self.spare < 0 else last + 1]
                names.update((part, None) for key, row in rows if key[0] == keys[0][1][0] for part in row)
            strange = (other for other, key in keys if key not in self.order and key not in self.withdrawn)
            unknown.update(dict.fromkeys(other for other in strange if is_known(other)))
        return tuple(names), tuple(unknown)


def references_of(read: ReadRequirements) -> References:
    order: dict[Key, int] = {}
    rows: list[tuple[Key, tuple[str, ...]]] = []
    stories: dict[str, tuple[str, ...]] = {}
    for requirement in read.requirements:
        ids = tuple(part.id for part in requirement.parts)
        if requirement.id in read.of_story or requirement.id == "US1":
            stories[requirement.id.upper()] = (*ids, *read.of_story.get(requirement.id, ()))
        for name, row in ((requirement.id, ids), *((part, (part,)) for part in ids)):
            if same(name) not in order and not name.isdecimal():
                order[same(name)] = len(rows)
                rows.append((same(name), row))
    return References(order, tuple(rows), stories, frozenset(map(same, read.withdrawn)))
