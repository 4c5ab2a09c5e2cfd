"""Rules about what tasks wait for: an order that a plan cannot keep, and circles. What is not there is stale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from agent_fox.specs.lint.values import Found, Level, SpecRule

if TYPE_CHECKING:
    from agent_fox.core.spec import Group, Spec
    from agent_fox.specs.lint.world import Case


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


TASK_ORDER = (
    SpecRule(
        "task-order",
        Level.WARNING,
        "A task waits for one whose group comes later: groups are built in the order of the file.",
        "Move the task or the group, or take the words out.",
        check=later_group,
    ),
    SpecRule(
        "task-circle",
        Level.WARNING,
        "Tasks of one group wait for each other in a circle.",
        "Take one of the dependencies out.",
        check=task_circle,
    ),
)
