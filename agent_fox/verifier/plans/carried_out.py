"""A verification plan carried out: its steps in order, what they call for besides, and one report of all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.system.clock import now
from agent_fox.verifier.dispositions.reruns import is_pure_format
from agent_fox.verifier.ground.request import Refused, Request, Unavailable, Why
from agent_fox.verifier.ground.results import Status, Tool, VerificationResult
from agent_fox.verifier.plans.second_looks import SecondLooks
from agent_fox.verifier.reporting.report import Step, StepOutcome, VerificationReport

if TYPE_CHECKING:
    from agent_fox.verifier.plans.steps import Plan
    from agent_fox.verifier.plans.toolbox import Verifier
    from agent_fox.verifier.profiles.context import Progress

_NOT_OURS = (Why.NO_COMMAND, Why.NOT_CONFIGURED)
_MAY_BE_ABSENT = (Tool.COMPILE, Tool.LINT, Tool.FORMAT_CHECK, Tool.DEPENDENCY_TREE)
"""Steps that a project without such a tool has no use for. Tests, policy and advisories are always asked for."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Receives the progress of a plan: before a step, during it, after it, and tests that were proven flaky."""

    begins: Callable[[Step], None] = lambda step: None
    runs: Callable[[Step, Progress], None] = lambda step, progress: None
    ended: Callable[[StepOutcome], None] = lambda outcome: None
    flaky: Callable[[str, str], None] = lambda name, evidence: None


@dataclass(frozen=True, slots=True)
class PlanRun:
    """One plan over one workspace.

    changed_tests: selectors to try where the whole suite runs out of time. flaky: names on the list of flaky tests.
    """

    verifier: Verifier
    plan: Plan
    changed_tests: Sequence[str] = ()
    flaky: frozenset[str] = frozenset()
    stop: threading.Event = field(default_factory=threading.Event)
    listener: Listener = field(default_factory=Listener)

    def report(self) -> VerificationReport:
        """Run every step; the report, which is kept too."""
        kept, left_out = self._applicable()
        outcomes = tuple(outcome for step in kept for outcome in self._outcomes(step))
        context = self.verifier.context
        return VerificationReport(
            run=context.run,
            attempt=context.attempt,
            profile=context.profile.id,
            plan=self.plan.name,
            why=self.plan.why,
            outcomes=outcomes,
            notes=tuple(left_out),
            created_at=now(),
        )

    def _applicable(self) -> tuple[list[Step], list[str]]:
        """The steps that this project has a use for, and a line for each of the others."""
        reasons = [(step, self._absence(step)) for step in self.plan.steps]
        kept = [step for step, reason in reasons if reason is None]
        return kept, [f"{step.title} is no part of this plan: {reason}" for step, reason in reasons if reason]

    def _absence(self, step: Step) -> str | None:
        if step.tool is Tool.STATIC_POLICY and not self.verifier.context.base:
            return "there is no commit to compare with"
        if step.tool not in _MAY_BE_ABSENT:
            return None
        available = self.verifier.available(_request(step))
        return available.reason if isinstance(available, Unavailable) and available.kind in _NOT_OURS else None

    def _outcomes(self, step: Step) -> Iterator[StepOutcome]:
        if self.stop.is_set():
            return
        outcome = self._one(step)
        if step.tool is Tool.FORMAT_CHECK and is_pure_format(outcome.result.failures):
            yield from self._repaired(step, outcome)
        elif step.tool is Tool.UNIT_TESTS and outcome.result.status is Status.TIMED_OUT:
            yield outcome
            yield from (self._one(Step(Tool.SELECTED_TEST, False, step.module, test)) for test in self.changed_tests)
        else:
            yield outcome

    def _repaired(self, step: Step, found: StepOutcome) -> Iterator[StepOutcome]:
        """What only lacks format is formatted, where that is allowed, and looked at again."""
        if not self.verifier.may_format:
            yield found
            return
        applied = self._one(Step(Tool.FORMAT_APPLY, step.required, step.module))
        again = self._one(step)
        note = f"{len(found.result.failures)} files were not formatted; run_format_apply formatted them"
        yield applied
        yield replace(again, result=replace(again.result, notes=(*again.result.notes, note)))

    def _one(self, step: Step) -> StepOutcome:
        self.listener.begins(step)
        outcome = StepOutcome(step, self._result(step))
        self.listener.ended(outcome)
        return outcome

    def _result(self, step: Step) -> VerificationResult:
        def tell(progress: Progress) -> None:
            self.listener.runs(step, progress)

        try:
            result = self.verifier.run(_request(step), stop=self.stop, progress=tell)
            return SecondLooks(self.verifier, self.stop, self.flaky, self.listener.flaky).at(result)
        except Refused as refused:
            return self.verifier.refusal(_request(step), refused)


def _request(step: Step) -> Request:
    return Request(step.tool, step.module, step.selector)
