"""A requirements document cut into blocks: which headings are requirements, and what stands below each.

Told by the structure: by what most headings with a number are, whatever their language. Items are not read here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_fox.specs.kiro.ids import Kind, Mark, Numbered, mark_of, numbered
from agent_fox.specs.lines import Heading, Line, joined, plain
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_BOLD_LEVEL = 9
_NAMED = (Kind.WORD, Kind.ID)


@dataclass(slots=True)
class Item:
    """One criterion or edge case as written. `restarts`: its list begins at 1 again, after others of the block;
    `doubles`: the first item with its number."""

    mark: Mark
    line: int
    is_edge: bool
    number: int = 0
    restarts: bool = False
    doubles: Item | None = None
    section: int = 0
    lines: list[Line] = field(default_factory=list)

    @property
    def text(self) -> str:
        return joined(self.lines)


@dataclass(slots=True)
class Block:
    """A heading with the lines below it; `head` is None for what stands under another than a requirement's.

    `section` is the title of the heading above: of the grouping for a requirement, its own for other text; `above` is
    the block of the heading of a higher rank. What lies under *out of scope* `is_out`, and no block in the end.

    `text` and `items` are what its lines say; in `passed_over` lines stand numbered sentences that read like criteria
    below what is only a note.
    """

    head: Numbered | None
    line: int
    level: int
    own: Line | None = None
    title: str = ""
    above: Block | None = None
    is_out: bool = False
    holds_items: bool = False
    section: str = ""
    lines: list[Line] = field(default_factory=list)
    text: str = ""
    items: list[Item] = field(default_factory=list)
    passed_over: list[int] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The titles of all headings above, and its own."""
        return f"{self.above.path} / {self.title}" if self.above is not None else self.title


def blocks_of(lines: Sequence[Line]) -> tuple[list[Block], list[tuple[int, str]]]:
    """Cut the lines at every requirement, and where a heading of its rank or a higher one ends it. And lines and titles
    of the requirements that stand below what is out of scope."""
    first, *every = _headed(lines)
    named = (each for each in every if each.is_out and each.head is not None and each.head.kind in _NAMED)
    out = [(each.line, plain(each.title)) for each in named]
    chosen = _requirements(every)
    kept = [first]
    section = ""
    for block in every:
        current, block.head = kept[-1], chosen.get(block.line)
        # `Requirement 1.2` below `Requirement 1` is a criterion of it, and so is `AC-3`
        inside = (f"{current.head.number}.", "AC-", "EC-") if current.head is not None else ()
        is_heading = block.own is not None and block.own.heading is not None
        if block.head is not None and not block.head.number.startswith(inside):
            block.section = section
            kept.append(block)
        elif block.head or not is_heading or (not block.is_out and _is_part(block, current)):
            current.lines += [*filter(None, (block.own,)), *block.lines]
        else:
            block.section = section = block.title
            kept.append(block)
    asides = (_LIKE["out"].search, _LIKE["aside"].match)
    return [b for b in kept if b.head or not (b.section and any(says(b.section) for says in asides))], out


def heading_of(line: Line) -> Heading | None:
    """A heading, or a line in bold that stands for one."""
    if line.heading is not None:
        return line.heading
    match = _LIKE["bold"].match(line.text) if "*" in line.text or "_" in line.text else None
    return Heading(_BOLD_LEVEL, match["title"].strip()) if match and not line.is_code else None


def _headed(lines: Sequence[Line]) -> list[Block]:
    """A block for each heading, and for what stands before them. What holds items below makes all above hold them. Bold
    lines are labels most often: only those that name a requirement count as headings."""
    blocks = [Block(None, 0, 0)]
    for line in lines:
        heading = heading_of(line)
        head = numbered(heading.title) if heading is not None else None
        if heading is not None and (line.heading is not None or (head is not None and head.kind in _NAMED)):
            above: Block | None = blocks[-1]
            while above is not None and above.level >= heading.level:
                above = above.above
            above = above if above is not None and above.level else None
            is_of_file = above is None and heading.level == 1
            is_out = head is None and not is_of_file and _LIKE["out"].search(heading.title) is not None
            is_out = is_out or (above is not None and above.is_out)
            blocks.append(Block(head, line.number, heading.level, line, heading.title, above, is_out))
            continue
        blocks[-1].lines.append(line)
        if not (line.is_code or blocks[-1].holds_items):
            blocks[-1].holds_items = line.indent < 4 and mark_of(line.text.strip()) is not None
    for block in reversed(blocks):
        if block.holds_items and block.above is not None:
            block.above.holds_items = True
    return blocks


def _requirements(blocks: list[Block]) -> dict[int, Numbered]:
    """The requirements' headings, by line: by word or id, else by number, else those above criteria, counted."""
    inside = [block for block in blocks if not block.is_out]
    for kinds in (_NAMED, (Kind.STORY,)):
        requirements = {block.line: block.head for block in inside if block.head and block.head.kind in kinds}
        if requirements:
            return requirements
    above = [block.above for block in inside if _LIKE["criteria"].search(block.title)]
    by_line = {block.line: block for block in above if block is not None and block.level > 1}
    return _weakly_numbered(inside) or {
        line: Numbered(Kind.OTHER, str(n), plain(block.title)) for n, (line, block) in enumerate(by_line.items(), 1)
    }


def _weakly_numbered(blocks: list[Block]) -> dict[int, Numbered]:
    """Headings `1. T` (or `Word 1: T`) that hold items, the deepest of a branch: `2.1` and not its section `2`."""
    weakly: dict[int, Numbered] = {}
    branches: set[int] = set()
    for block in reversed(blocks):
        head, is_branch = block.head, block.line in branches
        is_leaf = head is not None and head.kind in (Kind.OTHER, Kind.BARE) and block.holds_items and not is_branch
        if head is not None and is_leaf:
            words = (head.title or block.title).strip()
            is_leaf = not (_LIKE["not_requirements"].match(words) or _LIKE["criteria"].search(words))
            weakly |= {block.line: head} if is_leaf else {}
        if block.above is not None and (is_leaf or is_branch):
            branches.add(block.above.line)
    words_before = {head.word for head in weakly.values() if head.word}
    return weakly if len(words_before) <= 1 else {line: head for line, head in weakly.items() if not head.word}


def _is_part(heading: Block, current: Block) -> bool:
    """Deeper headings are parts of a requirement; so are labels such as *Acceptance Criteria* of its own rank."""
    if current.head is None or heading.level != current.level:
        return current.head is not None and heading.level > current.level
    title = heading.title
    is_label = _LIKE["criteria"].search(title) or _LIKE["edge"].search(title) or _LIKE["story"].match(title)
    return bool(is_label) and not (_LIKE["requirement"].search(title) or _LIKE["not_requirements"].search(title))
