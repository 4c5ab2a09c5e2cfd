"""Results and reports as documents that leave the process: names, types and schemas. Decides nothing.

Names are in camelCase, as in the result contract of the verifier. Version 1.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.ground.results import (
    Artifact,
    ArtifactKind,
    Disposed,
    Failure,
    Scope,
    Status,
    TestSummary,
    Tool,
    VerificationResult,
)
from agent_fox.verifier.reporting.comparison import Comparison, Worsened
from agent_fox.verifier.reporting.report import ReportStatus, Step, StepOutcome, VerificationReport

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


@dataclass(frozen=True, slots=True)
class FailureDocument(Failure):
    """A failure, and why it failed where that was looked into. `evidence` is output, never an instruction."""

    disposition: DispositionDocument | None = None

    @staticmethod
    def of(failure: Failure, why: Disposed | None = None) -> FailureDocument:
        disposition = DispositionDocument.model_validate(why) if why else None
        return FailureDocument(**_shared(failure, Failure), disposition=disposition)

    @property
    def plain(self) -> Failure:
        return Failure(**_shared(self, Failure))


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
    """A file kept beside a result. `uri` is its public name; its path is not part of the document."""

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
    counts = result.test_summary
    return ResultDocument(
        **_shared(result, ResultDocument)
        | {
            "verifier_tool": result.tool,
            "profile_id": result.profile,
            "command_display": shlex.join(result.command),
            "duration_ms": round(result.seconds * 1000),
            "failures": tuple(FailureDocument.of(failure, why) for failure, why in result.explained),
            "omitted_failures": 0,
            "warnings": _failures(result.warnings),
            "omitted_warnings": 0,
            "test_summary": TestSummaryDocument(scope=result.scope, **asdict(counts)) if counts else None,
        }
    )


def report_document(report: VerificationReport) -> ReportDocument:
    """The whole report."""
    compared = report.comparison
    return ReportDocument(
        **_shared(report, ReportDocument)
        | {
            "run_id": report.run,
            "attempt_no": report.attempt,
            "profile_id": report.profile,
            "plan_reason": report.why,
            "overall_summary": report.summary,
            "steps": tuple(
                StepDocument(required=outcome.step.required, result=result_document(outcome.result))
                for outcome in report.outcomes
            ),
            "blocking_failures": tuple(
                BlockingDocument(step=each.step.title, failure=FailureDocument.of(each.failure, each.disposed))
                for each in report.blocking
            ),
            "baseline": _comparison(compared) if compared else None,
        }
    )


def result_of(document: ResultDocument) -> VerificationResult:
    """The result that a document was made of, as far as the document holds it."""
    counts = document.test_summary
    return VerificationResult(
        **_shared(document, VerificationResult)
        | {
            "tool": document.verifier_tool,
            "profile": document.profile_id,
            "command": tuple(shlex.split(document.command_display)),
            "seconds": document.duration_ms / 1000,
            "scope": counts.scope if counts else None,
            "failures": tuple(failure.plain for failure in document.failures),
            "warnings": tuple(warning.plain for warning in document.warnings),
            "test_summary": TestSummary(**_shared(counts, TestSummary)) if counts else None,
            "artifacts": tuple(Artifact(**_shared(artifact, Artifact)) for artifact in document.artifacts),
            "dispositions": tuple(
                Disposed(**_shared(failure.disposition, Disposed))
                for failure in document.failures
                if failure.disposition
            ),
        }
    )


def report_of(document: ReportDocument) -> VerificationReport:
    """The report that a document was made of, as far as the document holds it."""
    return VerificationReport(
        **_shared(document, VerificationReport)
        | {
            "run": document.run_id,
            "attempt": document.attempt_no,
            "profile": document.profile_id,
            "why": document.plan_reason,
            "outcomes": tuple(_outcome_of(step) for step in document.steps),
            "comparison": _comparison_of(document.baseline) if document.baseline else None,
        }
    )


def _shared(source: object, kind: type[Any]) -> dict[str, Any]:
    """What a document or value of this kind takes over as it is, by name."""
    names = kind.model_fields if issubclass(kind, BaseModel) else [each.name for each in fields(kind)]
    return {name: getattr(source, name) for name in names if hasattr(source, name)}


def _failures(failures: Iterable[Failure]) -> tuple[FailureDocument, ...]:
    return tuple(map(FailureDocument.of, failures))


COMPARED = ("new", "resolved", "unchanged")


def _comparison(comparison: Comparison) -> ComparisonDocument:
    failures = {name: _failures(getattr(comparison, name)) for name in COMPARED}
    return ComparisonDocument(**_shared(comparison, ComparisonDocument) | failures, base_commit=comparison.base)


def _comparison_of(document: ComparisonDocument) -> Comparison:
    failures = {name: tuple(failure.plain for failure in getattr(document, name)) for name in COMPARED}
    worsened = tuple(Worsened(each.step, each.reason) for each in document.worsened)
    return Comparison(document.base_commit, **failures, worsened=worsened, incomparable=document.incomparable)


def _outcome_of(document: StepDocument) -> StepOutcome:
    result = result_of(document.result)
    return StepOutcome(Step(result.tool, document.required, result.module, result.selector), result)
