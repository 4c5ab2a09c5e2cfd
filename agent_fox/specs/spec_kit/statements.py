"""Statements of spec.md that have an id of their own, such as `FR-001`: which of several mentions declares it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from agent_fox.specs.lines import joined
from agent_fox.specs.spec_kit.identifiers import Declared, closing, declared
from agent_fox.specs.spec_kit.parts import Item, items_of
from agent_fox.specs.spec_kit.words import Kind, names_a_part
from agent_fox.specs.unread import obliges
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.collected import Remarks
    from agent_fox.specs.spec_kit.stories import Place, Story

_LIKE = patterns_in(__file__)
_IN_STORY, _IN_CHAPTER = 5, 10
_EXPECTS = (Kind.REQUIREMENTS, Kind.SUCCESS, Kind.SCENARIOS)


class Statement(NamedTuple):
    """One mention of an id that may declare it. `rank`: how sure that is; 0 stands where nothing is declared. `details`
    are the items without an id between this one and the next."""

    id: str
    text: str
    line: int
    rank: int
    story: Story | None = None
    is_withdrawn: bool = False
    details: tuple[Item, ...] = ()


class Mentions:
    """The mentions of ids in a file, part by part. `unnamed` are items without an id, by part; `beside` are lines of
    items without an id that stand above items that have one."""

    def __init__(self, places: Iterable[Place]) -> None:
        places = tuple(places)
        self.leading = _leading(places)
        self.headings: dict[int, tuple[Place, Declared, list[str]]] = {}
        self.mentions: list[tuple[Place, Declared, Statement]] = []
        self.unnamed: list[tuple[Place, list[Item]]] = []
        self.beside: list[int] = []
        for place in places:
            if place.heading is not None:  # all that stands below a heading with an id is what it says
                line, own = place.heading
                text, label = joined(place.part.lines), place.part.label
                texts = self.headings.setdefault(line, (place, own, [own.text]))[2]
                texts.append(f"{label}: {text}" if label else text)
            if place.kind is not Kind.EDGES and not (place.kind is Kind.SCENARIOS and place.story):
                self._items(place)

    def _items(self, place: Place) -> None:
        items = items_of(place.part.lines, _begins_statement)
        owns = [(item, self._declared(item, place)) for item in items]
        declaring = [(item, own) for item, own in owns if own is not None and own.text]
        unnamed = [item for item, own in owns if (own is None or not own.text) and item.is_listed]
        is_mixed = place.kind in (Kind.REQUIREMENTS, Kind.SUCCESS) and place.heading is None
        bare = [item for item in unnamed if not item.is_row] if is_mixed else []
        ends = [item.line for item, _ in declaring[1:]] + [sys.maxsize]
        for (item, own), end in zip(declaring, ends, strict=False):
            details = tuple(other for other in bare if item.line < other.line < end)
            statement = _statement(own, place, item.line, own.text, 1 if item.is_row else 2)
            self.mentions.append((place, own, statement._replace(details=details)))
        if declaring and is_mixed:
            self.beside += [item.line for item in bare if item.line < declaring[0][0].line]
        elif not declaring and unnamed and place.heading is None:
            self.unnamed.append((place, unnamed))

    def _declared(self, item: Item, place: Place) -> Declared | None:
        """The id that an item begins with; else the one that it ends with, where nothing else in the file has it."""
        own = declared(item.text, is_item=item.is_listed)
        if own is not None or not item.is_listed or item.is_row or place.kind not in _EXPECTS:
            return own
        last = closing(item.text)
        return last if last is not None and last.id not in self.leading else None

    def declared_once(self, remarks: Remarks) -> Iterator[Statement]:
        """The statement that counts of each id; an error where two of the same rank say different things."""
        headed = (
            (place, own, _statement(own, place, line, "\n".join(filter(None, texts)), 3))
            for line, (place, own, texts) in self.headings.items()
        )
        mentions = [*self.mentions, *headed]
        known = {place.section for place, own, statement in mentions if own.is_known and statement.rank}
        by_id: dict[str, list[Statement]] = {}
        for place, own, statement in mentions:
            if own.is_known or place.kind in _EXPECTS or (place.section in known and place.kind is Kind.OTHER):
                by_id.setdefault(statement.id, []).append(statement)
        for identifier, several in by_id.items():
            rank = max(mention.rank for mention in several)
            best = [mention for mention in several if mention.rank == rank]
            others = [mention for mention in best[1:] if mention.text.split() != best[0].text.split()]
            if rank == 0:
                what = f"{identifier} stands only where nothing is required: not expected"
                remarks.warn(best[0].line, f"{what}. Move it, if it is a requirement")
                continue
            if others and rank > _IN_STORY:
                lines = f"{best[0].line} and {others[0].line}"
                what = f"{identifier} is declared twice: in lines {lines}. Give one of them another id"
                remarks.refuse(others[0].line, what)
            yield best[0]


def _leading(places: Iterable[Place]) -> frozenset[str]:
    """The ids that lines of the file begin with; none where no line ends with one: only then they are asked for."""
    lines = [line for place in places for line in place.part.lines]
    if not any(closing(line.text) for line in lines):
        return frozenset()
    texts = (line.text.lstrip(" -*+|0123456789.)[]") for line in lines)
    headings = (place.heading[1] for place in places if place.heading is not None)
    owns = (*headings, *(declared(text, is_item=True) for text in texts))
    return frozenset(own.id for own in owns if own is not None and own.text)


def _begins_statement(text: str) -> bool:
    own = declared(text, is_item=False)
    return own is not None and own.is_known and bool(own.text)


def _statement(own: Declared, place: Place, line: int, text: str, form: int) -> Statement:
    sure = 0 if place.kind not in _EXPECTS else _IN_STORY if place.story else _IN_CHAPTER
    is_asked = own.is_known and names_a_part(place.titles) and obliges(text)
    rank = 0 if place.kind is Kind.ASIDE and not is_asked else form + sure
    is_withdrawn = own.is_struck or _LIKE["statements_taken_back"].match(text[:200]) is not None
    return Statement(own.id, text, line, rank, place.story, is_withdrawn)
