"""A truth as one file of the plain dialect: Markdown or TOML, with no ids at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from agent_fox.core.spec import Criterion, Dependency, Group, Requirement, Spec, Subtask, TaskState
from tests.specs.made.references import listed
from tests.specs.made.spelling import Spelling, heading, noise
from tests.specs.made.telling import Made
from tests.specs.made.truth import Need, Phase, Task, Truth

_LABELS = {"spec_tests": "spec tests", "all_tests": "all tests"}
_STATES = {
    TaskState.OPEN: "open",
    TaskState.DONE: "done",
    TaskState.IN_PROGRESS: "in_progress",
    TaskState.SKIPPED: "skipped",
}


def made_markdown(truth: Truth, spelling: Spelling) -> Made:
    return _made(truth, "md", spelling.document(_markdown(truth, spelling)))


def made_toml(truth: Truth, spelling: Spelling) -> Made:
    return _made(truth, "toml", spelling.document(_toml(truth)))


def _made(truth: Truth, suffix: str, content: bytes) -> Made:
    """The file stands for the folder: it is the spec."""
    name = f"{truth.word}-{truth.number}"
    path = f".agent-fox/specs/{name}.{suffix}"
    requirements = tuple(_requirement(need, n) for n, need in enumerate(truth.needs, 1))
    spec = Spec(
        name,
        "plain",
        path,
        truth.title,
        requirements,
        tuple(_group(phase, n) for n, phase in enumerate(truth.phases, 1)),
        tuple(Dependency(wait.spec, wait.from_group, wait.to_group) for wait in truth.waits),
        test_commands=truth.commands,
        implied=frozenset({*(requirement.id for requirement in requirements), *truth.tails}),
    )
    return Made("plain", path, {path: content}, spec)


def _requirement(need: Need, number: int) -> Requirement:
    """What is said of the whole stands in the text of each of its criteria."""
    criteria = tuple(Criterion(f"{number}.{n}", f"{need.story}\n{text}") for n, text in enumerate(need.criteria, 1))
    edges = tuple(Criterion(f"{number}.E{n}", f"{need.story}\n{text}") for n, text in enumerate(need.edges, 1))
    return Requirement(str(number), need.title, need.story, criteria, edges)


def _group(phase: Phase, number: int) -> Group:
    tasks = tuple(
        Subtask(f"{number}.{n}", t.title, t.state, t.is_optional, t.names, t.details, t.is_parallel, t.after)
        for n, t in enumerate(phase.tasks, 1)
    )
    names = dict.fromkeys([*phase.names, *(name for task in tasks for name in task.requirements)])
    group = Group(number, phase.title, phase.state, phase.is_optional, subtasks=tasks, requirements=tuple(names))
    return replace(group, is_checkpoint=phase.is_checkpoint)


def _markdown(truth: Truth, spelling: Spelling) -> Iterator[str]:
    yield from (heading(1, f"Spec: {truth.title}", spelling), "")
    yield from noise(spelling, ("## Requirements", "- A sample", "## Tasks", "- [ ] 1. A sample"))
    yield from ("What it is for, in a few words.", "", heading(2, "Requirements", spelling), "")
    title = spelling.pick("{n}. {title}", "Requirement {n}: {title}")
    for n, need in enumerate(truth.needs, 1):
        yield from (heading(3, title.format(n=n, title=need.title), spelling), "", need.story, "")
        yield from _items(need.criteria, spelling)
        if need.edges:
            yield from ("", heading(4, "Edge cases", spelling), "")
            yield from _items(need.edges, spelling)
        yield ""
    if truth.phases:
        yield from (heading(2, "Tasks", spelling), "")
    for n, phase in enumerate(truth.phases, 1):
        yield from _phase(phase, n, truth, spelling)
        yield ""
    yield from _rest(truth, spelling)


def _items(texts: tuple[str, ...], spelling: Spelling) -> Iterator[str]:
    mark = spelling.pick("{n}.", "{n})", spelling.bullet)
    for n, text in enumerate(texts, 1):
        yield from spelling.wrapped(f"{mark.format(n=n)} {text}", "   ")


def _phase(phase: Phase, n: int, truth: Truth, spelling: Spelling) -> Iterator[str]:
    star = "*" if phase.is_optional else ""
    yield f"{spelling.bullet} {spelling.box(phase.state)}{star} {n}. {phase.title}"
    if phase.names:
        yield f"{spelling.indent(1)}{spelling.bullet} _Requirements: {listed(phase.names, truth, spelling)}_"
    for m, task in enumerate(phase.tasks, 1):
        yield from _task(task, f"{n}.{m}", truth, spelling)


def _task(task: Task, number: str, truth: Truth, spelling: Spelling) -> Iterator[str]:
    indent, deeper = spelling.indent(1), spelling.indent(2)
    star = "*" if task.is_optional else ""
    marks = " (parallel)" if task.is_parallel else ""
    marks += f" (after {', '.join(task.after)})" if task.after else ""
    yield f"{indent}{spelling.bullet} {spelling.box(task.state)}{star} {number} {task.title}{marks}"
    yield from (f"{deeper}{spelling.bullet} {detail}" for detail in task.details)
    if task.names:
        yield f"{deeper}{spelling.bullet} _Requirements: {listed(task.names, truth, spelling)}_"


def _rest(truth: Truth, spelling: Spelling) -> Iterator[str]:
    if truth.commands:
        yield from (heading(2, "Test commands", spelling), "")
        yield from (f"{spelling.bullet} {_LABELS[name]}: `{line}`" for name, line in truth.commands.items())
        yield ""
    if truth.waits:
        yield from (heading(2, "Depends on", spelling), "")
        for wait in truth.waits:
            source = f" group {wait.from_group}" if wait.from_group else ""
            target = f" before group {wait.to_group}" if wait.to_group else ""
            yield f"{spelling.bullet} {spelling.pick('{}', '`{}`').format(wait.spec)}{source}{target}"


def _toml(truth: Truth) -> Iterator[str]:
    yield f"title = {_quoted(truth.title)}"
    yield ""
    if truth.commands:
        yield "[test_commands]"
        yield from (f"{name} = {_quoted(line)}" for name, line in truth.commands.items())
        yield ""
    for need in truth.needs:
        yield from ("[[requirements]]", f"title = {_quoted(need.title)}", f"text = {_quoted(need.story)}")
        yield from (f"criteria = {_array(need.criteria)}", f"edge_cases = {_array(need.edges)}", "")
    for wait in truth.waits:
        yield from ("[[depends_on]]", f"spec = {_quoted(wait.spec)}")
        yield from (f"group = {wait.from_group}",) if wait.from_group else ()
        yield from (f"before_group = {wait.to_group}",) if wait.to_group else ()
    for phase in truth.phases:
        yield from _toml_phase(phase)


def _toml_phase(phase: Phase) -> Iterator[str]:
    yield from ("[[groups]]", f"title = {_quoted(phase.title)}", f'state = "{_STATES[phase.state]}"')
    yield from (f"optional = {_bool(phase.is_optional)}", f"requirements = {_array(phase.names)}", "")
    for task in phase.tasks:
        yield from ("[[groups.tasks]]", f"title = {_quoted(task.title)}", f'state = "{_STATES[task.state]}"')
        yield from (f"optional = {_bool(task.is_optional)}", f"parallel = {_bool(task.is_parallel)}")
        yield from (f"requirements = {_array(task.names)}", f"after = {_array(task.after)}")
        yield from (f"details = {_array(task.details)}", "")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _array(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _bool(value: bool) -> str:
    return str(value).lower()
