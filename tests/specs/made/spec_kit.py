"""A truth as a spec-kit feature: requirements are user stories with scenarios, their edge cases are FR and SC lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent_fox.core.spec import Criterion, Group, Requirement, Spec, Subtask
from agent_fox.specs.common.task_lists import rolled_up
from tests.specs.made.spelling import Spelling, heading, noise
from tests.specs.made.telling import Made
from tests.specs.made.truth import Task, Truth

_ITEMS = (
    "- **{id}**: {text}",
    "- {id}: {text}",
    "* **{id}** {text}",
    "+ **{id}:** {text}",
    "- **{id}** - {text}",
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A task as its line says it."""

    task: Subtask
    label: str
    mention: str


@dataclass(frozen=True, slots=True)
class _Phase:
    """A phase with its tasks. That of a story (not 0) is about all its scenarios."""

    title: str
    names: tuple[str, ...]
    lines: tuple[_Line, ...]


def made(truth: Truth, spelling: Spelling) -> Made:
    name = f"{truth.number:03}-{truth.word}"
    folder = f"specs/{name}"
    statements = _statements(truth)
    phases = _phases(truth, statements, spelling)
    files = {
        f"{folder}/spec.md": spelling.document(_spec_file(truth, statements, spelling)),
        f"{folder}/tasks.md": spelling.document(_tasks_file(truth, phases, spelling)),
        f"{folder}/plan.md": spelling.document(
            ["# Implementation Plan", "", "**Testing**: pytest", "", "- [ ] T999 No"]
        ),
    }
    return Made(
        "spec-kit", folder, files, _spec(truth, name, folder, statements, phases), _marks(truth, statements, phases)
    )


def _statements(truth: Truth) -> dict[str, str]:
    """Every fourth edge case is a success criterion, the others are functional requirements."""
    edges = [text for need in truth.needs for text in need.edges]
    first = {f"FR-{n:03}": text for n, text in enumerate((t for n, t in enumerate(edges) if n % 4 != 3), 1)}
    return first | {f"SC-{n:03}": text for n, text in enumerate(edges[3::4], 1)}


def _spec(truth: Truth, name: str, folder: str, statements: dict[str, str], phases: list[_Phase]) -> Spec:
    stories = tuple(
        Requirement(
            f"US{n}", need.title, need.story, tuple(Criterion(f"US{n}.{m}", t) for m, t in enumerate(need.criteria, 1))
        )
        for n, need in enumerate(truth.needs, 1)
    )
    others = tuple(Requirement(identifier, "", text) for identifier, text in statements.items())
    implied = {i for story in stories for i in (story.id, *(part.id for part in story.parts))}
    groups = tuple(_group(n, phase) for n, phase in enumerate(phases, 1))
    return Spec(name, "spec-kit", folder, truth.title, (*stories, *others), groups, implied=frozenset(implied))


def _group(number: int, phase: _Phase) -> Group:
    tasks = tuple(line.task for line in phase.lines)
    names = dict.fromkeys([*phase.names, *(name for task in tasks for name in task.requirements)])
    state = rolled_up([task.state for task in tasks])
    return Group(number, phase.title, state, subtasks=tasks, requirements=tuple(names))


def _marks(truth: Truth, statements: dict[str, str], phases: list[_Phase]) -> dict[str, str]:
    scenarios = {f"US{n}.{m}": "Given" for n, need in enumerate(truth.needs, 1) for m, _ in enumerate(need.criteria, 1)}
    tasks = {f"task {line.task.number}": line.task.number for phase in phases for line in phase.lines}
    return scenarios | {identifier: identifier for identifier in statements} | tasks


def _phases(truth: Truth, statements: dict[str, str], spelling: Spelling) -> list[_Phase]:
    """Those that have tasks, which are numbered through. A task without a label means the story of its phase."""
    found: list[_Phase] = []
    count = 0
    for phase in truth.phases:
        if not phase.tasks:
            continue
        story = spelling.rng.randint(1, len(truth.needs)) if spelling.chance(0.4) else 0
        numbered = enumerate(phase.tasks, count + 1)
        lines = tuple(_line(task, f"T{n:03}", story, truth, statements, spelling) for n, task in numbered)
        count += len(lines)
        title = f"User Story {story} - {phase.title}" if story else phase.title
        found.append(_Phase(title, _scenarios_of(story, truth), lines))
    return found


def _line(task: Task, number: str, story: int, truth: Truth, statements: dict[str, str], spelling: Spelling) -> _Line:
    own = int(task.names[0].partition(".")[0]) if task.names and spelling.chance(0.6) else 0
    mention = spelling.pick(*statements) if statements and spelling.chance(0.2) else ""
    labelled = own or story
    names = (
        tuple(f"US{labelled}.{n}" for n in range(1, len(truth.needs[labelled - 1].criteria) + 1)) if labelled else ()
    )
    told = (*names, mention) if mention else names
    title = f"{task.title} ({mention})" if mention else task.title
    after = (f"T{int(number[1:]) - 1:03}",) if task.after and number != "T001" else ()
    done = Subtask(number, title, task.state, requirements=told, parallel=task.is_parallel, after=after)
    return _Line(done, f"[US{own}] " if own else "", mention)


def _scenarios_of(story: int, truth: Truth) -> tuple[str, ...]:
    """The ids of a story's scenarios; none of no story."""
    return tuple(f"US{story}.{n}" for n in range(1, len(truth.needs[story - 1].criteria) + 1)) if story else ()


def _spec_file(truth: Truth, statements: dict[str, str], spelling: Spelling) -> Iterator[str]:
    samples = ("### User Story 9 - Sample (Priority: P1)", "", "- **FR-999**: THE sample SHALL not count.")
    extra = spelling.pick("", " *(mandatory)*")
    yield from (heading(1, f"Feature Specification: {truth.title}", spelling), "")
    yield from ("**Feature Branch**: `012-depot`  ", "**Status**: Draft  ", 'Input: User description: "a depot"', "")
    yield from noise(spelling, samples)
    yield from (heading(2, f"User Scenarios & Testing{extra}", spelling), "")
    for n, need in enumerate(truth.needs, 1):
        yield from (heading(3, f"User Story {n} - {need.title} (Priority: P{min(n, 3)})", spelling), "", need.story, "")
        yield from ("**Why this priority**: It comes first.", "", "**Independent Test**: Can be tested alone.", "")
        label = spelling.pick("**Acceptance Scenarios**:", "**Acceptance Scenarios:**", "#### Acceptance Scenarios")
        yield from (label, "")
        yield from _scenarios(need.criteria, spelling)
        yield from ("", *spelling.pick(("---", ""), ()))
    if spelling.chance(0.4):
        yield from (heading(3, "Edge Cases", spelling), "", "- What happens when the door is shut?", "")
    yield from _statement_lines(statements, extra, spelling)
    if spelling.chance(0.4):
        yield from (heading(2, "Assumptions", spelling), "", "- There is a door", "")


def _scenarios(texts: tuple[str, ...], spelling: Spelling) -> Iterator[str]:
    bold = spelling.pick("**", "")
    item = spelling.pick("{n}. {text}", "{n}) {text}", "1. {text}", "- {text}")
    for n, text in enumerate(texts, 1):
        steps = f"{bold}Given{bold} a depot, {bold}When{bold} used, {bold}Then{bold} {text}"
        yield from spelling.wrapped(item.format(n=n, text=steps), "   ")


def _statement_lines(statements: dict[str, str], extra: str, spelling: Spelling) -> Iterator[str]:
    yield from (heading(2, f"Requirements{extra}", spelling), "", heading(3, "Functional Requirements", spelling), "")
    style = spelling.pick(*_ITEMS)
    if spelling.chance(0.15):
        yield from ("| ID | Requirement |", "|----|:---|")
        yield from (f"| {name} | {text} |" for name, text in statements.items() if name.startswith("FR"))
    else:
        yield from _listed({name: text for name, text in statements.items() if name.startswith("FR")}, style, spelling)
    yield ""
    if spelling.chance(0.4):
        yield from (heading(3, "Key Entities", spelling), "", "- **Parcel**: what is kept, see FR-001", "")
    criteria = {name: text for name, text in statements.items() if name.startswith("SC")}
    if criteria:
        yield from (
            heading(2, f"Success Criteria{extra}", spelling),
            "",
            heading(3, "Measurable Outcomes", spelling),
            "",
        )
        yield from _listed(criteria, style, spelling)
        yield ""


def _listed(statements: dict[str, str], style: str, spelling: Spelling) -> Iterator[str]:
    for name, text in statements.items():
        yield from spelling.wrapped(style.format(id=name, text=text), "  ")


def _tasks_file(truth: Truth, phases: list[_Phase], spelling: Spelling) -> Iterator[str]:
    samples = ("- [ ] T099 [P] [US1] A sample task", "## Phase 9: Sample")
    yield from (heading(1, f"Tasks: {truth.title}", spelling), "", "**Prerequisites**: plan.md, spec.md", "")
    yield from noise(spelling, samples)
    yield from (
        heading(2, "Format: `[ID] [P?] [Story] Description`", spelling),
        "",
        "- **[P]**: Can run in parallel",
        "",
    )
    for n, phase in enumerate(phases, 1):
        yield from (heading(2, f"Phase {n}: {phase.title}", spelling), "", "**Purpose**: It must be done", "")
        for line in phase.lines:
            yield _task_line(line, spelling)
            yield from ("", heading(3, "Implementation", spelling), "") if spelling.chance(0.1) else ()
        yield from ("", "**Checkpoint**: It stands", "", *spelling.pick(("---", ""), ()))
    yield from (
        heading(2, "Dependencies & Execution Order", spelling),
        "",
        "- Setup (Phase 1): none",
        *(("- [ ] T098 no",) if any(phase.lines for phase in phases) else ()),
        "",
    )
    yield from (heading(2, "Parallel Example", spelling), "", "```bash", *samples, "```", "")
    yield from (heading(2, "Notes", spelling), "", "- [P] tasks are different files", "")


def _task_line(line: _Line, spelling: Spelling) -> str:
    task = line.task
    after = f" (depends on {', '.join(task.after)})" if task.after else ""
    parallel = "[P] " if task.parallel else ""
    return f"{spelling.bullet} {spelling.box(task.state)} {task.number} {parallel}{line.label}{task.title}{after}"
