"""Specs printed as one Markdown document that says everything that a plan needs. Reading it back is not here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent_fox.core.regex import regex
from agent_fox.core.spec import Criterion, Dependency, Group, Requirement, Spec, Subtask, TaskState, Trace
from agent_fox.specs.common.task_lists import named_by
from agent_fox.specs.plain.dialect import MARK
from agent_fox.specs.plain.escapes import block, one_line, quoted, reference, word, words

ALL = "*"
NONE = "none"
BOXES = {TaskState.OPEN: " ", TaskState.IN_PROGRESS: "-", TaskState.DONE: "x", TaskState.SKIPPED: "~"}
FIELD = regex(r"_([A-Z][a-z]+):(?: (.*))?_")
BASELINE, TAKEN_BACK = "baseline", "taken back"
OPTIONAL, PARALLEL, CHECKPOINT, TESTS_ONLY = "optional", "parallel", "checkpoint", "writes tests only"
REQUIREMENTS, TASKS = "Requirements", "Tasks"
TRACEABILITY, DEPENDS_ON, TEST_COMMANDS = "Traceability", "Depends on", "Test commands"
EDGE_CASES = "Edge cases:"
DETAILS = "Details:"
TRACE_HEADER = "| Requirement | Test specs | Tasks | Tests |"
TRACE_RULE = "|---|---|---|---|"

_BACKTICKS = regex("`+")


def normal_form(specs: Iterable[Spec]) -> str:
    """The document. It is the same for the same specs, and for those that are read back from it."""
    return "\n".join([MARK, *(line for spec in specs for line in _spec(spec))]) + "\n"


def _spec(spec: Spec) -> Iterator[str]:
    title = one_line(spec.title)
    yield from ("", f"# Spec: {quoted(spec.name)}" + (f": {title}" if title else ""))
    yield from _section("", (f"- {line}" for line in _facts(spec)))
    yield from _section(
        REQUIREMENTS, (line for requirement in spec.requirements for line in _requirement(requirement)), ""
    )
    yield from _section(TASKS, (line for group in spec.groups for line in _group(group)), "")
    yield from _section(TRACEABILITY, _traces(spec.traceability))
    yield from _section(DEPENDS_ON, (f"- {_dependency(row)}" for row in spec.dependencies))
    yield from _section(TEST_COMMANDS, (f"- {_command(*item)}" for item in spec.test_commands.items()))


def _section(title: str, lines: Iterable[str], before: str | None = None) -> Iterator[str]:
    """A heading and its lines, where there are any."""
    body = list(lines)
    if body and title:
        yield from ("", f"## {title}")
    if body:
        yield from body if before is not None else ("", *body)


def _facts(spec: Spec) -> Iterator[str]:
    yield _field("Origin", one_line(spec.origin or f"{spec.dialect}, {spec.path}"))
    states = [name for name, holds in ((BASELINE, spec.is_baseline), (TAKEN_BACK, spec.is_withdrawn)) if holds]
    if states:
        yield _field("State", ", ".join(states))
    if spec.source is not None:
        repository = f" of {quoted(spec.source.repository)}" if spec.source.repository else ""
        host = f" on {quoted(spec.source.host)}" if spec.source.host else ""
        yield _field("Source", f"#{spec.source.number}{repository}{host}")
    if spec.withdrawn:
        yield _field("Withdrawn", words(spec.withdrawn))
    if spec.implied:
        yield _field("Implied", ALL if spec.implied == ids_of(spec.requirements) else words(sorted(spec.implied)))


def ids_of(requirements: Iterable[Requirement]) -> frozenset[str]:
    return frozenset(
        i for requirement in requirements for i in (requirement.id, *(part.id for part in requirement.parts))
    )


def _requirement(requirement: Requirement) -> Iterator[str]:
    title = one_line(requirement.title)
    yield from ("", f"### {word(requirement.id)}" + (f": {title}" if title else ""))
    if requirement.text:
        yield from ("", *(f"> {line}".rstrip() for line in block(requirement.text)))
    if requirement.criteria:
        yield from ("", *(line for criterion in requirement.criteria for line in _criterion(criterion)))
    if requirement.edge_cases:
        yield from ("", EDGE_CASES, "", *(line for case in requirement.edge_cases for line in _criterion(case)))
    if requirement.details:
        yield from ("", DETAILS, "", *(line for detail in requirement.details for line in _detail(detail)))


def _detail(detail: str) -> Iterator[str]:
    first, *others = block(detail)
    yield f"- {first}".rstrip()
    yield from indented(others, 2)


def _criterion(criterion: Criterion) -> Iterator[str]:
    first, *others = block(criterion.text)
    yield f"- **{word(criterion.id)}** {first}".rstrip()
    yield from indented(others, 2)


def indented(lines: Iterable[str], columns: int) -> Iterator[str]:
    return (" " * columns + line if line else "" for line in lines)


def _group(group: Group) -> Iterator[str]:
    lines = list(_group_lines(group))
    yield from ("", *lines)
    if group.text == coder_text(group):
        return
    if not group.text:
        yield f"  - {_field('Text', NONE)}"
        return
    fence = "`" * max(3, *(len(run) + 1 for run in _BACKTICKS.findall(group.text)), 0)
    yield from (f"  - {_field('Text', '')}", "", f"    {fence}markdown")
    yield from indented([*block(group.text), fence], 4)


def coder_text(group: Group) -> str:
    """What a coder is given of a group that has no text of its own: no marks of the group, which are for the plan."""
    unmarked = replace(
        group, optional=False, parallel=False, is_checkpoint=False, writes_tests_only=False, archetype=None
    )
    return "\n".join(_group_lines(unmarked))


def _group_lines(group: Group) -> Iterator[str]:
    yield f"- [{BOXES[group.state]}] {group.number}. {one_line(group.title)}".rstrip()
    marks = (
        (OPTIONAL, group.optional),
        (PARALLEL, group.parallel),
        (CHECKPOINT, group.is_checkpoint),
        (TESTS_ONLY, group.writes_tests_only),
    )
    yield from (f"  - {line}" for line in _marks(marks))
    if group.archetype is not None:
        yield f"  - {_field('Archetype', word(group.archetype))}"
    if group.requirements != named_by((), group.subtasks):
        yield f"  - {_field('Requirements', words(group.requirements))}"
    for subtask in group.subtasks:
        yield from indented(_subtask(subtask), 2)


def _subtask(subtask: Subtask) -> Iterator[str]:
    yield f"- [{BOXES[subtask.state]}] {word(subtask.number)} {one_line(subtask.title)}".rstrip()
    yield from (f"  - {line}" for line in _marks(((OPTIONAL, subtask.optional), (PARALLEL, subtask.parallel))))
    if subtask.after:
        yield f"  - {_field('After', words(subtask.after))}"
    for detail in subtask.details:
        first, *others = block(detail)
        yield f"  - {reference('_') + first[1:] if FIELD.fullmatch(first) else first}".rstrip()
        yield from indented(others, 4)
    if subtask.requirements:
        yield f"  - {_field('Requirements', words(subtask.requirements))}"


def _marks(marks: Iterable[tuple[str, bool]]) -> Iterator[str]:
    named = [name for name, holds in marks if holds]
    if named:
        yield _field("Marks", ", ".join(named))


def _field(name: str, value: str) -> str:
    return f"_{name}: {value}_" if value else f"_{name}:_"


def _traces(traces: Iterable[Trace]) -> Iterator[str]:
    cells = [((trace.requirement,), trace.tests_specified, trace.tasks, trace.tests) for trace in traces]
    rows = [f"| {' | '.join(map(words, row))} |" for row in cells]
    return iter([TRACE_HEADER, TRACE_RULE, *rows] if rows else [])


def _dependency(row: Dependency) -> str:
    its = f" its group {row.from_group}" if row.from_group is not None else ""
    before = f" before group {row.to_group}" if row.to_group is not None else ""
    return word(row.spec) + (f":{its}{before}" if its or before else "") + (" (archived)" if row.is_archived else "")


def _command(label: str, command: str) -> str:
    return f"{one_line(label, also=':`')}: {quoted(command)}"
