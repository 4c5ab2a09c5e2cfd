"""The criteria and edge cases of one requirement's block: which lines or rows of tables begin one, and which number
each has.

Sections come first (a label says what the list below it is), then the items of each. Ids are not made here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from agent_fox.specs.kiro.blocks import Block, Item
from agent_fox.specs.kiro.ids import LETTERS, Kind, Mark, mark_of, numbered
from agent_fox.specs.lines import Line, is_rule, joined, plain
from agent_fox.specs.outline import Table, tables_of, tree_of
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_LABEL_LEVEL = 7
"""The rank of a label that is no heading."""
_SORTS = ("edge", "criteria", "story")
"""What a section's list is, by the table of words; what stands before any label, or under a strange one, is unknown."""
_EDGE, _CRITERIA, _STORY = _SORTS
_ASIDE, _UNKNOWN = "aside", ""


@dataclass(slots=True)
class _Section:
    """`wraps` counts numbers that may be prose: they begin an indented line right below other text."""

    sort: str
    level: int
    lines: list[Line] = field(default_factory=list)
    marks: dict[int, Mark] = field(default_factory=dict)
    wraps: int = 0

    def add(self, line: Line) -> None:
        is_below_text = bool(self.lines) and not self.lines[-1].is_blank
        self.lines.append(line)
        mark = _mark(line)
        if mark is not None:
            self.marks[line.number] = mark
            is_bare = bool(mark.dotted) and not mark.is_bullet and line.heading is None
            self.wraps += is_bare and is_below_text and line.indent > 0

    @property
    def begins(self) -> str:
        """What begins its items: `number`, `bullet`, or nothing."""
        marks = self.marks.values()
        numbers = sum(mark.is_numbered for mark in marks)
        if numbers and (numbers > self.wraps or len(marks) < 2 * numbers):
            return "number"
        return "bullet" if any(not _LIKE["field"].match(mark.text) for mark in marks) else ""


def read_items(block: Block) -> None:
    """A block's prose and items, numbered. Where no list of a requirement has criteria, rows of its tables are them."""
    _read_lists(block, block.lines)
    if block.items or block.head is None:
        return
    own = f"{block.head.number.lstrip('ABCDEFGHIJKLMNOPQRSTUVWXYZ-0')}."
    # a column says so, or the rows have the requirement's own numbers: `2.1` below `R2`
    marked = ((table, _marks(table)) for table in _tables(block))
    tables = [t for t, marks in marked if marks and (_column(t) or all(m.dotted.startswith(own) for m, _ in marks))]
    if tables:
        taken = {line for table in tables for line in range(table.rows[0].line - 2, table.rows[-1].line + 1)}
        _read_lists(block, [line for line in block.lines if line.number not in taken])
        block.items = _rows(block, tables)


def rows_with_ids(block: Block) -> list[Item]:
    """Rows that are requirements by themselves: they have ids, and the heading or the column says what they are."""
    is_of_requirements = _LIKE["requirement"].search(block.section) or _LIKE["criteria"].search(block.section)
    tables = [table for table in _tables(block) if is_of_requirements or _column(table)]
    return [item for item in _rows(block, tables) if item.mark.id]


def _read_lists(block: Block, lines: list[Line]) -> None:
    sections = [_Section(_UNKNOWN, 0)]
    for line in lines:
        label = _label(line, sections[-1])
        if label is None:
            sections[-1].add(line)
        else:
            sections.append(label)
    block.items, block.passed_over = [], []
    intro: list[Line] = []
    for place, (section, begins) in enumerate(_with_items(sections)):
        items, before = _items(section, begins)
        for item in items:
            item.section = place
        intro += before if not block.items else []
        block.items += items
        if section.sort == _ASIDE:
            numbered_marks = ((line, mark) for line, mark in section.marks.items() if mark.is_numbered)
            block.passed_over += [line for line, mark in numbered_marks if _LIKE["demands"].search(mark.text)]
    block.text = joined(line for line in intro if not is_rule(line.text.strip()))
    _number(block.items)


def _label(line: Line, current: _Section) -> _Section | None:
    """A heading, a bold line, or a known word with a colon begins a section. A strange title below goes on with it."""
    if line.heading is not None:
        head = numbered(line.heading.title)
        level, title = line.heading
        if head is not None and head.kind in (Kind.CRITERION, Kind.WORD, Kind.ID):
            return None
    else:
        may_be = not line.is_code and (":" in line.text or "：" in line.text or "*" in line.text)
        match = _LIKE["label"].match(line.text) if may_be else None
        if match is None:
            return None
        title, level = plain((match["bold"] or match["plain"]).rstrip(":： ")), max(current.level, _LABEL_LEVEL)
        if mark_of(title) is not None or (match["bold"] is None and _sort(title) == _UNKNOWN):
            return None
    sort = _sort(title)
    goes_on = sort == _UNKNOWN and current.sort not in (_UNKNOWN, _STORY)
    if goes_on and (level > current.level or (level == _LABEL_LEVEL and current.level >= _LABEL_LEVEL)):
        return _Section(current.sort, current.level)
    return _Section(sort, level)


def _sort(title: str) -> str:
    otherwise = _ASIDE if _LIKE["aside"].match(title) else _UNKNOWN
    return next((sort for sort in _SORTS if _LIKE[sort].search(title)), otherwise)


def _with_items(sections: list[_Section]) -> Iterator[tuple[_Section, str]]:
    """Each section with what begins its items. Without a label they are criteria where all of it says so."""
    has_label = any(section.sort == _CRITERIA and section.begins for section in sections)
    has_numbers = any(section.begins == "number" for section in sections if section.sort != _ASIDE)
    for section in sections:
        begins = "" if section.sort in (_ASIDE, _STORY) else section.begins
        if section.sort == _UNKNOWN and has_label:
            numbers = [mark for mark in section.marks.values() if mark.is_numbered]
            is_ears = bool(numbers) and all(_LIKE["ears"].search(mark.text) for mark in numbers[:20])
            begins = begins if begins == "number" and is_ears else ""
        elif section.sort == _UNKNOWN and begins == "bullet" and has_numbers:
            begins = ""
        yield section, begins


def _mark(line: Line) -> Mark | None:
    """How a line begins an item; a heading `Criterion 2: T` does too."""
    if line.heading is None:
        return None if line.is_code else mark_of(line.text.strip())
    head = numbered(line.heading.title)
    if head is None:
        return None
    text = head.title or line.heading.title
    if head.kind is Kind.CRITERION and head.number.isdigit():
        return Mark(text, ordinal=int(head.number))
    return Mark(text, id=head.number) if head.kind is Kind.ID else Mark(text, dotted=head.number)


def _items(section: _Section, begins: str) -> tuple[list[Item], list[Line]]:
    """A section's items with the lines below them, and the lines before the first one. A rule ends an item, and so does
    a field of the requirement, such as `**Priority:** high`."""
    items: list[Item] = []
    before: list[Line] = []
    base: int | None = None
    is_open, after_gap = True, True
    for line in section.lines:
        mark, text = section.marks.get(line.number) if begins else None, line.text.strip()
        is_outside = after_gap and base is not None and line.indent <= base
        is_item = mark is not None and (base is None or line.indent <= base + 1) and _is_item(mark, items, begins)
        if mark is not None and is_item and (after_gap or _goes_on(mark, line, items)):
            base = line.indent if base is None else min(base, line.indent)
            items.append(Item(mark, line.number, section.sort == _EDGE, lines=[line._replace(text=mark.text)]))
            is_open = True
        elif not line.is_code and (is_rule(text) or (is_outside and _LIKE["field"].match(text))):
            is_open = False
        elif not items:
            before.append(line)
        elif is_open:
            items[-1].lines.append(line)
        after_gap = line.is_blank
    return items, before


def _is_item(mark: Mark, items: list[Item], begins: str) -> bool:
    """Bullets *Given*, *When* and *Then* of one scenario are one item; *When* begins one unless after *Given* alone."""
    if begins == "number":
        return mark.is_numbered
    if not mark.is_bullet or _LIKE["field"].match(mark.text):
        return False
    step = _LIKE["step"].match(mark.text) if items else None
    scenario = _LIKE["step"].match(items[-1].mark.text) if step else None
    if step is None or scenario is None or step[1].lower() == "given":
        return True
    is_after_given = scenario[1].lower() == "given" and not any(_LIKE["when"].search(x.text) for x in items[-1].lines)
    return step[1].lower() == "when" and not is_after_given


def _goes_on(mark: Mark, line: Line, items: list[Item]) -> bool:
    """A bare number right below other text is an item only if it is the next one: `1.5 seconds` may be prose."""
    if not mark.dotted or mark.is_bullet or line.heading is not None or not items:
        return True
    before, _, last = items[-1].mark.dotted.rpartition(".")
    digits, number = last.rstrip(LETTERS), mark.dotted.rstrip(LETTERS)
    is_next = digits.isdigit() and number == f"{before}.{int(digits) + 1}"
    return is_next or (digits.isdigit() and number == f"{before}.{digits}" and number != mark.dotted)


def _number(items: list[Item]) -> None:
    """Numbers for the items that have no id: as written where they are a count, else counted on. Of lists that begin at
    1 each is one of its own; one in which every item has a 1 is one list. A list of edge cases whose numbers go on from
    the criteria's is a part of that list."""
    for is_edge in (False, True):
        runs: list[list[Item]] = []
        for item in items:
            if item.is_edge == is_edge and not (item.mark.id or item.mark.dotted):
                last = runs[-1][-1] if runs else None
                is_first = item.mark.ordinal == 1 and last and (last.mark.ordinal != 1 or last.section != item.section)
                runs += [[]] if last is None or is_first else []
                runs[-1].append(item)
        highest = 0
        for run in runs:
            ordinals = {(item.mark.ordinal, item.mark.letter) for item in run}
            is_counted = any(ordinal is None for ordinal, _ in ordinals) or (len(run) > 1 and ordinals == {(1, "")})
            offset = highest if is_counted or run[0].mark.ordinal == 1 else 0
            first: dict[tuple[int, str], Item] = {}
            for place, item in enumerate(run, 1):
                item.number = offset + (place if is_counted else item.mark.ordinal or place)
                item.restarts = item is run[0] and offset > 0 and item.mark.ordinal is not None
                same = first.setdefault((item.number, item.mark.letter), item)
                item.doubles = same if same is not item else None
            highest = max([highest, *(number for number, _ in first)])
    edges = [item for item in items if item.is_edge and item.mark.ordinal is not None]
    criteria = [item.number for item in items if not item.is_edge]
    if edges and criteria and edges[0].number == max(criteria) + 1 and edges[0].number > 1:
        for item in edges:
            item.is_edge = False


def _tables(block: Block) -> list[Table]:
    has_any = any("|" in line.text for line in block.lines)
    return [table for table in tables_of(tree_of(block.lines)) if table.rows] if has_any else []


def _rows(block: Block, tables: Iterable[Table]) -> list[Item]:
    lines = {line.number: line for line in block.lines}
    marks = [pair for table in tables for pair in _marks(table)]
    return [
        Item(mark, number, is_edge=False, number=mark.ordinal or place, lines=[lines[number]._replace(text=mark.text)])
        for place, (mark, number) in enumerate(marks, 1)
    ]


def _marks(table: Table) -> list[tuple[Mark, int]]:
    """A mark for each row, with its line; none where a row has no number."""
    column = _column(table)
    marks: list[tuple[Mark, int]] = []
    for row in table.rows:
        begin, text = plain(row.cell(0)).rstrip(".:"), row.cell(column or 1)
        is_place = begin.isascii() and begin.isdigit() and len(begin) < 4
        mark = Mark(text, ordinal=int(begin)) if is_place else mark_of(f"{begin}: {text}")
        if mark is None or not text or not (mark.id or mark.dotted or mark.ordinal):
            return []
        marks.append((mark, row.line))
    return marks


def _column(table: Table) -> int | None:
    """The column whose header says that it holds criteria or requirements; the first one holds numbers."""
    says = (_LIKE["criteria"], _LIKE["requirement"])
    return next((n for n, name in enumerate(table.header) if n and any(words.search(name) for words in says)), None)
