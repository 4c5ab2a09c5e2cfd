"""Failing tests run again on the same tree before they are believed. Each rerun is recorded; nothing else excuses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.dispositions.disposing import Surroundings, disposed, facts_of
from agent_fox.verifier.dispositions.reruns import RerunKind, reruns_wanted
from agent_fox.verifier.ground.disposition_facts import Rerun, RerunTree, ToolEnd
from agent_fox.verifier.ground.request import Prepared, Refused, Request
from agent_fox.verifier.ground.results import Disposed, Failure, FailureKind, Status, Tool, VerificationResult

if TYPE_CHECKING:
    from agent_fox.verifier.plans.toolbox import Verifier

MOST_TESTS = 5
"""Where more tests fail than that, they are not flaky one by one, and none is run again."""

_UNITTEST = regex(r"^(?P<method>\w+) \((?P<path>[\w.]+)\)$")


@dataclass(frozen=True, slots=True)
class SecondLooks:
    """Looks again at what failed in one result. `flaky` are names on the list of flaky tests.

    proven: called for each test that was proven flaky, with the address of the log in which it failed.
    """

    verifier: Verifier
    stop: threading.Event
    flaky: frozenset[str] = frozenset()
    proven: Callable[[str, str], None] = lambda name, evidence: None

    def at(self, result: VerificationResult) -> VerificationResult:
        """The result, its failures disposed of with what the reruns showed. Proven flaky tests count as passed."""
        failing = [failure for failure in result.failures if failure.kind is FailureKind.TEST_FAILURE]
        names = dict.fromkeys(failure.test_name for failure in failing if failure.test_name)
        if result.tool is not Tool.UNIT_TESTS or not 0 < len(names) <= MOST_TESTS:
            return result
        reruns = {failure.test_name or "": self._reruns(result, failure) for failure in failing}
        around = self._around({name: (rerun,) for name, rerun in reruns.items() if rerun.outcomes})
        looked_at = disposed(result, end_of(result), around)
        for failure, _ in flaky_in(looked_at):
            self.proven(failure.test_name or "", next((log.uri for log in result.artifacts), ""))
        return _without_flaky(looked_at, reruns)

    def _around(self, reruns: dict[str, tuple[Rerun, ...]]) -> Surroundings:
        return Surroundings(self.verifier.context.files_changed, known_flaky=self.flaky, reruns=reruns)

    def _reruns(self, result: VerificationResult, failure: Failure) -> Rerun:
        """Run on the same tree as often as it is still open whether the test is flaky."""
        facts = facts_of(failure, result, end_of(result), self._around({}))
        times = sum(wanted.times for wanted in reruns_wanted(facts) if wanted.kind is RerunKind.SAME_TREE)
        request = self._request(result, failure)
        outcomes: list[bool | None] = []
        while request and len(outcomes) < times and all(outcomes) and not self.stop.is_set():
            outcomes.append(self._passes(request, failure))
        return Rerun(RerunTree.SAME, tuple(outcomes))

    def _request(self, result: VerificationResult, failure: Failure) -> Request | None:
        """A request for that test alone; None where the runner has no name for it."""
        requests = (Request(Tool.SELECTED_TEST, result.module, name) for name in names_of(failure))
        return next((request for request in requests if self._is_possible(request)), None)

    def _is_possible(self, request: Request) -> bool:
        try:
            return isinstance(self.verifier.available(request), Prepared)
        except Refused:
            return False

    def _passes(self, request: Request, failure: Failure) -> bool | None:
        """Whether it passed; None where another thing happened than that this test passed or failed."""
        again = self.verifier.run(request, stop=self.stop)
        if again.status is Status.PASSED:
            return True
        return False if any(each.test_name == failure.test_name for each in again.failures) else None


def names_of(failure: Failure) -> Iterator[str]:
    """How the test may be named to its runner, the narrowest first."""
    name = failure.test_name or ""
    yield name
    if match := _UNITTEST.match(name):
        path = match["path"]
        yield path if path.endswith(f".{match['method']}") else f"{path}.{match['method']}"
    head, dot, method = name.rpartition(".")
    if dot:
        yield f"{head}#{method}"
        yield method
    yield name.rpartition("/")[2]
    yield name.rpartition(" > ")[2]


def end_of(result: VerificationResult) -> ToolEnd:
    """How the command of a result ended, as far as the result tells."""
    return ToolEnd(
        exit_code=result.exit_code,
        timed_out=result.status is Status.TIMED_OUT,
        tests_run=result.test_summary.tests if result.test_summary else None,
    )


def flaky_in(result: VerificationResult) -> list[tuple[Failure, Disposed]]:
    """The failures that were proven flaky."""
    pairs = zip(result.failures, result.dispositions, strict=False)
    return [(failure, why) for failure, why in pairs if why.disposition is Disposition.FLAKY and why.is_proven]


def _without_flaky(result: VerificationResult, reruns: dict[str, Rerun]) -> VerificationResult:
    """Where nothing but proven flaky tests failed, it passed; what failed at first stays as a warning."""
    flaky = flaky_in(result)
    notes = (*result.notes, *(_note(failure, reruns) for failure, _ in flaky))
    if not flaky or len(flaky) < len(result.failures):
        return replace(result, notes=notes)
    return replace(
        result,
        status=Status.PASSED,
        summary=f"passed after reruns: {len(flaky)} flaky tests",
        failures=(),
        dispositions=(),
        warnings=(*result.warnings, *(failure for failure, _ in flaky)),
        notes=notes,
    )


def _note(failure: Failure, reruns: dict[str, Rerun]) -> str:
    passed = sum(outcome is True for outcome in reruns[failure.test_name or ""].outcomes)
    return f"flaky: {failure.test_name} failed, then passed {passed} of {passed} reruns on the same tree"
