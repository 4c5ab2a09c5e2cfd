"""requirements.md as requirements with the ids that are to be proven, in every spelling that is in use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, count, islice

from agent_fox.core.spec import BareCriteria, Requirement
from agent_fox.specs.agent_fox.requirement_items import Block, Item, read_blocks
from agent_fox.specs.collected import Declarations, ReadRequirements, RequirementDraft
from agent_fox.specs.document import Markdown
from agent_fox.specs.files import warning
from agent_fox.specs.lines import joined
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_AMENDS = ("amend", "supersed", "withdraw", "deprecat", "errat", "revis", "retire", "change")
_SAYS_SO = ("status", "action", "change", "amendment", "disposition", "state", "now", "result")


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
        parents = [
            self._parent(tail) if "." in tail else self._requirement(tail, "", 0, "") for tail in islice(tails, 1, None)
        ]
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
    prefix, blocks = read_blocks(markdown.lines, number)
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
