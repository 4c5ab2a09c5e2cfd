"""Rules about sizes and order: groups, requirements, checkpoints, what tasks wait for. Texts are not judged here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from agent_fox.core.spec import Group, Spec, TaskState
from agent_fox.specs.detection import OPENSPEC, SPEC_KIT
from agent_fox.specs.lint.values import Found

if TYPE_CHECKING:
    from agent_fox.specs.lint.world import Case

_NO_TASKS_NEEDED = 1
_TROUBLE = ("error", "fail", "invalid", "reject", "missing", "unavailable", "timeout", "refuse", "unauthori", "malform")
_FINER = {SPEC_KIT: 2, OPENSPEC: 2}
"""Dialects whose tasks are smaller: a file each. So many times as many of them are one group's."""


def large_group(case: Case) -> Iterator[Found]:
    """More than one session can hold. A group that only writes tests names everything, and may."""
    limits = case.world.settings
    for group in case.spec.groups:
        place = case.spec.place(f"group {group.number}")
        most = limits.group_subtasks * _FINER.get(case.spec.dialect, 1)
        if len(group.subtasks) > most:
            yield Found(place, f"group {group.number} has {len(group.subtasks)} subtasks; more than {most}")
        if len(group.requirements) > limits.group_requirements and _builds(group, case):
            what = f"group {group.number} names {len(group.requirements)} requirements"
            yield Found(place, f"{what}; more than {limits.group_requirements}")


def _builds(group: Group, case: Case) -> bool:
    """Whether it builds a part: not the tests alone, not a check of everything, not the whole spec's only group."""
    is_last = group is case.spec.groups[-1]
    return not (group.writes_tests_only or group.is_checkpoint or is_last)


def large_requirement(case: Case) -> Iterator[Found]:
    most = case.world.settings.requirement_parts
    for requirement in case.spec.requirements:
        if len(requirement.parts) > most:
            what = f"requirement {requirement.id} has {len(requirement.parts)} criteria and edge cases"
            yield Found(case.spec.place(requirement.id), f"{what}; more than {most}")


def empty_group(case: Case) -> Iterator[Found]:
    """Neither subtasks, nor a line below the title, nor requirements that it or a row names. A checkpoint needs none of
    them, and who is ticked has no coder."""
    owners = {number for numbers in case.owners.values() for number in numbers}
    for group in case.spec.groups:
        lines = [line for line in group.text.split("\n") if line.strip()]
        is_filled = (
            bool(group.subtasks or group.requirements) or group.number in owners or len(lines) > _NO_TASKS_NEEDED
        )
        if not (is_filled or group.is_checkpoint or group.state in (TaskState.DONE, TaskState.SKIPPED)):
            yield Found(case.spec.place(f"group {group.number}"), f"group {group.number} has only a title")


def first_checkpoint(case: Case) -> Iterator[Found]:
    if case.spec.groups and case.spec.groups[0].is_checkpoint:
        number = case.spec.groups[0].number
        yield Found(case.spec.place(f"group {number}"), f"group {number} is a checkpoint, and nothing stands before it")


def no_edge_case(case: Case) -> Iterator[Found]:
    """Neither an edge case nor a criterion about what goes wrong. Judged where the spec has either at all; spec-kit has
    edge cases of the whole spec."""
    spec = case.spec
    if spec.dialect == SPEC_KIT:
        return
    unwanted = {r.id: bool(r.edge_cases) or any(_is_unwanted(part.text) for part in r.parts) for r in spec.requirements}
    if not spec.is_planned or not any(unwanted.values()):
        return
    for name, has in unwanted.items():
        if not has:
            yield Found(spec.place(name), f"requirement {name} says nothing of what goes wrong")


def _is_unwanted(text: str) -> bool:
    words = text[:2000].lower().split()
    return bool(words) and (words[0] == "if" or any(word.startswith(_TROUBLE) for word in words))


def later_group(case: Case) -> Iterator[Found]:
    """A task that waits for one of a group that comes later, or for that group: groups are built one after another."""
    places = _places(case.spec)
    for group, own in zip(case.spec.groups, range(len(case.spec.groups)), strict=True):
        for task in group.subtasks:
            later = [name for name in task.after if places.get(name, own) > own]
            if later:
                what = f"{task.number} waits for {', '.join(later)}, but its group {group.number} is built before"
                yield Found(case.spec.place(f"task {task.number}"), what)


def _places(spec: Spec) -> Mapping[str, int]:
    """Where in the order of groups a task or a group stands."""
    groups = {str(group.number): place for place, group in enumerate(spec.groups)}
    return groups | {task.number: place for place, group in enumerate(spec.groups) for task in group.subtasks}


def task_circle(case: Case) -> Iterator[Found]:
    """Tasks of one group that wait for each other; the first circle of each group."""
    for group in case.spec.groups:
        circle = _circle(group)
        if circle:
            what = f"tasks wait for each other: {' → '.join(reversed(circle))}"
            yield Found(case.spec.place(f"task {circle[-1]}"), what)


def _circle(group: Group) -> list[str]:
    own = {task.number for task in group.subtasks}
    waits = {task.number: [name for name in task.after if name in own] for task in group.subtasks}
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


SHAPE = {
    "task-order": later_group,
    "task-circle": task_circle,
    "large-group": large_group,
    "large-requirement": large_requirement,
    "empty-group": empty_group,
    "first-checkpoint": first_checkpoint,
    "no-edge-case": no_edge_case,
}
