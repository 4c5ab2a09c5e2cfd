"""The normal form: specs as one Markdown document that says everything that a plan needs, and the same specs read back.

What a line and a field look like stands in tables that writing and reading both go by.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from itertools import dropwhile
from typing import Any, NamedTuple, TypeVar

from agent_fox.core.regex import regex
from agent_fox.core.spec import (
    Criterion,
    Dependency,
    Group,
    Problem,
    Requirement,
    SourceIssue,
    Spec,
    Subtask,
    TaskState,
    Trace,
)  # fmt: skip
from agent_fox.specs.common.task_lists import named_by
from agent_fox.specs.files import TextFile, error
from agent_fox.specs.plain import escapes as esc
from agent_fox.specs.plain.dialect import MARK

_ALL, _NONE = "*", "none"
_BOXES = {TaskState.OPEN: " ", TaskState.IN_PROGRESS: "-", TaskState.DONE: "x", TaskState.SKIPPED: "~"}
_SECTIONS = ("Requirements", "Tasks", "Traceability", "Depends on", "Test commands")
_EDGE_CASES, _DETAILS = "Edge cases:", "Details:"
_TRACE_HEAD = ("| Requirement | Test specs | Tasks | Tests |", "|---|---|---|---|")
_CONFLICT = ("<<<<<<< ", "=======", ">>>>>>> ")
_FIELD = regex(r"_([A-Z][a-z]+):(?: (.*))?_")
_VALUE = regex(r"\{(\w+):(\w+)\}")
_BACKTICKS = regex("`+")
_T = TypeVar("_T", Spec, Group, Subtask)


class FormBroken(Exception):
    """A line that this form does not have: where it stands, and what is wrong with it."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line, self.what = line, what


def _state_of(box: str) -> TaskState:
    states = {shown: state for state, shown in _BOXES.items()} | {"X": TaskState.DONE}
    if box not in states:
        raise ValueError(f"[{box}] is no box of this form; known are [ ], [-], [x] and [~]")
    return states[box]


_KINDS: Mapping[str, tuple[str, Callable[[Any], str], Callable[[str], object]]] = {
    "word": (esc.WORD, esc.word, esc.word_of),
    "quoted": ("`[^`]*`", esc.quoted, esc.word_of),
    "line": (".*", esc.one_line, esc.text_of),
    "shown": (".*", str, str),
    "label": ("[^:`]*", lambda text: esc.one_line(text, also=":`"), esc.text_of),
    "number": (r"-?\d{1,9}", str, int),
    "box": (".", _BOXES.__getitem__, _state_of),
    "colon": (":", str, str),
    "archived": (r"\(archived\)", lambda _: "(archived)", bool),
}
"""What a value looks like, how it is written, and how it is read."""


class _Shape:
    """A line, with an example: pieces with `{name:kind}`. The first is always there, another where its value is."""

    def __init__(self, example: str, *pieces: str) -> None:
        self.example, self.pieces = example, pieces
        self._kinds: dict[str, str] = dict(_VALUE.findall("".join(pieces)))
        patterns = []
        for piece in pieces:
            texts = _VALUE.split(piece)
            values = (f"(?P<{name}>{_KINDS[kind][0]})" for name, kind in zip(texts[1::3], texts[2::3], strict=True))
            patterns.append("".join(re.escape(text) + next(values, "") for text in texts[::3]))
        self._pattern = regex(patterns[0] + "".join(f"(?:{pattern})?" for pattern in patterns[1:]))

    def write(self, of: object, **more: object) -> str:
        """The line of a value's attributes, and of what else is named."""
        values = {name: more[name] if name in more else getattr(of, name) for name in self._kinds}
        first, *others = self.pieces
        there = (piece for piece in others if values[_VALUE.findall(piece)[0][0]] not in (None, ""))
        return _VALUE.sub(lambda match: _KINDS[match[2]][1](values[match[1]]), "".join((first, *there)))

    def read(self, part: _Part) -> dict[str, Any]:
        """The values of what stands behind a mark, None for each that is not there."""
        match = self._pattern.fullmatch(part.head)
        if match is None:
            raise FormBroken(part.line, f"expected a line such as `{self.example}`")
        try:
            return {name: match[name] and _KINDS[kind][2](match[name]) for name, kind in self._kinds.items()}
        except ValueError as wrong:
            raise FormBroken(part.line, str(wrong)) from wrong


_SPEC = _Shape("# Spec: `name`: Title", "Spec: {name:quoted}", ": {title:line}")
_REQUIREMENT = _Shape("### ID: Title", "{id:word}", ": {title:line}")
_CRITERION = _Shape("- **ID** text", "**{id:word}**", " {text:shown}")
_GROUP = _Shape("- [ ] 1. Title", "[{state:box}] {number:number}.", " {title:line}")
_SUBTASK = _Shape("- [ ] 1.1 Title", "[{state:box}] {number:word}", " {title:line}")
_DEPENDENCY = _Shape(
    "- 01_core: its group 2 before group 1", "{spec:word}", "{colon:colon}", " its group {from_group:number}",
    " before group {to_group:number}", " {is_archived:archived}",
)  # fmt: skip
_COMMAND = _Shape("- all_tests: `command`", "{label:label}: {command:quoted}")
_SOURCE = _Shape(
    "_Source: #12 of `owner/name` on `host`_", "#{number:number}", " of {repository:quoted}", " on {host:quoted}"
)


class _Field(NamedTuple):
    """One `_Name: value_`: how it is shown, None where it is not, and what its item and its value set."""

    name: str
    show: Callable[[Any], str | None]
    sets: Callable[[Any, _Part, str], dict[str, Any]]


def _flags(name: str, **words: str) -> _Field:
    """Attributes that are true or false, each by its word."""

    def sets(_: object, item: _Part, value: str) -> dict[str, Any]:
        named = value.split(", ")
        for mark in named:
            if mark not in words.values():
                raise FormBroken(item.line, f"{mark!r} is no mark here; known are: {', '.join(words.values())}")
        return {key: word in named for key, word in words.items()}

    return _Field(name, lambda of: ", ".join(word for key, word in words.items() if getattr(of, key)) or None, sets)


def _listed(name: str, key: str, usual: Callable[[Any], tuple[str, ...]] = lambda _: ()) -> _Field:
    """A list of names, which is written where it is not the usual one."""
    return _Field(
        name,
        lambda of: None if getattr(of, key) == usual(of) else esc.words(getattr(of, key)),
        lambda _, item, value: {key: _words_of(value, item.line)},
    )


def _set_source(_: Spec, item: _Part, value: str) -> dict[str, Any]:
    values = _SOURCE.read(_Part(item.line, value))
    return {"source": SourceIssue(values["number"], values["repository"] or "", values["host"] or "")}


def _ids_of(spec: Spec) -> frozenset[str]:
    return frozenset({*spec.expected, *(each.id for each in spec.requirements)})


_OF_SPEC = (
    _Field(
        "Origin",
        lambda spec: esc.one_line(spec.origin or f"{spec.dialect}, {spec.path}"),
        lambda _, item, value: {"origin": esc.text_of(value)},
    ),
    _flags("State", is_baseline="baseline", is_withdrawn="taken back"),
    _Field("Source", lambda spec: _SOURCE.write(spec.source) if spec.source else None, _set_source),
    _listed("Withdrawn", "withdrawn"),
    _Field(
        "Implied",
        lambda spec: (
            (_ALL if spec.implied == _ids_of(spec) else esc.words(sorted(spec.implied))) if spec.implied else None
        ),
        lambda spec, item, value: {
            "implied": _ids_of(spec) if value == _ALL else frozenset(_words_of(value, item.line))
        },
    ),
)
_OF_GROUP = (
    _flags(
        "Marks", optional="optional", parallel="parallel", is_checkpoint="checkpoint",
        writes_tests_only="writes tests only",
    ),
    _Field(
        "Archetype",
        lambda group: None if group.archetype is None else esc.word(group.archetype),
        lambda _, item, value: {"archetype": esc.word_of(value)},
    ),
    _listed("Requirements", "requirements", lambda group: named_by((), group.subtasks)),
    _Field("Text", lambda _: None, lambda _, item, value: {"text": "" if value == _NONE else _fenced(item)}),
)  # fmt: skip
_OF_SUBTASK = (
    _flags("Marks", optional="optional", parallel="parallel"),
    _listed("After", "after"),
    _listed("Requirements", "requirements"),
)


def normal_form(specs: Iterable[Spec]) -> str:
    """The document. It is the same for the same specs, and for those that are read back from it."""
    return "\n".join([MARK, *(line for spec in specs for line in _spec(spec))]) + "\n"


def _spec(spec: Spec) -> Iterator[str]:
    yield from ("", f"# {_SPEC.write(spec)}", "", *_fields(spec, _OF_SPEC))
    rows = [((trace.requirement,), trace.tests_specified, trace.tasks, trace.tests) for trace in spec.traceability]
    commands = spec.test_commands.items()
    bodies = (
        [line for requirement in spec.requirements for line in _requirement(requirement)],
        [line for group in spec.groups for line in _group(group)],
        [*(_TRACE_HEAD if rows else ()), *(f"| {' | '.join(map(esc.words, row))} |" for row in rows)],
        [f"- {_DEPENDENCY.write(row, **_marks(row))}" for row in spec.dependencies],
        [f"- {_COMMAND.write(None, label=label, command=command)}" for label, command in commands],
    )
    for title, body in zip(_SECTIONS, bodies, strict=True):
        if body:
            yield from ("", f"## {title}", *(() if body[0] == "" else ("",)), *body)


def _marks(row: Dependency) -> dict[str, object]:
    return {"colon": None if row.from_group is row.to_group is None else ":", "is_archived": row.is_archived or None}


def _fields(of: object, fields: Iterable[_Field]) -> Iterator[str]:
    shown = ((each.name, each.show(of)) for each in fields)
    return (f"- _{name}: {value}_" if value else f"- _{name}:_" for name, value in shown if value is not None)


def _item(lines: Sequence[str]) -> Iterator[str]:
    yield f"- {lines[0]}".rstrip()
    yield from _indented(lines[1:])


def _indented(lines: Iterable[str], columns: int = 2) -> Iterator[str]:
    return (" " * columns + line if line else "" for line in lines)


def _requirement(requirement: Requirement) -> Iterator[str]:
    yield from ("", f"### {_REQUIREMENT.write(requirement)}")
    if requirement.text:
        yield from ("", *(f"> {line}".rstrip() for line in esc.block(requirement.text)))
    if requirement.criteria:
        yield from ("", *(line for criterion in requirement.criteria for line in _criterion(criterion)))
    if requirement.edge_cases:
        yield from ("", _EDGE_CASES, "", *(line for case in requirement.edge_cases for line in _criterion(case)))
    if requirement.details:
        yield from ("", _DETAILS, "", *(line for detail in requirement.details for line in _item(esc.block(detail))))


def _criterion(criterion: Criterion) -> Iterator[str]:
    first, *others = esc.block(criterion.text)
    return _item([_CRITERION.write(criterion, text=first), *others])


def _group(group: Group) -> Iterator[str]:
    yield from ("", *_group_lines(group))
    if not group.text:
        yield f"  - _Text: {_NONE}_"
    elif group.text != coder_text(group):
        fence = "`" * max(3, *(len(run) + 1 for run in _BACKTICKS.findall(group.text)), 0)
        yield from ("  - _Text:_", "", f"    {fence}markdown")
        yield from _indented([*esc.block(group.text), fence], 4)


def coder_text(group: Group) -> str:
    """What a coder is given of a group that has no text of its own: no marks of the group, which are for the plan."""
    unmarked = replace(
        group, optional=False, parallel=False, is_checkpoint=False, writes_tests_only=False, archetype=None
    )
    return "\n".join(_group_lines(unmarked))


def _group_lines(group: Group) -> Iterator[str]:
    yield f"- {_GROUP.write(group)}"
    yield from _indented(_fields(group, _OF_GROUP))
    for subtask in group.subtasks:
        yield from _indented(_subtask(subtask))


def _subtask(subtask: Subtask) -> Iterator[str]:
    yield f"- {_SUBTASK.write(subtask)}"
    yield from _indented(_fields(subtask, _OF_SUBTASK[:2]))
    for detail in subtask.details:
        first, *others = esc.block(detail)
        yield from _indented(_item([esc.reference("_") + first[1:] if _FIELD.fullmatch(first) else first, *others]))
    yield from _indented(_fields(subtask, _OF_SUBTASK[2:]))


class _Line(NamedTuple):
    number: int
    text: str


@dataclass(slots=True)
class _Part:
    """A heading or a list item: what stands behind its mark, and the lines below; an item's are moved to the left."""

    line: int
    head: str
    lines: list[_Line] = attribute(default_factory=list)

    @property
    def text(self) -> str:
        """The whole item as the text that it was printed from."""
        return esc.text_of("\n".join([self.head, *(line.text for line in _trimmed(self.lines))]))

    @property
    def field(self) -> tuple[str, str] | None:
        """The name and the value of `_Name: value_`."""
        match = _FIELD.fullmatch(self.head)
        return (match[1], match[2] or "") if match else None

    @property
    def below(self) -> tuple[list[_Part], list[_Part]]:
        """The fields below it, and the other items."""
        items = _items(self.lines)
        return [item for item in items if item.field], [item for item in items if not item.field]


def read_normal_form(file: TextFile, documents: dict[str, str]) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """The specs of a document. One with a line that can't be understood is an error, and the others are read."""
    before, *parts = _sections([_Line(*line) for line in enumerate(file.text.split("\n"), 1)][1:], "# ")
    specs: list[Spec] = []
    odd = [line for line in before.lines if line.text.strip()]
    problems = [error(f"{file.where}:{line.number}", _unexpected(line).what) for line in odd]
    if not parts:
        problems.append(error(file.where, "holds no spec; print it anew with `agent-fox plan --format markdown`"))
    for part in parts:
        name = None
        try:
            values = _SPEC.read(part)
            name = values["name"]
            specs.append(_Reading(file.where).spec(name, values["title"] or "", part, documents))
        except FormBroken as broken:
            problems.append(error(f"{file.where}:{broken.line}", broken.what, spec=name))
    return tuple(specs), tuple(problems)


class _Reading:
    """Reads one spec. `places` says where its ids, groups and tasks stand, each for the first time."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.places: dict[str, str] = {}

    def spec(self, name: str, title: str, part: _Part, documents: dict[str, str]) -> Spec:
        parts: dict[str, list[_Line]] = {title: [] for title in ("", *_SECTIONS)}
        for section in _sections(part.lines, "## "):
            if section.head not in parts:
                what = f"there is no section {section.head!r}; known are: {', '.join(_SECTIONS)}"
                raise FormBroken(section.line, what)
            parts[section.head] += section.lines
        facts, requirements, tasks, traces, dependencies, commands = parts.values()
        before, *blocks = _sections(requirements, "### ")
        _items(before.lines, may_be=False)
        spec = Spec(
            name=name,
            dialect="plain",
            path=self.where,
            title=title,
            requirements=tuple(map(self._requirement, blocks)),
            groups=tuple(map(self._group, _items(tasks))),
            dependencies=tuple(map(self._dependency, _items(dependencies))),
            traceability=tuple(_read_traces(traces)),
            test_commands=dict(tuple(_COMMAND.read(item).values()) for item in _items(commands)),
            documents=documents,
            places=self.places,
        )
        return _with_fields(spec, _items(facts), _OF_SPEC)

    def _values(self, shape: _Shape, part: _Part, thing: str) -> dict[str, Any]:
        values = shape.read(part)
        self.places.setdefault(thing.format(**values), f"{self.where}:{part.line}")
        return values

    def _requirement(self, block: _Part) -> Requirement:
        values = self._values(_REQUIREMENT, block, "{id}")
        rest = [*dropwhile(lambda line: not line.text.strip(), block.lines)]
        quoted = next((n for n, line in enumerate(rest) if not line.text.startswith(">")), len(rest))
        text = esc.text_of("\n".join(line.text[1:].removeprefix(" ") for line in rest[:quoted]))
        rest = rest[quoted:]
        last = next((n for n, line in enumerate(rest) if line.text == _DETAILS), len(rest))
        edge = next((n for n, line in enumerate(rest) if line.text == _EDGE_CASES), last)
        criteria, edge_cases = (
            tuple(map(self._criterion, _items(some))) for some in (rest[:edge], rest[edge + 1 : last])
        )
        details = tuple(item.text for item in _items(rest[last + 1 :]))
        return Requirement(values["id"], values["title"] or "", text, criteria, edge_cases, details)

    def _criterion(self, item: _Part) -> Criterion:
        values = self._values(_CRITERION, item, "{id}")
        return Criterion(values["id"], replace(item, head=values["text"] or "").text)

    def _group(self, item: _Part) -> Group:
        values = self._values(_GROUP, item, "group {number}")
        fields, tasks = item.below
        subtasks = tuple(map(self._subtask, tasks))
        requirements = named_by((), subtasks)
        group = Group(
            values["number"], values["title"] or "", values["state"], subtasks=subtasks, requirements=requirements
        )
        group = _with_fields(group, fields, _OF_GROUP)
        has_text = any(below.field is not None and below.field[0] == "Text" for below in fields)
        return group if has_text else replace(group, text=coder_text(group))

    def _subtask(self, item: _Part) -> Subtask:
        values = self._values(_SUBTASK, item, "task {number}")
        fields, others = item.below
        details = tuple(entry.text for entry in others)
        return _with_fields(
            Subtask(values["number"], values["title"] or "", values["state"], details=details), fields, _OF_SUBTASK
        )

    def _dependency(self, item: _Part) -> Dependency:
        values = _DEPENDENCY.read(item)
        groups, is_archived = (values["from_group"], values["to_group"]), values["is_archived"] is not None
        return Dependency(values["spec"], *groups, f"{self.where}:{item.line}", is_archived)


def _with_fields(of: _T, items: Iterable[_Part], fields: Sequence[_Field]) -> _T:
    by_name = {each.name: each for each in fields}
    for item in items:
        name, value = item.field or ("", "")
        if name not in by_name:
            raise FormBroken(item.line, f"{item.head[:60]!r} is no field here; known are: {', '.join(by_name)}")
        of = replace(of, **by_name[name].sets(of, item, value))
    return of


def _read_traces(lines: Iterable[_Line]) -> Iterator[Trace]:
    for line in (line for line in lines if line.text.strip() and line.text not in _TRACE_HEAD):
        cells = line.text.split("|")
        if len(cells) != 6 or cells[0] or cells[-1]:
            raise _unexpected(line)
        requirement, *others = (_words_of(cell.strip(), line.number) for cell in cells[1:-1])
        if len(requirement) != 1:
            raise FormBroken(line.number, "a row names one requirement")
        yield Trace(requirement[0], *others)


def _words_of(value: str, line: int) -> tuple[str, ...]:
    words = esc.words_of(value)
    if words is None:
        raise FormBroken(line, f"{value!r} is no list of names; put commas between them, and odd ones into backticks")
    return words


def _sections(lines: list[_Line], mark: str) -> list[_Part]:
    """Cut at headings that begin with the mark; what stands before the first has an empty one in line 0."""
    begins = [place for place, line in enumerate(lines) if line.text.startswith(mark)]
    titles = [(0, ""), *((lines[place].number, lines[place].text[len(mark) :]) for place in begins)]
    ends = zip((0, *(place + 1 for place in begins)), (*begins, len(lines)), strict=True)
    return [_Part(*title, lines[first:end]) for title, (first, end) in zip(titles, ends, strict=True)]


def _items(lines: Iterable[_Line], *, may_be: bool = True) -> list[_Part]:
    """List items at the left edge, where any may be. Raises FormBroken at anything else."""
    items: list[_Part] = []
    for line in lines:
        if may_be and (line.text.startswith("- ") or line.text == "-"):
            items.append(_Part(line.number, line.text[2:]))
        elif items and (line.text.startswith("  ") or not line.text.strip()):
            items[-1].lines.append(_Line(line.number, line.text[2:]))
        elif line.text.strip():
            raise _unexpected(line)
    return items


def _fenced(item: _Part) -> str:
    """The text in the fence below an item."""
    lines = _trimmed([*dropwhile(lambda line: not line.text.strip(), item.lines)])
    if len(lines) < 2 or not all(line.text.startswith("```") for line in (lines[0], lines[-1])):
        raise FormBroken(item.line, "a text in a fence belongs below this line")
    return esc.text_of("\n".join(line.text for line in lines[1:-1]))


def _trimmed(lines: Sequence[_Line]) -> Sequence[_Line]:
    """Without the empty lines at the end: a text's own are escaped."""
    return lines[: next((n for n in range(len(lines), 0, -1) if lines[n - 1].text.strip()), 0)]


def _unexpected(line: _Line) -> FormBroken:
    if line.text.startswith(_CONFLICT):
        return FormBroken(line.number, "a merge conflict was left here; resolve it")
    return FormBroken(line.number, "this line is not of the normal form; see docs/plain.md, or print the form anew")
