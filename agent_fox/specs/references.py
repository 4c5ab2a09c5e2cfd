"""What a spec's dependency rows point at, found among the specs that were read. Drawing edges is not here."""

from __future__ import annotations

from collections.abc import Iterable
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
    return _Resolving(tuple(specs), broken).resolved()


class _Resolving:
    """Knows every spec by its name, by its number, and by its name without the number; collects the problems."""

    def __init__(self, specs: tuple[Spec, ...], broken: frozenset[str]) -> None:
        self.broken = broken
        self.problems: list[Problem] = []
        self.by_name = {spec.name: spec for spec in specs}
        self.by_number: dict[int, list[str]] = {}
        self.by_title: dict[str, list[str]] = {}
        self.specs = specs
        for name in (*self.by_name, *broken):
            if (number := _number(name)) is not None:
                self.by_number.setdefault(number, []).append(name)
        for name in (name for names in self.by_number.values() for name in names):
            title = _NUMBER.sub("", name, count=1)[1:].replace("-", "_").casefold()
            self.by_title.setdefault(title, []).append(name)

    def resolved(self) -> Resolved:
        rows: dict[str, tuple[Dependency, ...]] = {}
        resolved = []
        for spec in self.specs:
            named = tuple(dict.fromkeys(() if spec.is_withdrawn else [self._named(r, spec) for r in spec.dependencies]))
            resolved.append(spec if spec.is_withdrawn else replace(spec, dependencies=named))
            rows[spec.name] = tuple(row for row in named if self._holds(row, spec))
        return Resolved(tuple(resolved), rows, tuple(self.problems))

    def _refuse(self, row: Dependency, spec: Spec, what: str) -> None:
        self.problems.append(error(row.where or spec.path, what, spec=spec.name))

    def _named(self, row: Dependency, spec: Spec) -> Dependency:
        """The row with the folder's name in place of a number, or of the name without it: `05_git_server` is called
        `git_server`, too, where no other is."""
        if row.spec in self.by_name:
            return row
        if not row.spec.isdecimal():
            meant = self.by_title.get(row.spec.replace("-", "_").casefold(), [])
        else:
            meant = self.by_number.get(int(row.spec), [])
            if len(meant) > 1:
                names = " and ".join(meant)
                self._refuse(row, spec, f"{row.spec} is ambiguous: {names} have that number. Write the folder's name")
        return replace(row, spec=meant[0]) if len(meant) == 1 else row

    def _holds(self, row: Dependency, spec: Spec) -> bool:
        """Whether the row makes an edge. One that points nowhere is an error, unless what it names is done."""
        other = self.by_name.get(row.spec)
        if row.spec in self.broken or (other is not None and other.is_withdrawn):
            return False
        is_ambiguous = row.spec.isdecimal() and len(self.by_number.get(int(row.spec), ())) > 1
        wrong = None if is_ambiguous else self._wrong(row, spec, other)
        if wrong is not None:
            self._refuse(row, spec, wrong)
        return wrong is None and not is_ambiguous and other is not None

    def _wrong(self, row: Dependency, spec: Spec, other: Spec | None) -> str | None:
        if other is None and row.is_archived:
            return None
        if other is None:
            return f"depends on {row.spec}, which is not there{self._nearest(row.spec)}"
        if other.name == spec.name:
            return f"{spec.name} depends on itself; take the row out"
        for named, group in ((other, row.from_group), (spec, row.to_group)):
            if group is not None and group not in [g.number for g in named.groups]:
                numbers = ", ".join(str(group.number) for group in named.groups)
                has = f"groups {numbers}" if numbers else "no groups"
                return f"names group {group} of {named.name}, which has {has}. Correct the row"
        return None

    def _nearest(self, name: str) -> str:
        """The name that may be meant: one of the same number, else the most alike, where that is not too long a
        search."""
        number = _number(name)
        near = next(iter(self.by_number.get(number, ())), "") if number is not None else ""
        if not near and len(self.by_name) <= _MOST_NAMES:
            near = nearest(name, self.by_name)
        return f". Did you mean {near}?" if near else ". Add it, or correct the row"


def _number(name: str) -> int | None:
    match = _NUMBER.match(name)
    return int(match[0]) if match else None
