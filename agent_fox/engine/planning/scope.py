"""What of a plan can be run: without what only says what is there, and without what is broken, if that is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from agent_fox.config import FILE, Settings
from agent_fox.core.spec import Problem, Severity, Spec
from agent_fox.core.values import dataclass
from agent_fox.engine.planning.from_settings import RunRefused
from agent_fox.engine.planning.plan_reading import shape_of
from agent_fox.specs.planner import plan_of, without_broken

if TYPE_CHECKING:
    from agent_fox.core.graph import Plan


@dataclass(frozen=True, slots=True)
class Scope:
    """The plan that will be run, and the specs that were left out because they are broken: name to reason.

    `left_out` are those of them that could be read, `places` says where all of them lie; `unplanned` only say what is
    there.
    """

    plan: Plan
    broken: Mapping[str, str]
    left_out: tuple[Spec, ...] = ()
    unplanned: tuple[Spec, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)


def scope_of(plan: Plan, settings: Settings, *, skip_broken: bool) -> Scope:
    """Refuse a plan with errors, or leave the broken specs out, which then count as not proven.

    Errors of the settings are no spec's: they stay in the plan's problems, and `check_settings` refuses them.
    """
    errors = [problem for problem in plan.problems if problem.severity is Severity.ERROR]
    if not errors:
        return Scope(in_scope(plan), {}, unplanned=unplanned(plan))
    own = settings_errors(plan)
    if not skip_broken or any(problem.spec is None for problem in errors if problem not in own):
        remedy = "\nrepair that, or leave the broken specs out with --skip-broken" if errors != own else ""
        raise RunRefused(f"{in_lines(errors)}{remedy}")
    skipped = without_broken(plan)
    left_out = tuple(spec for spec in plan.specs if spec.name in skipped.reasons)
    left = plan_of(skipped.kept, own, shape_of(settings))
    return Scope(in_scope(left), skipped.reasons, left_out, unplanned(left), skipped.places)


def in_scope(plan: Plan) -> Plan:
    """The plan without specs that only say what is there, unless a verifier reads them."""
    passed_over = unplanned(plan)
    return replace(plan, specs=tuple(spec for spec in plan.specs if spec not in passed_over))


def unplanned(plan: Plan) -> tuple[Spec, ...]:
    """The specs that only say what is there, and that no verifier reads."""
    planned = {node.spec_name for node in plan.nodes}
    return tuple(spec for spec in plan.specs if spec.is_baseline and spec.name not in planned)


def settings_errors(plan: Plan) -> list[Problem]:
    return [problem for problem in plan.problems if problem.severity is Severity.ERROR and problem.where == str(FILE)]


def in_lines(problems: Iterable[Problem]) -> str:
    return "\n".join(f"{problem.where}: {problem.what}" for problem in problems)


def with_dependencies(plan: Plan, names: Iterable[str]) -> frozenset[str]:
    """The specs named, and everything that they depend on."""
    depends = {spec.name: [dependency.spec for dependency in spec.dependencies] for spec in plan.specs}
    needed: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting.extend(depends.get(name, []))
    return frozenset(needed)
