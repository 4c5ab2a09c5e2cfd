"""A report as SARIF 2.1.0: each failure and warning at its file and line. Pure; decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.markdown import one_line
from agent_fox.core.sarif import SarifResult, SarifRule, sarif_log
from agent_fox.verifier.ground.results import Failure, FailureKind, Status

if TYPE_CHECKING:
    from agent_fox.core.values import Json
    from agent_fox.verifier.reporting.report import StepOutcome, VerificationReport

FINGERPRINT = "agentFoxFailure/v1"
LONGEST = 2_000
DIGITS = 32
MEANINGS = {
    FailureKind.COMPILE_ERROR: "The project does not build.",
    FailureKind.TEST_FAILURE: "A test fails.",
    FailureKind.LINT_FAILURE: "A linter or a policy check objects.",
    FailureKind.FORMAT_FAILURE: "A file is not formatted.",
    FailureKind.DEPENDENCY_RESOLUTION_FAILURE: "A dependency cannot be had.",
    FailureKind.ENVIRONMENT_FAILURE: "The environment keeps a check from running.",
    FailureKind.TIMEOUT: "A check did not end in time.",
    FailureKind.UNKNOWN: "A check failed, and its output does not say at what.",
}
HELP = "`agent-fox verify` runs the same plan here."
NOT_RUN = (Status.ERRORED, Status.TIMED_OUT, Status.SKIPPED)


def sarif_document(report: VerificationReport, version: str) -> dict[str, Json]:
    """One run with a rule for each kind of failure. A required step that could not run makes it an unsuccessful one."""
    rules = [SarifRule(kind.value, meaning, HELP) for kind, meaning in MEANINGS.items()]
    results = [result for outcome in report.outcomes for result in results_of(outcome)]
    required = (outcome for outcome in report.outcomes if outcome.step.required)
    troubles = [
        f"{outcome.step.title}: {outcome.result.status}: {one_line(outcome.result.summary, LONGEST)}"
        for outcome in required
        if outcome.result.status in NOT_RUN
    ]
    if not report.outcomes:
        troubles = ["nothing ran"]
    return sarif_log("agent-fox verify", version, rules, results, FINGERPRINT, troubles=troubles)


def results_of(outcome: StepOutcome) -> Iterator[SarifResult]:
    result, level = outcome.result, "error" if outcome.step.required else "warning"
    for failure, disposed in result.explained:
        why = f" ({disposed.disposition}: {disposed.reason})" if disposed else ""
        yield result_of(outcome, failure, level, why)
    if result.status is Status.FAILED and not result.failures:
        yield result_of(outcome, Failure(FailureKind.UNKNOWN, result.summary), level, "")
    for path in result.changed_sources if result.source_mutation_detected else ():
        changed = Failure(FailureKind.UNKNOWN, "changed by a step that must not change source files", path)
        yield result_of(outcome, changed, level, "")
    for warning in result.warnings:
        yield result_of(outcome, warning, "warning", "")


def result_of(outcome: StepOutcome, failure: Failure, level: str, why: str) -> SarifResult:
    test = f" [{failure.test_name}]" if failure.test_name else ""
    named = (outcome.step.title, failure.kind.value, failure.file or "", failure.test_name or "", failure.message)
    return SarifResult(
        rule=failure.kind.value,
        level=level,
        message=one_line(f"{outcome.step.title}: {failure.message}{test}{why}", LONGEST),
        path=failure.file or "",
        line=failure.line or 0,
        column=failure.column or 0,
        fingerprint=digest_of(*named, digits=DIGITS),
    )
