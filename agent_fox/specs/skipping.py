"""What is left of a plan's specs when broken ones are skipped, and why the others are not. Planning is not here."""

from __future__ import annotations

from dataclasses import dataclass

from agent_fox.core.graph import Plan
from agent_fox.core.spec import Severity, Spec


@dataclass(frozen=True, slots=True)
class Skipped:
    """The specs that can be planned, and for every other one why it is left out: it counts as not proven."""

    kept: tuple[Spec, ...]
    reasons: dict[str, str]


def without_broken(plan: Plan) -> Skipped:
    """Leave out every spec with an error, and whatever depends on one: it could never start."""
    reasons: dict[str, str] = {}
    for problem in plan.problems:
        if problem.severity is Severity.ERROR and problem.spec:
            reasons.setdefault(problem.spec, f"{problem.where}: {problem.what}")
    left = [spec for spec in plan.specs if spec.name not in reasons]
    while held := _first_held(left, reasons):
        spec, cause = held
        reasons[spec.name] = f"depends on {cause}, which is left out"
        left.remove(spec)
    return Skipped(tuple(left), reasons)


def _first_held(specs: list[Spec], reasons: dict[str, str]) -> tuple[Spec, str] | None:
    for spec in specs:
        causes = [row.spec for row in spec.dependencies if row.spec in reasons]
        if causes and not spec.is_withdrawn:
            return spec, causes[0]
    return None
