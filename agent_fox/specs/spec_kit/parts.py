"""spec.md cut at its headings and bold labels, each part with what the words over it say that it holds, in the
languages that people translate the templates to, and with the user story it stands in; and each part into items.

Structure decides wherever it can; the words help. What an item means is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count, groupby

from agent_fox.specs.lines import Chain, Heading, Line, is_rule, joined, with_headings
from agent_fox.specs.outline import tables_of, tree_of
from agent_fox.specs.spec_kit.identifiers import Declared, declared
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_STARTS = [_LIKE[f"starts_{step}"] for step in ("given", "when", "then", "and")]
_LEAST_CELLS = 2
_TITLE_MARKS = "-–—:：.)）] *_\t\u3000"


Kind = StrEnum("Kind", "ASIDE ENTITIES EDGES SUCCESS SCENARIOS REQUIREMENTS OTHER")
"""What a part of spec.md holds, told from its heading or label. The first that its words say counts."""
_KINDS = {"aside": Kind.ASIDE, "checklist": Kind.ASIDE} | {name: Kind(name) for name in [*Kind][1:-1]}


@dataclass(slots=True)
class Item:
    """A list item, a table's row or a paragraph, with the lines below it that belong to it: `mark` is its bullet or
    number, `|` for a row, nothing for a paragraph.

    A scenario that it makes has the `id` that is written before it, if one is; `steps` and `pieces` say what it is put
    together from.
    """

    line: int
    indent: int
    mark: str
    text: str
    id: str = ""
    steps: frozenset[int] = frozenset()
    pieces: int = 1

    @property
    def is_row(self) -> bool:
        return self.mark == "|"


@dataclass(slots=True)
class Story:
    """A user story while it is read; `number` as written, `1` or `1a`, nothing where it has none."""

    number: str
    title: str
    line: int
    parts: list[Part] = field(default_factory=list)


@dataclass(slots=True)
class Part:
    """What stands under one heading or label, before the next. `path` are the headings it stands under.

    In spec.md `titles` are its label and the headings above it, the nearest first, up to the story's; `heading` is the
    id that a heading above it declares, with its line.
    """

    path: Chain
    label: str
    line: int
    lines: list[Line] = field(default_factory=list)
    titles: tuple[str, ...] = ()
    kind: Kind = Kind.OTHER
    story: Story | None = None
    heading: tuple[int, Declared] | None = None

    @property
    def section(self) -> int:
        """The line of the chapter it stands in."""
        return next((number for number, heading in self.path if heading.level > 1), 0)

    @property
    def words(self) -> str:
        text = joined(self.lines)
        return f"{self.label}: {text}" if self.label else text


def step_at_start(text: str) -> int | None:
    """0, 1, 2 for a text that begins with Given, When, Then; 3 for And."""
    return next((n for n, words in enumerate(_STARTS) if words.match(text)), None)


def kind_of(title: str) -> Kind | None:
    """What a heading or label announces; None where its words say nothing."""
    return next((kind for name, kind in _KINDS.items() if _LIKE[name].match(title[:200])), None)


def parts_of(lines: Iterable[Line]) -> list[Part]:
    """A label is a bold line on its own, or bold words with a colon; an id is none, nor is a step such as Given."""
    parts = [Part((), "", 1)]
    for path, line in with_headings(lines):
        text = line.text.strip()
        may_be_label = text[:2] in ("**", "__") and not line.is_code and line.indent < 2
        label = _LIKE["parts_label"].match(text) if may_be_label else None
        if label and (declared(text, is_item=False) is not None or step_at_start(text) is not None):
            label = None
        if line.heading is not None:
            parts.append(Part(path, "", line.number))
        elif label is not None and (label["colon"] or label["after"] or not label["rest"]):
            parts.append(Part(path, label["label"].strip(), line.number))
            parts[-1].lines += [line._replace(text=label["rest"])] if label["rest"] else []
        else:
            parts[-1].lines.append(line)
    return parts


def placed(parts: list[Part]) -> Iterator[tuple[Story, str]]:
    """Gives every part its place, and the stories in the order of the file, each with the number that is its own: as
    written, or the next free one where that is taken or missing."""
    headings = [heading for part in parts for _, heading in part.path[-1:] if not part.label]
    is_numbered = any(_story(heading, True) for heading in headings)
    stories: dict[int, Story] = {}
    for part in parts:
        titles = [part.label] if part.label else []
        for line, heading in reversed(part.path):
            own = declared(heading.title, is_item=True)
            head = None if heading.level == 1 or (own and own.is_known) else _story(heading, is_numbered)
            if head is not None:
                part.story = stories.setdefault(line, Story(*head, line))
                part.story.parts.append(part)
                break
            if own is not None:
                part.heading = part.heading or (line, own)
            elif heading.level > 1:
                titles.append(heading.title)
        kinds = [kind for kind in map(kind_of, titles) if kind is not None]
        part.titles, part.kind = tuple(titles), Kind.ASIDE if Kind.ASIDE in kinds else [*kinds, Kind.OTHER][0]
    taken = {story.number for story in stories.values()}
    free = (str(number) for number in count(1) if str(number) not in taken)
    used: set[str] = set()
    for story in stories.values():
        number = story.number if story.number and story.number not in used else next(free)
        used.add(number)
        yield story, number


def _story(heading: Heading, is_numbered: bool) -> tuple[str, str] | None:
    """The number and the title of a story's heading. A heading with a number and a priority is one in any language;
    a number such as `8.1` counts within something else."""
    title = heading.title
    match = _LIKE["numbered_story"].match(title)
    if match is None and _LIKE["priority"].search(title[:300]) and not _LIKE["phase"].match(title):
        match = _LIKE["any_numbered"].match(title)
    dotted = _LIKE["dotted"].match(match["rest"]) if match is not None else None
    number = match["number"].lstrip("0") if match is not None and not dotted else ""
    match = match or (None if is_numbered else _LIKE["named_story"].match(title))
    if match is None:
        return None
    rest = match["rest"][dotted.end() if dotted else 0 :]
    return number, _LIKE["priority_at_end"].sub("", rest).strip(_TITLE_MARKS).strip()


_Lines = list[tuple[Item, list[Line]]]


def items_of(lines: Iterable[Line], splits: Callable[[str], bool] = lambda text: False) -> list[Item]:
    """The items of a part, in the order of the file. `splits`: a text that begins an item of its own, however deep."""
    gathered: _Lines = []
    for is_row, group in groupby(lines, lambda line: not line.is_code and line.text.lstrip().startswith("|")):
        here, last = list(group), gathered[-1] if gathered else None
        if not is_row:
            gathered += _listed(here, splits)
        elif last is not None and last[0].mark and not last[0].is_row and here[0].indent > last[0].indent + 1:
            last[1].extend(here)  # a table that stands inside an item belongs to what that says
        else:
            for table, row in ((each, row) for each in tables_of(tree_of(here)) for row in each.rows):
                pairs = zip((*table.header, *("" for _ in row.cells)), row.cells, strict=False)
                cells = [cell for name, cell in pairs if cell and not _LIKE["about_the_work"].search(name)]
                gathered += [(Item(row.line, 0, "|", " — ".join(cells)), [])] if len(cells) >= _LEAST_CELLS else []
    for item, below in gathered:
        item.text = joined((Line(item.line, item.text, 0), *below))
    return [item for item, _ in gathered]


def _listed(lines: Iterable[Line], splits: Callable[[str], bool]) -> _Lines:
    """List items and paragraphs. What is indented below an item, or goes on with it, belongs to it."""
    gathered: _Lines = []
    current: Item | None = None
    gap = False
    for line in lines:
        text = line.text.strip()
        if not text or (is_rule(text) and not line.is_code):
            gap, current = True, None if text else current
            continue
        bullet = None if line.is_code else _LIKE["bullet"].match(text)
        rest = bullet["rest"] if bullet else text
        is_deeper = current is not None and bool(current.mark) and line.indent > current.indent + 1
        is_inside = current is not None and (not gap or (bool(current.mark) and line.indent > current.indent))
        begins = not line.is_code and (splits(rest) or (bullet is not None and not is_deeper))
        if current is not None and not begins and (is_inside or line.is_code):
            gathered[-1][1].append(line)
        elif not line.is_code:
            mark = (bullet["mark"] or bullet["number"]) if bullet else "-"
            current = Item(line.number, line.indent, mark if begins else "", rest if begins else text)
            gathered.append((current, []))
        gap = False
    return gathered
