"""Whose work a failing requirement is: which task groups go back to their coders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent_fox.core.spec import Group, Requirement, Spec


@dataclass(frozen=True, slots=True)
class Ownership:
    """Which groups own each expected id, in plan order. `fallback` is the verifier's direct coder predecessor."""

    owners: Mapping[str, tuple[int, ...]]
    fallback: tuple[int, ...]

    def of(self, part: str) -> tuple[int, ...]:
        return self.owners.get(part) or self.fallback


def ownership(spec: Spec) -> Ownership:
    """The blame map of a spec: traceability first, else the groups' own requirement lines, else the last group.

    A group that only writes tests is not blamed while another group implements the requirement.
    """
    groups = {group.number: group for group in spec.groups}
    owners: dict[str, tuple[int, ...]] = {}
    for requirement in spec.requirements:
        for part in requirement.parts:
            found = _traced(spec, requirement, part.id, groups) or _listed(requirement, part.id, groups)
            owners[part.id] = _implementers(found, groups)
    return Ownership(owners, (max(groups),) if groups else ())


def _traced(spec: Spec, requirement: Requirement, part: str, groups: Mapping[int, Group]) -> tuple[int, ...]:
    exact = _task_groups(spec, part, groups)
    return exact or _task_groups(spec, requirement.id, groups)


def _task_groups(spec: Spec, wanted: str, groups: Mapping[int, Group]) -> tuple[int, ...]:
    tasks = [task for trace in spec.traceability if trace.requirement == wanted for task in trace.tasks]
    return _in_order(_group_of(task) for task in tasks if _group_of(task) in groups)


def _group_of(task: str) -> int:
    head = task.partition(".")[0].strip()
    return int(head) if head.isdecimal() else 0


def _listed(requirement: Requirement, part: str, groups: Mapping[int, Group]) -> tuple[int, ...]:
    wanted = {part, requirement.id}
    return _in_order(group.number for group in groups.values() if wanted & _claims(group))


def _claims(group: Group) -> set[str]:
    return set(group.requirements).union(*(subtask.requirements for subtask in group.subtasks))


def _implementers(found: tuple[int, ...], groups: Mapping[int, Group]) -> tuple[int, ...]:
    implementing = tuple(number for number in found if not groups[number].writes_tests_only)
    return implementing or found


def _in_order(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(numbers)))


def blame(
    failing: Iterable[str],
    owned: Ownership,
    rerun: Mapping[str, tuple[int, ...]] | None = None,
    spent: frozenset[int] = frozenset(),
) -> tuple[int, ...]:
    """The groups that must run again, in plan order.

    `rerun` names, for a requirement that passed before, the groups that ran again since that PASS and were not blamed
    for its loss yet: they are blamed first, the owner after them. Groups in `spent` have no attempt left; they
    are passed over where the owner still has its turn.
    """
    suspects = rerun or {}
    blamed: set[int] = set()
    for part in failing:
        first = tuple(number for number in suspects.get(part, ()) if number not in spent)
        blamed.update(first or owned.of(part))
    return _in_order(blamed)
