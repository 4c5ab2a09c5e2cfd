"""A policy report as failures of a verifier's tool."""

from __future__ import annotations

from agent_fox.verifier.policy.values import PolicyFinding, PolicyReport, Severity
from agent_fox.verifier.results import Failure, FailureKind


def as_failures(report: PolicyReport) -> tuple[Failure, ...]:
    """Everything but the notes: lint failures, and `unknown` for what could not be checked."""
    return tuple(_failure(one) for one in report.findings if one.severity is not Severity.NOTE)


def as_warnings(report: PolicyReport) -> tuple[Failure, ...]:
    """The notes, which stop nobody."""
    return tuple(_failure(one) for one in report.findings if one.severity is Severity.NOTE)


def _failure(finding: PolicyFinding) -> Failure:
    is_unknown = finding.severity is Severity.UNKNOWN
    shown = (("before: ", finding.before), ("after: ", finding.after))
    return Failure(
        kind=FailureKind.UNKNOWN if is_unknown else FailureKind.LINT_FAILURE,
        message=f"{finding.message}. {finding.remedy}".strip(),
        file=finding.file or None,
        line=finding.line,
        test_name=finding.test,
        evidence="\n".join(f"{side}{text}" for side, text in shown if text),
        code=finding.rule.value,
        is_error=is_unknown,
    )
