"""requirements.md and bugfix.md as requirements with ids: those that are written, and those that their numbers imply.

`### Requirement 2` with a list below it has the criteria `2.1`, `2.2`; an edge case is `2.E1`. Of a bugfix, what is to
be and what is to stay; what is (the defect) is not expected.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent_fox.specs.collected import Declarations, ReadRequirements, RequirementDraft
from agent_fox.specs.document import Markdown
from agent_fox.specs.kiro.blocks import Block, Item, blocks_of, heading_of
from agent_fox.specs.kiro.criteria import read_items, rows_with_ids
from agent_fox.specs.kiro.ids import Kind, Numbered, numbered
from agent_fox.specs.lines import Line, plain
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_OF_ITS_REQUIREMENT = ("AC", "EC")
_MOST_LINES, _LONGEST_PART = 10, 80
_DEFECT = 1
_PARTS = {3: _LIKE["unchanged"], 2: _LIKE["expected"], _DEFECT: _LIKE["defect"]}
"""The parts of a bugfix, by the numbers that Kiro gives them. What is unchanged comes first: its titles say
*current* or *correct* too."""


def read_requirements(markdown: Markdown) -> ReadRequirements:
    """All requirements of a file. Ids such as `AC-1` that begin anew in every requirement are places in it."""
    blocks, out = blocks_of(markdown.lines)
    for block in blocks:
        read_items(block)
    collection = _Collection(markdown)
    marked = (name for block in blocks if block.head for name in {item.mark.id for item in block.items})
    counts = Counter(name for name in marked if name.startswith(_OF_ITS_REQUIREMENT))
    is_per_requirement = any(count > 1 for count in counts.values())
    has_heads = any(block.head for block in blocks)
    for block in blocks:
        if block.head is not None:
            collection.add_block(block, block.head, is_per_requirement)
        elif has_heads:
            collection.add_loose(block)
        else:
            collection.add_listed(block)
    for block in blocks:
        if block.head is None and not _LIKE["not_requirements"].match(block.section.strip()):
            for item in rows_with_ids(block):  # tables repeat requirements too
                if item.mark.id not in collection.lines:
                    collection.add(None, item.mark.id, item)
    for line, title in out:
        collection.warn(line, f"{title!r} stands below what is out of scope: it is not expected. Move it if it is")
    return collection.value()


class _Collection(Declarations):
    """The requirements of one file in the making. `counted` is the highest number that is but a place in a list."""

    doubled = "stands twice: in lines {} and {}. Give one of them another number"
    counted = 0

    def value(self) -> ReadRequirements:
        """What was collected. A requirement of which everything was taken back is gone."""
        emptied = frozenset(i.rpartition(".")[0] for i in self.withdrawn)
        kept = (each for each in self.drafts.values() if each.criteria or each.edge_cases or each.id not in emptied)
        return self.read(draft.value() for draft in kept)

    def begin(self, identifier: str, title: str, text: str, line: int, *, is_implied: bool) -> RequirementDraft | None:
        """A new requirement; None where its id is taken, or taken back."""
        if not self._declares(identifier, line, title, title.startswith("~~"), is_implied):
            return None
        return self.drafts.setdefault(identifier, RequirementDraft(identifier, title, text))

    def add(self, own: RequirementDraft | None, identifier: str, item: Item, *, is_implied: bool = False) -> None:
        """An item as a part of a requirement, or as one itself."""
        text = item.text
        is_struck = text.startswith("~~") and text.rstrip().endswith("~~")
        if own is None:
            self.begin(identifier, text.partition("\n")[0], text, item.line, is_implied=is_implied)
        elif self._declares(identifier, item.line, text, is_struck, is_implied):
            own.add(identifier, text, is_edge=item.is_edge)

    def _declares(self, identifier: str, line: int, text: str, is_struck: bool, is_implied: bool) -> bool:
        """Whether the id is new, and what it stands for was not taken back."""
        is_new = self.declares(identifier, line)
        is_gone = is_new and (is_struck or _LIKE["taken_back"].match(text) is not None)
        if is_gone:
            self.withdrawn.append(identifier)
            self.warn(line, f"{identifier} was taken back and is not expected")
        elif is_new and is_implied:
            self.implied.add(identifier)
        return is_new and not is_gone

    def restarts(self, item: Item, identifier: str) -> None:
        """Says of a list that it goes on with another one's numbers."""
        what = f"this list begins at {item.mark.ordinal} again: counted on, it is {identifier}"
        self.warn(item.line, f"{what}. Number it so, in tasks too")

    def add_block(self, block: Block, head: Numbered, is_per_requirement: bool) -> None:
        """A requirement with its parts. Of two with one number the second is counted on."""
        identifier = head.number
        if head.kind is not Kind.ID:  # non-functional ones that are counted from 1 again have a series of their own
            is_of_series = _LIKE["non_functional"].search(head.word) is not None
            taken = self.lines.get(head.number)
            if taken is not None and not is_of_series and _LIKE["non_functional"].search(block.path):
                what = f"the number {identifier} is taken by line {taken}: read as NFR-{identifier}"
                self.warn(block.line, f"{what}. Write that id, in tasks too")
                is_of_series = True
            identifier = f"NFR-{identifier}" if is_of_series else identifier
        title = head.title or " ".join(filter(None, (head.word, head.number)))
        own = self.begin(identifier, title, block.text, block.line, is_implied=head.kind is not Kind.ID)
        if own is None:
            return
        if block.passed_over:
            lines = ", ".join(map(str, block.passed_over[:_MOST_LINES]))
            what = f"what stands below a note in {identifier} is not expected (lines {lines}). Move what must hold up"
            self.warn(block.passed_over[0], what)
        twice = [(item.doubles, item) for item in block.items if item.doubles is not None]
        for first, item in twice:
            self.say_doubled(f"{identifier}.{'E' if item.is_edge else ''}{item.number}", first.line, item.line)
        for place, item in enumerate(block.items, 1):
            if item.doubles is None:
                self._add_item(own, item, place if is_per_requirement else 0)
        for _, item in twice:
            item.number = 1 + max(other.number for other in block.items if other.is_edge == item.is_edge)
            self._add_item(own, item, 0)

    def _add_item(self, own: RequirementDraft, item: Item, place: int) -> None:
        """An item with an id, or with a number: `1.2` below `Requirement 1` is written; below `REQ-1` it implies
        `REQ-1.2`. Any other has its `place`, or the number of its list."""
        mark, dotted = item.mark, item.mark.dotted
        if mark.id and not (place and mark.id.startswith(_OF_ITS_REQUIREMENT)):
            item.is_edge = item.is_edge or mark.id.startswith("EC")
            self.add(own, mark.id, item)
        elif dotted:
            head, _, tail = dotted.partition(".")
            digits = own.id.rpartition("-")[2].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ").lstrip("0") or "0"
            is_implied = digits == head and not own.id[:1].isdigit()
            item.is_edge = item.is_edge or dotted.rpartition(".")[2].startswith("E")
            if not (dotted.startswith(f"{own.id}.") or is_implied):
                self.warn(item.line, f"{dotted} stands below {own.id}. Correct one of the two numbers")
            self.add(own, f"{own.id}.{tail}" if is_implied else dotted, item, is_implied=is_implied)
        else:
            number = place if mark.id else item.number
            identifier = f"{own.id}.{'E' if item.is_edge else ''}{number}{mark.letter}"
            if item.restarts:
                self.restarts(item, identifier)
            self.add(own, identifier, item, is_implied=True)

    def add_loose(self, block: Block) -> None:
        """Under other headings only what has an id is a requirement; what only looks like one is reported."""
        named = [item for item in block.items if item.mark.id]
        for item in named:
            self.add(None, item.mark.id, item)
        may_be = _LIKE["non_functional"].search(block.path) or _LIKE["criteria"].search(block.section)
        if block.items and not named and may_be:
            what = f"{len(block.items)} items under {block.section!r} have no id: not expected. "
            self.warn(block.items[0].line, f"{what}Make each a numbered requirement")

    def add_listed(self, block: Block) -> None:
        """A file without requirements' headings: the items of its lists are the requirements."""
        says_so = _LIKE["requirement"].search(block.section)
        if _LIKE["not_requirements"].match(block.section.strip()) and not says_so:
            return
        says_so = says_so or _LIKE["criteria"].search(block.section)
        counted = [item for item in block.items if not (item.mark.id or item.mark.dotted)]
        offset = self.counted if any(str(item.number) in self.lines for item in counted) else 0
        self.counted = max([self.counted, *(item.number + offset for item in counted)])
        if offset and counted[0].mark.ordinal is not None:
            self.restarts(counted[0], str(counted[0].number + offset))
        for item in block.items:
            if item.mark.id:
                self.add(None, item.mark.id, item)
            elif item.mark.dotted:
                head = item.mark.dotted.partition(".")[0]
                own = self.drafts.get(head) or self.begin(head, "", "", item.line, is_implied=True)
                if own is not None:
                    self.add(own, item.mark.dotted, item)
            elif item.mark.ordinal is not None or says_so:
                self.add(None, str(item.number + offset), item, is_implied=True)


def read_bugfix(markdown: Markdown) -> ReadRequirements:
    """The expected and the unchanged behaviour, as requirements `2` and `3` with criteria such as `2.1`; the defects
    are what is wrong today.

    A file about several bugs has each part several times: their lists go on where they have no numbers.
    """
    collection = _Collection(markdown)
    defects: list[str] = []
    counted = dict.fromkeys(_PARTS, 0)
    for part, block in _parts(markdown.lines):
        read_items(block)
        offset = counted[part]
        for item in block.items:
            written = item.mark.id or item.mark.dotted
            identifier = written or f"{part}.{item.number + offset}"
            counted[part] = max(counted[part], item.number + offset)
            if offset and item is block.items[0] and item.mark.ordinal is not None:
                collection.restarts(item, identifier)
            if part == _DEFECT:
                defects.append(identifier)
                continue
            head, title = item.mark.dotted.partition(".")[0] or str(part), block.head.title if block.head else ""
            own = collection.drafts.get(head)
            own = own or collection.begin(head, title, block.text, block.line, is_implied=True)
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
            current = part, Block(Numbered(Kind.BARE, str(part), plain(heading.title)), line.number, heading.level)
        elif current is not None and line.heading is not None and line.heading.level <= current[1].level:
            yield current
            current = None
        elif current is not None:
            current[1].lines.append(line)
    yield from [current] if current else []
