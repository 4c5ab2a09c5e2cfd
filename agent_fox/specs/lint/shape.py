"""Rules about sizes and order: groups, requirements, checkpoints, what tasks wait for. Texts are not judged here."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from agent_fox.core.spec import TaskState
from agent_fox.specs.detection import OPENSPEC, SPEC_KIT

if TYPE_CHECKING:
    from agent_fox.core.spec import Criterion
    from agent_fox.specs.lint.world import Case

_TROUBLE = ("error", "fail", "invalid", "reject", "missing", "unavailable", "timeout", "refuse", "unauthori", "malform")
_FINER = {SPEC_KIT: 2, OPENSPEC: 2}
"""Dialects whose tasks are smaller: a file each. So many times as many of them are one group's."""


def task_order(case: Case) -> Iterator[tuple[str, str]]:
    """A task that waits for one of a group that comes later, or for that group: groups are built one after another."""
    groups = case.spec.groups
    places = {str(group.number): place for place, group in enumerate(groups)}
    places |= {task.number: place for place, group in enumerate(groups) for task in group.subtasks}
    for own, group in enumerate(groups):
        for task in group.subtasks:
            later = [name for name in task.after if places.get(name, own) > own]
            if later:
                what = f"{task.number} waits for {', '.join(later)}, but its group {group.number} is built before"
                yield f"task {task.number}", what


def task_circle(case: Case) -> Iterator[tuple[str, str]]:
    """Tasks of one group that wait for each other; the first circle of each group."""
    for group in case.spec.groups:
        own = {task.number for task in group.subtasks}
        waits = {task.number: [name for name in task.after if name in own] for task in group.subtasks}
        try:
            TopologicalSorter(waits).prepare()
        except CycleError as error:
            circle = list(error.args[1])
            yield f"task {circle[-1]}", f"tasks wait for each other: {' → '.join(reversed(circle))}"


def large_group(case: Case) -> Iterator[tuple[str, str]]:
    """More than one session can hold. What does not build a part may name everything: the tests alone, a check of all,
    the last group, which may be the only one."""
    limits, groups = case.world.settings, case.spec.groups
    most = limits.group_subtasks * _FINER.get(case.spec.dialect, 1)
    for group in groups:
        name, named = f"group {group.number}", len(group.requirements)
        if len(group.subtasks) > most:
            yield name, f"{name} has {len(group.subtasks)} subtasks; more than {most}"
        is_part = not (group.writes_tests_only or group.is_checkpoint or group is groups[-1])
        if is_part and named > limits.group_requirements:
            yield name, f"{name} names {named} requirements; more than {limits.group_requirements}"


def large_requirement(case: Case) -> Iterator[tuple[str, str]]:
    most = case.world.settings.requirement_parts
    for requirement in case.spec.requirements:
        parts = len(requirement.parts)
        if parts > most:
            what = f"requirement {requirement.id} has {parts} criteria and edge cases; more than {most}"
            yield requirement.id, what


def empty_group(case: Case) -> Iterator[tuple[str, str]]:
    """Neither subtasks, nor a line below the title, nor requirements that it or a row names. A checkpoint needs none of
    them, and who is ticked has no coder."""
    owners = {number for numbers in case.owners.values() for number in numbers}
    for group in case.spec.groups:
        has_text = sum(bool(line.strip()) for line in group.text.split("\n")) > 1
        is_filled = has_text or bool(group.subtasks or group.requirements) or group.number in owners
        if not (is_filled or group.is_checkpoint or group.state in (TaskState.DONE, TaskState.SKIPPED)):
            yield f"group {group.number}", f"group {group.number} has only a title"


def first_checkpoint(case: Case) -> Iterator[tuple[str, str]]:
    for group in case.spec.groups[:1]:
        if group.is_checkpoint:
            yield f"group {group.number}", f"group {group.number} is a checkpoint, and nothing stands before it"


def no_edge_case(case: Case) -> Iterator[tuple[str, str]]:
    """Neither an edge case nor a criterion about what goes wrong. Judged where the spec has either at all; spec-kit has
    edge cases of the whole spec."""
    if case.spec.dialect == SPEC_KIT or not case.spec.is_planned:
        return
    silent = [each for each in case.spec.requirements if not (each.edge_cases or any(map(_is_unwanted, each.parts)))]
    for requirement in silent if len(silent) < len(case.spec.requirements) else ():
        yield requirement.id, f"requirement {requirement.id} says nothing of what goes wrong"


def _is_unwanted(part: Criterion) -> bool:
    first, *others = part.text[:2000].lower().split() or [""]
    return first == "if" or any(word.startswith(_TROUBLE) for word in (first, *others))
