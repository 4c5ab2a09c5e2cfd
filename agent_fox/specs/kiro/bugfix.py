"""bugfix.md as requirements: what is to be, and what is to stay. What is (the defect) is not expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING

from agent_fox.specs.kiro.blocks import Block, heading_of
from agent_fox.specs.kiro.ids import Kind, Numbered, numbered
from agent_fox.specs.kiro.requirements import Collection, restarts
from agent_fox.specs.kiro.rows import contents_with_rows
from agent_fox.specs.lines import Line, plain
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.collected import ReadRequirements
    from agent_fox.specs.document import Markdown

_LIKE = patterns_in(__file__)


class _Part(IntEnum):
    """The parts of a bugfix, by the numbers that Kiro gives them."""

    DEFECT = 1
    EXPECTED = 2
    UNCHANGED = 3


def read_bugfix(markdown: Markdown) -> ReadRequirements:
    """The expected and the unchanged behaviour, as requirements `2` and `3` with criteria such as `2.1`; the defects
    are what is wrong today.

    A file about several bugs has each part several times: their lists go on where they have no numbers.
    """
    collection = Collection(markdown)
    defects: list[str] = []
    counted = dict.fromkeys(_Part, 0)
    for part, block in _blocks(markdown.lines):
        contents = contents_with_rows(block)
        offset = counted[part]
        for item in contents.items:
            identifier = item.mark.id or item.mark.dotted or f"{part.value}.{item.number + offset}"
            counted[part] = max(counted[part], item.number + offset)
            if offset and item is contents.items[0] and item.mark.ordinal is not None:
                collection.warn(item.line, restarts(item, identifier))
            if part is _Part.DEFECT:
                defects.append(identifier)
                continue
            head = item.mark.dotted.partition(".")[0] or str(part.value)
            own = collection.drafts.get(head)
            if own is None:
                title = block.head.title if block.head else ""
                own = collection.begin(head, title, contents.text, block.line, is_implied=True)
            if own is not None:
                is_implied = not (item.mark.id or item.mark.dotted)
                collection.add(own, identifier, item, is_implied=is_implied)
    return replace(collection.value(), defects=tuple(defects))


def _blocks(lines: Sequence[Line]) -> Iterator[tuple[_Part, Block]]:
    """A block for each part, told from its title; the first title of each counts, as often as it stands there."""
    names: dict[_Part, list[str]] = {}
    block: Block | None = None
    current: _Part | None = None
    for line in lines:
        heading = heading_of(line)
        part = _part_of(heading.title) if heading else None
        name = _name_of(heading.title) if heading else []
        if heading is not None and part is not None and names.setdefault(part, name) == name:
            if block is not None and current is not None:
                yield current, block
            current, title = part, plain(heading.title)
            block = Block(Numbered(Kind.BARE, str(part.value), title), line.number, heading.level)
        elif block is not None and line.heading is not None and line.heading.level <= block.level:
            if current is not None:
                yield current, block
            block = None
        elif block is not None:
            block.lines.append(line)
    if block is not None and current is not None:
        yield current, block


def _name_of(title: str) -> list[str]:
    """The first words of a title: `Expected Behavior (Correct)` is that of another bug's `Expected Behavior`."""
    return re.split(r"[(（:：—–]", _words_of(title), maxsplit=1)[0].casefold().split()[:2]


def _words_of(title: str) -> str:
    head = numbered(title)
    return head.title if head and head.kind is Kind.BARE and head.title else title


def _part_of(title: str) -> _Part | None:
    """UNCHANGED first: its titles say *current* or *correct* too."""
    words = _words_of(title)
    if len(words) > 80:
        return None
    known = (
        (_LIKE["unchanged"], _Part.UNCHANGED),
        (_LIKE["expected"], _Part.EXPECTED),
        (_LIKE["defect"], _Part.DEFECT),
    )
    return next((part for pattern, part in known if pattern.search(words)), None)
