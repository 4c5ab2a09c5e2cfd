"""Whose work a person says that requirements are, read against the plan as it is now. Where it stands is not here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import Problem, Severity
from agent_fox.core.words import did_you_mean

if TYPE_CHECKING:
    from agent_fox.core.plan.blame import Owned
    from agent_fox.core.spec import Group, Spec

_GROUP = regex(r"(?P<number>\d{1,9})(?:\.\s*(?P<title>.*))?")


def words_for(group: Group) -> str:
    """A group as a correction names it: `4. Checkout`. The title finds it again where it gets another number."""
    return f"{group.number}. {' '.join(group.title.split())}".strip()


def doubt(spec: Spec, owned: Owned | None, owner: str = "") -> str:
    """Where a requirement's owner is a guess: whose work it is taken for, by what, and who comes next; empty elsewhere.

    `owner`: how the owner is called; its groups where it is empty.
    """
    if owned is None or not owned.is_guess:
        return ""
    titles = {group.number: words_for(group) for group in spec.groups}
    owner = owner or f"group {', '.join(titles[number] for number in owned.groups)}"
    ground = f"That this is the work of {owner} is a guess, for no task names it: {owned.why}."
    runner_up = owned.guess.runner_up if owned.guess else None
    return (
        ground if runner_up is None else f"{ground} If it is not, it would next be that of group {titles[runner_up]}."
    )


def corrected(spec: Spec, corrections: Mapping[str, object], where: str) -> tuple[Spec, tuple[Problem, ...]]:
    """The spec with what a person says of its parts, and what of that does not hold any more. `where`: the file.

    `corrections`: id to a group or a list of them, each a number or its number and title. The id of a requirement
    stands for all its parts that have no line of their own.
    """
    problems: list[Problem] = []
    whole: dict[str, tuple[int, ...]] = {}
    own: dict[str, tuple[int, ...]] = {}
    parts = {requirement.id: [part.id for part in requirement.parts] for requirement in spec.requirements}
    expected = frozenset(spec.expected)
    for id, value in corrections.items():
        numbers = numbers_of(spec, value)
        if id not in expected and id not in parts:
            near = did_you_mean(id, sorted(expected))
            what = f"{spec.name}: nothing of it is called {id}{near}: its line is not used. Take it out"
            problems.append(Problem(Severity.WARNING, where, what, spec.name))
        elif isinstance(numbers, Problem):
            problems.append(replace(numbers, where=where, what=f"{spec.name}, {id}: {numbers.what}"))
        elif id in expected:
            own[id] = numbers
        else:
            whole |= dict.fromkeys(parts[id], numbers)
    return replace(spec, corrected={**whole, **own}), tuple(problems)


def numbers_of(spec: Spec, value: object) -> tuple[int, ...] | Problem:
    """The numbers of the groups as they are now, in plan order; or what is wrong."""
    named = value if isinstance(value, list) else [value]
    numbers: set[int] = set()
    for each in named:
        is_name = isinstance(each, int | str) and not isinstance(each, bool)
        match = _GROUP.fullmatch(" ".join(str(each).split())) if is_name else None
        if match is None:
            what = f"{each!r} names no group: write its number, or its number and title, such as 4 or '4. Checkout'"
            return Problem(Severity.ERROR, "", what, spec.name)
        number = number_of(spec.groups, int(match["number"]), match["title"])
        if number is None:
            what = f"there is no group {each} any more: not used. Name one that is there, or take the line out"
            return Problem(Severity.WARNING, "", what, spec.name)
        numbers.add(number)
    if not numbers:
        return Problem(Severity.ERROR, "", "an empty list names no group: take the line out", spec.name)
    return tuple(sorted(numbers))


def number_of(groups: Iterable[Group], number: int, title: str | None) -> int | None:
    """The group of that number and title, else of that title alone; of that number where no title is given."""
    words = {group.number: " ".join(group.title.split()) for group in groups}
    if title is None or words.get(number) == title:
        return number if number in words else None
    same = [other for other, its_title in words.items() if its_title == title]
    return same[0] if len(same) == 1 else None


def unknown_specs(names: Iterable[str], known: Iterable[str], where: str) -> Iterator[Problem]:
    """Tables for specs that are not there."""
    there = sorted(known)
    for name in names:
        if name not in there:
            what = f"there is no spec {name}{did_you_mean(name, there)}: its lines are not used"
            yield Problem(Severity.WARNING, where, what)
