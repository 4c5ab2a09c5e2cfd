"""requirements.md and bugfix.md as requirements with ids: those that are written, and those that their numbers imply.

`### Requirement 2` with a list below it has the criteria `2.1`, `2.2`; an edge case is `2.E1`. Of a bugfix, what is to
be and what is to stay; what is (the defect) is not expected.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.specs.collected import Declarations, ReadRequirements, RequirementDraft
from agent_fox.specs.kiro.blocks import Block, blocks_of, heading_of
from agent_fox.specs.kiro.criteria import Contents, Item, contents_of, rows_with_ids
from agent_fox.specs.kiro.ids import Kind, Numbered, numbered
from agent_fox.specs.lines import Line, plain
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown

_LIKE = patterns_in(__file__)
_OF_ITS_REQUIREMENT = ("AC", "EC")
_MOST_LINES, _LONGEST_PART = 10, 80


class _Collection(Declarations):
    """The requirements of one file in the making. `counted` is the highest number that is but a place in a list."""

    doubled = "stands twice: in lines {} and {}. Give one of them another number"
    counted = 0

    def begin(self, identifier: str, title: str, text: str, line: int, *, is_implied: bool) -> RequirementDraft | None:
        """A new requirement; None where its id is taken, or taken back."""
        if not self.declares(identifier, line) or self._is_taken_back(identifier, line, title, title.startswith("~~")):
            return None
        self.implied |= {identifier} if is_implied else set()
        return self.drafts.setdefault(identifier, RequirementDraft(identifier, title, text))

    def add(self, own: RequirementDraft, identifier: str, item: Item, *, is_implied: bool) -> None:
        text = item.text
        is_struck = text.startswith("~~") and text.rstrip().endswith("~~")
        if self.declares(identifier, item.line) and not self._is_taken_back(identifier, item.line, text, is_struck):
            self.implied |= {identifier} if is_implied else set()
            own.add(identifier, text, is_edge=item.is_edge)

    def add_alone(self, identifier: str, item: Item, *, is_implied: bool = False) -> None:
        """An item that is a requirement itself."""
        self.begin(identifier, item.text.partition("\n")[0], item.text, item.line, is_implied=is_implied)

    def _is_taken_back(self, identifier: str, line: int, text: str, is_struck: bool) -> bool:
        is_gone = is_struck or _LIKE["taken_back"].match(text) is not None
        if is_gone:
            self.withdrawn.append(identifier)
            self.warn(line, f"{identifier} was taken back and is not expected")
        return is_gone

    def restarts(self, item: Item, identifier: str) -> None:
        """Says of a list that it goes on with another one's numbers."""
        what = f"this list begins at {item.mark.ordinal} again: counted on, it is {identifier}"
        self.warn(item.line, f"{what}. Number it so, in tasks too")

    def value(self) -> ReadRequirements:
        """What was collected. A requirement of which everything was taken back is gone."""
        emptied = frozenset(i.rpartition(".")[0] for i in self.withdrawn)
        kept = (each for each in self.drafts.values() if each.criteria or each.edge_cases or each.id not in emptied)
        return self.read(draft.value() for draft in kept)


def read_requirements(markdown: Markdown) -> ReadRequirements:
    """All requirements of a file. Ids such as `AC-1` that begin anew in every requirement are places in it."""
    blocks, out = blocks_of(markdown.lines)
    read = [(block, contents_of(block)) for block in blocks]
    collection = _Collection(markdown)
    marked = (name for block, contents in read if block.head for name in {item.mark.id for item in contents.items})
    counts = Counter(name for name in marked if name.startswith(_OF_ITS_REQUIREMENT))
    is_per_requirement = any(count > 1 for count in counts.values())
    has_heads = any(block.head for block in blocks)
    for block, contents in read:
        if block.head is not None:
            _add_requirement(collection, block, block.head, contents, is_per_requirement)
        elif has_heads:
            _add_loose(collection, block, contents)
        else:
            _add_listed(collection, block, contents)
    for block in blocks:
        if block.head is None and not _LIKE["not_requirements"].match(block.section.strip()):
            for item in rows_with_ids(block):  # tables repeat requirements too
                if item.mark.id not in collection.lines:
                    collection.add_alone(item.mark.id, item)
    for line, title in out:
        collection.warn(line, f"{title!r} stands below what is out of scope: it is not expected. Move it if it is")
    return collection.value()


def _add_requirement(
    collection: _Collection, block: Block, head: Numbered, contents: Contents, is_per_requirement: bool
) -> None:
    identifier = _identifier(collection, block, head)
    title = head.title or " ".join(filter(None, (head.word, head.number)))
    own = collection.begin(identifier, title, contents.text, block.line, is_implied=head.kind is not Kind.ID)
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


def _identifier(collection: _Collection, block: Block, head: Numbered) -> str:
    """Non-functional requirements that are counted from 1 again have a series of their own: `NFR-1`."""
    number, taken = head.number, collection.lines.get(head.number)
    if head.kind is Kind.ID:
        return number
    if _LIKE["non_functional"].search(head.word):
        return f"NFR-{number}"
    if taken is not None and _LIKE["non_functional"].search(block.path):
        what = f"the number {number} is taken by line {taken}: read as NFR-{number}. Write that id, in tasks too"
        collection.warn(block.line, what)
        return f"NFR-{number}"
    return number


def _add_item(collection: _Collection, own: RequirementDraft, item: Item, place: int) -> None:
    """An item with an id, or with a number: `1.2` below `Requirement 1` is written; below `REQ-1` it implies
    `REQ-1.2`. Any other has its `place`, or the number of its list."""
    mark, dotted = item.mark, item.mark.dotted
    if mark.id and not (place and mark.id.startswith(_OF_ITS_REQUIREMENT)):
        item.is_edge = item.is_edge or mark.id.startswith("EC")
        collection.add(own, mark.id, item, is_implied=False)
    elif dotted:
        head, _, tail = dotted.partition(".")
        digits = own.id.rpartition("-")[2].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ").lstrip("0") or "0"
        is_implied = digits == head and not own.id[:1].isdigit()
        item.is_edge = item.is_edge or dotted.rpartition(".")[2].startswith("E")
        if not (dotted.startswith(f"{own.id}.") or is_implied):
            collection.warn(item.line, f"{dotted} stands below {own.id}. Correct one of the two numbers")
        collection.add(own, f"{own.id}.{tail}" if is_implied else dotted, item, is_implied=is_implied)
    else:
        number = place if mark.id else item.number
        identifier = f"{own.id}.{'E' if item.is_edge else ''}{number}{mark.letter}"
        if item.restarts:
            collection.restarts(item, identifier)
        collection.add(own, identifier, item, is_implied=True)


def _add_loose(collection: _Collection, block: Block, contents: Contents) -> None:
    """Under other headings only what has an id is a requirement; what only looks like one is reported."""
    named = [item for item in contents.items if item.mark.id]
    for item in named:
        collection.add_alone(item.mark.id, item)
    others = [item for item in contents.items if not item.mark.id]
    may_be = _LIKE["non_functional"].search(block.path) or _LIKE["criteria"].search(block.section)
    if others and not named and may_be:
        what = f"{len(others)} items under {block.section!r} have no id: not expected. Make each a numbered requirement"
        collection.warn(others[0].line, what)


def _add_listed(collection: _Collection, block: Block, contents: Contents) -> None:
    """A file without requirements' headings: the items of its lists are the requirements."""
    says_so = _LIKE["requirement"].search(block.section)
    if _LIKE["not_requirements"].match(block.section.strip()) and not says_so:
        return
    says_so = says_so or _LIKE["criteria"].search(block.section)
    counted = [item for item in contents.items if not (item.mark.id or item.mark.dotted)]
    offset = collection.counted if any(str(item.number) in collection.lines for item in counted) else 0
    collection.counted = max([collection.counted, *(item.number + offset for item in counted)])
    if offset and counted[0].mark.ordinal is not None:
        collection.restarts(counted[0], str(counted[0].number + offset))
    for item in contents.items:
        if item.mark.id:
            collection.add_alone(item.mark.id, item)
        elif item.mark.dotted:
            head = item.mark.dotted.partition(".")[0]
            own = collection.drafts.get(head) or collection.begin(head, "", "", item.line, is_implied=True)
            if own is not None:
                collection.add(own, item.mark.dotted, item, is_implied=False)
        elif item.mark.ordinal is not None or says_so:
            collection.add_alone(str(item.number + offset), item, is_implied=True)


_DEFECT = 1
_PARTS = {3: _LIKE["unchanged"], 2: _LIKE["expected"], _DEFECT: _LIKE["defect"]}
"""The parts of a bugfix, by the numbers that Kiro gives them. What is unchanged comes first: its titles say
*current* or *correct* too."""


def read_bugfix(markdown: Markdown) -> ReadRequirements:
    """The expected and the unchanged behaviour, as requirements `2` and `3` with criteria such as `2.1`; the defects
    are what is wrong today.

    A file about several bugs has each part several times: their lists go on where they have no numbers.
    """
    collection = _Collection(markdown)
    defects: list[str] = []
    counted = dict.fromkeys(_PARTS, 0)
    for part, block in _parts(markdown.lines):
        contents = contents_of(block)
        offset = counted[part]
        for item in contents.items:
            written = item.mark.id or item.mark.dotted
            identifier = written or f"{part}.{item.number + offset}"
            counted[part] = max(counted[part], item.number + offset)
            if offset and item is contents.items[0] and item.mark.ordinal is not None:
                collection.restarts(item, identifier)
            if part == _DEFECT:
                defects.append(identifier)
                continue
            head, title = item.mark.dotted.partition(".")[0] or str(part), block.head.title if block.head else ""
            own = collection.drafts.get(head)
            own = own or collection.begin(head, title, contents.text, block.line, is_implied=True)
            if own is not None:
                collection.add(own, identifier, item, is_implied=not written)
    return replace(collection.value(), defects=tuple(defects))


def _parts(lines: Iterable[Line]) -> Iterator[tuple[int, Block]]:
    """A block for each part, told from its title; the first title of each counts, as often as it stands there:
    `Expected Behavior (Correct)` is that of another bug's `Expected Behavior`."""
    names: dict[int, list[str]] = {}
    current: tuple[int, Block] | None = None
    for line in lines:
        heading = heading_of(line)
        head = numbered(heading.title) if heading else None
        is_bare = head is not None and head.kind is Kind.BARE
        words = head.title if head is not None and is_bare and head.title else heading.title if heading else ""
        is_short = 0 < len(words) <= _LONGEST_PART
        part = next((number for number, like in _PARTS.items() if is_short and like.search(words)), 0)
        name = re.split(r"[(（:：—–]", words, maxsplit=1)[0].casefold().split()[:2]
        if heading is not None and part and names.setdefault(part, name) == name:
            yield from [current] if current else []
            head = Numbered(Kind.BARE, str(part), plain(heading.title))
            current = part, Block(head, line.number, heading.level)
        elif current is not None and line.heading is not None and line.heading.level <= current[1].level:
            yield current
            current = None
        elif current is not None:
            current[1].lines.append(line)
    yield from [current] if current else []
