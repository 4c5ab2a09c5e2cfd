"""Test counts against the last run of the same scope; never across scopes."""

from __future__ import annotations

from collections.abc import Iterator

from agent_fox.verifier.ground.results import Scope, TestSummary
from agent_fox.verifier.policy.values import PolicyContext, PolicyFinding, Rule, Severity


def findings_about_counts(context: PolicyContext) -> Iterator[PolicyFinding]:
    """Fewer tests, or more that do not count, than the last run of this scope had."""
    for scope, now in context.current_counts.items():
        before = context.previous_counts.get(scope)
        if before is not None and scope is not Scope.SELECTED:
            yield from _drops(scope, before, now)


def _drops(scope: Scope, before: TestSummary, now: TestSummary) -> Iterator[PolicyFinding]:
    if now.tests < before.tests:
        yield _finding(
            f"the {scope} run has fewer tests than the last one", f"{before.tests} tests", f"{now.tests} tests"
        )
    idle_before, idle_now = before.skipped + before.xfailed, now.skipped + now.xfailed
    if idle_now > idle_before:
        message = f"the {scope} run skips more tests than the last one"
        yield _finding(message, f"{idle_before} skipped", f"{idle_now} skipped")


def _finding(message: str, before: str, after: str) -> PolicyFinding:
    remedy = "Say in the summary which tests went, and why."
    return PolicyFinding(Rule.COUNT_DROPPED, Severity.NEEDS_REASON, "", None, None, message, before, after, remedy)
