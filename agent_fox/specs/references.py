"""What a spec's dependency rows point at, found among the specs that were read. Drawing edges is not here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.core.words import nearest
from agent_fox.specs.files import error

if TYPE_CHECKING:
    from agent_fox.core.spec import Dependency, Problem, Spec

_NUMBER = regex(r"\d{1,9}(?=[_-]|$)")
_MOST_NAMES = 500


@dataclass(frozen=True, slots=True)
class Resolved:
    """Specs whose rows name folders, the rows that hold in the plan, and what was wrong with the others."""

    specs: tuple[Spec, ...]
    rows: dict[str, tuple[Dependency, ...]]
    problems: tuple[Problem, ...]


def resolve(specs: Iterable[Spec], broken: frozenset[str] = frozenset()) -> Resolved:
    """Find what each row means. Rows about `broken` specs are skipped: another problem reports those."""
    specs = tuple(specs)
    by_name = {spec.name: spec for spec in specs}
    by_number = _by_number((*by_name, *broken))
    by_title: dict[str, list[str]] = {}
    for name in (name for names in by_number.values() for name in names):
        by_title.setdefault(_NUMBER.sub("", name, count=1)[1:].replace("-", "_").casefold(), []).append(name)
    problems: list[Problem] = []
    rows: dict[str, tuple[Dependency, ...]] = {}
    resolved = []
    for spec in specs:
        if spec.is_withdrawn:
            resolved.append(spec)
            rows[spec.name] = ()
            continue
        named = [
            row if row.spec in by_name else _named(row, spec, by_number, by_title, problems)
            for row in spec.dependencies
        ]
        resolved.append(replace(spec, dependencies=tuple(dict.fromkeys(named))))
        rows[spec.name] = tuple(
            row for row in dict.fromkeys(named) if _holds(row, spec, by_name, by_number, broken, problems)
        )
    return Resolved(tuple(resolved), rows, tuple(problems))


def _by_number(names: Iterable[str]) -> dict[int, list[str]]:
    numbered: dict[int, list[str]] = {}
    for name in names:
        number = _number(name)
        if number is not None:
            numbered.setdefault(number, []).append(name)
    return numbered


def _named(
    row: Dependency,
    spec: Spec,
    by_number: Mapping[int, list[str]],
    by_title: Mapping[str, list[str]],
    problems: list[Problem],
) -> Dependency:
    """The row with the folder's name in place of a number, or of the name without it: `05_git_server` is called
    `git_server`, too, where no other is."""
    if not row.spec.isdecimal():
        titled = by_title.get(row.spec.replace("-", "_").casefold(), [])
        return replace(row, spec=titled[0]) if len(titled) == 1 else row
    meant = by_number.get(int(row.spec), [])
    if len(meant) > 1:
        what = f"{row.spec} is ambiguous: {' and '.join(meant)} have that number. Write the folder's name"
        problems.append(replace(error(row.where or spec.path, what), spec=spec.name))
    return replace(row, spec=meant[0]) if len(meant) == 1 else row


def _holds(
    row: Dependency,
    spec: Spec,
    by_name: Mapping[str, Spec],
    by_number: Mapping[int, list[str]],
    broken: frozenset[str],
    problems: list[Problem],
) -> bool:
    """Whether the row makes an edge. One that points nowhere is an error, unless what it names is done."""
    other = by_name.get(row.spec)
    if row.spec in broken or (other is not None and other.is_withdrawn):
        return False
    is_ambiguous = row.spec.isdecimal() and len(by_number.get(int(row.spec), ())) > 1
    wrong = None if is_ambiguous else _wrong(row, spec, other, by_name, by_number)
    if wrong is not None:
        problems.append(replace(error(row.where or spec.path, wrong), spec=spec.name))
    return wrong is None and not is_ambiguous and other is not None


def _wrong(
    row: Dependency,
    spec: Spec,
    other: Spec | None,
    by_name: Mapping[str, Spec],
    by_number: Mapping[int, list[str]],
) -> str | None:
    if other is None and row.is_archived:
        return None
    if other is None:
        return f"depends on {row.spec}, which is not there{_nearest(row.spec, by_name, by_number)}"
    if other.name == spec.name:
        return f"{spec.name} depends on itself; take the row out"
    for named, group in ((other, row.from_group), (spec, row.to_group)):
        if group is not None and group not in [g.number for g in named.groups]:
            return f"names group {group} of {named.name}, which has {_groups(named)}. Correct the row"
    return None


def _nearest(name: str, by_name: Mapping[str, Spec], by_number: Mapping[int, list[str]]) -> str:
    """The name that may be meant: one of the same number, else the most alike, where that is not too long a search."""
    number = _number(name)
    near = next(iter(by_number.get(number, ())), "") if number is not None else ""
    if not near and len(by_name) <= _MOST_NAMES:
        near = nearest(name, by_name)
    return f". Did you mean {near}?" if near else ". Add it, or correct the row"


def _groups(spec: Spec) -> str:
    numbers = [str(group.number) for group in spec.groups]
    return f"groups {', '.join(numbers)}" if numbers else "no groups"


def _number(name: str) -> int | None:
    match = _NUMBER.match(name)
    return int(match[0]) if match else None
