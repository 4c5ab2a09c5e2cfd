"""What is left of a plan's specs when broken ones are skipped, and why the others are not. Planning is not here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import Severity, Spec
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core.graph import Plan

_LINE = regex(r":\d+$")


@dataclass(frozen=True, slots=True)
class Skipped:
    """The specs that can be planned, and for every other one why it is left out: it counts as not proven.

    `places` says where those that are left out lie, also one that could not be read at all.
    """

    kept: tuple[Spec, ...]
    reasons: dict[str, str]
    places: dict[str, str]


def without_broken(plan: Plan) -> Skipped:
    """Leave out every spec with an error, and whatever depends on one: it could never start."""
    reasons: dict[str, str] = {}
    places: dict[str, str] = {}
    for problem in plan.problems:
        if problem.severity is Severity.ERROR and problem.spec:
            reasons.setdefault(problem.spec, f"{problem.where}: {problem.what}")
            places.setdefault(problem.spec, _place(problem.where, problem.spec))
    left = [spec for spec in plan.specs if spec.name not in reasons]
    while held := next(_held(left, reasons), None):
        spec, cause = held
        reasons[spec.name] = f"depends on {cause}, which is left out"
        left.remove(spec)
    places |= {spec.name: spec.path for spec in plan.specs if spec.name in reasons}
    return Skipped(tuple(left), reasons, places)


def _held(specs: list[Spec], reasons: dict[str, str]) -> Iterator[tuple[Spec, str]]:
    """The specs that depend on one that is left out, each with the first such."""
    rows = ((spec, row) for spec in specs if not spec.is_withdrawn for row in spec.dependencies)
    return ((spec, row.spec) for spec, row in rows if row.spec in reasons)


def _place(where: str, name: str) -> str:
    """Where a spec lies of which only a trouble is known: the folder or file called as it is, else the file."""
    file = PurePosixPath(_LINE.sub("", where))
    called = (path for path in (*reversed(file.parents), file) if name in (path.name, path.stem))
    return next(called, file).as_posix()
