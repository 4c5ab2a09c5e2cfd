"""The table of all rules, and how they are asked. docs/lint.md carries the table; a test holds the two together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.specs.lint.problems import PROBLEM_RULES, problem_findings
from agent_fox.specs.lint.repairs import REPAIRS
from agent_fox.specs.lint.shape import SHAPE
from agent_fox.specs.lint.stale import STALE
from agent_fox.specs.lint.task_order import TASK_ORDER
from agent_fox.specs.lint.tracing import TRACING
from agent_fox.specs.lint.values import Finding, Level, PlanRule, Rule, SpecRule
from agent_fox.specs.lint.wording import WORDING
from agent_fox.specs.lint.world import Case, World

if TYPE_CHECKING:
    from agent_fox.core.spec import Spec

RULES: tuple[Rule, ...] = (*PROBLEM_RULES, *TRACING, *TASK_ORDER, *SHAPE, *WORDING, *STALE, *REPAIRS)

_NO_REPOSITORY = "the files of the repository are not here"


@dataclass(frozen=True, slots=True)
class Report:
    """All findings, in the order of files and lines. `not_checked`: rules that could not run, and why. `specs`: how
    many the findings are about."""

    findings: tuple[Finding, ...]
    not_checked: tuple[tuple[str, str], ...] = ()
    specs: int = 0

    def count(self, level: Level) -> int:
        return sum(finding.level is level for finding in self.findings)


def lint(world: World, asked: Iterable[Rule] = RULES) -> Report:
    """Ask every rule that is not switched off. Nothing is raised for what files hold."""
    off = frozenset(world.settings.off)
    rules = [rule for rule in asked if rule.id not in off]
    able = [rule for rule in rules if world.is_repository or not rule.needs_repository]
    names = {rule.id for rule in rules}
    findings = [finding for finding in problem_findings(world) if finding.rule in names]
    seen: set[str] = set()
    for spec in world.plan.specs:
        findings += _of_spec(Case(world, spec, spec.path not in seen), able)
        seen.add(spec.path)
    for rule in able:
        if isinstance(rule, PlanRule):
            findings += (rule.finding(place, None) for place in rule.check(world))
    left = tuple((rule.id, _NO_REPOSITORY) for rule in rules if rule not in able)
    return Report(tuple(sorted(dict.fromkeys(findings), key=_place)), left, len(world.plan.specs))


def _of_spec(case: Case, rules: Iterable[Rule]) -> Iterator[Finding]:
    """A spec that was taken back is history: nothing of it is judged."""
    if case.spec.is_withdrawn:
        return
    for rule in rules:
        if isinstance(rule, SpecRule):
            yield from (rule.finding(place, case.spec.name) for place in rule.check(case))


def _place(finding: Finding) -> tuple[str, int, str, str]:
    return finding.path, finding.line, finding.rule, finding.what


def unknown_rules(names: Iterable[str]) -> tuple[str, ...]:
    known = {rule.id for rule in RULES}
    return tuple(name for name in names if name not in known)


def below(report: Report, paths: Iterable[str], specs: Iterable[Spec]) -> Report:
    """What is about the paths (relative to the root) and the specs that lie there; all of it for the root itself."""
    wanted, there = tuple(paths), tuple(specs)
    named = {spec.name for spec in there if _is_below(spec.path, wanted)}
    kept = [f for f in report.findings if f.spec in named or _is_below(f.path, wanted)]
    looked_at = [spec for spec in there if spec.name in named or any(_is_below(path, (spec.path,)) for path in wanted)]
    return Report(tuple(kept), report.not_checked, len(looked_at))


def _is_below(path: str, wanted: tuple[str, ...]) -> bool:
    return any(place in (".", path) or path.startswith(f"{place}/") for place in wanted)
