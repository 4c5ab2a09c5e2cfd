"""A truth as the Markdown form of the agent-fox dialect, in the spellings that are in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_fox.core.spec import Criterion, Dependency, Group, Requirement, Spec, Subtask, Trace
from tests.specs.made.references import listed
from tests.specs.made.spelling import Spelling, heading, noise
from tests.specs.made.telling import Made
from tests.specs.made.truth import Need, Phase, Task, Truth, Wait

_LABELS = {"spec_tests": "Spec tests", "all_tests": "All tests"}


def made(truth: Truth, spelling: Spelling) -> Made:
    number = f"{truth.number:02}"
    name = f"{number}_{truth.word}"
    folder = f".agent-fox/specs/{name}"
    is_bare = spelling.chance(0.15)
    is_traced = bool(truth.phases) and spelling.chance(0.5)
    files = {
        f"{folder}/requirements.md": spelling.document(_requirements(truth, number, spelling, is_bare)),
        f"{folder}/tasks.md": spelling.document(_tasks(truth, number, spelling, is_traced)),
        f"{folder}/prd.md": spelling.document(_prd(truth, number, spelling)),
    }
    return Made("agent-fox", folder, files, spec_of(truth, name, folder, is_bare, is_traced), _marks(truth, number))


def spec_of(truth: Truth, name: str, folder: str, is_bare: bool, is_traced: bool) -> Spec:
    """What is to be read from it. Without ids of their own (`is_bare`), criteria have implied ones."""
    prefix = f"{truth.number:02}-REQ-"
    return Spec(
        name,
        "agent-fox",
        folder,
        truth.title,
        requirements=tuple(_requirement(need, n, prefix) for n, need in enumerate(truth.needs, 1)),
        groups=tuple(group_of(phase, n, prefix) for n, phase in enumerate(truth.phases, 1)),
        dependencies=tuple(Dependency(wait.spec, wait.from_group, wait.to_group) for wait in truth.waits),
        traceability=tuple(_trace(truth, n, prefix) for n in range(1, len(truth.needs) + 1)) if is_traced else (),
        test_commands=truth.commands,
        implied=frozenset(prefix + tail for tail in truth.tails) if is_bare else frozenset(),
    )


def _requirement(need: Need, number: int, prefix: str) -> Requirement:
    criteria = tuple(Criterion(f"{prefix}{number}.{n}", text) for n, text in enumerate(need.criteria, 1))
    edges = tuple(Criterion(f"{prefix}{number}.E{n}", text) for n, text in enumerate(need.edges, 1))
    return Requirement(f"{prefix}{number}", need.title, need.story, criteria, edges)


def group_of(phase: Phase, number: int, prefix: str = "") -> Group:
    """A phase as a group; a parallel mark and waiting for tasks are not written in this dialect."""
    tasks = tuple(
        Subtask(f"{number}.{n}", t.title, t.state, t.is_optional, tuple(prefix + i for i in t.names), t.details)
        for n, t in enumerate(phase.tasks, 1)
    )
    names = dict.fromkeys([prefix + i for i in phase.names] + [i for task in tasks for i in task.requirements])
    return Group(
        number,
        phase.title,
        phase.state,
        phase.is_optional,
        subtasks=tasks,
        requirements=tuple(names),
        is_checkpoint=phase.is_checkpoint,
    )


def _trace(truth: Truth, number: int, prefix: str) -> Trace:
    return Trace(f"{prefix}{number}.1", (f"TS-{truth.number:02}-{number}",), ("1",), (f"tests/a{number}.py::a|b",))


def _marks(truth: Truth, number: str) -> dict[str, str]:
    """The first words of what stands where an id, a group or a subtask is said to stand."""
    parts = {f"{number}-REQ-{tail}": " ".join(text.split()[:2]) for tail, text in truth.texts.items()}
    groups = {f"group {n}": phase.title.split()[0] for n, phase in enumerate(truth.phases, 1)}
    return parts | groups | task_marks(truth.phases)


def task_marks(phases: Sequence[Phase]) -> dict[str, str]:
    """Each task stands where its number does."""
    numbers = [f"{n}.{m}" for n, phase in enumerate(phases, 1) for m in range(1, len(phase.tasks) + 1)]
    return {f"task {number}": number for number in numbers}


def _requirements(truth: Truth, number: str, spelling: Spelling, is_bare: bool) -> Iterator[str]:
    samples = (f"### Requirement 9: Sample ({number}-REQ-9)", f"1. [{number}-REQ-9.1] THE sample SHALL not count.")
    yield heading(1, "Requirements Document", spelling)
    yield ""
    yield from noise(spelling, samples)
    if spelling.chance(0.5):
        yield from (heading(2, "Introduction", spelling), "", "It follows 98-REQ-1.1 and builds on 97_base.", "")
    if spelling.chance(0.4):
        yield from (heading(2, "Glossary", spelling), "", f"- **{number}-REQ-7.1**: how ids look", "")
    yield from (heading(2, "Requirements", spelling), "")
    style = _BARE if is_bare else spelling.pick(*_STYLES)
    for n, need in enumerate(truth.needs, 1):
        yield from _need(need, n, number, spelling, style)
        if spelling.chance(0.2):
            yield from (f"<!-- 1. [{number}-REQ-{n}.77] WHEN copied, THE sample SHALL not count. -->", "")
    if spelling.chance(0.3):
        yield from (heading(2, "Out of Scope", spelling), "", f"- {number}-REQ-99.1 was never wanted", "")


_STYLES = (
    "1. [{id}] {text}",
    "{n}. [{id}] {text}",
    "{bullet} [{id}] {text}",
    "[{id}] {text}",
    "1. **{id}** \u2014 {text}",
    "{n}. **{id}:** {text}",
    "{bullet} `[{id}]` {text}",
    "{n}) **[{id}]** {text}",
    "{bullet} **{id}**: {text}",
)
_BARE = "{n}. {text}"


def _need(need: Need, n: int, number: str, spelling: Spelling, style: str) -> Iterator[str]:
    titles = [f"Requirement {n}: {need.title}"]
    if style != _BARE:
        titles += [f"[{number}-REQ-{n}] {need.title}", f"{number}-REQ-{n}: {need.title}", f"REQ-{n}: {need.title}"]
    title = spelling.pick(*titles) if style != _BARE else f"[{number}-REQ-{n}] {need.title}"
    yield from (heading(3, title, spelling), "", f"**User Story:** {need.story}", "")
    labelled = style == _BARE or spelling.chance(0.7)
    if labelled:
        yield from (heading(4, "Acceptance Criteria", spelling), "")
    yield from _items(need.criteria, f"{number}-REQ-{n}.", spelling, style)
    yield ""
    if need.edges:
        yield from (spelling.pick("#### Edge Cases", "**Edge Cases:**"), "") if labelled else ("",)
        yield from _items(need.edges, f"{number}-REQ-{n}.E", spelling, style)
        yield ""


def _items(texts: tuple[str, ...], prefix: str, spelling: Spelling, style: str) -> Iterator[str]:
    for n, text in enumerate(texts, 1):
        line = style.format(n=n, id=f"{prefix}{n}", text=text, bullet=spelling.bullet)
        yield from spelling.wrapped(line, "" if line.startswith("[") else "   ")
        if line.startswith("[") or spelling.chance(0.2):
            yield ""


def _tasks(truth: Truth, number: str, spelling: Spelling, is_traced: bool) -> Iterator[str]:
    samples = ("- [ ] 9. A sample group", "  - [x] 9.1 A sample task", f"    - _Requirements: {number}-REQ-1.1_")
    yield from (heading(1, f"Implementation Plan: {truth.title}", spelling), "")
    yield from noise(spelling, samples)
    if spelling.chance(0.4):
        yield from (heading(2, "Overview", spelling), "", "- [ ] 8. Not a task, as the overview says", "")
    if truth.commands:
        yield from _commands(truth.commands, spelling)
    yield from (heading(2, "Tasks", spelling), "")
    for n, phase in enumerate(truth.phases, 1):
        yield from _phase(phase, n, truth, f"{number}-REQ-", spelling)
        yield ""
        if spelling.chance(0.2):
            yield from noise(spelling, samples)
    if spelling.chance(0.3):
        yield from (heading(2, "Task States", spelling), "", "| Box | Meaning |", "|---|---|", "| `- [ ]` | open |", "")
    if is_traced:
        yield from _traceability(truth, number, spelling)
    if spelling.chance(0.3):
        yield from (heading(2, "Notes", spelling), "", "- [ ] 12. A note with a box", "")


def _commands(commands: dict[str, str], spelling: Spelling) -> Iterator[str]:
    yield from (heading(2, "Test Commands", spelling), "")
    if spelling.chance(0.3):
        yield from ("| What | Command |", "|---|:---|")
        for label, command in commands.items():
            escaped = command.replace("|", "\\|")
            yield f"| {_LABELS[label]} | `{escaped}` |"
    else:
        bold = spelling.pick("", "**")
        yield from (f"{spelling.bullet} {bold}{_LABELS[name]}:{bold} `{line}`" for name, line in commands.items())
    yield ""


def _phase(phase: Phase, n: int, truth: Truth, prefix: str, spelling: Spelling) -> Iterator[str]:
    star = spelling.pick("*", " *") if phase.is_optional else ""
    line = f"{spelling.bullet} {spelling.box(phase.state)}{star} {n}. {phase.title}"
    yield from spelling.wrapped(line, spelling.indent(1))
    if phase.names:
        yield spelling.indent(1) + _field(listed(phase.names, truth, spelling, prefix), spelling)
    for m, task in enumerate(phase.tasks, 1):
        yield from _task(task, f"{n}.{m}", truth, prefix, spelling)
        yield from ("",) if spelling.chance(0.2) else ()


def _task(task: Task, number: str, truth: Truth, prefix: str, spelling: Spelling) -> Iterator[str]:
    indent, deeper = spelling.indent(1), spelling.indent(2)
    star = "*" if task.is_optional else ""
    line = f"{indent}{spelling.bullet} {spelling.box(task.state)}{star} {number} {task.title}"
    field = _field(listed(task.names, truth, spelling, prefix), spelling) if task.names else ""
    if field.startswith(spelling.bullet) or spelling.chance(0.8) or not field:
        yield from (indent + text if place else text for place, text in enumerate(spelling.wrapped(line, indent)))
        yield from (f"{deeper}{spelling.bullet} {detail}" for detail in task.details)
        yield from (deeper + field,) if field else ()
    else:
        yield f"{line} {field}"
        yield from (f"{deeper}{spelling.bullet} {detail}" for detail in task.details)


def _field(names: str, spelling: Spelling) -> str:
    return spelling.pick(
        f"{spelling.bullet} _Requirements: {names}_",
        f"_Requirements: {names}_",
        f"{spelling.bullet} **Requirements:** {names}",
        f"{spelling.bullet} Requirements: {names}",
    )


def _traceability(truth: Truth, number: str, spelling: Spelling) -> Iterator[str]:
    yield from (heading(2, "Traceability", spelling), "")
    yield "| Requirement | Test Spec Entry | Implemented By Task | Verified By Test |"
    yield spelling.pick("|---|---|---|---|", "| :--- | :---: | --- | ---: |")
    for n in range(1, len(truth.needs) + 1):
        yield f"| {number}-REQ-{n}.1 | TS-{number}-{n} | 1 | `tests/a{n}.py::a\\|b` |"
    yield ""


def _prd(truth: Truth, number: str, spelling: Spelling) -> Iterator[str]:
    yield from (heading(1, f"PRD: {truth.title}", spelling), "")
    yield from noise(spelling, ("| Spec | From Group | To Group |", "|---|---|---|", "| 96_sample | 1 | 1 |"))
    if truth.waits:
        yield from (heading(2, "Dependencies", spelling), "")
        edge = spelling.pick("| ", "|")
        yield f"{edge}Spec | From Group | To Group | Relationship |"
        yield "|---|---|---|---|"
        for wait in truth.waits:
            yield f"{edge}{_cell(wait.spec, spelling)} | {_groups(wait, spelling)} | uses a \\| b of it |"
        yield ""


def _cell(name: str, spelling: Spelling) -> str:
    return spelling.pick(name, f"`{name}`", f"**{name}**")


def _groups(wait: Wait, spelling: Spelling) -> str:
    source = str(wait.from_group) if wait.from_group else spelling.pick("All groups complete", "0", "\u2014", "(all)")
    target = str(wait.to_group) if wait.to_group else spelling.pick("-", "0", "")
    return f"{source} | {target}"
