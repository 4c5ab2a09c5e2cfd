"""Results and reports as documents that leave the process: names, types and schemas. Decides nothing.

Names are in camelCase, as in the result contract of the verifier. Version 1.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import asdict
from itertools import zip_longest

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.ground.results import (
    Artifact,
    ArtifactKind,
    Disposed,
    Failure,
    FailureKind,
    Scope,
    Status,
    TestSummary,
    Tool,
    VerificationResult,
)
from agent_fox.verifier.reporting.comparison import Comparison, Worsened
from agent_fox.verifier.reporting.report import Blocking, ReportStatus, Step, StepOutcome, VerificationReport

VERSION = 1


class Document(BaseModel, defer_build=True):
    """What all documents share: camelCase outside, no unknown field, no change after it was made."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
        from_attributes=True,
        extra="forbid",
        frozen=True,
    )


class DispositionDocument(Document):
    """Why a failure failed, and who can do something about it."""

    disposition: Disposition
    reason: str
    retryable_infrastructure: bool
    repairable_by_agent: bool
    requires_human: bool
    is_proven: bool


class FailureDocument(Document):
    """One thing that failed. What the log does not say is null. `evidence` is output, never an instruction."""

    kind: FailureKind
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    symbol: str | None = None
    test_name: str | None = None
    code: str | None = None
    exception: str | None = None
    is_error: bool = False
    evidence: str = ""
    disposition: DispositionDocument | None = None


class TestSummaryDocument(Document):
    """Counts of a test run, and of how much: counts of different scopes say nothing about each other."""

    __test__ = False

    scope: Scope | None
    tests: int
    passed: int
    failures: int
    errors: int
    skipped: int
    xfailed: int


class ArtifactDocument(Document):
    """A file kept beside a result. `uri` is its name; where it lies is not told."""

    kind: ArtifactKind
    name: str
    uri: str
    bytes: int
    sha256: str
    is_secret_suspected: bool


class ResultDocument(Document):
    """What one tool came to. `omittedFailures` counts those that were left out to keep the document short."""

    verifier_tool: Tool
    status: Status
    profile_id: str
    command_display: str
    summary: str
    exit_code: int | None
    duration_ms: int
    started_at: str
    completed_at: str
    module: str | None
    selector: str | None
    failures: tuple[FailureDocument, ...]
    omitted_failures: int
    warnings: tuple[FailureDocument, ...]
    omitted_warnings: int
    test_summary: TestSummaryDocument | None
    artifacts: tuple[ArtifactDocument, ...]
    retryable: bool
    repairable_by_agent: bool
    requires_human: bool
    source_mutation_detected: bool
    changed_sources: tuple[str, ...]
    isolation: str
    notes: tuple[str, ...]


class StepDocument(Document):
    """One step of a plan and its result."""

    required: bool
    result: ResultDocument


class BlockingDocument(Document):
    """A failure that keeps the report from passing, and the step that found it."""

    step: str
    failure: FailureDocument


class WorsenedDocument(Document):
    """A step that says less, or worse, than on the base commit."""

    step: str
    reason: str


class ComparisonDocument(Document):
    """The results beside those of the base commit."""

    base_commit: str
    new: tuple[FailureDocument, ...]
    resolved: tuple[FailureDocument, ...]
    unchanged: tuple[FailureDocument, ...]
    worsened: tuple[WorsenedDocument, ...]
    incomparable: tuple[str, ...]


class ReportDocument(Document):
    """Everything that one plan came to."""

    version: int = VERSION
    run_id: str
    attempt_no: int
    profile_id: str
    plan: str
    plan_reason: str
    status: ReportStatus
    overall_summary: str
    steps: tuple[StepDocument, ...]
    blocking_failures: tuple[BlockingDocument, ...]
    warnings: tuple[str, ...]
    artifacts: tuple[ArtifactDocument, ...]
    baseline: ComparisonDocument | None
    notes: tuple[str, ...]
    created_at: str


def result_document(result: VerificationResult) -> ResultDocument:
    """The whole result."""
    return ResultDocument(
        verifier_tool=result.tool,
        status=result.status,
        profile_id=result.profile,
        command_display=shlex.join(result.command),
        summary=result.summary,
        exit_code=result.exit_code,
        duration_ms=round(result.seconds * 1000),
        started_at=result.started_at,
        completed_at=result.completed_at,
        module=result.module,
        selector=result.selector,
        failures=_failures(result.failures, result.dispositions),
        omitted_failures=0,
        warnings=_failures(result.warnings),
        omitted_warnings=0,
        test_summary=_summary(result),
        artifacts=_artifacts(result.artifacts),
        retryable=result.retryable,
        repairable_by_agent=result.repairable_by_agent,
        requires_human=result.requires_human,
        source_mutation_detected=result.source_mutation_detected,
        changed_sources=result.changed_sources,
        isolation=result.isolation,
        notes=result.notes,
    )


def report_document(report: VerificationReport) -> ReportDocument:
    """The whole report."""
    return ReportDocument(
        run_id=report.run,
        attempt_no=report.attempt,
        profile_id=report.profile,
        plan=report.plan,
        plan_reason=report.why,
        status=report.status,
        overall_summary=report.summary,
        steps=tuple(_step(outcome) for outcome in report.outcomes),
        blocking_failures=tuple(_blocking(one) for one in report.blocking),
        warnings=report.warnings,
        artifacts=_artifacts(report.artifacts),
        baseline=_comparison(report.comparison) if report.comparison else None,
        notes=report.notes,
        created_at=report.created_at,
    )


def result_of(document: ResultDocument) -> VerificationResult:
    """The result that a document was made of, as far as the document holds it."""
    return VerificationResult(
        tool=document.verifier_tool,
        status=document.status,
        profile=document.profile_id,
        command=tuple(shlex.split(document.command_display)),
        summary=document.summary,
        exit_code=document.exit_code,
        seconds=document.duration_ms / 1000,
        started_at=document.started_at,
        completed_at=document.completed_at,
        module=document.module,
        selector=document.selector,
        scope=document.test_summary.scope if document.test_summary else None,
        failures=tuple(_failure_of(failure) for failure in document.failures),
        warnings=tuple(_failure_of(warning) for warning in document.warnings),
        test_summary=_summary_of(document.test_summary),
        artifacts=tuple(Artifact(**artifact.model_dump(by_alias=False)) for artifact in document.artifacts),
        dispositions=tuple(_disposed_of(failure) for failure in document.failures if failure.disposition),
        changed_sources=document.changed_sources,
        isolation=document.isolation,
        notes=document.notes,
    )


def report_of(document: ReportDocument) -> VerificationReport:
    """The report that a document was made of, as far as the document holds it."""
    return VerificationReport(
        run=document.run_id,
        attempt=document.attempt_no,
        profile=document.profile_id,
        plan=document.plan,
        why=document.plan_reason,
        outcomes=tuple(_outcome_of(step) for step in document.steps),
        comparison=_comparison_of(document.baseline) if document.baseline else None,
        notes=document.notes,
        created_at=document.created_at,
    )


def failure_document(failure: Failure, why: Disposed | None = None) -> FailureDocument:
    """A failure, and why it failed where that was looked into."""
    document = FailureDocument.model_validate(failure)
    disposition = DispositionDocument.model_validate(why) if why else None
    return document.model_copy(update={"disposition": disposition})


def _failures(failures: Iterable[Failure], why: Iterable[Disposed] = ()) -> tuple[FailureDocument, ...]:
    return tuple(failure_document(failure, one) for failure, one in zip_longest(failures, why) if failure is not None)


def _summary(result: VerificationResult) -> TestSummaryDocument | None:
    counts = result.test_summary
    return TestSummaryDocument(scope=result.scope, **asdict(counts)) if counts else None


def _artifacts(artifacts: Iterable[Artifact]) -> tuple[ArtifactDocument, ...]:
    return tuple(ArtifactDocument.model_validate(artifact) for artifact in artifacts)


def _step(outcome: StepOutcome) -> StepDocument:
    return StepDocument(required=outcome.step.required, result=result_document(outcome.result))


def _blocking(one: Blocking) -> BlockingDocument:
    return BlockingDocument(step=one.step.title, failure=failure_document(one.failure, one.disposed))


def _comparison(comparison: Comparison) -> ComparisonDocument:
    return ComparisonDocument(
        base_commit=comparison.base,
        new=_failures(comparison.new),
        resolved=_failures(comparison.resolved),
        unchanged=_failures(comparison.unchanged),
        worsened=tuple(WorsenedDocument.model_validate(one) for one in comparison.worsened),
        incomparable=comparison.incomparable,
    )


def _failure_of(document: FailureDocument) -> Failure:
    return Failure(**document.model_dump(by_alias=False, exclude={"disposition"}))


def _disposed_of(document: FailureDocument) -> Disposed:
    assert document.disposition is not None, "only failures with a disposition are asked"
    return Disposed(**document.disposition.model_dump(by_alias=False))


def _summary_of(document: TestSummaryDocument | None) -> TestSummary | None:
    return TestSummary(**document.model_dump(by_alias=False, exclude={"scope"})) if document else None


def _outcome_of(document: StepDocument) -> StepOutcome:
    result = result_of(document.result)
    return StepOutcome(Step(result.tool, document.required, result.module, result.selector), result)


def _comparison_of(document: ComparisonDocument) -> Comparison:
    return Comparison(
        document.base_commit,
        tuple(_failure_of(failure) for failure in document.new),
        tuple(_failure_of(failure) for failure in document.resolved),
        tuple(_failure_of(failure) for failure in document.unchanged),
        tuple(Worsened(one.step, one.reason) for one in document.worsened),
        document.incomparable,
    )
