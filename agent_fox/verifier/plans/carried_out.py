"""A verification plan carried out: its steps in order, what they call for besides, and one report of all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from time import time_ns
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.system.clock import now
from agent_fox.system.processes import processors
from agent_fox.verifier.dispositions.reruns import is_pure_format
from agent_fox.verifier.ground.request import Prepared, Refused, Request, Unavailable, Why
from agent_fox.verifier.ground.results import Status, Tool, VerificationResult
from agent_fox.verifier.plans.second_looks import SecondLooks
from agent_fox.verifier.reporting.report import Step, StepOutcome, VerificationReport

if TYPE_CHECKING:
    from agent_fox.verifier.plans.reused_tests import ReusedTests
    from agent_fox.verifier.plans.seen_before import Look, SeenBefore
    from agent_fox.verifier.plans.steps import Plan
    from agent_fox.verifier.plans.toolbox import Verifier
    from agent_fox.verifier.profiles.context import Progress

_NOT_OURS = (Why.NO_COMMAND, Why.NOT_CONFIGURED)
_MAY_BE_ABSENT = (Tool.COMPILE, Tool.LINT, Tool.FORMAT_CHECK, Tool.DEPENDENCY_TREE)
"""Steps that a project without such a tool has no use for. Tests, policy and advisories are always asked for."""


@dataclass(frozen=True, slots=True)
class Running:
    """What becomes of steps that were begun at once or need not run; and what tests may not have to be run."""

    steps: Mapping[Step, Future[VerificationResult]] = field(default_factory=dict)
    tests: Mapping[Step, ReusedTests] = field(default_factory=dict)


_NOTHING = Running()


@dataclass(frozen=True, slots=True)
class Listener:
    """Receives the progress of a plan: before a step, during it, after it, and tests that were proven flaky.

    Steps begin and end here in the order of the plan, also where some of them run at the same time.
    """

    begins: Callable[[Step], None] = lambda step: None
    runs: Callable[[Step, Progress], None] = lambda step, progress: None
    ended: Callable[[StepOutcome], None] = lambda outcome: None
    flaky: Callable[[str, str], None] = lambda name, evidence: None


@dataclass(frozen=True, slots=True)
class PlanRun:
    """One plan over one workspace.

    changed_tests: selectors to try where the whole suite runs out of time. flaky: names on the list of flaky tests.
    seen: results of the last verification, which may be taken again; None: every step is executed.
    """

    verifier: Verifier
    plan: Plan
    changed_tests: Sequence[str] = ()
    flaky: frozenset[str] = frozenset()
    stop: threading.Event = field(default_factory=threading.Event)
    listener: Listener = field(default_factory=Listener)
    seen: SeenBefore | None = None

    def report(self) -> VerificationReport:
        """Run every step; the report, which is kept too."""
        began = time_ns()
        kept, left_out = self._applicable()
        commands: dict[Step, Prepared] = {}
        for step in kept:
            with suppress(Refused):
                if isinstance(available := self.verifier.available(_request(step)), Prepared):
                    commands[step] = available
        look = self.seen.look(commands) if self.seen else None
        with self._begun(kept, commands, look) as running:
            outcomes = tuple(outcome for step in kept for outcome in self._outcomes(step, running))
        if look and not self.stop.is_set():
            look.keep(outcomes, began)
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
        steps, notes = list[Step](), list[str]()
        for step in self.plan.steps:
            inner, bare = self._in_modules(step)
            steps += inner or [step]
            none = f"{step.title} is no part of this plan for {', '.join(bare)}: no test runner is named there"
            notes += [none] if inner and bare else []
        reasons = [(step, self._absence(step)) for step in steps]
        notes += [f"{step.title} is no part of this plan: {reason}" for step, reason in reasons if reason]
        return [step for step, reason in reasons if reason is None], notes

    def _in_modules(self, step: Step) -> tuple[list[Step], list[str]]:
        """Tests of each module that has some, where the whole has no command for them; and the modules without."""
        if step.tool is not Tool.UNIT_TESTS or step.module is not None or not self._is_bare(step):
            return [], []
        steps = {module: replace(step, module=module) for module in self.verifier.modules()}
        bare = [module for module, each in steps.items() if self._is_bare(each)]
        return [each for module, each in steps.items() if module not in bare], bare

    def _is_bare(self, step: Step) -> bool:
        try:
            available = self.verifier.available(_request(step))
        except Refused:
            return False  # the step says so itself
        return isinstance(available, Unavailable) and available.kind in _NOT_OURS

    def _absence(self, step: Step) -> str | None:
        if step.tool is Tool.STATIC_POLICY and not self.verifier.context.base:
            return "there is no commit to compare with"
        if step.tool not in _MAY_BE_ABSENT:
            return None
        available = self.verifier.available(_request(step))
        return available.reason if isinstance(available, Unavailable) and available.kind in _NOT_OURS else None

    @contextmanager
    def _begun(self, steps: Sequence[Step], commands: Mapping[Step, Prepared], look: Look | None) -> Iterator[Running]:
        """Where tests run and there are processors for it, what only reads source runs beside all else."""
        taken, tests = (look.taken, look.tests) if look else ({}, {})
        over: dict[Step, Future[VerificationResult]] = {step: Future() for step in taken}
        for step, result in taken.items():
            over[step].set_result(result)
        ahead = [step for step in steps if step not in over and step.tool is not Tool.STATIC_POLICY]
        readers = [step for step in ahead if step in commands and commands[step].only_reads]
        others = [step for step in ahead if step not in readers]
        changes = any(step.tool.may_change_source for step in others)
        if not readers or not any(step.tool.runs_tests for step in others) or changes or processors() == 1:
            yield Running(over, tests)
            return
        with ThreadPoolExecutor(1, "steps") as main, ThreadPoolExecutor(1, "readers") as beside:
            begun = {step: main.submit(self._result, step, tests.get(step)) for step in others}
            begun |= {step: beside.submit(self._result, step) for step in readers}
            try:
                yield Running(over | begun, tests)
            except BaseException:
                self.stop.set()
                raise

    def _outcomes(self, step: Step, running: Running) -> Iterator[StepOutcome]:
        if self.stop.is_set():
            return
        outcome = self._one(step, running)
        if step.tool is Tool.FORMAT_CHECK and is_pure_format(outcome.result.failures):
            wait(running.steps.values())
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

    def _one(self, step: Step, running: Running = _NOTHING) -> StepOutcome:
        self.listener.begins(step)
        is_begun = step in running.steps
        result = running.steps[step].result() if is_begun else self._result(step, running.tests.get(step))
        is_clean = result.status is Status.PASSED and not result.changed_sources
        if is_begun and not step.tool.runs_tests and not is_clean and not self.stop.is_set():
            wait(running.steps.values())  # what a reader of source says may come from what tests did meanwhile
            result = self._result(step)
        outcome = StepOutcome(step, result)
        self.listener.ended(outcome)
        return outcome

    def _result(self, step: Step, tests: ReusedTests | None = None) -> VerificationResult:
        def tell(progress: Progress) -> None:
            self.listener.runs(step, progress)

        try:
            recording = tests.recording if tests else None
            result = self.verifier.run(_request(step), stop=self.stop, progress=tell, recording=recording)
            whole = tests.whole(result) if tests else result
            if tests and whole is None and not self.stop.is_set():
                tests.everything()
                return self._result(step, tests)
            return SecondLooks(self.verifier, self.stop, self.flaky, self.listener.flaky).at(whole or result)
        except Refused as refused:
            return self.verifier.refusal(_request(step), refused)


def _request(step: Step) -> Request:
    return Request(step.tool, step.module, step.selector)
