"""The normal form read back: the same specs that it was printed from. Printing it is not here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

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
)
from agent_fox.specs.common.task_lists import named_by
from agent_fox.specs.files import TextFile, error
from agent_fox.specs.plain import normal_form as form
from agent_fox.specs.plain.escapes import WORD, text_of, word_of
from agent_fox.specs.plain.normal_lines import (
    FormBroken,
    Item,
    Line,
    Section,
    fenced,
    items,
    matched,
    quote_of,
    sections,
    unexpected,
    word_list,
)

_STATES = {box: state for state, box in form.BOXES.items()} | {"X": TaskState.DONE}
_SPEC = regex(r"Spec: `([^`]*)`(?:: (.*))?")
_REQUIREMENT = regex(rf"({WORD})(?:: (.*))?")
_CRITERION = regex(rf"\*\*({WORD})\*\*(?: (.*))?")
_GROUP = regex(r"\[(.)\] (-?\d{1,9})\.(?: (.*))?")
_SUBTASK = regex(rf"\[(.)\] ({WORD})(?: (.*))?")
_DEPENDENCY = regex(rf"({WORD})(?::(?: its group (-?\d{{1,9}}))?(?: before group (-?\d{{1,9}}))?)?( \(archived\))?")
_COMMAND = regex(r"([^:`]*): `([^`]*)`")
_SOURCE = regex(r"#(-?\d{1,9})(?: of `([^`]*)`)?(?: on `([^`]*)`)?")
_KNOWN = ("", form.REQUIREMENTS, form.TASKS, form.TRACEABILITY, form.DEPENDS_ON, form.TEST_COMMANDS)


def read_normal_form(file: TextFile, documents: dict[str, str]) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """The specs of a document. One with a line that can't be understood is an error, and the others are read."""
    lines = [Line(number, text) for number, text in enumerate(file.text.split("\n"), 1)][1:]
    before, *parts = sections(lines, "# ")
    specs: list[Spec] = []
    problems = [
        error(f"{file.where}:{line.number}", unexpected(line).what) for line in before.lines if line.text.strip()
    ]
    if not parts:
        problems.append(error(file.where, "holds no spec; print it anew with `agent-fox plan --format markdown`"))
    for section in parts:
        try:
            specs.append(_spec(section, file.where, documents))
        except FormBroken as broken:
            named = _SPEC.fullmatch(section.title.text)
            where = f"{file.where}:{broken.line}"
            problems.append(error(where, broken.what, spec=word_of(named[1]) if named else None))
    return tuple(specs), tuple(problems)


def _spec(section: Section, where: str, documents: dict[str, str]) -> Spec:
    named = matched(_SPEC, section.title.text, section.title.number, "# Spec: `name`: Title")
    parts = _parts(section)
    lines: dict[str, int] = {}
    requirements = tuple(_requirement(block, lines) for block in _blocks(parts[form.REQUIREMENTS]))
    spec = Spec(
        name=word_of(named[1]),
        dialect="plain",
        path=where,
        title=text_of(named[2] or ""),
        requirements=requirements,
        groups=tuple(_group(item, lines) for item in items(parts[form.TASKS])),
        dependencies=tuple(_dependency(item, where) for item in items(parts[form.DEPENDS_ON])),
        traceability=tuple(_traces(parts[form.TRACEABILITY])),
        test_commands=dict(_command(item) for item in items(parts[form.TEST_COMMANDS])),
        documents=documents,
    )
    return replace(
        _with_facts(spec, items(parts[""])), places={name: f"{where}:{line}" for name, line in lines.items()}
    )


def _parts(section: Section) -> dict[str, list[Line]]:
    parts: dict[str, list[Line]] = {title: [] for title in _KNOWN}
    for part in sections(section.lines, "## "):
        if part.title.text not in parts:
            what = f"there is no section {part.title.text!r}; known are: {', '.join(_KNOWN[1:])}"
            raise FormBroken(part.title.number, what)
        parts[part.title.text] += part.lines
    return parts


def _blocks(lines: list[Line]) -> list[Section]:
    before, *blocks = sections(lines, "### ")
    for line in before.lines:
        if line.text.strip():
            raise unexpected(line)
    return blocks


def _with_facts(spec: Spec, facts: Iterable[Item]) -> Spec:
    for item in facts:
        match item.field:
            case "Origin", value:
                spec = replace(spec, origin=text_of(value))
            case "State", value:
                states = value.split(", ")
                spec = replace(spec, is_baseline=form.BASELINE in states, is_withdrawn=form.TAKEN_BACK in states)
            case "Source", value:
                match = matched(_SOURCE, value, item.line, "_Source: #12 of `owner/name` on `host`_")
                issue = SourceIssue(int(match[1]), word_of(match[2] or ""), word_of(match[3] or ""))
                spec = replace(spec, source=issue)
            case "Withdrawn", value:
                spec = replace(spec, withdrawn=word_list(value, item.line))
            case "Implied", value:
                every = form.ids_of(spec.requirements)
                spec = replace(spec, implied=every if value == form.ALL else frozenset(word_list(value, item.line)))
            case _:
                raise _unknown_field(item, "Origin, State, Source, Withdrawn, Implied")
    return spec


def _requirement(block: Section, lines: dict[str, int]) -> Requirement:
    match = matched(_REQUIREMENT, block.title.text, block.title.number, "### ID: Title")
    identifier = word_of(match[1])
    lines.setdefault(identifier, block.title.number)
    text, rest = quote_of(block.lines)
    last = next((n for n, line in enumerate(rest) if line.text == form.DETAILS), len(rest))
    edge = next((n for n, line in enumerate(rest) if line.text == form.EDGE_CASES), last)
    return Requirement(
        identifier,
        text_of(match[2] or ""),
        text,
        tuple(_criterion(item, lines) for item in items(rest[:edge])),
        tuple(_criterion(item, lines) for item in items(rest[edge + 1 : last])),
        tuple(item.text for item in items(rest[last + 1 :])),
    )


def _criterion(item: Item, lines: dict[str, int]) -> Criterion:
    match = matched(_CRITERION, item.head, item.line, "- **ID** text")
    identifier = word_of(match[1])
    lines.setdefault(identifier, item.line)
    return Criterion(identifier, Item(item.line, match[2] or "", item.lines).text)


def _group(item: Item, lines: dict[str, int]) -> Group:
    match = matched(_GROUP, item.head, item.line, "- [ ] 1. Title")
    number = int(match[2])
    lines.setdefault(f"group {number}", item.line)
    below = items(item.lines)
    subtasks = tuple(_subtask(entry, lines) for entry in below if entry.field is None)
    group = Group(number, text_of(match[3] or ""), _state(match[1], item.line), subtasks=subtasks)
    text = None
    group = replace(group, requirements=named_by((), subtasks))
    for entry in below:
        match entry.field:
            case None:
                continue
            case "Text", value:
                text = "" if value == form.NONE else fenced(entry)
            case named:
                group = _with_field(group, named, entry)
    return replace(group, text=form.coder_text(group) if text is None else text)


def _with_field(group: Group, named: tuple[str, str], item: Item) -> Group:
    match named:
        case "Marks", value:
            marks = _marks(value, item.line, (form.OPTIONAL, form.PARALLEL, form.CHECKPOINT, form.TESTS_ONLY))
            return replace(
                group,
                optional=form.OPTIONAL in marks,
                parallel=form.PARALLEL in marks,
                is_checkpoint=form.CHECKPOINT in marks,
                writes_tests_only=form.TESTS_ONLY in marks,
            )
        case "Archetype", value:
            return replace(group, archetype=word_of(value))
        case "Requirements", value:
            return replace(group, requirements=word_list(value, item.line))
        case _:
            raise _unknown_field(item, "Marks, Archetype, Requirements, Text")


def _subtask(item: Item, lines: dict[str, int]) -> Subtask:
    match = matched(_SUBTASK, item.head, item.line, "- [ ] 1.1 Title")
    number = word_of(match[2])
    lines.setdefault(f"task {number}", item.line)
    below = items(item.lines)
    details = tuple(entry.text for entry in below if entry.field is None)
    subtask = Subtask(number, text_of(match[3] or ""), _state(match[1], item.line), details=details)
    for entry in below:
        match entry.field:
            case None:
                continue
            case "Marks", value:
                marks = _marks(value, entry.line, (form.OPTIONAL, form.PARALLEL))
                subtask = replace(subtask, optional=form.OPTIONAL in marks, parallel=form.PARALLEL in marks)
            case "After", value:
                subtask = replace(subtask, after=word_list(value, entry.line))
            case "Requirements", value:
                subtask = replace(subtask, requirements=word_list(value, entry.line))
            case _:
                raise _unknown_field(entry, "Marks, After, Requirements")
    return subtask


def _state(box: str, line: int) -> TaskState:
    if box not in _STATES:
        raise FormBroken(line, f"[{box}] is no box of this form; known are [ ], [-], [x] and [~]")
    return _STATES[box]


def _marks(value: str, line: int, known: tuple[str, ...]) -> list[str]:
    marks = value.split(", ")
    for mark in marks:
        if mark not in known:
            raise FormBroken(line, f"{mark!r} is no mark here; known are: {', '.join(known)}")
    return marks


def _unknown_field(item: Item, known: str) -> FormBroken:
    return FormBroken(item.line, f"{item.head[:60]!r} is no field here; known are: {known}")


def _dependency(item: Item, where: str) -> Dependency:
    match = matched(_DEPENDENCY, item.head, item.line, "- 01_core: its group 2 before group 1")
    before, after = (int(number) if number else None for number in match.group(2, 3))
    return Dependency(word_of(match[1]), before, after, f"{where}:{item.line}", match[4] is not None)


def _command(item: Item) -> tuple[str, str]:
    match = matched(_COMMAND, item.head, item.line, "- all_tests: `command`")
    return text_of(match[1]), word_of(match[2])


def _traces(lines: Iterable[Line]) -> Iterable[Trace]:
    for line in lines:
        if not line.text.strip() or line.text in (form.TRACE_HEADER, form.TRACE_RULE):
            continue
        cells = line.text.split("|")
        if len(cells) != 6 or cells[0] or cells[-1]:
            raise unexpected(line)
        requirement, *others = (word_list(cell.strip(), line.number) for cell in cells[1:-1])
        if len(requirement) != 1:
            raise FormBroken(line.number, "a row names one requirement")
        yield Trace(requirement[0], *others)
