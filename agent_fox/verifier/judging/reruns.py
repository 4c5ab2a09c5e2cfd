"""Running failing tests again before they are believed: on the same tree, and on the base tree. Judges no requirement.

A test that passes all of its reruns is flaky only if nothing else explains it: files that the first run left in the
tree may have helped it, and a test that fails beside the others and passes alone is no matter of chance.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.signals import normalise_line
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.cases import Case, Outcome
from agent_fox.verifier.ground.disposition_facts import PROOF_RUNS, Rerun, RerunTree
from agent_fox.verifier.suites.evidence_text import first_error_of_broken
from agent_fox.verifier.suites.running_suites import run_again, run_tests
from agent_fox.verifier.suites.suite import Broken, Retried, SuiteRun

if TYPE_CHECKING:
    from agent_fox.verifier.running.commands import Ground

MOST_FAILING = 5
"""Of more failing tests than these none is run again: that is no chance, and it would take long."""
MOST_LISTED = 20
LEAST_SECONDS = 20.0
TIMES_SLOWER = 3.0
_NAMED = 3
_NOT_SOURCE = frozenset(
    {"__pycache__", ".pytest_cache", ".git", "node_modules", "target", "build", ".gradle", ".mypy_cache", ".ruff_cache"}
    | {".hypothesis", ".tox", ".nyc_output", ".coverage", "coverage", "htmlcov"}
)
_WHOLE_AGAIN = "it fails again when everything runs, and passes only alone"


@dataclass(frozen=True, slots=True)
class Suspects:
    """Tests of one run that are not believed yet: failing ones, and passing ones that are known to be flaky."""

    failing: tuple[Case, ...]
    listed: tuple[Case, ...]

    @property
    def worth_a_rerun(self) -> tuple[Case, ...]:
        failing = self.failing if len(self.failing) <= MOST_FAILING else ()
        return (*failing, *self.listed[:MOST_LISTED])


def retried(run: SuiteRun, suspects: Suspects, ground: Ground, name: str) -> SuiteRun:
    """The run with its suspects' outcomes as they count after their reruns, and the record of these."""
    tests = suspects.worth_a_rerun
    tries = _tries(run, tests, ground, name) if tests else ()
    if not tries:
        return run
    outcomes = {test: tuple(_outcome(test, again) for again in tries) for test in tests}
    notes = _doubts(run, [test for test in suspects.failing if _is_proof(outcomes.get(test, ()))], ground, name)
    cases = tuple(_settled(case, outcomes.get(case), notes.get(case, ""), tries) for case in run.cases)
    record = tuple(Retried(test.id, Rerun(RerunTree.SAME, outcomes[test]), notes.get(test, "")) for test in tests)
    return replace(run, cases=cases, reruns=(*run.reruns, *record))


def fails_on_base(run: SuiteRun, tests: Sequence[Case], ground: Ground, name: str) -> tuple[Retried, ...]:
    """What failing tests do on the base tree, in `ground`. False: the same test fails there too."""
    again = run_tests(run, tests, ground, name, ground.order.timeout)
    if again is None:
        return ()
    return tuple(Retried(test.id, Rerun(RerunTree.BASE, (_outcome(test, again),))) for test in tests)


def check_fails_on_base(run: SuiteRun, ground: Ground, name: str) -> Retried | None:
    """What a command that failed as a whole does on the base tree. False: it fails there by the same first error."""
    again = run_again(run, ground, name)
    if again is None or run.kept_back is None:
        return None
    then = again.kept_back
    is_same = then is not None and _error(then) == _error(run.kept_back)
    outcome = False if is_same else True if then is None and again.unattempted is None else None
    return Retried("", Rerun(RerunTree.BASE, (outcome,)))


def _tries(run: SuiteRun, tests: Sequence[Case], ground: Ground, name: str) -> tuple[SuiteRun, ...]:
    """The reruns, until each test has shown that it fails, or three times that it passes, or time is up."""
    tries: list[SuiteRun] = []
    until = time.monotonic() + ground.order.timeout
    each = min(ground.order.timeout, max(LEAST_SECONDS, TIMES_SLOWER * run.seconds))
    while len(tries) < PROOF_RUNS and time.monotonic() < until:
        again = run_tests(run, tests, ground, f"{name}-again-{len(tries) + 1}", each)
        if again is None:
            return ()
        tries.append(again)
        if all(any(_outcome(test, attempt) is not True for attempt in tries) for test in tests):
            break
    return tuple(tries)


def _outcome(test: Case, run: SuiteRun) -> bool | None:
    """Whether it passed in a run; None if it was not among the tests, or was skipped."""
    same = [case for case in run.cases if (case.classes, case.name, case.file) == (test.classes, test.name, test.file)]
    outcomes = {case.outcome for case in same}
    if Outcome.FAILED in outcomes:
        return False
    return True if outcomes == {Outcome.PASSED} else None


def _is_proof(outcomes: tuple[bool | None, ...]) -> bool:
    return outcomes == (True,) * PROOF_RUNS


def _doubts(run: SuiteRun, proven: Sequence[Case], ground: Ground, name: str) -> dict[Case, str]:
    """Why passing all reruns does not prove chance, by test; tests for which it does are left out."""
    if not proven:
        return {}
    left = list(_left_behind(ground, run.started))
    if left:
        names = ", ".join(left[:_NAMED]) + (" ..." if len(left) > _NAMED else "")
        return dict.fromkeys(proven, f"the runs changed files that it may depend on: {names}")
    whole = run_again(run, ground, f"{name}-whole")
    return {test: _WHOLE_AGAIN for test in proven if whole is None or _outcome(test, whole) is not True}


def _settled(case: Case, outcomes: tuple[bool | None, ...] | None, doubt: str, tries: Sequence[SuiteRun]) -> Case:
    """The case with the outcome that counts: a failure proven to be chance, or a pass that did not hold."""
    if outcomes is None:
        return case
    if case.outcome is Outcome.FAILED:
        return replace(case, outcome=Outcome.FLAKY) if _is_proof(outcomes) and not doubt else case
    failures = (tried for again in tries for tried in again.cases if tried.id == case.id)
    return next((tried for tried in failures if tried.outcome is Outcome.FAILED), case)


def _left_behind(ground: Ground, since: int) -> Iterator[str]:
    """Files in the tree that were written after `since`, apart from caches, build folders and reports."""
    reports = {path for glob in ground.order.reports for path in ground.workspace.glob(glob)}
    for folder, folders, files in os.walk(ground.workspace):
        folders[:] = sorted(set(folders) - _NOT_SOURCE)
        for name in sorted(set(files) - _NOT_SOURCE):
            path = Path(folder, name)
            if path not in reports and _changed_since(path, since):
                yield path.relative_to(ground.workspace).as_posix()


def _changed_since(path: Path, since: int) -> bool:
    try:
        return path.lstat().st_ctime_ns > since
    except FileNotFoundError:
        return False


def _error(broken: Broken) -> str:
    return normalise_line(first_error_of_broken(broken))
