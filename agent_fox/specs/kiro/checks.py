"""What Kiro's JSON says of a spec, held against its documents: how far it was approved, in spec.json; and the task
graph of a tasks file, a block with `waves`, each a list of tasks that may run side by side. Both only warn.

Groups are built one after another, in the order of the file: that keeps to the waves, unless they sort whole groups
otherwise. Then it is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from agent_fox.specs.files import TextFile, warning
from agent_fox.specs.lines import Line

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem
    from agent_fox.specs.document import Markdown

_STEPS = ("requirements", "design", "tasks")


class _Approval(BaseModel, defer_build=True):
    generated: bool = False
    approved: bool = False


class _SpecJson(BaseModel, defer_build=True):
    phase: str = ""
    approvals: dict[str, _Approval | bool] = {}


def check_approvals(file: TextFile, *, has_tasks: bool) -> tuple[Problem, ...]:
    """What spec.json says against planning the spec now."""
    try:
        approvals = _SpecJson.model_validate_json(file.text)
    except ValidationError as wrong:
        reason = wrong.errors()[0]["msg"]
        return (warning(file.where, f"can't be read as Kiro's spec.json ({reason}): approvals are not known. Mend it"),)
    return tuple(_about_approvals(file.where, approvals, has_tasks))


def _about_approvals(where: str, approvals: _SpecJson, has_tasks: bool) -> Iterator[Problem]:
    if not has_tasks:
        phase = f"says phase {approvals.phase!r}, and there " if approvals.phase else "there "
        yield warning(where, f"{phase}are no tasks yet: nothing of it is built. Write tasks.md")
        return
    known = {step: approvals.approvals[step] for step in _STEPS if step in approvals.approvals}
    open_steps = [
        step
        for step, approval in known.items()
        if approval is False or (isinstance(approval, _Approval) and not approval.approved)
    ]
    if open_steps:
        what = f"{', '.join(open_steps)} not approved: planned all the same. Approve, or leave the spec out"
        yield warning(where, what)


_MOST_REPORTED, _LONGEST = 5, 40

_Tasks = list[str | int | float]


class _Wave(BaseModel, defer_build=True):
    tasks: _Tasks = Field(validation_alias=AliasChoices("tasks", "taskIds"))


class _Graph(BaseModel, defer_build=True):
    waves: list[_Tasks | _Wave]


def check_waves(markdown: Markdown, groups: Mapping[str, int]) -> Iterator[Problem]:
    """What a graph says that the plan does not do. `groups` has for each task's number that of its group, in the order
    of the file."""
    order = {group: place for place, group in enumerate(dict.fromkeys(groups.values()))}
    for line, text in _blocks(markdown.lines):
        try:
            graph = _Graph.model_validate_json(text)
        except ValidationError:
            what = "this task graph can't be read as JSON with `waves`: its order is not known. Mend it"
            yield warning(markdown.at(line), what)
            continue
        waves = [wave.tasks if isinstance(wave, _Wave) else wave for wave in graph.waves]
        yield from _remarks(markdown.at(line), [[str(task) for task in wave] for wave in waves], groups, order)


def _blocks(lines: tuple[Line, ...]) -> Iterator[tuple[int, str]]:
    """The first line and the text of each fenced block that has waves."""
    if not any('"waves"' in line.text for line in lines if line.is_code):
        return
    block: list[Line] = []
    for line in (*lines, Line(0, "", 0, False, None)):
        if line.is_code and not line.text.lstrip().startswith(("```", "~~~")):
            block.append(line)
        else:
            if any('"waves"' in inside.text for inside in block):
                yield block[0].number, "\n".join(inside.text for inside in block)
            block = []


def _remarks(
    where: str, waves: list[list[str]], groups: Mapping[str, int], order: Mapping[int, int]
) -> Iterator[Problem]:
    unknown: dict[str, None] = {}
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for place, wave in enumerate(waves):
        for task in wave:
            group = _group_of(task, groups)
            if group:
                first.setdefault(group, place)
                last[group] = place
            else:
                unknown[task[:20]] = None
    if unknown:
        names = ", ".join(islice(unknown, _MOST_REPORTED))
        yield warning(where, f"the task graph names {names}: no such task in this file. Correct the number")
    swapped = list(_swapped(sorted(first, key=order.__getitem__), first, last))
    if swapped:
        pairs = "; ".join(f"{early} before {late}" for early, late in swapped[:_MOST_REPORTED])
        what = f"the task graph has group {pairs}: they are built in the order of the file. Move them, if it matters"
        yield warning(where, what)


def _swapped(groups: Iterable[int], first: Mapping[int, int], last: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Groups all of whose tasks come before all those of another one, which stands above them in the file."""
    above = 0
    for group in groups:
        if above and last[group] < first[above]:
            yield group, above
        elif not above or first[group] > first[above]:
            above = group


def _group_of(task: str, groups: Mapping[str, int]) -> int:
    """The group of a task or of what stands below it: `1.2.1` is a part of `1.2`."""
    number = task[:_LONGEST].strip().rstrip(".*")
    while number and number not in groups:
        number = number.rpartition(".")[0]
    return groups.get(number, 0)
