"""What a verification plan came to: the steps, their results, and one status for all. Pure; runs and prints nothing."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Artifact, Disposed, Failure, Status, Tool, VerificationResult

if TYPE_CHECKING:
    from agent_fox.verifier.reporting.comparison import Comparison

_COULD_NOT_TELL = (Status.ERRORED, Status.TIMED_OUT)


class ReportStatus(StrEnum):
    """The status of a whole report. `errored`: something that was required could not be decided; never a pass."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"


@dataclass(frozen=True, slots=True)
class Step:
    """One tool to run, and whether the report stands or falls with it."""

    tool: Tool
    required: bool = True
    module: str | None = None
    selector: str | None = None

    @property
    def title(self) -> str:
        """`run_selected_test(service-a, AuthTest)`."""
        given = ", ".join(part for part in (self.module, self.selector) if part)
        return f"{self.tool}({given})" if given else self.tool.value


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A step and what it came to."""

    step: Step
    result: VerificationResult


@dataclass(frozen=True, slots=True)
class Blocking:
    """A failure that keeps the report from passing, with the step that found it and why it failed."""

    step: Step
    failure: Failure
    disposed: Disposed | None = None


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """All results of one plan in one attempt of a run.

    plan: the plan's name; why: what it was chosen by. comparison: with the same plan on the base commit, if that ran.
    notes: what concerns no single step, such as a step that the project has no tool for.
    """

    run: str
    attempt: int
    profile: str
    plan: str
    why: str = ""
    outcomes: tuple[StepOutcome, ...] = ()
    comparison: Comparison | None = None
    notes: tuple[str, ...] = ()
    created_at: str = ""

    @property
    def status(self) -> ReportStatus:
        return aggregate(self.outcomes)

    @property
    def blocking(self) -> tuple[Blocking, ...]:
        """Every failure of a required step, in the order of the steps."""
        required = [outcome for outcome in self.outcomes if outcome.step.required]
        return tuple(Blocking(each.step, failure, why) for each in required for failure, why in each.result.explained)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What does not decide and must not be lost: optional steps that did not pass, and warnings of tools."""
        return tuple(line for outcome in self.outcomes for line in _warnings_of(outcome))

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        return tuple(artifact for outcome in self.outcomes for artifact in outcome.result.artifacts)

    @property
    def summary(self) -> str:
        """One line: how many steps passed, and what keeps the rest."""
        passed = sum(outcome.result.status is Status.PASSED for outcome in self.outcomes)
        head = f"{self.status}: {passed} of {len(self.outcomes)} steps passed"
        return f"{head}, {len(self.blocking)} blocking failures" if self.blocking else head


def aggregate(outcomes: Sequence[StepOutcome]) -> ReportStatus:
    """One status for all: required steps decide; nothing run, or a required step that was skipped, is errored."""
    required = [outcome.result for outcome in outcomes if outcome.step.required]
    if all(outcome.result.status is Status.SKIPPED for outcome in outcomes):
        return ReportStatus.ERRORED
    if any(result.status in (*_COULD_NOT_TELL, Status.SKIPPED) for result in required):
        return ReportStatus.ERRORED
    if any(result.status is not Status.PASSED or result.source_mutation_detected for result in required):
        return ReportStatus.FAILED
    return ReportStatus.PASSED


def _warnings_of(outcome: StepOutcome) -> list[str]:
    result = outcome.result
    lines = [f"{outcome.step.title}: {place_of(warning)}{warning.message}" for warning in result.warnings]
    if outcome.step.required or result.status is Status.PASSED:
        return lines
    return [f"{outcome.step.title} is optional and {result.status}: {result.summary}", *lines]


def place_of(failure: Failure) -> str:
    """`src/a.py:3:7: `, as far as it is known; empty where no file is."""
    if failure.file is None:
        return ""
    known = [failure.file, *(str(part) for part in (failure.line, failure.column) if part is not None)]
    return ":".join(known) + ": "
