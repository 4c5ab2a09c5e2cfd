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
    """A requirement's heading with the lines below it; `head` is None for what stands under other headings.

    `section` is the title of the heading above: of the grouping for a requirement, its own for other text; `path` are
    the titles of all headings above. What lies under *out of scope* is no block.

    `text` and `items` are what its lines say; in `passed_over` lines stand numbered sentences that read like criteria
    below what is only a note.
    """

    head: Numbered | None
    line: int
    level: int
    section: str = ""
    path: str = ""
    lines: list[Line] = field(default_factory=list)
    text: str = ""
    items: list[Item] = field(default_factory=list)
    passed_over: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Title:
    """A heading that may be a requirement's."""

    place: int
    level: int
    head: Numbered | None
    title: str
    is_out: bool
    above: _Title | None
    holds_items: bool = False

    @property
    def path(self) -> str:
        return f"{self.above.path} / {self.title}" if self.above is not None else self.title


def blocks_of(lines: Sequence[Line]) -> tuple[list[Block], list[tuple[int, str]]]:
    """Cut the lines at every requirement, and where a heading of its rank or a higher one ends it. And lines and titles
    of the requirements that stand below what is out of scope."""
    titles = {title.place: title for title in _titles(lines)}
    chosen = _requirements([*titles.values()])
    blocks = [Block(None, 0, 0)]
    section = ""
    for place, line in enumerate(lines):
        heading = heading_of(line) if line.heading or place in chosen else None
        current = blocks[-1]
        # `Requirement 1.2` below `Requirement 1` is a criterion of it, and so is `AC-3`
        own = (f"{current.head.number}.", "AC-", "EC-") if current.head is not None else ()
        if place in chosen and not chosen[place].number.startswith(own):
            level = heading.level if heading else _BOLD_LEVEL
            blocks.append(Block(chosen[place], line.number, level, section, titles[place].path))
        elif heading is None or place in chosen or (not titles[place].is_out and _is_part(heading, current)):
            current.lines.append(line)
        else:
            section = heading.title
            blocks.append(Block(None, line.number, heading.level, section, titles[place].path))
    asides = (_LIKE["out"].search, _LIKE["aside"].match)
    kept = [b for b in blocks if b.head or not (b.section and any(says(b.section) for says in asides))]
    out = [title for title in titles.values() if title.is_out and title.head is not None and title.head.kind in _NAMED]
    return kept, [(lines[title.place].number, plain(title.title)) for title in out]


def heading_of(line: Line) -> Heading | None:
    """A heading, or a line in bold that stands for one."""
    if line.heading is not None:
        return line.heading
    match = _LIKE["bold"].match(line.text) if "*" in line.text or "_" in line.text else None
    return Heading(_BOLD_LEVEL, match["title"].strip()) if match and not line.is_code else None


def _titles(lines: Sequence[Line]) -> list[_Title]:
    """All headings, each with the one above it. What holds items below makes all above hold them. Bold lines are labels
    most often: only those that name a requirement count as headings."""
    titles: list[_Title] = []
    for place, line in enumerate(lines):
        heading = heading_of(line)
        head = numbered(heading.title) if heading is not None else None
        if heading is not None and (line.heading is not None or (head is not None and head.kind in _NAMED)):
            above = titles[-1] if titles else None
            while above is not None and above.level >= heading.level:
                above = above.above
            is_of_file = above is None and heading.level == 1
            is_out = head is None and not is_of_file and _LIKE["out"].search(heading.title) is not None
            is_out = is_out or (above is not None and above.is_out)
            titles.append(_Title(place, heading.level, head, heading.title, is_out, above))
        elif titles and not titles[-1].holds_items and not line.is_code:
            titles[-1].holds_items = line.indent < 4 and mark_of(line.text.strip()) is not None
    for title in reversed(titles):
        if title.holds_items and title.above is not None:
            title.above.holds_items = True
    return titles


def _requirements(titles: list[_Title]) -> dict[int, Numbered]:
    """The requirements' headings, by place: by word or id, else by number, else those above criteria, counted."""
    inside = [title for title in titles if not title.is_out]
    for kinds in (_NAMED, (Kind.STORY,)):
        requirements = {title.place: title.head for title in inside if title.head and title.head.kind in kinds}
        if requirements:
            return requirements
    above = [title.above for title in inside if _LIKE["criteria"].search(title.title)]
    by_place = {title.place: title for title in above if title is not None and title.level > 1}
    return _weakly_numbered(inside) or {
        place: Numbered(Kind.OTHER, str(n), plain(title.title)) for n, (place, title) in enumerate(by_place.items(), 1)
    }


def _weakly_numbered(titles: list[_Title]) -> dict[int, Numbered]:
    """Headings `1. T` (or `Word 1: T`) that hold items, the deepest of a branch: `2.1` and not its section `2`."""
    weakly: dict[int, Numbered] = {}
    branches: set[int] = set()
    for title in reversed(titles):
        head, is_branch = title.head, title.place in branches
        is_leaf = head is not None and head.kind in (Kind.OTHER, Kind.BARE) and title.holds_items and not is_branch
        if head is not None and is_leaf:
            words = (head.title or title.title).strip()
            is_leaf = not (_LIKE["not_requirements"].match(words) or _LIKE["criteria"].search(words))
            weakly |= {title.place: head} if is_leaf else {}
        if title.above is not None and (is_leaf or is_branch):
            branches.add(title.above.place)
    words_before = {head.word for head in weakly.values() if head.word}
    return weakly if len(words_before) <= 1 else {place: head for place, head in weakly.items() if not head.word}


def _is_part(heading: Heading, current: Block) -> bool:
    """Deeper headings are parts of a requirement; so are labels such as *Acceptance Criteria* of its own rank."""
    if current.head is None or heading.level != current.level:
        return current.head is not None and heading.level > current.level
    title = heading.title
    is_label = _LIKE["criteria"].search(title) or _LIKE["edge"].search(title) or _LIKE["story"].match(title)
    return bool(is_label) and not (_LIKE["requirement"].search(title) or _LIKE["not_requirements"].search(title))
