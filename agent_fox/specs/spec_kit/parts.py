"""spec.md cut at its headings and bold labels, each part with what the words over it say that it holds, in the
languages that people translate the templates to; and each part into items. What an item means is not decided here.

Structure decides wherever it can; the words help.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby

from agent_fox.specs.lines import Chain, Line, is_rule, joined, with_headings
from agent_fox.specs.outline import tables_of, tree_of
from agent_fox.specs.spec_kit.identifiers import Declared, declared
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_STARTS = [_LIKE[f"starts_{step}"] for step in ("given", "when", "then", "and")]
_HOLDS = [_LIKE[f"holds_{step}"] for step in ("given", "when", "then")]
AND = 3
_LONGEST_TITLE = 120
_LEAST_CELLS = 2


class Kind(StrEnum):
    """What a part of spec.md holds, told from its heading or label. The first that its words say counts."""

    ASIDE = "aside"
    ENTITIES = "entities"
    EDGES = "edges"
    SUCCESS = "success"
    SCENARIOS = "scenarios"
    REQUIREMENTS = "requirements"
    OTHER = "other"


_KINDS = {"aside": Kind.ASIDE, "checklist": Kind.ASIDE} | {name: Kind(name) for name in [*Kind][1:-1]}


@dataclass(slots=True)
class Item:
    """A list item, a table's row or a paragraph, with the lines below it that belong to it."""

    line: int
    indent: int
    mark: str
    text_of_first: str
    lines: list[Line] = field(default_factory=list)

    @property
    def is_listed(self) -> bool:
        return self.mark != ""

    @property
    def is_row(self) -> bool:
        return self.mark == "|"

    @property
    def text(self) -> str:
        first = Line(self.line, self.text_of_first, 0)
        return joined([first, *self.lines]) if self.lines else self.text_of_first.strip()


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


def step_at_start(text: str) -> int | None:
    """0, 1, 2 for a text that begins with Given, When, Then; 3 for And."""
    return next((n for n, words in enumerate(_STARTS) if words.match(text)), None)


def steps_in(text: str) -> frozenset[int]:
    """Which of Given, When, Then a text holds."""
    return frozenset(n for n, words in enumerate(_HOLDS) if words.search(text))


def kind_of(title: str) -> Kind | None:
    """What a heading or label announces; None where its words say nothing."""
    return next((kind for name, kind in _KINDS.items() if _LIKE[name].match(title[:200])), None)


def titled(text: str) -> str:
    """The first line of a text, as a title."""
    first = text.split("\n", 1)[0].strip()
    return first if len(first) <= _LONGEST_TITLE else first[: _LONGEST_TITLE - 1].rstrip() + "…"


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


def items_of(lines: Iterable[Line], splits: Callable[[str], bool] = lambda text: False) -> list[Item]:
    """The items of a part, in the order of the file. `splits`: a text that begins an item of its own, however deep."""
    items: list[Item] = []
    for is_row, group in groupby(lines, lambda line: not line.is_code and line.text.lstrip().startswith("|")):
        here, last = list(group), items[-1] if items else None
        if not is_row:
            items += _listed(here, splits)
        elif last is not None and last.is_listed and not last.is_row and here[0].indent > last.indent + 1:
            last.lines += here  # a table that stands inside an item belongs to what that says
        else:
            for table, row in ((each, row) for each in tables_of(tree_of(here)) for row in each.rows):
                pairs = zip((*table.header, *("" for _ in row.cells)), row.cells, strict=False)
                cells = [cell for name, cell in pairs if cell and not _LIKE["about_the_work"].search(name)]
                items += [Item(row.line, 0, "|", " — ".join(cells))] if len(cells) >= _LEAST_CELLS else []
    return items


def _listed(lines: Iterable[Line], splits: Callable[[str], bool]) -> list[Item]:
    """List items and paragraphs. What is indented below an item, or goes on with it, belongs to it."""
    items: list[Item] = []
    current: Item | None = None
    gap = False
    for line in lines:
        text = line.text.strip()
        if not text or (is_rule(text) and not line.is_code):
            gap, current = True, None if text else current
            continue
        bullet = None if line.is_code else _LIKE["bullet"].match(text)
        rest = bullet["rest"] if bullet else text
        is_deeper = current is not None and current.is_listed and line.indent > current.indent + 1
        is_inside = current is not None and (not gap or (current.is_listed and line.indent > current.indent))
        begins = not line.is_code and (splits(rest) or (bullet is not None and not is_deeper))
        if current is not None and not begins and (is_inside or line.is_code):
            current.lines.append(line)
        elif not line.is_code:
            mark = (bullet["mark"] or bullet["number"]) if bullet else "-"
            current = Item(line.number, line.indent, mark if begins else "", rest if begins else text)
            items.append(current)
        gap = False
    return items
