"""Which failures deserve to be run again, where, and how often, before they are believed. Running is elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.dispositions.rules import dispose
from agent_fox.verifier.ground.disposition_facts import PROOF_RUNS, FailureFacts, RerunTree
from agent_fox.verifier.ground.results import Disposed, Failure, FailureKind, Scope, Tool


class RerunKind(StrEnum):
    SAME_TREE = "same tree"
    BASE_TREE = "base tree"
    SELECTED_TESTS = "selected tests"
    FORMAT_APPLY = "format apply"


@dataclass(frozen=True, slots=True)
class RerunWanted:
    """One thing to run: `target` is the test, None for the whole tool.

    times: at most this often; reruns on the same tree stop at the first that fails, which settles that question.
    """

    kind: RerunKind
    reason: str
    target: str | None = None
    times: int = 1


_SETTLED = {Disposition.POLICY, Disposition.SPEC_FAULT, Disposition.FLAKY, Disposition.PRE_EXISTING}


def reruns_wanted(facts: FailureFacts) -> tuple[RerunWanted, ...]:
    """What should be run before the failure is disposed of for good; empty where nothing would change it."""
    disposed = dispose(facts)
    if facts.failure.kind is FailureKind.FORMAT_FAILURE and disposed.disposition is Disposition.REPAIRABLE:
        return _formatting(facts)
    if disposed.disposition in _SETTLED or facts.end.cancelled or facts.end.start_error:
        return ()
    if facts.end.timed_out and facts.scope is Scope.FULL and facts.failure.kind is FailureKind.TIMEOUT:
        return (RerunWanted(RerunKind.SELECTED_TESTS, "the whole suite ran out of time"),)
    if facts.failure.kind is FailureKind.TEST_FAILURE and facts.failure.test_name is not None:
        return _of_test(facts, facts.failure.test_name)
    return _of_tool(facts, disposed)


def is_pure_format(failures: Sequence[Failure]) -> bool:
    """Whether formatting is all that is wrong, so that the formatter can repair it without a coder's attempt."""
    return bool(failures) and all(failure.kind is FailureKind.FORMAT_FAILURE for failure in failures)


def _formatting(facts: FailureFacts) -> tuple[RerunWanted, ...]:
    if facts.tool is Tool.FORMAT_APPLY:
        return ()
    return (RerunWanted(RerunKind.FORMAT_APPLY, "the formatter repairs it"),)


def _of_test(facts: FailureFacts, test: str) -> tuple[RerunWanted, ...]:
    """A test may be flaky, and may have failed before the change: both are asked while they are open."""
    wanted = []
    if times := _open_proof_runs(facts):
        is_known = test in facts.known_flaky
        reason = "it is on the list of flaky tests" if is_known else "a test is run again before it is believed"
        wanted.append(RerunWanted(RerunKind.SAME_TREE, reason, test, times))
    if not facts.is_own_test and not facts.outcomes(RerunTree.BASE):
        wanted.append(RerunWanted(RerunKind.BASE_TREE, "it may have failed before the change", test))
    return tuple(wanted)


def _open_proof_runs(facts: FailureFacts) -> int:
    """How many more passes would prove it flaky; 0 once one rerun did not pass."""
    outcomes = facts.outcomes(RerunTree.SAME)
    return max(0, PROOF_RUNS - len(outcomes)) if all(outcome is True for outcome in outcomes) else 0


def _of_tool(facts: FailureFacts, found: Disposed) -> tuple[RerunWanted, ...]:
    """A failure that is not attributed yet, or names no test: whether it repeats, and whether the change caused it."""
    target = facts.failure.test_name
    wanted = []
    is_open = found.retryable_infrastructure or found.disposition is Disposition.VERIFIER_FAULT
    if is_open and not facts.outcomes(RerunTree.SAME):
        wanted.append(RerunWanted(RerunKind.SAME_TREE, found.reason, target))
    if not facts.outcomes(RerunTree.BASE):
        wanted.append(RerunWanted(RerunKind.BASE_TREE, "it may not be the change's", target))
    return tuple(wanted)
