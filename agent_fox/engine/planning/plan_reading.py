"""The plan as the files say it now, under the ids known from before. What can be run of it is not asked here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.config import FILE, OWNERS, Settings
from agent_fox.core.ledger.gates import Gate
from agent_fox.core.spec import Problem, Severity
from agent_fox.core.words import did_you_mean
from agent_fox.evidence.spec_library import has_library
from agent_fox.specs.places import find_places
from agent_fox.specs.planner import PlanShape, plan_of
from agent_fox.specs.reader import read_specs
from agent_fox.system.state_folders import STATE

if TYPE_CHECKING:
    from agent_fox.core.graph import Plan
    from agent_fox.core.spec import Spec
    from agent_fox.specs.dialects import Dialect


def shape_of(settings: Settings) -> PlanShape:
    plan = settings.plan
    return PlanShape(
        pre_review=plan.pre_review,
        drift_review=plan.drift_review,
        audit_review=plan.audit_review,
        verifier=plan.verifier,
        final_review=Gate(settings.policy.required_state) is not Gate.TESTED,
        gate=settings.policy.gate,
        retry_predecessor=settings.retries_coders,
        overrides=settings.retry_overrides,
        optional_groups=plan.optional_groups,
        baseline=plan.baseline,
    )


def read_plan(root: Path, settings: Settings, dialects: Iterable[Dialect], places: Sequence[str] = ()) -> Plan:
    """The plan as the files say it now. Raises SpecsMissing; everything else stands in its problems.

    Ids that the files do not write are those that their texts were planned under before. Settings are held against the
    specs that they are about: not where other `places` are looked at.
    """
    where = find_places(root, places or settings.plan.places)
    counted, problems = read_specs(where, root, tuple(dialects), settings.specs.bare)
    specs, of_ids = known_before(counted, root)
    broken = None if places else [problem.spec for problem in problems if problem.spec]
    specs, of_owners = with_owners(specs, root, broken)
    of_library = library_problems([spec for spec in specs if has_library(spec, root)], root)
    plan = plan_of(specs, (*problems, *of_ids, *of_owners, *of_library), shape_of(settings))
    return plan if places else replace(plan, problems=(*plan.problems, *unknown_names(plan, settings)))


def known_before(specs: tuple[Spec, ...], root: Path) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """The specs under the ids that they were planned under before; see `earlier`."""
    if not any(spec.implied for spec in specs) or not (root / STATE).is_file():
        return specs, ()
    from agent_fox.engine.planning.known_ids import with_kept_ids  # noqa: PLC0415 - heavy: it reads the state

    return with_kept_ids(specs, root)


def with_owners(
    specs: tuple[Spec, ...], root: Path, others: Iterable[str] | None
) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """The specs with what a person says of whose work their requirements are; `others` as in `with_corrections`."""
    if not (root / OWNERS).is_file():
        return specs, ()
    from agent_fox.engine.planning.owners_file import with_corrections  # noqa: PLC0415 - few repositories have any

    return with_corrections(specs, root, others)


def library_problems(specs: Sequence[Spec], root: Path) -> list[Problem]:
    """What is wrong with the specifications that these specs ask for."""
    if not specs:
        return []
    from agent_fox.evidence.library_files import read_spec_library  # noqa: PLC0415 - heavy, and few specs ask for any

    return [problem for spec in specs for problem in read_spec_library(spec, root)[1]]


def unknown_names(plan: Plan, settings: Settings) -> Iterator[Problem]:
    """Tables of the settings for a spec or node that there is none of. Of a broken spec no node is known."""
    planned = {node.spec_name for node in plan.nodes}
    specs = {spec.name for spec in plan.specs} | {problem.spec for problem in plan.problems if problem.spec}
    nodes = {node.id for node in plan.nodes}
    for name in settings.specs.named:
        if name not in specs:
            yield unknown_name(f"specs.{name}", "spec", name, specs)
    for name in settings.nodes:
        spec = name.partition(":")[0]
        if name not in nodes and (spec in planned or spec not in specs):
            yield unknown_name(f'nodes."{name}"', "node", name, nodes)


def unknown_name(table: str, kind: str, name: str, known: Iterable[str]) -> Problem:
    return Problem(Severity.ERROR, str(FILE), f"[{table}]: there is no such {kind}{did_you_mean(name, sorted(known))}")
