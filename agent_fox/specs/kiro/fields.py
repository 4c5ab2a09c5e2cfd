"""The fields below a task: the requirements it names, the tasks it waits for, the properties it tests; and design.md's
correctness properties: which requirements each one validates, and which tasks write its test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from agent_fox.core.spec import Problem, Trace
from agent_fox.core.values import dataclass
from agent_fox.specs.common.task_lists import Bullet
from agent_fox.specs.files import warning
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.kiro.references import References

_LIKE = patterns_in(__file__)
_DASHES = str.maketrans({"–": "-", "—": "-", "～": "-", "〜": "-", "~": "-", "、": ",", "，": ","})
_MOST = 200


class Sort(Enum):
    """What a field is about. OTHER fields (`_Boundary: ..._`) stand in the text alone."""

    REQUIREMENTS = auto()
    WAITS = auto()
    PROPERTY = auto()
    OTHER = auto()


class Field(NamedTuple):
    """A field as written, with the line that it stands on."""

    sort: Sort
    key: str
    value: str
    line: int


@dataclass(frozen=True)
class TaskOrder:
    """The numbers of a file's tasks, in its order."""

    numbers: list[str]

    @cached_property
    def places(self) -> dict[str, int]:
        return {number: place for place, number in enumerate(self.numbers) if number}

    def named_in(self, value: str) -> tuple[str, ...]:
        """The numbers of the tasks that a field names, ranges filled in with tasks of their ends' rank."""
        numbers: dict[str, None] = {}
        for match in islice(_LIKE["task_number"].finditer(value.translate(_DASHES)), _MOST):
            first, last = match[1], match[2]
            inside = [first, last] if last else [first]
            if last and first in self.places and last in self.places:
                begin = self.places[first]
                inside = self.numbers[begin : min(self.places[last], begin + _MOST) + 1]
                inside = [number for number in inside if number.count(".") == first.count(".")]
            numbers.update(dict.fromkeys(inside))
        return tuple(numbers)


def fields_of(bullet: Bullet, references: References) -> Iterator[Field]:
    """The fields in a bullet: `_Requirements: 1.1_`, `**Validates: Requirements 1.4**`, `Depends: 2.1`."""
    text = bullet.text
    if not (":" in text or "：" in text):
        return
    marked = [*_LIKE["marked"].finditer(text)]
    for match in marked or filter(None, (_LIKE["plain"].match(text), _LIKE["in_brackets"].search(text))):
        key, value = match["key"].strip(), match["value"]
        # without the brackets that close around the whole field; those of an aside in it stay
        is_inside = sum(map(value.count, "(（")) < sum(map(value.count, ")）"))
        value = value.rstrip(" )）]").strip() if is_inside else value.strip(" ]")
        sort = _sort(key, value, references, is_marked=bool(marked))
        if sort is Sort.REQUIREMENTS:  # without another field that follows: `1.2, 1.3 / steering: 7`
            others = (n for n in _LIKE["next_field"].finditer(value) if not _LIKE["requirement"].search(n["key"]))
            value = value[: next((other.start() for other in others), None)]
        if sort is not None:
            line = next((line.number for line in bullet.lines if key in line.text), bullet.lines[0].number)
            yield Field(sort, key, value, line)


def is_field(bullet: Bullet, fields: Iterable[Field]) -> bool:
    """Whether a bullet is nothing but one of the fields."""
    text = bullet.text.lstrip("_*([（ ")
    keys = (field.key for field in fields if text.startswith(field.key))
    return any(text[len(key) :].lstrip("_* ").startswith((":", "：")) for key in keys)


def without_fields(title: str) -> str:
    """A title without the fields that follow it on its line, and without marks for bold type, but for those in code."""
    match = _LIKE["marked"].search(title)
    parts = (title[: match.start()] if match and match.start() > 0 else title).split("`")
    head = "`".join(part if place % 2 else _LIKE["fields_bold"].sub("", part) for place, part in enumerate(parts))
    bracket = _LIKE["in_brackets"].search(head)
    if bracket is not None and _sort_of(bracket["key"]) in (Sort.REQUIREMENTS, Sort.WAITS):
        head = head[: bracket.start()]
    return head.strip().strip("*_ ").strip()


def properties_of(bullets: Iterable[Bullet]) -> tuple[str, ...]:
    """The numbers of the properties that a task is about: `**Property 3: ...**`, or in its title."""
    numbers: dict[str, None] = {}
    for bullet in bullets:
        text = bullet.text[:4000]
        if not text.isascii() or "rop" in text or "igenschaft" in text or "PROP" in text:
            numbers.update(dict.fromkeys(match["number"] for match in _LIKE["property"].finditer(text)))
    return tuple(numbers)


def _sort(key: str, value: str, references: References, *, is_marked: bool) -> Sort | None:
    """What a key says; if unknown, a marked list of own ids says it: `1.1, 2.3`. One number counts many things."""
    known = _sort_of(key)
    if known in (Sort.PROPERTY, Sort.WAITS):
        return known
    names_requirements = known or (_LIKE["traces"].match(key) and _names_some(value, references, is_marked))
    if names_requirements and (is_marked or len(key.split()) <= 3):
        return Sort.REQUIREMENTS
    if not is_marked:
        return None
    is_list = "." in value and not _LIKE["counts"].search(key) and references.only_names(value)
    return Sort.REQUIREMENTS if is_list else Sort.OTHER


@lru_cache(maxsize=1024)
def _sort_of(key: str) -> Sort | None:
    """What a key says by itself. The same few stand below every task."""
    if _LIKE["property"].match(key):
        return Sort.PROPERTY
    if _LIKE["waits"].search(key):
        return Sort.WAITS
    return Sort.REQUIREMENTS if _LIKE["requirement"].search(key) else None


def _names_some(value: str, references: References, is_marked: bool) -> bool:
    """`Requirement 1.2`, `Requirements all` and nothing else beside it, or in marks a list of ids."""
    requirement = _LIKE["requirement"]
    if requirement.match(value.strip()) is not None and any(c.isdigit() for c in value):
        return True
    is_all = len(value.split()) <= 2 and requirement.search(value) and _LIKE["all"].search(value)
    return bool(is_all) or (is_marked and references.only_names(value))


def read_properties(
    markdown: Markdown, references: References, tasks: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[Trace, ...], tuple[Problem, ...]]:
    """A trace for each part that a property validates: `Property 1` shows it, by the tasks that say so. A property goes
    on up to the next one, or to a heading of its rank."""
    problems: list[Problem] = []
    shown: dict[str, dict[str, None]] = {}
    number, level, section = "", 1, 1
    for line in markdown.words:
        text, heading = line.text.strip(), line.heading
        match = _LIKE["head"].match(heading.title if heading else text)
        sets_off = text.startswith(("**", "- **", "* **")) or ":" in line.text[:40] or "：" in line.text[:40]
        if match is not None and (heading is not None or sets_off):
            number, level = match["number"], heading.level if heading else section
            continue
        if heading is not None:
            number, section = "" if heading.level <= level else number, heading.level
        bullet = Bullet([line], None, text.removeprefix("- ").removeprefix("* "))
        for field in fields_of(bullet, references) if number else ():
            named = references.read(field.value if field.sort is Sort.REQUIREMENTS else "none")
            if named.unknown:
                what = f"Property {number} names {', '.join(named.unknown)}: no such requirement in this spec"
                problems.append(warning(markdown.at(line.number), f"{what}. Correct the number"))
            for part in named.ids:
                shown.setdefault(part, {})[number] = None
    traces = []
    for part in (part for part in references.index.every if part in shown):
        by = dict.fromkeys(task for number in shown[part] for task in tasks.get(number, ()))
        traces.append(Trace(part, tuple(f"Property {number}" for number in shown[part]), tuple(by)))
    return tuple(traces), tuple(problems) if references.index.every else ()
