"""Everything that can be wrong before anything starts: found here, all at once, and nothing has happened yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_fox.config import AgentSettings, Settings
from agent_fox.core.graph import Plan
from agent_fox.core.spec import Problem, Severity
from agent_fox.session.backends import Backend
from agent_fox.session.landing import move
from agent_fox.session.order import Agent
from agent_fox.specs.dialects import Dialect
from agent_fox.specs.planner import PlanShape, plan_of
from agent_fox.specs.reader import find_specs, read_specs
from agent_fox.specs.skipping import without_broken
from agent_fox.system import git, git_objects
from agent_fox.system.git_objects import Conflict


class RunRefused(Exception):
    """The run does not start. Its text says what is wrong, where, and what to do; nothing has been changed."""


def shape_of(settings: Settings) -> PlanShape:
    plan = settings.plan
    return PlanShape(
        pre_review=plan.pre_review,
        drift_review=plan.drift_review,
        audit_review=plan.audit_review,
        verifier=plan.verifier,
        gate=settings.policy.gate,
        retry_predecessor=settings.retries_coders,
        overrides=settings.retry_overrides,
        optional_groups=plan.optional_groups,
    )


def read_plan(root: Path, settings: Settings, dialects: Iterable[Dialect], folder: str | None = None) -> Plan:
    """The plan as the files say it now. Raises SpecsMissing; everything else stands in its problems."""
    where = find_specs(root, folder or settings.plan.specs)
    specs, problems = read_specs(where, root, tuple(dialects))
    return plan_of(specs, problems, shape_of(settings))


@dataclass(frozen=True, slots=True)
class Scope:
    """The plan that will be run, and the specs that were left out because they are broken: name to reason."""

    plan: Plan
    broken: Mapping[str, str]


def scope_of(plan: Plan, settings: Settings, *, skip_broken: bool) -> Scope:
    """Refuse a plan with errors, or leave the broken specs out, which then count as not proven."""
    errors = [problem for problem in plan.problems if problem.severity is Severity.ERROR]
    if not errors:
        return Scope(plan, {})
    if not skip_broken or any(problem.spec is None for problem in errors):
        raise RunRefused(f"{told(errors)}\nrepair that, or leave the broken specs out with --skip-broken")
    skipped = without_broken(plan)
    return Scope(plan_of(skipped.kept, (), shape_of(settings)), skipped.reasons)


def told(problems: Iterable[Problem]) -> str:
    return "\n".join(f"{problem.where}: {problem.what}" for problem in problems)


def check_repository(root: Path, branch: str) -> str:
    """The commit that HEAD names. Raises RunRefused or GitError for what would stop a run half-way."""
    git.check_version()
    if not git.is_repository(root):
        raise RunRefused(f"{root} is not a git repository; run `git init` there and commit, or go to your repository")
    head = git.head(root)
    if head is None:
        raise RunRefused(f"{root} has no commit yet; commit what there is, then run again")
    checked_out = git.checked_out_at(root, branch)
    if checked_out is not None:
        raise RunRefused(
            f"the branch {branch} is checked out at {checked_out}; switch to another branch there (git switch -), "
            "since work lands on it while nobody looks"
        )
    unresolved = git.unresolved_submodules(root)
    if unresolved:
        raise RunRefused(f"submodules are not checked out: {', '.join(unresolved)}; run `git submodule update --init`")
    return head


def check_backends(settings: Settings, plan: Plan, backends: Mapping[str, Backend], root: Path) -> None:
    """Every agent that this plan may need must be there. Raises RunRefused naming each that is not."""
    missing = dict.fromkeys(
        f"[agents.{archetype}] {lack}"
        for archetype, agent in used_agents(settings, plan)
        for name in agent.backends
        if (lack := lacks(backends, name, agent, root)) is not None
    )
    if missing:
        raise RunRefused("\n".join(missing))


def used_agents(settings: Settings, plan: Plan) -> Iterable[tuple[str, AgentSettings]]:
    kinds = dict.fromkeys((node.archetype.value, node.spec_name) for node in plan.nodes)
    for archetype, spec_name in kinds:
        for rung in range(settings.rungs_of(archetype, spec_name) + 1):
            yield archetype, settings.agent_for(archetype, spec_name, rung)


def lacks(backends: Mapping[str, Backend], name: str, agent: AgentSettings, root: Path) -> str | None:
    backend = backends.get(name)
    if backend is None:
        known = ", ".join(sorted(backends))
        return f"backend {name!r} is not known; known are: {known}"
    return backend.missing(as_agent(agent, name), root)


def as_agent(agent: AgentSettings, backend: str) -> Agent:
    return Agent(backend, tuple(agent.command), agent.timeout, agent.environment, tuple(agent.inherit), agent.script)


def bring_in_head(root: Path, branch: str, head: str) -> str:
    """Make the integration branch from HEAD, or merge HEAD into it. Gives its tip. Raises RunRefused on a conflict."""
    tip = git.commit_of(root, f"refs/heads/{branch}")
    if tip is None:
        git.move_ref(root, f"refs/heads/{branch}", head, None)
        return head
    if git.is_ancestor(root, head, tip):
        return tip
    merged = head if git.is_ancestor(root, tip, head) else merge_head(root, branch, tip, head)
    if not move(root, branch, merged, tip):
        raise RunRefused(f"the branch {branch} was moved by someone else just now; run again")
    return merged


def merge_head(root: Path, branch: str, tip: str, head: str) -> str:
    merged = git_objects.merge(root, tip, head)
    if isinstance(merged, Conflict):
        raise RunRefused(
            f"HEAD and {branch} both changed {', '.join(merged.files)}; merge them yourself "
            f"(git switch {branch} && git merge {head[:12]} && git switch -), then run again"
        )
    message = f"Merge HEAD ({head[:12]}) into {branch}\n"
    return git_objects.commit_tree(root, merged.tree, [tip, head], message, git.identity(root))
