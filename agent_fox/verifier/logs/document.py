"""An outcome as programs and people read it: a JSON document, a line for a failure. Nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.values import Json, to_object

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import Failure
    from agent_fox.verifier.logs.status import Outcome

BEFORE, BEHIND = ("kind", "file", "line", "column", "message", "symbol"), ("code", "exception", "evidence")


def outcome_document(outcome: Outcome) -> dict[str, object]:
    """`status`, `failures`, `warnings` and `testSummary` (null where no tests were counted)."""
    parsed = outcome.parsed
    return {
        "status": outcome.status.value,
        "failures": [_failure(failure) for failure in parsed.failures],
        "warnings": [_failure(warning) for warning in parsed.warnings],
        "testSummary": to_object(parsed.summary, without=() if parsed.summary.xfailed else ("xfailed",))
        if parsed.summary
        else None,
    }


def line_of(failure: Failure) -> str:
    """A failure as one line: `file:line:column: kind: message [test]`, with `-` where no place is known."""
    place = ":".join(str(part) for part in (failure.file, failure.line, failure.column) if part is not None)
    name = f" [{failure.test_name}]" if failure.test_name else ""
    return f"{place or '-'}: {failure.kind}: {failure.message}{name}"


def _failure(failure: Failure) -> dict[str, Json]:
    """One failure; what is not known is null."""
    return {**to_object(failure, only=BEFORE), "testName": failure.test_name, **to_object(failure, only=BEHIND)}
