"""A truth as an OpenSpec change with its deltas, or as a capability that says what is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent_fox.core.spec import Criterion, Group, Requirement, Spec, Subtask
from agent_fox.specs.common.task_lists import rolled_up
from tests.specs.made.agent_fox import task_marks
from tests.specs.made.spelling import Spelling, heading, noise
from tests.specs.made.telling import Made
from tests.specs.made.truth import Need, Phase, Task, Truth

_SAMPLES = (
    "### Requirement: Sample",
    "The sample SHALL not count.",
    "#### Scenario: Sample",
    "- **WHEN** x **THEN** y",
)


def made_change(truth: Truth, spelling: Spelling) -> Made:
    name = f"add-{truth.word}-{truth.number}"
    folder = f"openspec/changes/{name}"
    phases = tuple(phase for phase in truth.phases if phase.tasks)
    files = {
        f"{folder}/tasks.md": spelling.document(_tasks(phases, spelling)),
        f"{folder}/proposal.md": spelling.document(_proposal(truth, spelling)),
    }
    for capability, numbers in _capabilities(len(truth.needs), spelling).items():
        files[f"{folder}/specs/{capability}/spec.md"] = spelling.document(_deltas(truth, numbers, spelling))
    spec = Spec(
        name,
        "openspec",
        folder,
        truth.title,
        requirements=_requirements(truth),
        groups=tuple(_group(phase, n) for n, phase in enumerate(phases, 1)),
        implied=_implied(truth),
    )
    marks = {f"group {n}": phase.title.split()[0] for n, phase in enumerate(phases, 1)}
    return Made("openspec", folder, files, spec, _marks(truth) | marks | task_marks(phases), has_names=False)


def made_capability(truth: Truth, spelling: Spelling) -> Made:
    name = f"{truth.word}-{truth.number}"
    folder = f"openspec/specs/{name}"
    lines = [heading(1, f"{truth.title} Specification", spelling), "", "## Purpose", "", "To keep parcels.", ""]
    lines += [*noise(spelling, _SAMPLES), heading(2, "Requirements", spelling), ""]
    for need in truth.needs:
        lines += _need(need, spelling)
    spec = Spec(name, "openspec", folder, truth.title, _requirements(truth), implied=_implied(truth), is_baseline=True)
    return Made("openspec", folder, {f"{folder}/spec.md": spelling.document(lines)}, spec, _marks(truth))


def _capabilities(count: int, spelling: Spelling) -> dict[str, range]:
    """The numbers of the requirements in each capability, in the order of their names."""
    cut = spelling.rng.randint(1, count)
    parts = {"auth": range(1, cut + 1), "zone-b": range(cut + 1, count + 1)}
    return {name: numbers for name, numbers in parts.items() if numbers}


def _statement(need: Need) -> str:
    return f"The depot SHALL keep it: {need.story}"


def _requirements(truth: Truth) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(
            str(n),
            need.title,
            _statement(need),
            tuple(_part(f"{n}.{m}", need, text) for m, text in enumerate(_texts(need), 1)),
        )
        for n, need in enumerate(truth.needs, 1)
    )


def _part(identifier: str, need: Need, text: str) -> Criterion:
    """A scenario's text has the requirement's title and sentence too: with them, a verdict on it becomes void."""
    return Criterion(identifier, f"{need.title}\n{_statement(need)}\n{text}")


def _texts(need: Need) -> tuple[str, ...]:
    return need.criteria + need.edges


def _implied(truth: Truth) -> frozenset[str]:
    parts = {f"{n}.{m}" for n, need in enumerate(truth.needs, 1) for m, _ in enumerate(_texts(need), 1)}
    return frozenset({str(n) for n in range(1, len(truth.needs) + 1)} | parts)


def _marks(truth: Truth) -> dict[str, str]:
    return {str(n): need.title.split()[0] for n, need in enumerate(truth.needs, 1)}


def _group(phase: Phase, number: int) -> Group:
    tasks = tuple(
        Subtask(f"{number}.{n}", task.title, task.state, task.is_optional, details=task.details)
        for n, task in enumerate(phase.tasks, 1)
    )
    return Group(number, phase.title, rolled_up([task.state for task in tasks]), subtasks=tasks)


def _deltas(truth: Truth, numbers: range, spelling: Spelling) -> Iterator[str]:
    yield from (heading(1, "Delta for it", spelling), "") if spelling.chance(0.4) else ()
    yield from noise(spelling, _SAMPLES)
    yield from (heading(2, spelling.pick("ADDED Requirements", "Added Requirements"), spelling), "")
    is_changed = False
    for number in numbers:
        if number != numbers[0] and not is_changed and spelling.chance(0.3):
            is_changed = True
            yield from (heading(2, "MODIFIED Requirements", spelling), "")
        yield from _need(truth.needs[number - 1], spelling)


def _need(need: Need, spelling: Spelling) -> Iterator[str]:
    yield from (heading(3, f"Requirement: {need.title}", spelling), *spelling.pick(("",), ()))
    yield from spelling.wrapped(_statement(need), "")
    yield ""
    for text in _texts(need):
        title = spelling.pick(heading(4, "Scenario: Used", spelling), heading(4, "Scenario: 使う", spelling))
        yield from (title, *spelling.pick(("",), ()))
        yield from _steps(text, spelling)
        yield ""
        yield from ("<!-- #### Scenario: Sample -->", "") if spelling.chance(0.1) else ()


def _steps(text: str, spelling: Spelling) -> Iterator[str]:
    bullet, bold = spelling.bullet, spelling.pick("**", "**", "")
    match spelling.pick("list", "list", "prose", "code"):
        case "list":
            yield f"{bullet} {bold}WHEN{bold} used"
            yield from spelling.wrapped(f"{bullet} {bold}THEN{bold} {text}", "  ")
        case "prose":
            yield from spelling.wrapped(f"{bold}WHEN{bold} used {bold}THEN{bold} {text}", "")
        case _:
            yield from ("```gherkin", "When used", f"Then {text}", "```")


def _proposal(truth: Truth, spelling: Spelling) -> Iterator[str]:
    yield from (heading(1, f"Change: {truth.title}", spelling), "", "## Why", "", "It is needed.", "")
    yield from ("## What Changes", "", "- [ ] Nothing else", "", "## Impact", "", "- Affected specs: `auth`")


def _tasks(phases: tuple[Phase, ...], spelling: Spelling) -> Iterator[str]:
    samples = ("## 9. Sample", "- [ ] 9.1 A sample task")
    yield from (heading(1, "Tasks", spelling), "") if spelling.chance(0.5) else ()
    yield from noise(spelling, samples)
    form = spelling.pick("{n}. {title}", "{n}. {title}", "Phase {n}: {title}")
    level = spelling.pick(2, 2, 3)
    for n, phase in enumerate(phases, 1):
        yield from (heading(level, form.format(n=n, title=phase.title), spelling), "")
        for m, task in enumerate(phase.tasks, 1):
            yield from _task(replace(task, title=task.title), f"{n}.{m}", spelling)
        yield ""


def _task(task: Task, number: str, spelling: Spelling) -> Iterator[str]:
    star = "*" if task.is_optional else ""
    line = f"{spelling.bullet} {spelling.box(task.state)}{star} {number} {task.title}"
    yield from spelling.wrapped(line, "  ")
    yield from (f"{spelling.indent(1)}{spelling.bullet} {detail}" for detail in task.details)
