"""requirements.md as requirements with the ids that are to be proven, in every spelling that is in use: blocks, one for
each heading of a requirement, and each cut into criteria and edge cases with ids, or counted where ids are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, count, islice
from typing import NamedTuple

from agent_fox.core.spec import BareCriteria, Requirement
from agent_fox.specs.collected import Declarations, ReadRequirements, RequirementDraft
from agent_fox.specs.document import Markdown
from agent_fox.specs.files import warning
from agent_fox.specs.lines import Line, aside_below, is_rule, joined, plain
from agent_fox.specs.outline import cells_of
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_SENTENCE_ENDS = frozenset(".!?;—–")
_EDGES, _CRITERIA, _ASIDE = "edges", "criteria", "aside"
_LABELS = {
    _EDGES: ("edge case", "error case", "edge-case"),
    _CRITERIA: ("acceptance criteri", "requirements", "criteria", "functional requirements"),
    _ASIDE: ("note", "rationale", "example", "out of scope", "assumption", "depend", "correctness"),
}
_AMENDS = ("amend", "supersed", "withdraw", "deprecat", "errat", "revis", "retire", "change")
_SAYS_SO = ("status", "action", "change", "amendment", "disposition", "state", "now", "result")


class Declared(NamedTuple):
    """An id that a heading, an item, or the end of an item declares: `tail` is what follows `REQ-`, `text` what stands
    beside it. It `is_sure` with a whole id in a heading, behind an item's mark, or marked as one at the end of a whole
    sentence: another may be a mention, and declares what no other line does."""

    tail: str
    prefix: str
    text: str
    is_sure: bool

    @property
    def is_edge(self) -> bool:
        """Whether it is the id of an edge case, such as `1.E2`."""
        return "E" in self.tail.rpartition(".")[2]


@dataclass(slots=True)
class Item:
    """One criterion or edge case. `tail` is empty where no id is written; `number` is a list number."""

    is_edge: bool
    line: int
    tail: str = ""
    number: int | None = None
    lines: list[Line] = field(default_factory=list)

    @property
    def text(self) -> str:
        return joined(self.lines)


@dataclass(slots=True)
class Block:
    """A requirement's heading, the prose below it, and the items. `tail` is empty for text under other headings."""

    tail: str
    title: str
    level: int
    line: int
    is_numbered_only: bool = False
    lines: list[Line] = field(default_factory=list)
    intro: list[Line] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)


class _Ids:
    """The ids of a file: what they begin with, which is the folder's `number` if any id has it, else the most common
    beginning; and by their lines those that it `begins` with, and those that it surely `ends` with, or that no line
    surely declares. Those of other specs are text."""

    def __init__(self, lines: Sequence[Line], number: str) -> None:
        with_id = [line for line in lines if "REQ-" in line.text and not line.is_code]
        begins = {line.number: own for line in with_id if (own := _declared(line))}
        begins |= {line.number: own for line in lines if line.heading and (own := _headed(line.heading.title))}
        ends = {line.number: own for line in with_id if (own := _closing(line.text))}
        in_text = {line.number for line in lines if line.heading is None}
        declaring = {number: own for number, own in ends.items() if number in in_text} | begins
        seen = Counter(own.prefix for _, own in sorted(declaring.items()) if own.prefix)
        same = [prefix for prefix in seen if number and int(prefix) == int(number)]
        self.prefix = (same or [prefix for prefix, _ in seen.most_common(1)] or [number])[0]
        sure = {begins[line.number].tail for line in with_id if line.number in begins}
        sure |= {own.tail for number, own in ends.items() if number not in begins and own.is_sure}
        self.begins = {line: own for line, own in begins.items() if self._is_own(own)}
        self.ends = {n: own for n, own in ends.items() if self._is_own(own) and (own.is_sure or own.tail not in sure)}

    def _is_own(self, declared: Declared) -> bool:
        return not (declared.prefix and self.prefix) or int(declared.prefix) == int(self.prefix)

    def blocks(self, lines: Sequence[Line]) -> list[Block]:
        """Cut at every requirement heading of this spec, and where another of its rank or higher ends it. A heading
        below a requirement's own is a part of it: a label, or a criterion that has a heading."""
        blocks = [Block("", "", 0, 0)]
        elsewhere: int | None = None
        for line in lines:
            heading, current = line.heading, blocks[-1]
            title = self.begins.get(line.number) if heading is not None else None
            is_part = heading is None or (title is None and heading.level > current.level)
            is_part = is_part or (title is not None and title.tail.rpartition(".")[0] == current.tail and title.is_sure)
            if heading is None or (current.tail and is_part):
                if elsewhere is None:
                    current.lines.append(line)
            elif title is not None:
                elsewhere = None
                blocks.append(Block(title.tail, title.text, heading.level, line.number, not title.is_sure))
            else:
                elsewhere = aside_below(heading, elsewhere, _LIKE["elsewhere"])
                blocks.append(Block("", "", heading.level, line.number))
        for block in blocks:
            _Reading(block, self).read()
        return blocks


def _headed(text: str) -> Declared | None:
    """The id of a heading such as `Requirement 1: T`, `[01-REQ-1] T`, `04-REQ-1.1: T`, `REQ-1: T`."""
    match = _LIKE["title"].match(text)
    if match is None:
        return None
    tail = (match["tail"] or match["plain"]).upper()
    return Declared(tail, match["prefix"] or "", match["title"].strip("*_ "), match["plain"] is None)


def _declared(line: Line) -> Declared | None:
    """The id that a line declares: after a list mark, or decorated where there is no mark; or in the first cell of a
    row that demands something, for tables that only name ids declare none."""
    if line.text.lstrip().startswith("|"):
        first, *others = cells_of(line.text)
        cell = _LIKE["title"].fullmatch(first)
        rest = " — ".join(filter(None, others))
        if cell is None or cell["tail"] is None or cell["title"] or not _LIKE["demands"].search(rest):
            return None
        return Declared(cell["tail"].upper(), cell["prefix"] or "", rest, False)
    match = _LIKE["item"].match(line.text)
    if match is None or not (match["mark"] or set(match["open"]) & set("[`*")):
        return None
    struck = "~~" if "~~" in match["open"] else ""
    text = struck + match["rest"].lstrip(" :—–-.")
    return Declared(match["tail"].upper(), match["prefix"] or "", text, bool(match["mark"]))


def _closing(text: str) -> Declared | None:
    """The id that a text declares at its end: marked as an id, or behind a whole sentence; None where it has none."""
    match = _LIKE["at_the_end"].search(text)
    if match is None:
        return None
    text_before, sign = text[: match.start("open")].rstrip(), match["sign"] or ""
    if not (match["open"] or (sign and sign in _SENTENCE_ENDS)) or _LIKE["mentions"].search(text_before):
        return None
    is_sure = match["sign"] is not None and bool(match["open"])
    return Declared(match["tail"].upper(), match["prefix"] or "", text_before.rstrip(" —–-"), is_sure)


class _Reading:
    """Goes through the lines of a block. Knows only where it stands: under which label, in which item."""

    def __init__(self, block: Block, ids: _Ids) -> None:
        self.block, self.ids = block, ids
        self.section, self.section_level, self.is_labelled = _CRITERIA, 0, False
        self.item: Item | None = None
        self.seen: set[str] = set()
        self.is_counted = bool(block.tail) or any(self._closed_by(line) or self._begun_by(line) for line in block.lines)

    def read(self) -> None:
        block = self.block
        for line in block.lines:
            own = self._begun_by(line)
            if own is not None:
                self._begin(Item(own.is_edge, line.number, own.tail), line, own.text)
            elif self._is_label(line) or (is_rule(line.text.strip()) and not line.is_code):
                self.item = None
            elif not self._begins_unnamed(line):
                (self.item.lines if self.item else [] if block.items else block.intro).append(line)
        # items that end with an id of this requirement are declared there, each id by the first such item
        for item in (item for item in block.items if not item.tail):
            ends = ((place, self._closed_by(line)) for place, line in enumerate(item.lines))
            place, own = next((end for end in ends if end[1] is not None), (0, None))
            if own is not None and own.tail not in self.seen:
                item.tail, item.is_edge = own.tail, own.is_edge
                bare = _closing(item.lines[place].text) or own  # without the mark of the item
                item.lines[place] = item.lines[place]._replace(text=bare.text)
                self.seen.add(own.tail)

    def _closed_by(self, line: Line) -> Declared | None:
        own, tail = self.ids.ends.get(line.number), self.block.tail
        is_below = own is not None and (own.tail.startswith(f"{tail}.") if tail else "." in own.tail)
        return own if is_below else None

    def _begun_by(self, line: Line) -> Declared | None:
        item = self.ids.begins.get(line.number)
        if line.heading is not None:
            item = item if item is not None and item.is_sure and "." in item.tail else None
        elif item is None and not line.is_code:  # a paragraph `3.2. THE lock SHALL close.` of `3`
            match = _LIKE["numbered"].match(line.text)
            is_own = match is not None and match["tail"].partition(".")[0] == self.block.tail
            item = Declared(match["tail"].upper(), "", match["rest"], True) if match and is_own else None
        if item is None:
            return None
        is_prose = item.tail == self.block.tail or (item.tail in self.seen and not item.is_sure)
        is_open = self.item is not None and not self.item.tail and not self.item.lines[-1].is_blank
        closes_item = is_open and not (item.is_sure or item.text or line.heading)  # an id alone on an item's last line
        return None if is_prose or closes_item else item

    def _is_label(self, line: Line) -> bool:
        """A heading or a bold line on its own says what the items below it are."""
        heading = line.heading
        text = heading.title if heading else line.text.strip()
        if line.is_code or (heading is None and (line.indent > 1 or not _LIKE["label"].match(text))):
            return False
        label = plain(text.rstrip(":")).rstrip(":").lower()
        section = next((section for section, words in _LABELS.items() if label.startswith(words)), None)
        level = heading.level if heading else 0
        if section is None and (heading is None or (self.is_labelled and level > self.section_level > 0)):
            return False
        self.section, self.section_level, self.is_labelled = section or _ASIDE, level, section is not None
        return True

    def _begins_unnamed(self, line: Line) -> bool:
        may_be = not line.is_code and self.section != _ASIDE and line.indent < 2
        match = _LIKE["marked"].match(line.text) if may_be else None
        if match is None or not self.is_counted or not (match["number"] or self.is_labelled or self._closed_by(line)):
            return False
        is_unlike = self.item is not None and (self.item.number is None) != (match["number"] is None)
        if is_unlike and self.item is not None and not self.item.tail and self._closed_by(line) is None:
            return False
        number = int(match["number"]) if match["number"] else None
        self._begin(Item(self.section == _EDGES, line.number, number=number), line, match["rest"])
        return True

    def _begin(self, item: Item, line: Line, text: str) -> None:
        item.lines.append(line._replace(text=text))
        self.item = item
        self.seen.add(item.tail)
        self.block.items.append(item)


class _Collection(Declarations):
    """The requirements of one file in the making."""

    def __init__(self, markdown: Markdown, prefix: str, bare: BareCriteria) -> None:
        super().__init__(markdown)
        self.prefix, self.bare = prefix, bare

    def add_block(self, block: Block) -> None:
        own = None
        has_ids = any(item.tail for item in block.items)
        if block.tail:
            own = self._requirement(block.tail, block.title, block.line, joined(block.intro))
            self.implied |= {own.id} if block.is_numbered_only and not has_ids else set()
        for item in (item for item in block.items if item.tail):
            if "." in item.tail:
                self._add(self._parent(item.tail), self._identifier(item.tail), item)
            else:
                self._requirement(item.tail, item.text, item.line, item.text)
        parents = [(own, block.items)] if own else self._by_parent(block.items) if has_ids else ()
        for parent, items in parents:
            self._add_without_id(parent, items)

    def _by_parent(self, items: list[Item]) -> Iterator[tuple[RequirementDraft, list[Item]]]:
        """Items below a heading without an id, by the requirement of the last id above, else of the first below."""
        first = next(item.tail for item in items if item.tail)
        tails = accumulate((item.tail for item in items), lambda last, tail: tail or last, initial=first)
        below = islice(tails, 1, None)
        parents = [self._parent(tail) if "." in tail else self._requirement(tail, "", 0, "") for tail in below]
        for draft in {head.id: head for head in parents}.values():
            yield draft, [item for item, head in zip(items, parents, strict=True) if head is draft]

    def _add_without_id(self, own: RequirementDraft, items: list[Item]) -> None:
        """Ids for items that have none, by their numbers. Where some of a kind have ids, the others are details, or
        required under the next numbers that stand nowhere."""
        for is_edge, letter in ((False, ""), (True, "E")):
            kind = [item for item in items if item.is_edge == is_edge]
            bare = [item for item in kind if not item.tail]
            is_mixed = len(bare) < len(kind)
            if is_mixed and self.bare is BareCriteria.DETAIL:
                own.details += [(is_edge, item.text) for item in bare]
                continue
            written = [item.tail.rpartition(".")[2].removeprefix("E") for item in kind if item.tail]
            last = max((int(number) for number in written if number.isdecimal()), default=0)
            counted = [item.number for item in kind if item.number]
            is_count = len(set(counted)) == len(kind)  # the numbers as written, else the places
            numbers = count(last + 1) if is_mixed else counted if is_count else count(1)
            ids = (f"{own.id}.{letter}{number}" for number in numbers)
            free = (identifier for identifier in ids if not (is_mixed and identifier in self.lines))
            for item, identifier in zip(bare, free, strict=False):
                self.implied.add(identifier)
                self._add(own, identifier, item)

    def _identifier(self, tail: str) -> str:
        return f"{self.prefix}-REQ-{tail}" if self.prefix else f"REQ-{tail}"

    def _requirement(self, tail: str, title: str, line: int, text: str) -> RequirementDraft:
        identifier = self._identifier(tail)
        draft = self.drafts.setdefault(identifier, RequirementDraft(identifier, title, text, line))
        if not draft.line:
            draft.title, draft.line, draft.text = title, line, text
        elif line not in (0, draft.line):
            self.say_doubled(identifier, draft.line, line)
        return draft

    def _parent(self, tail: str) -> RequirementDraft:
        """The requirement whose id is the longest beginning of this one; made where no heading names it."""
        parts = tail.split(".")
        beginnings = [".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]
        known = [beginning for beginning in beginnings if self._identifier(beginning) in self.drafts]
        return self._requirement((known or beginnings[-1:])[0], "", 0, "")

    def _add(self, own: RequirementDraft, identifier: str, item: Item) -> None:
        if self.declares(identifier, item.line):
            self.withdrawn += [identifier] if _LIKE["taken_back_inline"].match(item.text) else []
            own.add(identifier, item.text, is_edge=item.is_edge)


def read_requirements(markdown: Markdown, number: str, bare: BareCriteria = BareCriteria.DETAIL) -> ReadRequirements:
    """All requirements of a file. `number` is the folder's number as written, empty where it has none; `bare` says
    what becomes of criteria without an id beside others that have one."""
    ids = _Ids(markdown.lines, number)
    prefix, blocks = ids.prefix, ids.blocks(markdown.lines)
    headed = {block.tail for block in blocks}
    for block in blocks:  # `Requirement 3` over criteria 04-REQ-4.x, and no heading for 4: the ids say which it is
        parents = {item.tail.split(".")[0] for item in block.items if "." in item.tail}
        if block.is_numbered_only and len(parents) == 1 and not parents & headed:
            block.tail = parents.pop()
    collection = _Collection(markdown, prefix, bare)
    for block in blocks:
        collection.add_block(block)
    drafts = collection.drafts.values()
    withdrawn = {*collection.withdrawn, *_taken_back(markdown, prefix)}
    before = [part.id for draft in drafts for part in draft.value().parts]
    left: list[Requirement] = []
    for draft in (draft for draft in drafts if draft.id not in withdrawn):
        had_any = draft.criteria or draft.edge_cases
        draft.criteria, draft.edge_cases = (
            [part for part in parts if part.id not in withdrawn] for parts in (draft.criteria, draft.edge_cases)
        )
        left += [draft.value()] if draft.criteria or draft.edge_cases or not had_any else []
    kept = {part.id for requirement in left for part in requirement.parts}
    gone = tuple(identifier for identifier in before if identifier not in kept)
    if gone:
        collection.problems.append(warning(markdown.where, f"{', '.join(gone)} was taken back and is not expected"))
    lines = {draft.id: draft.line for draft in drafts if draft.line} | collection.lines
    return replace(collection.read(left, lines), withdrawn=gone, prefix=prefix)


def _taken_back(markdown: Markdown, prefix: str) -> Iterator[str]:
    """Ids that an amendment table takes back: a row that names them, with a cell that says so plainly. Only where the
    table is about changes: `Removed the flag` is an amendment."""
    for table in markdown.tables:
        column = table.column("id")
        column = table.column_with("requirement", "criteri") if column is None else column
        others = [n for n in range(max((len(row.cells) for row in table.rows), default=0)) if n != column]
        says_so = [n for n in others if any(word in "".join(table.header[n : n + 1]) for word in _SAYS_SO)]
        is_about_changes = any(word in table.section for word in _AMENDS)
        for row in table.rows if column is not None else ():
            if any(_LIKE["taken_back"].match(row.cell(n)) for n in says_so or (others if is_about_changes else ())):
                ids = (match[0] for match in _LIKE["id"].finditer(row.cell(column)))
                yield from (f"{prefix}-{name}" if name.startswith("REQ") and prefix else name for name in ids)
