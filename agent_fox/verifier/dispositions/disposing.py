"""Adds to a result who can do something about each failure: facts are gathered here and decided in `dispositions`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.dispositions.rules import dispose
from agent_fox.verifier.ground.disposition_facts import FailureFacts, Rerun, ToolEnd
from agent_fox.verifier.running.summing_up import NO_REPORT

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import Failure, VerificationResult
    from agent_fox.verifier.running.guarded import CommandEnd

MOST_DISPOSED = 200
"""Failures beyond are the same story again; each costs a look."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known beside a result: about the change, and from runs before and after it.

    declared: packages that the manifests ask for. tail: the last lines of its log. reruns: by the name of the failing
    test, or "" for the whole tool.
    """

    files_changed: frozenset[str] = frozenset()
    own_tests: frozenset[str] = frozenset()
    known_flaky: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()
    reruns: Mapping[str, tuple[Rerun, ...]] = field(default_factory=dict)
    tail: str = ""
    has_network: bool = False


def disposed(result: VerificationResult, end: ToolEnd, around: Surroundings) -> VerificationResult:
    """The result with a disposition for each of its failures (the first `MOST_DISPOSED`)."""
    facts = (facts_of(failure, result, end, around) for failure in result.failures[:MOST_DISPOSED])
    return replace(result, dispositions=tuple(dispose(fact) for fact in facts))


def facts_of(failure: Failure, result: VerificationResult, end: ToolEnd, around: Surroundings) -> FailureFacts:
    """Everything recorded about who can do something about this failure."""
    return FailureFacts(
        failure,
        result.tool,
        result.status,
        end,
        result.scope,
        has_network=around.has_network,
        tail=around.tail,
        files_changed=around.files_changed,
        own_tests=around.own_tests,
        declared=around.declared,
        reruns=around.reruns.get(failure.test_name or "", ()),
        changed_sources=result.changed_sources if result.source_mutation_detected else (),
        known_flaky=around.known_flaky,
    )


def end_of(end: CommandEnd, result: VerificationResult) -> ToolEnd:
    """How the command ended, as dispositions ask for it."""
    return ToolEnd(
        exit_code=end.exit_code,
        timed_out=end.timed_out,
        cancelled=end.cancelled,
        start_error=end.start_error,
        out_of_memory=end.out_of_memory,
        process_limit_hit=end.process_limit_hit,
        is_report_readable=all(failure.message != NO_REPORT for failure in result.failures),
        tests_run=result.test_summary.tests if result.test_summary else None,
    )
