"""What tasks name of a spec's requirements: `FR-001`, `FR-001 to FR-004`, `[US1]`, a phase titled User Story 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.specs.spec_kit.identifiers import is_known, named_in, same

if TYPE_CHECKING:
    from agent_fox.specs.collected import ReadRequirements

MOST_NAMED = 1_000_000

Key = tuple[str, ...]


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

    @property
    def is_spent(self) -> bool:
        return self.spare < 0

    @property
    def is_empty(self) -> bool:
        return not self.rows

    def has_story(self, story: str) -> bool:
        return story in self.stories

    def of_stories(self, stories: Iterable[str]) -> tuple[str, ...]:
        return tuple(part for story in stories for part in self.stories.get(story, ()))

    def named(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parts that a text names, and ids of the templates' make that are not there."""
        names: dict[str, None] = {}
        unknown: dict[str, None] = {}
        for name, end in named_in(text):
            first, last = self.order.get(same(name)), self.order.get(same(end)) if end else None
            if first is not None:
                names.update(dict.fromkeys(self._between(first, last, same(name)[0])))
            missing = [other for other in (name, end) if other and is_known(other)]
            unknown.update(dict.fromkeys(other for other in missing if not self._is_there(other)))
        return tuple(names), tuple(unknown)

    def _between(self, first: int, last: int | None, kind: str) -> Iterator[str]:
        """The parts of the ids from one to another that begin alike; of the first alone where too many are named."""
        last = max(first, last or 0)
        self.spare -= last - first
        rows = self.rows[first : first + 1 if self.is_spent else last + 1]
        return (part for key, row in rows if key[0] == kind for part in row)

    def _is_there(self, name: str) -> bool:
        return same(name) in self.order or same(name) in self.withdrawn


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
