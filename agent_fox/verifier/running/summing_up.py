"""From what ran to a result of the contract: status, failures, and one line that says it. Runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.system.redaction.masking import redact
from agent_fox.verifier.ground.results import Failure, FailureKind, Status, TestSummary, Tool, VerificationResult
from agent_fox.verifier.logs.status import NO_TESTS_RAN, Outcome
from agent_fox.verifier.policy.discovery import belongs_to_tests, is_collected
from agent_fox.verifier.policy.values import Language
from agent_fox.verifier.reporting.report import place_of

if TYPE_CHECKING:
    from agent_fox.verifier.ground.request import Prepared, Refused, Request, Unavailable
    from agent_fox.verifier.running.execution import Executed

PATHS_SHOWN = 5
_IMPORTED = ("conftest.py", "__init__.py")
NO_REPORT = "it ended well, but left no report that can be read"
NO_TEST_SEEN = f"{NO_TESTS_RAN} that anybody saw, though it ended well"


@dataclass(frozen=True, slots=True)
class Hidden:
    """What no result may hold: paths of these folders of this machine, and these exact values."""

    folders: tuple[Path, ...]
    secrets: tuple[str, ...] = ()


def result_of_run(
    request: Request, prepared: Prepared, ran: Executed, profile: str, hidden: Hidden
) -> VerificationResult:
    """What a command came to."""
    parsed = ran.outcome.parsed
    changes = tuple(change.shown for change in ran.changes)
    reasons = tuple(_own_failures(request.tool, prepared, ran, changes))
    status = _status(prepared, ran, reasons)
    failures = tuple(cleaned(failure, hidden) for failure in (*reasons, *parsed.failures))
    return VerificationResult(
        tool=request.tool,
        status=status,
        profile=profile,
        command=prepared.display,
        summary=_whole(_summary(status, failures, parsed.summary, ran), status, prepared),
        exit_code=ran.end.exit_code,
        seconds=round(ran.end.seconds, 3),
        started_at=ran.end.started_at,
        completed_at=ran.end.completed_at,
        module=request.module,
        selector=request.selector,
        scope=prepared.scope,
        failures=failures,
        warnings=tuple(cleaned(warning, hidden) for warning in parsed.warnings),
        test_summary=parsed.summary,
        artifacts=ran.artifacts,
        changed_sources=changes,
        isolation=ran.end.isolation,
        notes=(*prepared.notes, *_notes(ran)),
    )


def without_data_of_tests(result: VerificationResult, root: Path, changed: frozenset[str]) -> VerificationResult:
    """The result of compiling Python without files that tests read, such as source that is wrong on purpose.

    They lie beside tests, in no package, no runner collects them, and the change has not touched them. They stay as
    warnings.
    """
    unchanged = (each for each in result.failures if each.file and each.file not in changed)
    data = tuple(each for each in unchanged if each.file and _is_data(root / each.file, each.file))
    if result.tool is not Tool.COMPILE or result.status is not Status.FAILED or not data:
        return result
    rest = tuple(failure for failure in result.failures if failure not in data)
    note = f"{_number(len(data))} in data of tests, as before the change: {_some([each.file or '' for each in data])}"
    passed = replace(result, failures=rest, warnings=(*result.warnings, *data), notes=(*result.notes, note))
    if rest:
        first = f"{_number(len(rest))}; first: {place_of(rest[0])}{rest[0].message.strip().partition(chr(10))[0]}"
        return replace(passed, summary=first)
    return replace(passed, status=Status.PASSED, summary="passed")


def _is_data(file: Path, path: str) -> bool:
    is_beside = belongs_to_tests(path) and not is_collected(path, Language.PYTHON)
    return is_beside and file.name not in _IMPORTED and not file.with_name("__init__.py").exists()


def not_run(request: Request, why: Unavailable, profile: str) -> VerificationResult:
    """The result of a capability that there is no command for: skipped, which is never a pass."""
    return VerificationResult(
        request.tool,
        Status.SKIPPED,
        profile,
        (),
        why.reason,
        module=request.module,
        selector=request.selector,
        notes=(f"not run: {why.kind}",),
    )


def errored(request: Request, reason: str, profile: str) -> VerificationResult:
    """The result of a tool that could not begin its work."""
    failure = Failure(FailureKind.ENVIRONMENT_FAILURE, reason)
    return VerificationResult(
        request.tool,
        Status.ERRORED,
        profile,
        (),
        reason,
        module=request.module,
        selector=request.selector,
        failures=(failure,),
    )


def refused(request: Request, why: Refused, profile: str) -> VerificationResult:
    """A refused request as a result: a plan that asks for what is refused is at fault, and nothing has run."""
    return replace(errored(request, why.message, profile), notes=(f"refused: {why.code}",))


def of_log(outcome: Outcome, uri: str, profile: str, hidden: Hidden) -> VerificationResult:
    """What a log alone says. Nobody saw how the command ended, so it is never a pass."""
    failures = tuple(cleaned(failure, hidden) for failure in outcome.parsed.failures)
    summary = f"{_number(len(failures))} in the log" if failures else "no failure in the log"
    return VerificationResult(
        Tool.SUMMARIZE,
        outcome.status,
        profile,
        (),
        f"{summary}; how the command exited is not known from a log alone",
        failures=failures,
        warnings=tuple(cleaned(warning, hidden) for warning in outcome.parsed.warnings),
        test_summary=outcome.parsed.summary,
        notes=(f"read from {uri}",),
    )


def cleaned(failure: Failure, hidden: Hidden) -> Failure:
    """The failure with secrets masked, and without absolute paths: what is inside a folder is counted from there."""
    return replace(
        failure,
        message=_clean(failure.message, hidden),
        evidence=_clean(failure.evidence, hidden),
        file=_clean(failure.file, hidden) if failure.file else failure.file,
        test_name=_clean(failure.test_name, hidden) if failure.test_name else failure.test_name,
    )


def _clean(text: str, hidden: Hidden) -> str:
    return _shortened(redact(text, hidden.secrets), hidden.folders)


def _shortened(text: str, hidden: Sequence[Path]) -> str:
    """The text with each folder's path cut off; a longer name that only begins like it stays."""
    for folder in sorted({str(path) for path in hidden}, key=len, reverse=True):
        text = re.sub(
            rf"{re.escape(folder)}(?:/|(?![\w.-]))", lambda found: "" if found[0].endswith("/") else ".", text
        )
    return text


def _status(prepared: Prepared, ran: Executed, reasons: Sequence[Failure]) -> Status:
    """What the log and the exit code came to, unless something of ours speaks against a pass.

    A part of the work that passed is no pass of the whole.
    """
    status, tests = ran.outcome.status, ran.outcome.parsed.summary
    if ran.end.start_error or ran.end.cancelled:
        return Status.ERRORED
    if prepared.guess and status is Status.FAILED and not (tests and tests.passed):
        return Status.ERRORED
    if status is not Status.PASSED or not reasons:
        return Status.SKIPPED if status is Status.PASSED and prepared.missing else status
    return Status.FAILED if ran.changes else Status.ERRORED


def _own_failures(tool: Tool, prepared: Prepared, ran: Executed, changes: Sequence[str]) -> list[Failure]:
    """What no log says: it could not start, was stopped, changed source, wrote no report, or ran no test at all."""
    failures = []
    if ran.end.start_error:
        failures.append(Failure(FailureKind.ENVIRONMENT_FAILURE, ran.end.start_error))
    if ran.end.cancelled:
        failures.append(Failure(FailureKind.ENVIRONMENT_FAILURE, "it was cancelled before it ended"))
    if changes and not tool.may_change_source:
        failures.append(Failure(FailureKind.UNKNOWN, f"{tool} changed source files: {_some(changes)}", file=changes[0]))
    if ran.outcome.status is Status.PASSED:
        failures += [Failure(FailureKind.UNKNOWN, doubt) for doubt in _doubts(tool, prepared, ran)]
    return failures


def _doubts(tool: Tool, prepared: Prepared, ran: Executed) -> Iterator[str]:
    """Why an end that looks well is none. Without a report all that is left is what was printed: no evidence."""
    if not ran.is_reported:
        yield NO_REPORT
    elif tool.runs_tests and not _has_run(prepared, ran):
        yield NO_TEST_SEEN


def _has_run(prepared: Prepared, ran: Executed) -> bool:
    """Whether tests ran: counted ones that were not all skipped, or uncounted ones where no line denies it."""
    summary = ran.outcome.parsed.summary
    if summary is None and prepared.idle:
        return re.search(prepared.idle, ran.tail, re.MULTILINE) is None
    return summary is not None and summary.tests > summary.skipped


def _summary(status: Status, failures: Sequence[Failure], tests: TestSummary | None, ran: Executed) -> str:
    counts = f"{tests.failures + tests.errors} of {tests.tests} tests failed" if tests else ""
    if status is Status.PASSED:
        passed = f"passed: {tests.passed} tests, {tests.skipped} skipped" if tests else "passed"
        return passed
    if status is Status.TIMED_OUT:
        return f"it ran into its time limit after {ran.end.seconds:.0f} s"
    if not failures:
        return f"{status}, exit code {ran.end.exit_code}"
    first = failures[0]
    head = counts if counts and first.kind is FailureKind.TEST_FAILURE else _number(len(failures))
    message, _, _ = first.message.strip().partition("\n")
    return f"{head}; first: {place_of(first)}{message}"


def _whole(summary: str, status: Status, prepared: Prepared) -> str:
    """The summary, with what of the work was left undone."""
    if prepared.guess and status is Status.ERRORED:
        return f"{summary}; {prepared.guess}"
    done = f"{PurePath(prepared.display[0]).name} passed" if status is Status.SKIPPED else summary
    return f"{done}; not all of it ran: {prepared.missing}" if prepared.missing else summary


def _number(failures: int) -> str:
    return "1 failure" if failures == 1 else f"{failures} failures"


def _some(paths: Sequence[str]) -> str:
    more = len(paths) - PATHS_SHOWN
    return ", ".join(paths[:PATHS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _notes(ran: Executed) -> list[str]:
    end, notes = ran.end, []
    if end.left_out:
        notes.append(f"{end.left_out} bytes of its output were left out of the log")
    if end.leftovers:
        notes.append(f"{end.leftovers} processes it left behind were ended")
    if end.out_of_memory:
        notes.append("it was ended by its memory limit")
    if end.process_limit_hit:
        notes.append("it ran into its limit of processes")
    if any(artifact.is_secret_suspected for artifact in ran.artifacts):
        notes.append("something in its artifacts looks like a secret that was not masked")
    return notes
