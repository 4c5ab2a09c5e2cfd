"""requirements.md as requirements with ids: those that are written, and those that their numbers imply.

`### Requirement 2` with a list below it has the criteria `2.1`, `2.2`; an edge case is `2.E1`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.spec import Criterion, Requirement
from agent_fox.specs.collected import Declarations, ReadRequirements
from agent_fox.specs.kiro.blocks import Block, blocks_of, left_out
from agent_fox.specs.kiro.ids import Kind, Numbered
from agent_fox.specs.kiro.rows import contents_with_rows, rows_with_ids
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.kiro.criteria import Contents, Item

_LIKE = patterns_in(__file__)
_OF_ITS_REQUIREMENT = ("AC", "EC")
_MOST_LINES = 10


@dataclass(slots=True)
class _Draft:
    """A requirement while its parts are collected."""

    id: str
    title: str
    text: str
    criteria: list[Criterion] = field(default_factory=list)
    edge_cases: list[Criterion] = field(default_factory=list)

    def value(self) -> Requirement:
        return Requirement(self.id, self.title, self.text, tuple(self.criteria), tuple(self.edge_cases))


class Collection(Declarations):
    """The requirements of one file in the making. `counted` is the highest number of those that have none but their
    place in a list."""

    doubled = "stands twice: in lines {} and {}. Give one of them another number"

    def __init__(self, markdown: Markdown) -> None:
        super().__init__(markdown)
        self.drafts: dict[str, _Draft] = {}
        self.counted = 0

    def begin(self, identifier: str, title: str, text: str, line: int, *, is_implied: bool) -> _Draft | None:
        """A new requirement; None where its id is taken, or taken back."""
        if not self.declares(identifier, line):
            return None
        if _LIKE["taken_back"].match(title) or title.startswith("~~"):
            self._take_back(identifier, line)
            return None
        if is_implied:
            self.implied.add(identifier)
        self.drafts[identifier] = _Draft(identifier, title, text)
        return self.drafts[identifier]

    def add(self, own: _Draft, identifier: str, item: Item, *, is_implied: bool) -> None:
        if not self.declares(identifier, item.line):
            return
        if _LIKE["taken_back"].match(item.text) or (item.text.startswith("~~") and item.text.rstrip().endswith("~~")):
            self._take_back(identifier, item.line)
            return
        if is_implied:
            self.implied.add(identifier)
        (own.edge_cases if item.is_edge else own.criteria).append(Criterion(identifier, item.text))

    def _take_back(self, identifier: str, line: int) -> None:
        self.withdrawn.append(identifier)
        self.warn(line, f"{identifier} was taken back and is not expected")

    def value(self) -> ReadRequirements:
        """What was collected. A requirement of which everything was taken back is gone."""
        emptied = frozenset(i.rpartition(".")[0] for i in self.withdrawn)
        drafts = [draft.value() for draft in self.drafts.values()]
        ids = {draft.id for draft in drafts if draft.criteria or draft.edge_cases}
        return self.read(draft for draft in drafts if draft.id in ids or draft.id not in emptied)


def read_requirements(markdown: Markdown) -> ReadRequirements:
    """All requirements of a file."""
    read = [(block, contents_with_rows(block)) for block in blocks_of(markdown.lines)]
    collection = Collection(markdown)
    is_per_requirement = _repeats(contents for block, contents in read if block.head)
    has_heads = any(block.head for block, _ in read)
    for block, contents in read:
        if block.head is not None:
            _add_requirement(collection, block, block.head, contents, is_per_requirement)
        elif has_heads:
            _add_loose(collection, block, contents)
        else:
            _add_listed(collection, block, contents)
    for block, _ in read:
        _add_rows(collection, block)
    for line, title in left_out(markdown.lines):
        collection.warn(line, f"{title!r} stands below what is out of scope: it is not expected. Move it if it is")
    return collection.value()


def _repeats(contents: Iterable[Contents]) -> bool:
    """Whether ids such as `AC-1` begin anew in every requirement: then they are places in it."""
    seen = Counter(
        name for content in contents for name in {item.mark.id for item in content.items} if _is_of_requirement(name)
    )
    return any(count > 1 for count in seen.values())


def _is_of_requirement(identifier: str) -> bool:
    return identifier.startswith(_OF_ITS_REQUIREMENT)


def _add_requirement(
    collection: Collection, block: Block, head: Numbered, contents: Contents, is_per_requirement: bool
) -> None:
    identifier = _identifier(collection, block, head)
    is_implied = head.kind is not Kind.ID
    title = head.title or " ".join(filter(None, (head.word, head.number)))
    own = collection.begin(identifier, title, contents.text, block.line, is_implied=is_implied)
    if own is None:
        return
    if contents.passed_over:
        lines = ", ".join(map(str, contents.passed_over[:_MOST_LINES]))
        what = f"what stands below a note in {identifier} is not expected (lines {lines}). Move what must hold up"
        collection.warn(contents.passed_over[0], what)
    doubled = {id(second) for _, second in contents.doubled}
    for first, second in contents.doubled:
        letter = "E" if second.is_edge else ""
        collection.say_doubled(f"{identifier}.{letter}{second.number}", first.line, second.line)
    for place, item in enumerate(contents.items, 1):
        if id(item) not in doubled:
            _add_item(collection, own, item, place if is_per_requirement else 0)
    for _, second in contents.doubled:
        second.number = 1 + max(item.number for item in contents.items if item.is_edge == second.is_edge)
        _add_item(collection, own, second, 0)


def _identifier(collection: Collection, block: Block, head: Numbered) -> str:
    """Non-functional requirements that are counted from 1 again have a series of their own: `NFR-1`."""
    if head.kind is Kind.ID:
        return head.number
    if _LIKE["non_functional"].search(head.word):
        return f"NFR-{head.number}"
    if head.number in collection.lines and _LIKE["non_functional"].search(block.path):
        collection.warn(
            block.line,
            f"the number {head.number} is taken by line {collection.lines[head.number]}: read as NFR-{head.number}. "
            "Write that id, in tasks too",
        )
        return f"NFR-{head.number}"
    return head.number


def _add_item(collection: Collection, own: _Draft, item: Item, place: int) -> None:
    mark = item.mark
    if mark.id and not (place and _is_of_requirement(mark.id)):
        item.is_edge = item.is_edge or mark.id.startswith("EC")
        collection.add(own, mark.id, item, is_implied=False)
    elif mark.dotted:
        _add_dotted(collection, own, item)
    else:
        number = place if mark.id else item.number
        identifier = f"{own.id}.{'E' if item.is_edge else ''}{number}{mark.letter}"
        if item.restarts:
            collection.warn(item.line, restarts(item, identifier))
        collection.add(own, identifier, item, is_implied=True)


def restarts(item: Item, identifier: str) -> str:
    """The problem of a list that goes on with another one's numbers."""
    return f"this list begins at {item.mark.ordinal} again: counted on, it is {identifier}. Number it so, in tasks too"


def _add_dotted(collection: Collection, own: _Draft, item: Item) -> None:
    """`1.2` below `Requirement 1` is written; below `REQ-1` it implies `REQ-1.2`."""
    head, _, tail = item.mark.dotted.partition(".")
    item.is_edge = item.is_edge or item.mark.dotted.rpartition(".")[2].startswith("E")
    if item.mark.dotted.startswith(f"{own.id}."):
        collection.add(own, item.mark.dotted, item, is_implied=False)
    elif _last_number(own.id) == head and not own.id[:1].isdigit():
        collection.add(own, f"{own.id}.{tail}", item, is_implied=True)
    else:
        collection.warn(item.line, f"{item.mark.dotted} stands below {own.id}. Correct one of the two numbers")
        collection.add(own, item.mark.dotted, item, is_implied=False)


def _last_number(identifier: str) -> str:
    digits = identifier.rpartition("-")[2].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ").lstrip("0")
    return digits or "0"


def _add_loose(collection: Collection, block: Block, contents: Contents) -> None:
    """Under other headings only what has an id is a requirement; what only looks like one is reported."""
    named = [item for item in contents.items if item.mark.id]
    for item in named:
        _add_alone(collection, item.mark.id, item, is_implied=False)
    others = [item for item in contents.items if not item.mark.id]
    if others and not named and (_LIKE["non_functional"].search(block.path) or _LIKE["criteria"].search(block.section)):
        what = f"{len(others)} items under {block.section!r} have no id: not expected. Make each a numbered requirement"
        collection.warn(others[0].line, what)


def _add_listed(collection: Collection, block: Block, contents: Contents) -> None:
    """A file without requirements' headings: the items of its lists are the requirements."""
    if _LIKE["not_requirements"].match(block.section.strip()) and not _LIKE["requirement"].search(block.section):
        return
    counted = [item for item in contents.items if not (item.mark.id or item.mark.dotted)]
    offset = collection.counted if any(str(item.number) in collection.lines for item in counted) else 0
    collection.counted = max([collection.counted, *(item.number + offset for item in counted)])
    if offset and counted[0].mark.ordinal is not None:
        collection.warn(counted[0].line, restarts(counted[0], str(counted[0].number + offset)))
    for item in contents.items:
        if item.mark.id:
            _add_alone(collection, item.mark.id, item, is_implied=False)
        elif item.mark.dotted:
            head = item.mark.dotted.partition(".")[0]
            own = collection.drafts.get(head)
            if own is None:
                own = collection.begin(head, "", "", item.line, is_implied=True)
            if own is not None:
                collection.add(own, item.mark.dotted, item, is_implied=False)
        elif (
            item.mark.ordinal is not None
            or _LIKE["requirement"].search(block.section)
            or _LIKE["criteria"].search(block.section)
        ):
            _add_alone(collection, str(item.number + offset), item, is_implied=True)


def _add_rows(collection: Collection, block: Block) -> None:
    """Rows under other headings, with ids that stand nowhere else: tables repeat requirements too."""
    if block.head is None and not _LIKE["not_requirements"].match(block.section.strip()):
        for item in rows_with_ids(block):
            if item.mark.id not in collection.lines:
                _add_alone(collection, item.mark.id, item, is_implied=False)


def _add_alone(collection: Collection, identifier: str, item: Item, *, is_implied: bool) -> None:
    collection.begin(identifier, item.text.partition("\n")[0], item.text, item.line, is_implied=is_implied)
