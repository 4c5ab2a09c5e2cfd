"""Whose work a failing requirement is: which task groups go back to their coders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core.plan import guesses
    from agent_fox.core.plan.guesses import Guess
    from agent_fox.core.spec import Group, Spec
else:
    guesses = late_module("agent_fox.core.plan.guesses")


class Ground(StrEnum):
    """By what it is known whose work a requirement is, the surest first."""

    CORRECTED = "corrected"
    NAMED = "named"
    ALONE = "alone"
    GUESSED = "guessed"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Owned:
    """Whose work one requirement is, in plan order; no group where nobody was found. `guess`: only where it is one."""

    groups: tuple[int, ...]
    ground: Ground
    guess: Guess | None = None

    @property
    def is_guess(self) -> bool:
        return self.ground is Ground.GUESSED

    @property
    def why(self) -> str:
        """The ground in words, for a person."""
        match self.ground:
            case Ground.CORRECTED:
                return "a person says so"
            case Ground.NAMED:
                return "a task or a row names it"
            case Ground.ALONE:
                return "no other group makes anything"
            case Ground.NOBODY:
                return "no task names it, and none shares enough with it"
            case Ground.GUESSED:
                return self.guess.why if self.guess else ""


@dataclass(frozen=True, slots=True)
class Ownership:
    """Which groups own each expected id, in plan order. `fallback` is the verifier's direct coder predecessor.

    `grounds`: by what that is known of each id.
    """

    owners: Mapping[str, tuple[int, ...]]
    fallback: tuple[int, ...]
    grounds: Mapping[str, Owned] = field(default_factory=dict)

    def of(self, part: str) -> tuple[int, ...]:
        return self.owners.get(part) or self.fallback

    @property
    def unowned(self) -> tuple[str, ...]:
        """The ids of which nobody is found, in the order of the file: the last group is blamed for them."""
        return tuple(part for part, owners in self.owners.items() if not owners)

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Those, and the ids whose owner is a weak guess: what a failure goes through says more."""
        weak = {part for part, owned in self.grounds.items() if owned.guess and owned.guess.is_weak}
        return tuple(part for part, owners in self.owners.items() if not owners or part in weak)

    @property
    def guessed(self) -> tuple[str, ...]:
        """The ids whose owner is a guess, in the order of the file."""
        return tuple(part for part, owned in self.grounds.items() if owned.is_guess)


def ownership(spec: Spec) -> Ownership:
    """The blame map of a spec: a person's word, else what names the id (`named_owners`), else a guess, else the last
    group.
    """
    named = named_owners(spec)
    making = tuple(group.number for group in spec.groups if not group.is_checkpoint)
    unnamed = [part for part, groups in named.items() if not groups and part not in spec.corrected]
    guessed = guesses.guesses(spec, unnamed, named) if unnamed and len(making) > 1 else {}
    grounds: dict[str, Owned] = {}
    for part, groups in named.items():
        if part in spec.corrected:
            grounds[part] = Owned(spec.corrected[part], Ground.CORRECTED)
        elif groups:
            grounds[part] = Owned(groups, Ground.NAMED)
        elif len(making) == 1:
            grounds[part] = Owned(making, Ground.ALONE)
        elif part in guessed:
            grounds[part] = Owned((guessed[part].group,), Ground.GUESSED, guessed[part])
        else:
            grounds[part] = Owned((), Ground.NOBODY)
    return Ownership(
        {part: owned.groups for part, owned in grounds.items()}, tuple(g.number for g in spec.groups)[-1:], grounds
    )


def named_owners(spec: Spec) -> dict[str, tuple[int, ...]]:
    """The groups that the spec itself names for each id: its traceability, else the groups' own requirement lines; none
    where neither does.

    A group that only tests, verifies or documents is not blamed while another group implements the requirement.
    """
    groups = {group.number: group for group in spec.groups}
    traced, listed = _traced(spec, groups), _listed(spec)
    owners: dict[str, tuple[int, ...]] = {}
    for requirement in spec.requirements:
        for part in requirement.parts:
            numbers = traced.get(part.id) or traced.get(requirement.id)
            numbers = numbers or _in_order((*listed.get(part.id, ()), *listed.get(requirement.id, ())))
            several = numbers if len(numbers) > 1 else ()
            implementing = tuple(number for number in several if not guesses.only_checks(groups[number]))
            owners[part.id] = implementing or numbers
    return owners


def _traced(spec: Spec, groups: Mapping[int, Group]) -> dict[str, tuple[int, ...]]:
    """The groups whose tasks the rows of each id name."""
    groups_of: dict[str, list[int]] = {}
    for trace in spec.traceability:
        numbers = (number for task in trace.tasks if (number := _group_of(task)) in groups)
        groups_of.setdefault(trace.requirement, []).extend(numbers)
    return {id: _in_order(numbers) for id, numbers in groups_of.items()}


def _group_of(task: str) -> int:
    head = task.partition(".")[0].strip()
    return int(head) if head.isdecimal() else 0


def _listed(spec: Spec) -> dict[str, list[int]]:
    """The groups that name each id themselves."""
    groups_of: dict[str, list[int]] = {}
    for group in spec.groups:
        claims = set(group.requirements).union(*(subtask.requirements for subtask in group.subtasks))
        for id in claims:
            groups_of.setdefault(id, []).append(group.number)
    return groups_of


def _in_order(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(numbers)))


def blame(
    failing: Iterable[str],
    owned: Ownership,
    rerun: Mapping[str, tuple[int, ...]] | None = None,
    spent: frozenset[int] = frozenset(),
    bent: Mapping[str, tuple[int, ...]] | None = None,
    passed: Mapping[str, tuple[int, ...]] | None = None,
) -> tuple[int, ...]:
    """The groups that must run again, in plan order.

    `rerun` names, for a requirement that passed before, the groups that ran again since that PASS and were not blamed
    for its loss yet: they are blamed first, the owner after them. Groups in `spent` have no attempt left; they
    are passed over where the owner still has its turn. `bent` names, for a requirement whose test is at fault, the
    group that changed that test last: it comes before all others. `passed` names, for a requirement that nobody owns or
    whose owner is a weak guess, the group whose work its failure went through: it comes before the guess.
    """
    suspects, doubtful = {**(rerun or {}), **(bent or {})}, frozenset(owned.doubtful)
    blamed: set[int] = set()
    for part in failing:
        first = tuple(number for number in suspects.get(part, ()) if number not in spent)
        gone_through = (passed or {}).get(part) if part in doubtful or part not in owned.owners else None
        blamed.update(first or gone_through or owned.of(part))
    return _in_order(blamed)
