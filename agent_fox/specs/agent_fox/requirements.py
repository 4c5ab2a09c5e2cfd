"""requirements.md as requirements with the ids that are to be proven, in every spelling that is in use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from itertools import accumulate, count, islice
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import BareCriteria, Criterion, Requirement, with_details
from agent_fox.core.values import dataclass
from agent_fox.specs.agent_fox.requirement_blocks import Block, blocks_of, ids_in
from agent_fox.specs.agent_fox.requirement_items import Contents, Item, contents_of
from agent_fox.specs.collected import Declarations, ReadRequirements
from agent_fox.specs.files import warning
from agent_fox.specs.lines import joined

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.outline import Row, Table

_TAKEN_BACK = regex(
    r"""[\W_]{0,6}(?:fully\ |entire(?:\ requirement)?\ )?
    (?:withdrawn|superseded|suspended|removed|deleted|dropped|retired|revoked|obsolete|deprecated|replaced)\b
    (?=[\W_]*$|[\W_]*\b(?:by|in|as\ of|entirely|with|since|from\ (?:the\ )?(?:spec|scope))\b
    |[*_\ ]*[—–(;,.:-])""",
    re.IGNORECASE | re.VERBOSE,
)
_AMENDS = ("amend", "supersed", "withdraw", "deprecat", "errat", "revis", "retire", "change")
_SAYS_SO = ("status", "action", "change", "amendment", "disposition", "state", "now", "result")
_TAKEN_BACK_INLINE = regex(r"~~|[*_\[(]{1,3}(?:WITHDRAWN|SUPERSEDED|REMOVED|DEPRECATED)[*_\]):]")
_ID = regex(r"(?:\d{1,9}-)?REQ-\d{1,9}(?:\.E?\d{1,9})*")


@dataclass(slots=True)
class _Draft:
    """A requirement while its parts are collected from the file."""

    id: str
    title: str
    line: int
    text: str = ""
    criteria: list[Criterion] = field(default_factory=list)
    edge_cases: list[Criterion] = field(default_factory=list)
    details: list[Item] = field(default_factory=list)

    def value(self) -> Requirement:
        """Details are part of the requirement's text, and of each criterion (or edge case) beside which they stand."""
        criteria, edges = (self._with_details(is_edge) for is_edge in (False, True))
        details = tuple(item.text for item in self.details)
        text = with_details(self.text, self.id, details) if self.text else self.text
        return Requirement(self.id, self.title, text, criteria, edges, details)

    def _with_details(self, is_edge: bool) -> tuple[Criterion, ...]:
        own = [item.text for item in self.details if item.is_edge == is_edge]
        kind = self.edge_cases if is_edge else self.criteria
        return tuple(Criterion(part.id, with_details(part.text, self.id, own)) for part in kind)


class _Collection(Declarations):
    """The requirements of one file in the making."""

    def __init__(self, markdown: Markdown, prefix: str, bare: BareCriteria) -> None:
        super().__init__(markdown)
        self.prefix, self.bare = prefix, bare
        self.drafts: dict[str, _Draft] = {}

    def identifier(self, tail: str) -> str:
        return f"{self.prefix}-REQ-{tail}" if self.prefix else f"REQ-{tail}"

    def add_block(self, block: Block, contents: Contents) -> None:
        own = None
        if block.tail:
            own = self._requirement(block.tail, block.title, block.line, joined(contents.intro))
            self._add_unnamed(own, contents)
            if block.is_numbered_only and not any(item.tail for item in contents.items):
                self.implied.add(own.id)
        for item in contents.items:
            if item.tail:
                self._add_named(item)
        if own is not None:
            self._add_bare(own, contents)
        elif any(item.tail for item in contents.items):
            for parent, items in self._by_parent(contents.items):
                self._add_unnamed(parent, Contents(items=items))
                self._add_bare(parent, Contents(items=items))

    def _by_parent(self, items: list[Item]) -> Iterator[tuple[_Draft, list[Item]]]:
        """The items below a heading without an id, by the requirement that the last id above them (else the first
        below them) belongs to."""
        first = next(item.tail for item in items if item.tail)
        tails = accumulate((item.tail for item in items), lambda last, tail: tail or last, initial=first)
        parents = [
            self._parent(tail) if "." in tail else self._requirement(tail, "", 0, "") for tail in islice(tails, 1, None)
        ]
        for draft in {head.id: head for head in parents}.values():
            yield draft, [item for item, head in zip(items, parents, strict=True) if head is draft]

    def _add_bare(self, own: _Draft, contents: Contents) -> None:
        """Items without an id beside others that have one: details, or required under the next numbers."""
        for is_edge in (False, True):
            kind = [item for item in contents.items if item.is_edge == is_edge]
            bare = [item for item in kind if not item.tail] if any(item.tail for item in kind) else []
            if self.bare is BareCriteria.DETAIL:
                own.details += bare
                continue
            for identifier, item in zip(self._free_ids(own, kind, is_edge), bare, strict=False):
                self.implied.add(identifier)
                self._add(own, identifier, item)

    def _free_ids(self, own: _Draft, kind: list[Item], is_edge: bool) -> Iterator[str]:
        """Ids past the last that is written, none of which stands anywhere."""
        letter = "E" if is_edge else ""
        written = [item.tail.rpartition(".")[2].removeprefix("E") for item in kind if item.tail]
        free = (
            f"{own.id}.{letter}{n}"
            for n in count(1 + max((int(last) for last in written if last.isdecimal()), default=0))
        )
        return (identifier for identifier in free if identifier not in self.lines)

    def _requirement(self, tail: str, title: str, line: int, text: str) -> _Draft:
        identifier = self.identifier(tail)
        if identifier in self.drafts and self.drafts[identifier].line and line:
            self.say_doubled(identifier, self.drafts[identifier].line, line)
        draft = self.drafts.setdefault(identifier, _Draft(identifier, title, line, text))
        if not draft.line:
            draft.title, draft.line, draft.text = title, line, text
        return draft

    def _add_named(self, item: Item) -> None:
        if "." not in item.tail:
            self._requirement(item.tail, item.text, item.line, item.text)
            return
        parent = self._parent(item.tail)
        self._add(parent, self.identifier(item.tail), item)

    def _parent(self, tail: str) -> _Draft:
        """The requirement whose id is the longest beginning of this one; made where no heading names it."""
        parts = tail.split(".")
        beginnings = [".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]
        known = [beginning for beginning in beginnings if self.identifier(beginning) in self.drafts]
        return self._requirement((known or beginnings[-1:])[0], "", 0, "")

    def _add_unnamed(self, own: _Draft, contents: Contents) -> None:
        """Ids for items that have none. Where some of a kind have ids, the others are text."""
        for is_edge, letter in ((False, ""), (True, "E")):
            kind = [item for item in contents.items if item.is_edge == is_edge]
            if any(item.tail for item in kind):
                continue
            for number, item in zip(_numbers(kind), kind, strict=True):
                self.implied.add(f"{own.id}.{letter}{number}")
                self._add(own, f"{own.id}.{letter}{number}", item)

    def _add(self, own: _Draft, identifier: str, item: Item) -> None:
        if not self.declares(identifier, item.line):
            return
        if _TAKEN_BACK_INLINE.match(item.text):
            self.withdrawn.append(identifier)
        (own.edge_cases if item.is_edge else own.criteria).append(Criterion(identifier, item.text))


def read_requirements(markdown: Markdown, number: str, bare: BareCriteria = BareCriteria.DETAIL) -> ReadRequirements:
    """All requirements of a file. `number` is the folder's number as written, empty where it has none; `bare` says
    what becomes of criteria without an id beside others that have one."""
    prefix, sure = ids_in(markdown.lines, number)
    collection = _Collection(markdown, prefix, bare)
    blocks = [(block, contents_of(block, prefix, sure)) for block in blocks_of(markdown.lines, prefix)]
    _correct_numbers(blocks)
    for block, contents in blocks:
        collection.add_block(block, contents)
    drafts = [draft.value() for draft in collection.drafts.values()]
    withdrawn = dict.fromkeys([*collection.withdrawn, *_taken_back(markdown, prefix)])
    kept = tuple(_without(requirement, withdrawn) for requirement in drafts)
    left = tuple(requirement for requirement in kept if requirement is not None)
    gone = _gone(drafts, left)
    if gone:
        collection.problems.append(warning(markdown.where, f"{', '.join(gone)} was taken back and is not expected"))
    lines = {draft.id: draft.line for draft in collection.drafts.values() if draft.line} | collection.lines
    return replace(collection.read(left, lines), withdrawn=gone, prefix=prefix)


def _correct_numbers(blocks: list[tuple[Block, Contents]]) -> None:
    """`Requirement 3` over criteria 04-REQ-4.x, and no heading for 4: the ids say which requirement it is."""
    headed = {block.tail for block, _ in blocks}
    for block, contents in blocks:
        parents = {item.tail.split(".")[0] for item in contents.items if "." in item.tail}
        if block.is_numbered_only and len(parents) == 1 and not parents & headed:
            block.tail = parents.pop()


def _numbers(items: list[Item]) -> Iterable[int]:
    """The numbers as written where they are a count of their own, else the items' places."""
    written = [item.number for item in items if item.number]
    return written if len(set(written)) == len(items) else range(1, len(items) + 1)


def _taken_back(markdown: Markdown, prefix: str) -> Iterator[str]:
    """Ids that an amendment table takes back: a row that names them, with a cell that says so."""
    for table in markdown.tables:
        for row in table.rows:
            if _is_taken_back(table, row):
                yield from (_with_prefix(match[0], prefix) for match in _ID.finditer(row.cell(_id_column(table))))


def _is_taken_back(table: Table, row: Row) -> bool:
    """Only where a table is about changes, and a cell says it plainly: `Removed the flag` is an amendment."""
    column = _id_column(table)
    columns = [n for n, name in enumerate(table.header) if any(word in name for word in _SAYS_SO) and n != column]
    if not columns and any(word in table.section for word in _AMENDS):
        columns = [n for n in range(len(row.cells)) if n != column]
    return column is not None and any(_TAKEN_BACK.match(row.cell(n)) for n in columns)


def _id_column(table: Table) -> int | None:
    return table.column_with("requirement", "criteri") if table.column("id") is None else table.column("id")


def _with_prefix(identifier: str, prefix: str) -> str:
    return f"{prefix}-{identifier}" if identifier.startswith("REQ") and prefix else identifier


def _without(requirement: Requirement, withdrawn: dict[str, None]) -> Requirement | None:
    """The requirement without what was taken back; None where nothing of it is left."""
    if requirement.id in withdrawn:
        return None
    criteria = tuple(part for part in requirement.criteria if part.id not in withdrawn)
    edges = tuple(part for part in requirement.edge_cases if part.id not in withdrawn)
    if not criteria and not edges and (requirement.criteria or requirement.edge_cases):
        return None
    return replace(requirement, criteria=criteria, edge_cases=edges)


def _gone(before: Iterable[Requirement], after: Iterable[Requirement]) -> tuple[str, ...]:
    left = {part.id for requirement in after for part in requirement.parts}
    return tuple(part.id for requirement in before for part in requirement.parts if part.id not in left)
