"""A truth as a Kiro spec: criteria without ids, headings in any language, tasks indented or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from agent_fox.core.spec import Criterion, Group, Requirement, Spec, Subtask, TaskState
from tests.specs.made.agent_fox import task_marks
from tests.specs.made.references import listed
from tests.specs.made.spelling import Spelling, full_width, heading, noise
from tests.specs.made.telling import Made
from tests.specs.made.truth import Need, Phase, Task, Truth

Marked = TypeVar("Marked", Phase, Task)

WIDE_COLON, WIDE_COMMA = "\uff1a", "\uff0c"


@dataclass(frozen=True, slots=True)
class _Tongue:
    requirement: str
    introduction: str
    story: str
    criteria: str
    plan: str
    names: str
    every: str
    waits: str


_TONGUES = (
    _Tongue(
        "Requirement", "Introduction", "User Story", "Acceptance Criteria", "Plan", "Requirements", "all", "Depends"
    ),
    _Tongue("Requirement", "Overview", "Objective", "Acceptance Criteria", "Tasks", "Requirements", "All", "Depends"),
    _Tongue("要件", "はじめに", "目的", "受け入れ基準", "実装計画", "要件", "全要件", "依存"),
    _Tongue("需求", "简介", "用户故事", "验收标准", "实施计划", "需求", "全部", "依赖"),
    _Tongue(
        "Requisito", "Introducción", "Historia", "Criterios de aceptación", "Plan", "Requisitos", "todos", "Depende"
    ),
    _Tongue(
        "Anforderung", "Einleitung", "Geschichte", "Akzeptanzkriterien", "Plan", "Anforderungen", "alle", "Abhängig von"
    ),
    _Tongue("Требование", "Введение", "История", "Критерии приёмки", "План", "Требования", "все", "Зависит"),
)
_HEADINGS = (
    "{word} {n}: {title}",
    "{word} {n} - {title}",
    "{word} {n}\uff1a{title}",
    "{word}{wide}\uff1a{title}",
    "{n}. {title}",
    "{word} {n} \u2013 {title}",
)
_ITEMS = (
    "{n}. {text}",
    "{n}) {text}",
    "1. {text}",
    "{r}.{n} {text}",
    "{r}.{n}. {text}",
    "{b} {r}.{n} {text}",
    "{n}. **{text}**",
    "{b} **{r}.{n}** {text}",
    "{b} {text}",
    "**{r}.{n}** {text}",
    "{b} {r}.{n}: {text}",
)


def made(truth: Truth, spelling: Spelling) -> Made:
    name = f"{truth.word}-{truth.number}"
    folder = f".kiro/specs/{name}"
    tongue = spelling.pick(*_TONGUES)
    truth = replace(truth, waits=(), commands={})
    item = spelling.pick(*_ITEMS)
    has_legend = spelling.chance(0.3)
    files = {
        f"{folder}/requirements.md": spelling.document(_requirements(truth, tongue, item, spelling)),
        f"{folder}/tasks.md": spelling.document(_tasks(truth, tongue, spelling, has_legend)),
    }
    if spelling.chance(0.5):
        files[f"{folder}/design.md"] = spelling.document(["# Design", "", "## Overview", "", "- [ ] 1. Not a task"])
    meant = truth if has_legend else _queued(truth)
    return Made("kiro", folder, files, _spec(meant, name, folder, "{r}.{n}" in item), _marks(truth))


def _queued(truth: Truth) -> Truth:
    """Kiro writes `~` for a task that waits for its turn: it is open, where no legend says otherwise."""
    phases = (replace(phase, tasks=tuple(_open(task) for task in phase.tasks)) for phase in truth.phases)
    return replace(truth, phases=tuple(_open(phase) for phase in phases))


def _open(one: Marked) -> Marked:
    return replace(one, state=TaskState.OPEN) if one.state is TaskState.SKIPPED else one


def _spec(truth: Truth, name: str, folder: str, is_written: bool) -> Spec:
    """Criteria with numbers such as `1.2` have ids that are written; all others are implied."""
    requirements = tuple(_requirement(need, n) for n, need in enumerate(truth.needs, 1))
    ids = {requirement.id for requirement in requirements}
    implied = {tail for tail in truth.tails if ".E" in tail or not is_written}
    return Spec(
        name,
        "kiro",
        folder,
        requirements=requirements,
        groups=tuple(_group(phase, n) for n, phase in enumerate(truth.phases, 1)),
        implied=frozenset(ids | implied),
    )


def _requirement(need: Need, number: int) -> Requirement:
    criteria = tuple(Criterion(f"{number}.{n}", text) for n, text in enumerate(need.criteria, 1))
    edges = tuple(Criterion(f"{number}.E{n}", text) for n, text in enumerate(need.edges, 1))
    return Requirement(str(number), need.title, need.story, criteria, edges)


def _group(phase: Phase, number: int) -> Group:
    tasks = tuple(
        Subtask(f"{number}.{n}", t.title, t.state, t.is_optional, t.names, t.details, t.is_parallel, t.after)
        for n, t in enumerate(phase.tasks, 1)
    )
    names = dict.fromkeys([*phase.names, *(name for task in tasks for name in task.requirements)])
    return Group(
        number,
        phase.title,
        phase.state,
        phase.is_optional,
        subtasks=tasks,
        requirements=tuple(names),
        is_checkpoint=phase.is_checkpoint,
    )


def _marks(truth: Truth) -> dict[str, str]:
    parts = {tail: " ".join(text.split()[:2]) for tail, text in truth.texts.items()}
    groups = {f"group {n}": phase.title.split()[0] for n, phase in enumerate(truth.phases, 1)}
    return parts | groups | task_marks(truth.phases)


def _requirements(truth: Truth, tongue: _Tongue, item: str, spelling: Spelling) -> Iterator[str]:
    samples = (f"### {tongue.requirement} 9: Sample", "", "1. THE sample SHALL not count.")
    yield from (heading(1, spelling.pick("Requirements Document", tongue.names), spelling), "")
    yield from (heading(2, tongue.introduction, spelling), "", "It is about a depot. See 1.1 and 9.9.", "")
    yield from noise(spelling, samples)
    if spelling.chance(0.4):
        yield from (heading(2, "Glossary", spelling), "", "- **Depot**: a house", "- **Clerk**: one who counts", "")
    yield from (heading(2, tongue.names, spelling), "")
    level, title = spelling.pick(3, 3, 3, 4), spelling.pick(*_HEADINGS)
    is_labelled = any(need.edges for need in truth.needs) or item.startswith("{b} {text}") or spelling.chance(0.7)
    for n, need in enumerate(truth.needs, 1):
        words = title.format(word=tongue.requirement, n=n, wide=full_width(str(n)), title=need.title)
        yield from (heading(level, words, spelling), "")
        yield from (f"**{tongue.story}{spelling.pick(':', WIDE_COLON)}** {need.story}", "")
        if is_labelled:
            label = spelling.pick(heading(level + 1, tongue.criteria, spelling), f"**{tongue.criteria}**")
            yield from (label, "")
        yield from _items(need.criteria, n, item, spelling)
        if need.edges:
            yield from ("", heading(level + 1, "Edge Cases", spelling), "")
            yield from _items(need.edges, n, "{n}. {text}", spelling)
        yield ""
        if spelling.chance(0.2):
            yield from ("<!-- 77. THE sample SHALL not count. -->", "")


def _items(texts: tuple[str, ...], number: int, item: str, spelling: Spelling) -> Iterator[str]:
    for n, text in enumerate(texts, 1):
        line = item.format(r=number, n=n, b=spelling.bullet, text=text)
        yield from spelling.wrapped(line, "   ")
        if item.startswith(("{r}", "**")):
            yield ""


def _tasks(truth: Truth, tongue: _Tongue, spelling: Spelling, has_legend: bool) -> Iterator[str]:
    samples = ("- [ ] 9. A sample group", "  - [x] 9.1 A sample task", "    - _Requirements: 1.1_")
    yield from (heading(1, tongue.plan, spelling), "")
    yield from noise(spelling, samples)
    has_overview = spelling.chance(0.3)
    if has_overview:
        yield from (heading(2, "Overview", spelling), "", "- [ ] 8. Not a task, as the overview says", "")
    if has_overview or spelling.chance(0.4):
        yield from (heading(2, "Tasks", spelling), "")
    if has_legend:
        yield spelling.pick("`[~]` skipped, `[-]` begun", "- `[~]` = Skipped", "| `[~]` | スキップ |")
        yield ""
    dot, is_flat = spelling.pick(".", ".", ""), spelling.chance(0.3)
    for n, phase in enumerate(truth.phases, 1):
        yield from _phase(phase, n, dot, truth, tongue, spelling)
        for m, task in enumerate(phase.tasks, 1):
            yield from _task(task, f"{n}.{m}", 0 if is_flat else 1, truth, tongue, spelling)
            yield from ("",) if spelling.chance(0.3) else ()
        yield ""
        if spelling.chance(0.2):
            yield from noise(spelling, samples)
    if spelling.chance(0.3):
        yield from (heading(2, "Notes", spelling), "", "- Tasks marked with `*` are optional", "")


def _phase(phase: Phase, n: int, dot: str, truth: Truth, tongue: _Tongue, spelling: Spelling) -> Iterator[str]:
    star = "*" if phase.is_optional else ""
    line = f"{spelling.bullet} {spelling.box(phase.state)}{star} {n}{dot} {phase.title}"
    yield from spelling.wrapped(line, spelling.indent(1))
    if phase.names:
        yield spelling.indent(1) + _field(phase.names, truth, tongue, spelling)


def _task(task: Task, number: str, depth: int, truth: Truth, tongue: _Tongue, spelling: Spelling) -> Iterator[str]:
    indent, deeper = spelling.indent(depth), spelling.indent(depth + 1)
    before, behind = spelling.pick(("*", ""), ("", "*")) if task.is_optional else ("", "")
    early, late = spelling.pick(("(P) ", ""), ("", " (P)")) if task.is_parallel else ("", "")
    yield f"{indent}{spelling.bullet} {spelling.box(task.state)}{before} {number}{behind} {early}{task.title}{late}"
    yield from (f"{deeper}{spelling.bullet} {detail}" for detail in task.details)
    if task.names:
        yield deeper + _field(task.names, truth, tongue, spelling)
    if task.after:
        yield f"{deeper}{spelling.bullet} _{tongue.waits}{spelling.pick(': ', WIDE_COLON)}{', '.join(task.after)}_"


def _field(names: tuple[str, ...], truth: Truth, tongue: _Tongue, spelling: Spelling) -> str:
    if names == truth.tails and spelling.chance(0.3):
        return f"{spelling.bullet} _{tongue.names}: {tongue.every}_"
    written = listed(names, truth, spelling)
    return spelling.pick(
        f"{spelling.bullet} _{tongue.names}: {written}_",
        f"{spelling.bullet} _{tongue.names}{WIDE_COLON}{written.replace(',', WIDE_COMMA)}_",
        f"{spelling.bullet} _Requirements: {written}_",
        f"{spelling.bullet} **Validates: Requirements {written}**",
        f"{spelling.bullet} {tongue.names}: {written}",
    )
