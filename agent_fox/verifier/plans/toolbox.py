"""The verifier's tools over one workspace: what is asked for is prepared, run, read, judged and kept.

A client only ever says a tool, a module and a test; all else is the platform's (`context`).
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.system.own_folders import made_folder, own_folder
from agent_fox.system.sandbox.bubblewrap import SandboxMissing
from agent_fox.verifier.artifacts.index import ArtifactError
from agent_fox.verifier.artifacts.kept_results import keep_report, keep_result, last_report
from agent_fox.verifier.artifacts.store import ArtifactStore
from agent_fox.verifier.dispositions.disposing import Surroundings, disposed, end_of
from agent_fox.verifier.ground.request import Prepared, Refused, Request, Unavailable
from agent_fox.verifier.ground.results import Artifact, ArtifactKind, FailureKind, Tool, VerificationResult
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reading import Run, read_run
from agent_fox.verifier.logs.status import Ending
from agent_fox.verifier.plans.formatting import Contents, difference, read_contents
from agent_fox.verifier.plans.policy_step import check_policy
from agent_fox.verifier.profiles.context import Report, RunContext, no_report
from agent_fox.verifier.profiles.network import as_prepared, resolve_step
from agent_fox.verifier.profiles.prepare import prepare
from agent_fox.verifier.projects.detect import detect
from agent_fox.verifier.projects.facts import declared_packages
from agent_fox.verifier.projects.skipping import refuse_skipping
from agent_fox.verifier.running.build_caches import cache_of
from agent_fox.verifier.running.execution import Bench, Executed, execute
from agent_fox.verifier.running.guarded import OutsideWorkspace, Slots
from agent_fox.verifier.running.summing_up import (
    Hidden,
    errored,
    not_run,
    of_log,
    refused,
    result_of_run,
    without_data_of_tests,
)
from agent_fox.verifier.source.build_copy import BuildCopy, TooLarge
from agent_fox.verifier.source.watch import SourceMissing, TreeState

if TYPE_CHECKING:
    import tempfile

    from agent_fox.verifier.profiles.model import Profile
    from agent_fox.verifier.projects.systems import Detection
    from agent_fox.verifier.reporting.report import VerificationReport
    from agent_fox.verifier.suites.recording import Recording

RESOLVE = Request(Tool.RESOLVE)
SEEN = "seen"
_MISSING = (FailureKind.DEPENDENCY_RESOLUTION_FAILURE, FailureKind.ENVIRONMENT_FAILURE)


class Verifier:
    """The tools of one attempt. May be used from several threads; commands beyond `at_once` wait for their turn."""

    def __init__(self, context: RunContext) -> None:
        self.context = context
        secrets = (*context.secrets, *([context.token] if context.token else []))
        self.store = ArtifactStore(context.artifacts, context.run, context.attempt, secrets)
        self._slots = Slots(context.at_once)
        self._numbers = itertools.count(len(self.store.listed()) + 1)
        self._lock = threading.Lock()
        self._spent = 0.0
        self._tree: TreeState | None = None
        self._copying = threading.Lock()
        self._copy: BuildCopy | None = None
        self._own_caches: tempfile.TemporaryDirectory[str] | None = None

    def profile(self) -> Profile:
        return self.context.profile

    @property
    def may_format(self) -> bool:
        """Whether source may be changed by the formatter: the person who started this and the profile both say so."""
        return self.context.allow_format_apply and self.context.profile.policy.allow_source_mutation

    def detect(self) -> Detection:
        """The build systems of the workspace, by their manifests."""
        return detect(self.context.root)

    def modules(self) -> tuple[str, ...]:
        """The modules of the build system that commands run in, as they may be asked for."""
        kind = self.context.profile.build_system
        systems = (system.modules for system in self.detect().systems if system.kind is kind)
        return self.context.modules or next(systems, ())

    def available(self, request: Request) -> Prepared | Unavailable:
        """What would be run, or why nothing can be. Raises Refused."""
        with own_folder("tool") as private:
            return self._prepared(request, Path(private))

    def run(
        self, request: Request, *, stop: threading.Event | None = None, progress: Report | None = None,
        recording: Recording | None = None,
    ) -> VerificationResult:  # fmt: skip
        """Run one tool; blocks until it is over, and ends it where `stop` is set. Result and log are kept.

        recording: of a run of pytest, what is measured.
        Raises Refused for a request that is not carried out. Everything else is a result.
        """
        self._check(request)
        name = f"{next(self._numbers):03}-{request.tool}"
        stop, progress = stop or threading.Event(), progress or no_report
        if request.tool is Tool.STATIC_POLICY:
            result = check_policy(self.context)
        else:
            result = self._guarded(name, stop, progress, request, recording=recording)
        keep_result(self.store, name, result)
        return result

    def resolve(self, *, stop: threading.Event | None = None, progress: Report | None = None) -> VerificationResult:
        """Fetch dependencies, the one command that gets a network, and the token. No client can ask for it.

        Raises Refused where the profile allows no network.
        """
        step = resolve_step(self.context.profile, self.context.root)
        if isinstance(step, Unavailable):
            return not_run(RESOLVE, step, self.context.profile.id)
        name = f"{next(self._numbers):03}-{RESOLVE.tool}"
        prepared = as_prepared(step, self.context.token)
        result = self._guarded(name, stop or threading.Event(), progress or no_report, RESOLVE, prepared)
        keep_result(self.store, name, result)
        return result

    def refusal(self, request: Request, why: Refused) -> VerificationResult:
        """A request that was refused, as a result for those who need one: errored, never a pass."""
        return refused(request, why, self.context.profile.id)

    def summarize(self, artifact_uri: str, tool: str) -> VerificationResult:
        """What a log that was kept says, read again as a log of `tool`. Raises ArtifactError, UnknownTool."""
        ending = Ending(tool, None)
        root = Workspace(PurePosixPath(self.context.root.as_posix()))
        outcome = read_run(Run(ending, self.store.path_of(artifact_uri)), root, self.context.parsers)
        return of_log(outcome, artifact_uri, self.context.profile.id, self._hidden)

    def keep(self, report: VerificationReport) -> Artifact:
        """Keep the report of a plan as this attempt's."""
        return keep_report(self.store, report)

    def report(self, run: str | None = None, attempt: int | None = None) -> VerificationReport | None:
        """The last report of an attempt (this one by default); None where nothing ran.

        Raises ArtifactError for one that cannot be understood.
        """
        own = replace(self.store, run=run or self.store.run, attempt=attempt or self.store.attempt)
        return last_report(own, self.context.profile.id)

    @property
    def _hidden(self) -> Hidden:
        return Hidden((self.context.root, self.context.root.resolve(), Path.home()), self.store.secrets)

    def _check(self, request: Request) -> None:
        """What no client may have, whatever the profile says."""
        if not self.context.root.is_dir():
            raise Refused("workspace_gone", "the workspace is not there any more")
        if request.tool is Tool.FORMAT_APPLY and not self.may_format:
            text = "run_format_apply changes source files, and whoever started the verifier did not allow that"
            raise Refused("format_apply_denied", text)
        if self.context.modules and request.module not in (None, *self.context.modules):
            known = ", ".join(self.context.modules)
            raise Refused("unknown_module", f"module {request.module!r} may not be asked for; allowed are: {known}")

    def _guarded(
        self, name: str, stop: threading.Event, report: Report, request: Request, known: Prepared | None = None,
        recording: Recording | None = None,
    ) -> VerificationResult:  # fmt: skip
        """Run in a private folder, in turn; what keeps a command from running becomes a result."""
        with self._slots.one(stop), own_folder("tool") as private:
            bench = Bench(self.context, self.store, Path(private), name, self._seconds_left(), stop, report)
            bench.reports.mkdir()
            try:
                return self._run(bench, request, known, recording)
            except (SourceMissing, SandboxMissing, OutsideWorkspace, ArtifactError) as error:
                return errored(request, str(error), self.context.profile.id)

    def _run(
        self, bench: Bench, request: Request, known: Prepared | None, recording: Recording | None
    ) -> VerificationResult:
        if bench.seconds <= 0:
            spent = f"the {self.context.seconds:g} s that all commands of this run may take together are spent"
            return errored(request, spent, self.context.profile.id)
        prepared = known or self._prepared(request, bench.reports)
        if isinstance(prepared, Unavailable):
            return not_run(request, prepared, self.context.profile.id)
        refuse_skipping(request.tool, prepared.argv, prepared.environment)
        if recording is not None:
            prepared = recording.laid(prepared, bench.private / SEEN, self.context.root)
        before = read_contents(self.context.root) if request.tool.may_change_source else {}
        bench = replace(bench, seconds=min(bench.seconds, prepared.seconds), caches=self._caches(request, bench))
        if self.context.profile.policy.builds_in_copy and not request.tool.may_change_source:
            ran, prepared = self._run_in_copy(bench, prepared)
        else:
            ran = execute(bench, prepared, self._tree)
            self._tree = ran.tree
        if recording is not None:
            recording.gather(bench.private / SEEN)
        self._remember(ran)
        kept = self._with_difference(bench, ran, before)
        return self._judged(bench, request, prepared, replace(ran, artifacts=kept))

    def _caches(self, request: Request, bench: Bench) -> tuple[Path, Mapping[str, str]] | None:
        """Caches for one command: the person's, or those of this verifier alone."""
        if not self.context.profile.caches or request.tool is Tool.RESOLVE:
            return None
        with self._copying:
            if self.context.caches is None and self._own_caches is None:
                self._own_caches = made_folder("caches")
            place = self.context.caches or Path(self._own_caches.name if self._own_caches else "")
            return cache_of(place, self.context.profile, bench.private if request.tool.runs_tests else None)

    def _run_in_copy(self, bench: Bench, prepared: Prepared) -> tuple[Executed, Prepared]:
        """Run in a copy of the workspace, one command at a time; where it is too large, in the workspace."""
        with self._copying:
            copy = self._copy = self._copy or BuildCopy()
            try:
                copy.refresh(bench.context.root)
            except (TooLarge, OSError) as error:
                noted = replace(prepared, notes=(*prepared.notes, f"no copy of the checkout was made: {error}"))
                return execute(bench, noted, None), noted
            return execute(replace(bench, copy=copy.folder), prepared, None), prepared

    def _prepared(self, request: Request, reports: Path) -> Prepared | Unavailable:
        context = self.context
        return prepare(context.profile, context.root, request, reports, advisories=context.advisories)

    def _judged(self, bench: Bench, request: Request, prepared: Prepared, ran: Executed) -> VerificationResult:
        copied = (self._copy.folder,) if self._copy else ()
        hidden = replace(self._hidden, folders=(*self._hidden.folders, bench.private, *copied))
        result = result_of_run(request, prepared, ran, self.context.profile.id, hidden)
        if prepared.parser == "compileall" and self.context.base:
            result = without_data_of_tests(result, self.context.root, self.context.files_changed)
        around = Surroundings(
            self.context.files_changed,
            declared=declared_packages(self.context.root) if result.failures else frozenset(),
            tail=ran.tail,
            has_network=prepared.network,
        )
        return _with_remedy(disposed(result, end_of(ran.end, result), around), self._remedy(request))

    def _remedy(self, request: Request) -> str | None:
        root = self.context.root
        return self.context.profile.remedy_in(root, root / (request.module or ""))

    def _with_difference(self, bench: Bench, ran: Executed, before: Contents) -> tuple[Artifact, ...]:
        """The artifacts, and where source was formatted the difference that this made."""
        text = difference(self.context.root, before, [change.path for change in ran.changes]) if before else ""
        diff = [self.store.keep_text(text, ArtifactKind.DIFF, f"{bench.name}.diff")] if text else []
        return (*ran.artifacts, *diff)

    def _seconds_left(self) -> float:
        with self._lock:
            return self.context.seconds - self._spent

    def _remember(self, ran: Executed) -> None:
        with self._lock:
            self._spent += ran.end.seconds


def _with_remedy(result: VerificationResult, remedy: str | None) -> VerificationResult:
    """Where a package is missing, what brings it stands beside the failure."""
    is_missing = any(
        failure.kind in _MISSING and disposed_of.disposition is Disposition.ENVIRONMENT
        for failure, disposed_of in zip(result.failures, result.dispositions, strict=False)
    )
    note = (f"where a package is missing: {remedy}",) if is_missing and remedy else ()
    return replace(result, notes=(*result.notes, *note))
