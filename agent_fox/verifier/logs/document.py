"""An outcome as the JSON document that programs read: its words and fields. Nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import Failure, TestSummary
    from agent_fox.verifier.logs.status import Outcome

Field = str | int | None


def outcome_document(outcome: Outcome) -> dict[str, object]:
    """`status`, `failures`, `warnings` and `testSummary` (null where no tests were counted)."""
    return {
        "status": outcome.status.value,
        "failures": [failure_document(failure) for failure in outcome.parsed.failures],
        "warnings": [failure_document(warning) for warning in outcome.parsed.warnings],
        "testSummary": _summary(outcome.parsed.summary),
    }


def failure_document(failure: Failure) -> dict[str, Field]:
    """One failure; what is not known is null."""
    return {
        "kind": failure.kind.value,
        "file": failure.file,
        "line": failure.line,
        "column": failure.column,
        "message": failure.message,
        "symbol": failure.symbol,
        "testName": failure.test_name,
        "code": failure.code,
        "exception": failure.exception,
        "evidence": failure.evidence,
    }


def _summary(summary: TestSummary | None) -> dict[str, int] | None:
    if summary is None:
        return None
    counts = {
        "tests": summary.tests,
        "passed": summary.passed,
        "failures": summary.failures,
        "errors": summary.errors,
        "skipped": summary.skipped,
    }
    return counts | ({"xfailed": summary.xfailed} if summary.xfailed else {})
