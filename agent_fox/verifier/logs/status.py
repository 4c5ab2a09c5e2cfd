"""From a run's end and what was read of it to its status: exit code and structured reports decide; and an outcome as
programs and people read it, a JSON document, a line for a failure. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent_fox.core.values import Json, dataclass, to_object
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, Status
from agent_fox.verifier.logs.gathering import STILL_RUNNING, bounded, completed
from agent_fox.verifier.logs.kinds import DATA, patterns_in, written

_LIKE = patterns_in(__file__)
CANNOT_EXECUTE, NOT_FOUND, KILLED = 126, 127, 137
SIGNAL_BASE = 128
NO_TESTS_RAN = "no tests ran"

_ENVIRONMENT = {
    CANNOT_EXECUTE: "the command cannot be executed (exit code 126)",
    NOT_FOUND: "the command was not found (exit code 127)",
    KILLED: "the command was killed (exit code 137), perhaps for want of memory",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command ended. `exit_code` is None where it is unknown; a negative one is a signal's number."""

    tool: str
    exit_code: int | None
    has_timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Readings:
    """What was read of one run: its structured reports, and the text of its log with its last lines."""

    structured: Parsed
    text: Parsed
    tail: Sequence[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The status of a run, and all that is known of why."""

    status: Status
    parsed: Parsed


def outcome_of(ending: Ending, readings: Readings) -> Outcome:
    """A run's outcome. What a test printed changes no status: a log's text only explains an exit code that failed."""
    code = ending.exit_code if ending.exit_code is None or ending.exit_code >= 0 else SIGNAL_BASE - ending.exit_code
    both = completed(readings.structured, readings.text)
    if ending.has_timed_out:
        late, kind = "it did not end in time", FailureKind.TIMEOUT
        hung = (replace(f, kind=kind, message=late) if f.message == STILL_RUNNING else f for f in both.failures)
        return _ended(Status.TIMED_OUT, kind, late, replace(both, failures=tuple(hung)), readings)
    if code == 0:
        failures = readings.structured.failures
        return Outcome(Status.FAILED if failures else Status.PASSED, replace(both, failures=failures))
    if code in _ENVIRONMENT:
        lines = (line for line in reversed(readings.tail) if code != KILLED and _LIKE["missing"].search(line))
        message = next(lines, _ENVIRONMENT[code])
        return _ended(Status.ERRORED, FailureKind.ENVIRONMENT_FAILURE, message, both, readings)
    return _failed(ending.tool, code, both, readings)


def _ended(status: Status, kind: FailureKind, message: str, both: Parsed, readings: Readings) -> Outcome:
    """What is known of why, with a failure of this kind."""
    known = [failure for failure in both.failures if failure.kind is not FailureKind.UNKNOWN]
    if not any(failure.kind is kind for failure in known):
        known.append(_failure(kind, message, readings))
    return Outcome(status, replace(both, failures=tuple(known)))


def _failed(tool: str, code: int | None, both: Parsed, readings: Readings) -> Outcome:
    tools = written(DATA / "tools.toml")
    is_empty = not both.failures and bool(_LIKE["empty"].search("\n".join(line.strip() for line in readings.tail)))
    has_run_nothing = is_empty or code in tools["ran_nothing"].get(tool, ())
    if not both.failures:
        message = f"it failed with exit code {code}" if code is not None else "how it ended is not known"
        message = f"it was ended by signal {code - SIGNAL_BASE}" if code and code > SIGNAL_BASE else message
        message = NO_TESTS_RAN if has_run_nothing else message
        both = replace(both, failures=(_failure(FailureKind.UNKNOWN, message, readings),))
    kinds = {failure.kind for failure in both.failures}
    is_unable = kinds == {FailureKind.ENVIRONMENT_FAILURE} or has_run_nothing
    if kinds == {FailureKind.UNKNOWN}:
        has_no_tests = both.summary is not None and both.summary.tests == 0
        is_unable = is_unable or has_no_tests or code is None or code in tools["could_not_run"].get(tool, ())
    return Outcome(Status.ERRORED if is_unable else Status.FAILED, both)


def _failure(kind: FailureKind, message: str, readings: Readings) -> Failure:
    return bounded(Failure(kind, message, evidence="\n".join(readings.tail)))


BEFORE, BEHIND = ("kind", "file", "line", "column", "message", "symbol"), ("code", "exception", "evidence")


def outcome_document(outcome: Outcome) -> dict[str, object]:
    """`status`, `failures`, `warnings` and `testSummary` (null where no tests were counted)."""
    parsed = outcome.parsed
    return {
        "status": outcome.status.value,
        "failures": [_document(failure) for failure in parsed.failures],
        "warnings": [_document(warning) for warning in parsed.warnings],
        "testSummary": to_object(parsed.summary, without=() if parsed.summary.xfailed else ("xfailed",))
        if parsed.summary
        else None,
    }


def line_of(failure: Failure) -> str:
    """A failure as one line: `file:line:column: kind: message [test]`, with `-` where no place is known."""
    place = ":".join(str(part) for part in (failure.file, failure.line, failure.column) if part is not None)
    name = f" [{failure.test_name}]" if failure.test_name else ""
    return f"{place or '-'}: {failure.kind}: {failure.message}{name}"


def _document(failure: Failure) -> dict[str, Json]:
    """One failure; what is not known is null."""
    return {**to_object(failure, only=BEFORE), "testName": failure.test_name, **to_object(failure, only=BEHIND)}
