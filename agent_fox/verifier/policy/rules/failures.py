"""A policy report as failures of a verifier's tool."""

from __future__ import annotations

from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.policy.values import PolicyFinding, PolicyReport, Severity


def as_failures(report: PolicyReport) -> tuple[Failure, ...]:
    """Everything but the notes: lint failures, compile errors for files that the change broke, and `unknown` for what
    else could not be checked.
    """
    return tuple(_failure(finding) for finding in report.findings if finding.severity is not Severity.NOTE)


def as_warnings(report: PolicyReport) -> tuple[Failure, ...]:
    """The notes, which block nothing."""
    return tuple(_failure(finding) for finding in report.findings if finding.severity is Severity.NOTE)


def _failure(finding: PolicyFinding) -> Failure:
    is_unknown = finding.severity is Severity.UNKNOWN and not finding.is_broken
    kind = FailureKind.COMPILE_ERROR if finding.is_broken else FailureKind.LINT_FAILURE
    shown = (("before: ", finding.before), ("after: ", finding.after))
    return Failure(
        kind=FailureKind.UNKNOWN if is_unknown else kind,
        message=f"{finding.message}. {finding.remedy}".strip(),
        file=finding.file or None,
        line=finding.line,
        test_name=finding.test,
        evidence="\n".join(f"{side}{text}" for side, text in shown if text),
        code=finding.rule.value,
        is_error=is_unknown,
    )
