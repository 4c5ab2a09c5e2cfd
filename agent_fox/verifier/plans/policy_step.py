"""The step that looks at the change itself for weakened tests and checks: from a policy report to a result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.system.clock import monotonic, now
from agent_fox.system.git import GitError
from agent_fox.verifier.ground.request import Request, Unavailable, Why
from agent_fox.verifier.ground.results import Disposed, Failure, FailureKind, Status, Tool, VerificationResult
from agent_fox.verifier.policy.change_under_check import change_since
from agent_fox.verifier.policy.check import check_change, failures_of
from agent_fox.verifier.policy.values import PolicyContext, PolicyReport, Ruling, Severity
from agent_fox.verifier.running.summing_up import errored, not_run

if TYPE_CHECKING:
    from agent_fox.verifier.profiles.context import RunContext

_REQUEST = Request(Tool.STATIC_POLICY)
_STATUS = {
    Ruling.CLEAN: Status.PASSED,
    Ruling.BLOCKED: Status.FAILED,
    Ruling.REASONS_WANTED: Status.FAILED,
    Ruling.UNKNOWN: Status.ERRORED,
}
_BROKEN = "the change leaves a file that cannot be parsed"


def check_policy(context: RunContext) -> VerificationResult:
    """Check the files of the workspace against the base commit; a required reason that was not stated fails it."""
    if not context.base:
        nothing = Unavailable("there is no base commit to compare the change with", Why.NOT_CONFIGURED)
        return not_run(_REQUEST, nothing, context.profile.id)
    began, started_at = monotonic(), now()
    try:
        change = context.change or change_since(context.root, context.base)
    except GitError as error:
        return errored(_REQUEST, f"the change cannot be read: {error}", context.profile.id)
    result = result_of(check_change(change, PolicyContext(summary=context.stated)), context.profile.id)
    return replace(result, started_at=started_at, completed_at=now(), seconds=round(monotonic() - began, 3))


def result_of(report: PolicyReport, profile: str) -> VerificationResult:
    """What the checks of a change came to. Findings that ask for nothing are warnings."""
    failures = failures_of(report)
    return VerificationResult(
        Tool.STATIC_POLICY,
        Status.FAILED if _is_only_broken(report) else _STATUS[report.verdict],
        profile,
        (),
        _summary(report),
        failures=failures,
        dispositions=tuple(_disposed(failure) for failure in failures),
        warnings=failures_of(report, are_notes=True),
        notes=tuple(f"changed test {test.name}: {test.how} ({_reason(test.reason)})" for test in report.changed_tests),
    )


def _is_only_broken(report: PolicyReport) -> bool:
    """Whether all that could not be looked into is what the change itself broke: a failure, which its author mends."""
    unknown = [finding for finding in report.findings if finding.severity is Severity.UNKNOWN]
    return report.verdict is Ruling.UNKNOWN and all(finding.is_broken for finding in unknown)


def _disposed(failure: Failure) -> Disposed:
    """A finding goes back to the coder; what could not be looked into needs a person."""
    if failure.kind is FailureKind.COMPILE_ERROR:
        return Disposed(Disposition.REPAIRABLE, _BROKEN, repairable_by_agent=True)
    if failure.kind is FailureKind.UNKNOWN:
        return Disposed(Disposition.ENVIRONMENT, "the file cannot be looked into", requires_human=True)
    return Disposed(Disposition.POLICY, f"the change breaks the rule {failure.code}", repairable_by_agent=True)


def _summary(report: PolicyReport) -> str:
    if report.verdict is Ruling.CLEAN:
        return f"passed: nothing was weakened, {len(report.changed_tests)} tests changed"
    first = report.findings[0]
    head = f"{report.verdict.replace('_', ' ')}, {len(report.findings)} findings"
    return f"{head}; first: {first.file}: {first.message}"


def _reason(reason: str | None) -> str:
    return f"stated reason: {reason}" if reason else "no reason was stated"
