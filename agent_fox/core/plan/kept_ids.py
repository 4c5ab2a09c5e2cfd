"""Ids that a source does not write are kept: what a requirement was known as before, it is known as again.

The dialect counts; what it counted is held against an earlier reading of the same spec. Reading and storing are not
here, and ids that the source writes are never touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.plan.recognition import Former, Match, all_ids, listed, recognised
from agent_fox.core.regex import regex
from agent_fox.core.spec import Criterion, Group, Problem, Severity, Spec

if TYPE_CHECKING:
    from agent_fox.core.plan.likeness import Pairs

_LAST_NUMBER = regex(r"\d{1,9}$")
_LONGEST_LIST = 12


def keep_ids(spec: Spec, former: Former) -> tuple[Spec, tuple[Problem, ...]]:
    """The spec under the ids that its texts had before, in everything that names them; and what a person should know.

    What is new gets a number that nothing ever had; what was rewritten past recognition keeps the id of its place.
    """
    if not spec.implied:
        return spec, ()
    match = recognised(spec, former)
    names = {**match.kept, **_new_names(spec, match.kept, _ever(spec, former))}
    moved = {counted: name for counted, name in names.items() if counted != name}
    problems = (*_told_moves(spec, moved, match), *_told_doubts(spec, names, match))
    return (renamed(spec, moved) if moved else spec), problems


def _ever(spec: Spec, former: Former) -> set[str]:
    """Ids that are no new thing's: what was ever used, with the requirements above, and what the source writes."""
    known = former.spec
    written = {*all_ids(spec), *spec.withdrawn} - spec.implied
    used = {*former.used, *all_ids(known), *known.withdrawn, *written}
    return used | {id.rpartition(".")[0] for id in used}


def _new_names(spec: Spec, kept: Mapping[str, str], ever: set[str]) -> Pairs:
    """Names for what was never there: the number as it is counted where nothing ever had it, else the next one."""
    names: Pairs = {}
    last = _last_numbers(ever)
    for requirement in spec.requirements:
        if requirement.id in spec.implied and requirement.id not in kept:
            names[requirement.id] = _unused(requirement.id, ever, last)
        home = names.get(requirement.id) or kept.get(requirement.id, requirement.id)
        for part in listed(requirement):
            if part.id in spec.implied and part.id not in kept:
                below = part.id.removeprefix(requirement.id) if part.id.startswith(f"{requirement.id}.") else ""
                names[part.id] = _unused(f"{home}{below}" if below else part.id, ever, last)
    return names


def _unused(id: str, ever: set[str], last: dict[str, int]) -> str:
    """The id, or the next of its row; from now on it was used."""
    row = _LAST_NUMBER.sub("", id)
    name = id if id not in ever else f"{row}{last.get(row, 0) + 1}"
    ever.add(name)
    if number := _LAST_NUMBER.search(name):
        last[row] = max(last.get(row, 0), int(number[0]))
    return name


def _last_numbers(ids: Iterable[str]) -> dict[str, int]:
    """The greatest number of each row of ids: `1.` of `1.1`, `1.2`; the empty row of `1`, `2`."""
    last: dict[str, int] = {}
    for id in ids:
        if match := _LAST_NUMBER.search(id):
            row = id[: match.start()]
            last[row] = max(last.get(row, 0), int(match[0]))
    return last


def renamed(spec: Spec, names: Mapping[str, str]) -> Spec:
    """The spec with other ids: its requirements', and wherever they are named. The files' own words stay."""

    def named(ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(names.get(id, id) for id in ids))

    def criteria(parts: Iterable[Criterion]) -> tuple[Criterion, ...]:
        return tuple(replace(part, id=names.get(part.id, part.id)) for part in parts)

    def group(one: Group) -> Group:
        subtasks = tuple(replace(task, requirements=named(task.requirements)) for task in one.subtasks)
        text = _with_key(one, names)
        return replace(one, subtasks=subtasks, requirements=named(one.requirements), text=text)

    return replace(
        spec,
        requirements=tuple(
            replace(
                requirement,
                id=names.get(requirement.id, requirement.id),
                criteria=criteria(requirement.criteria),
                edge_cases=criteria(requirement.edge_cases),
            )
            for requirement in spec.requirements
        ),
        groups=tuple(map(group, spec.groups)),
        traceability=tuple(replace(t, requirement=names.get(t.requirement, t.requirement)) for t in spec.traceability),
        withdrawn=_still_withdrawn(spec, names),
        implied=frozenset(names.get(id, id) for id in spec.implied),
        places={names.get(thing, thing): where for thing, where in spec.places.items()},
    )


def _with_key(group: Group, names: Mapping[str, str]) -> str:
    """The text of a group, which counts as the file does, with the ids that are meant: its reader writes tests."""
    listed = (group.requirements, *(task.requirements for task in group.subtasks))
    known = dict.fromkeys(f"{id} is {names[id]}" for ids in listed for id in ids if id in names)
    key = f"Requirements are numbered here as the file counts. By the ids they are known by: {', '.join(known)}."
    return f"{group.text}\n\n{key} Tests name these ids." if known else group.text


def _still_withdrawn(spec: Spec, names: Mapping[str, str]) -> tuple[str, ...]:
    """A number that was only counted, of something taken back, is not the name of what has that id now."""
    living = set(names.values())
    return tuple(id for id in spec.withdrawn if id not in living)


def _told_moves(spec: Spec, moved: Mapping[str, str], match: Match) -> Iterator[Problem]:
    """What goes by another id than the file counts, a line for each requirement."""
    for requirement in spec.requirements:
        ids = [id for id in (requirement.id, *(part.id for part in listed(requirement))) if id in moved]
        if not ids:
            continue
        known = ", ".join(f"{id} is {moved[id]}{'' if id in match.pairs else ' (new)'}" for id in ids[:_LONGEST_LIST])
        more = f" and {len(ids) - _LONGEST_LIST} more" if len(ids) > _LONGEST_LIST else ""
        what = f"not known by the number in the file: {known}{more}. Verdicts, waivers and tests go by the known id"
        yield _warning(spec, ids[0], what)


def _told_doubts(spec: Spec, names: Mapping[str, str], match: Match) -> Iterator[Problem]:
    """What was paired by its place alone, and what could not be paired."""
    for id in (part.id for part in spec.parts if part.id in match.rewritten or part.id in match.doubts):
        name, others = names[id], " and ".join(match.doubts.get(id, ()))
        why = f"its text is as near to that of {others}" if others else "its text is another one"
        if id in match.rewritten:
            what = f"taken for {name}, rewritten, because of its place: {why}. It is to be proven again; see its tests"
            yield _warning(spec, id, what)
        elif id not in match.pairs:
            yield _warning(spec, id, f"counts as new, as {name}: {why}. It is to be proven; see which tests name it")


def _warning(spec: Spec, id: str, what: str) -> Problem:
    return Problem(Severity.WARNING, spec.place(id), what, spec.name)
