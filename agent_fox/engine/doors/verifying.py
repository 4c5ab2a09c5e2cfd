"""`verify`: one checkout, its settings and what changed in it, become a plan that is run and reported. No session."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.engine.planning.from_settings import state_folder
from agent_fox.system import git
from agent_fox.system.clock import new_id
from agent_fox.system.git import GitError
from agent_fox.system.redaction.masking import secret_values
from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.system.state_folders import artifacts_in, caches_in, folder_of
from agent_fox.verifier.artifacts.retention import prune
from agent_fox.verifier.dispositions.flaky import FlakyList, Sighting, read_flaky, write_flaky
from agent_fox.verifier.ground.disposition_facts import PROOF_RUNS
from agent_fox.verifier.ground.request import Prepared, Refused, Request
from agent_fox.verifier.ground.results import Status, Tool
from agent_fox.verifier.plans.baseline import compared
from agent_fox.verifier.plans.carried_out import Listener, PlanRun
from agent_fox.verifier.plans.seen_before import SeenBefore
from agent_fox.verifier.plans.steps import AUTO, Plan, PlanRules, Risk, choose, named
from agent_fox.verifier.plans.toolbox import Verifier
from agent_fox.verifier.policy.change_under_check import paths_and_change
from agent_fox.verifier.policy.discovery import belongs_to_tests
from agent_fox.verifier.profiles.context import RunContext, confirmed_profile
from agent_fox.verifier.profiles.loading import load_profile
from agent_fox.verifier.profiles.model import NetworkProfile, Profile
from agent_fox.verifier.profiles.narrowing import Allowed
from agent_fox.verifier.projects.detect import detected
from agent_fox.verifier.projects.facts import to_verify
from agent_fox.verifier.projects.manifests import Manifests
from agent_fox.verifier.reporting import comparison
from agent_fox.verifier.reporting.last_counts import noted
from agent_fox.verifier.reporting.report import ReportStatus, Step, StepOutcome, VerificationReport

if TYPE_CHECKING:
    from agent_fox.config import PlanOfSteps, Settings, VerifySettings
    from agent_fox.verifier.logs.registry import Parsers

MOST_CHANGED_TESTS = 20
RESOLVE_TOKEN = "AGENT_FOX_RESOLVE_TOKEN"
"""The variable with the token for the step that fetches dependencies; nothing else is given it."""

MAIN_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


class NothingToVerify(ValueError):
    """The folder holds no project that a profile is for. The text says what to do."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asked for on the command line, where it differs from the settings (None: as they say).

    is_fresh: nothing that was seen before is taken again.
    """

    plan: str | None = None
    base: str | None = None
    profile: str | None = None
    module: str | None = None
    reason: str = ""
    sandbox: str | None = None
    baseline: str | None = None
    format_apply: bool | None = None
    accepted: str | None = None
    network: str = NetworkProfile.NONE
    is_fresh: bool = False


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder to verify: its settings, the environment of the caller, and readers of logs."""

    root: Path
    settings: Settings
    environ: Mapping[str, str]
    parsers: Parsers

    @property
    def state(self) -> Path:
        """Our own folder for this checkout, outside of it."""
        return folder_of(state_folder(self.root, self.settings, self.environ), self.root)


@dataclass(frozen=True, slots=True)
class FlakyTests:
    """The list of flaky tests of a checkout: read when a run begins, added to when a rerun proves one."""

    file: Path
    commit: str

    def names(self) -> frozenset[str]:
        """Those on the list now. Raises FlakyListDamaged."""
        return self._current().names

    def add(self, name: str, evidence: str) -> None:
        sighting = Sighting(name, self.commit, datetime.now(UTC), PROOF_RUNS, evidence)
        write_flaky(self.file, self._current().seen(sighting))

    def _current(self) -> FlakyList:
        return read_flaky(self.file).decayed(datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class Verification:
    """A verification made ready: one plan for each profile, and what to do with the base commit."""

    checkout: Checkout
    runs: tuple[PlanRun, ...]
    baseline: str

    @property
    def plan(self) -> Plan:
        return self.runs[0].plan

    @property
    def profiles(self) -> tuple[str, ...]:
        return tuple(run.verifier.context.profile.id for run in self.runs)

    def report(self) -> VerificationReport:
        """Run everything; the report, kept among the artifacts, of which old ones are removed. Raises GitError."""
        reports = [self._with_baseline(run) for run in self.runs]
        whole = joined(reports)
        self.runs[0].verifier.keep(whole)
        verify = self.checkout.settings.verify
        days = verify.keep_days
        prune(artifacts_in(self.checkout.state), days, verify.keep_mib * 1024**2, run_days=days)
        return whole

    def _with_baseline(self, run: PlanRun) -> VerificationReport:
        resolved = self._resolved(run)
        report, context = run.report(), run.verifier.context
        outcomes = noted(self.checkout.state / "test_counts.json", (*resolved, *report.outcomes))
        report = replace(report, outcomes=outcomes)
        is_wanted = self.baseline == "always" or (
            self.baseline == "on_failure" and report.status is not ReportStatus.PASSED
        )
        if not is_wanted or not context.base or run.stop.is_set():
            return report
        return compared(report, context, self.checkout.state / "baselines")

    def _resolved(self, run: PlanRun) -> list[StepOutcome]:
        """Dependencies are fetched first, where the person allows a network for that."""
        if run.verifier.context.profile.policy.network is NetworkProfile.NONE:
            return []
        step = Step(Tool.RESOLVE)
        run.listener.begins(step)
        result = run.verifier.resolve(stop=run.stop)
        # A project that has no such step needs none: skipping it is no reason to doubt the rest.
        outcome = StepOutcome(replace(step, required=result.status is not Status.SKIPPED), result)
        run.listener.ended(outcome)
        return [outcome]


def verification(checkout: Checkout, wish: Wish, listener: Listener, stop: threading.Event) -> Verification:
    """Make a verification ready; nothing has run yet.

    Raises NothingToVerify, UnknownPlan, UnknownProfile, ProfileUnconfirmed, Refused and GitError for what a person can
    put right.
    """
    with git.serving(checkout.root):
        return _made_ready(checkout, wish, listener, stop)


def _made_ready(checkout: Checkout, wish: Wish, listener: Listener, stop: threading.Event) -> Verification:
    settings = checkout.settings.verify
    formats = settings.format_apply if wish.format_apply is None else wish.format_apply
    allowed = Allowed(NetworkProfile(wish.network), formats, settings.total_timeout)
    built_in = _profiles(checkout.root, wish.profile or settings.profile)
    profiles = [confirmed_profile(profile, checkout.root, allowed, wish.accepted) for profile in built_in]
    base = base_of(checkout.root, wish.base or settings.base)
    changed, change = paths_and_change(checkout.root, base) if base else ((), None)
    context = replace(_context(checkout, wish, profiles[0], base, changed), change=change)
    tests = changed_tests(Verifier(context), changed)
    plan = _plan(wish.plan or settings.plan, changed, settings, wish.module, tests)
    known = FlakyTests(checkout.state / "flaky.json", git.head(checkout.root) or "")
    listener = replace(listener, flaky=known.add)
    contexts = [replace(context, profile=profile) for profile in profiles]
    seen = _seen_before(checkout, wish, contexts, is_flaky=bool(known.names()))
    runs = [
        PlanRun(Verifier(context), plan, tests, known.names(), stop, listener, before)
        for context, before in zip(contexts, seen, strict=True)
    ]
    return Verification(checkout, tuple(_policy_once(runs)), wish.baseline or settings.baseline)


def _seen_before(
    checkout: Checkout, wish: Wish, contexts: Sequence[RunContext], *, is_flaky: bool
) -> list[SeenBefore | None]:
    """What was seen last time, by profile; nothing in CI, whose word is the last."""
    if checkout.environ.get("CI"):
        return [None] * len(contexts)
    folder, is_fresh = checkout.state / "seen", wish.is_fresh
    return [SeenBefore(each, folder / f"{each.profile.id}.json", is_flaky, is_fresh=is_fresh) for each in contexts]


def _policy_once(runs: Sequence[PlanRun]) -> list[PlanRun]:
    """The change is the same whichever profile looks at it."""
    first, *others = runs
    rest = tuple(step for step in first.plan.steps if step.tool is not Tool.STATIC_POLICY)
    return [first, *(replace(run, plan=replace(run.plan, steps=rest)) for run in others)]


def base_of(root: Path, wanted: str | None) -> str:
    """The full id of the commit that a change is compared with; empty outside of git or before the first commit.

    Raises GitError for a name that is no commit.
    """
    if not git.is_repository(root):
        return ""
    if wanted:
        base = git.commit_of(root, wanted)
        if base is None:
            raise GitError(f"{wanted!r} names no commit here; give --base or [verify] base a branch, tag or commit")
        return base
    head = git.head(root) or ""
    mains = (main for name in MAIN_BRANCHES if head and (main := git.commit_of(root, name)))
    return next((left for main in mains if (left := git.merge_base(root, head, main))), head)


def joined(reports: Sequence[VerificationReport]) -> VerificationReport:
    """The reports of several profiles as one."""
    first, *others = reports
    if not others:
        return first
    parts = [report.comparison for report in reports if report.comparison]
    return replace(
        first,
        profile=", ".join(report.profile for report in reports),
        outcomes=tuple(outcome for report in reports for outcome in report.outcomes),
        notes=tuple(note for report in reports for note in report.notes),
        comparison=comparison.joined(parts[0].base, parts) if parts else None,
    )


def _profiles(root: Path, wanted: str | None) -> list[Profile]:
    """The profile that was said, or those of the build systems here. Raises NothingToVerify, UnknownProfile."""
    if wanted:
        return [load_profile(wanted)]
    manifests = Manifests(root)
    systems = to_verify(manifests, detected(manifests).systems)
    ids = dict.fromkeys(system.profile for system in systems if system.root == ".")
    ids = ids or dict.fromkeys(system.profile for system in systems)
    if not ids:
        raise NothingToVerify(
            f"{root.name}: no build system is known by its manifests (pom.xml, build.gradle, package.json, "
            "pyproject.toml, manage.py, go.mod, Cargo.toml, CMakeLists.txt, meson.build, Makefile); --profile names one"
        )
    return [load_profile(id) for id in ids]


def changed_tests(verifier: Verifier, changed: Sequence[str]) -> tuple[str, ...]:
    """The files of tests among what changed, as far as their runner can be told to run them alone."""
    files = [path for path in changed if belongs_to_tests(path) and (verifier.context.root / path).is_file()]
    return tuple(path for path in files[:MOST_CHANGED_TESTS] if _can_select(verifier, path))


def _can_select(verifier: Verifier, path: str) -> bool:
    try:
        return isinstance(verifier.available(Request(Tool.SELECTED_TEST, selector=path)), Prepared)
    except Refused:
        return False


def _plan(
    name: str, changed: Sequence[str], settings: VerifySettings, module: str | None, tests: Sequence[str]
) -> Plan:
    rules = PlanRules(
        tuple(settings.documents),
        tuple(settings.interfaces),
        {name: _steps(own) for name, own in settings.plans.items()},
        Risk(settings.least_risk),
    )
    plan = choose(changed, rules, tests) if name == AUTO else named(name, rules, tests)
    return replace(plan, steps=tuple(_in_module(step, module) for step in plan.steps))


def _steps(own: PlanOfSteps) -> tuple[Step, ...]:
    return (*(Step(Tool(name)) for name in own.required), *(Step(Tool(name), required=False) for name in own.optional))


def _in_module(step: Step, module: str | None) -> Step:
    return step if step.tool is Tool.STATIC_POLICY else replace(step, module=module)


def _context(checkout: Checkout, wish: Wish, profile: Profile, base: str, changed: Sequence[str]) -> RunContext:
    settings = checkout.settings.verify
    messages = git.messages(checkout.root, base, "HEAD") if base else ""
    return RunContext(
        run=new_id(),
        attempt=1,
        root=checkout.root,
        artifacts=artifacts_in(checkout.state),
        profile=profile,
        sandbox=SandboxMode(wish.sandbox or settings.sandbox),
        advisories=checkout.root / settings.advisories if settings.advisories else None,
        seconds=settings.total_timeout,
        memory=settings.memory_mib * 1024**2,
        processes=settings.processes,
        allow_format_apply=profile.policy.allow_source_mutation,
        secrets=secret_values(checkout.environ),
        token=checkout.environ.get(RESOLVE_TOKEN, ""),
        base=base,
        files_changed=frozenset(changed),
        stated=f"{messages}\n{wish.reason}".strip(),
        caches=caches_in(checkout.state),
        parsers=checkout.parsers,
    )
