"""What the log of a failed command says where no report does: a compile error, a lint, a dependency that is missing.

It loads all log parsers, which costs more than the rest of the judge: it is imported only where a command failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from agent_fox.core.verdicts.judgement import NOT_THE_CODERS_FAULT
from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.dispositions.rules import dispose
from agent_fox.verifier.ground.disposition_facts import FailureFacts, ToolEnd
from agent_fox.verifier.ground.results import Disposed, Failure, FailureKind, Tool
from agent_fox.verifier.logs import decode
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reading import TAIL_LINES, Run, read_run
from agent_fox.verifier.logs.registry import BUILT_IN, UnknownTool
from agent_fox.verifier.logs.status import Ending, Outcome
from agent_fox.verifier.suites.suite import Broken, Unattempted

_SHOWN = 3
_CHECKS = (FailureKind.LINT_FAILURE, FailureKind.FORMAT_FAILURE)


def why_failed(
    tool: str, exit_code: int | None, log: Path, workspace: Path, *, has_cases: bool
) -> tuple[Broken, ...] | Unattempted | None:
    """What kept the tests from running, by the tool's own log; None if it does not say.

    What is not the code's fault comes first: a missing dependency brings compile errors with it. A failing test that
    only the log names decides nothing: what a test prints may look like one.
    """
    try:
        outcome = read_run(Run(Ending(tool, exit_code), log), Workspace(PurePosixPath(workspace)), BUILT_IN)
    except UnknownTool:
        return None
    others = [failure for failure in outcome.parsed.failures if failure.kind is not FailureKind.TEST_FAILURE]
    disposed = [(failure, _disposed(failure, outcome, exit_code, log, has_cases=has_cases)) for failure in others]
    for failure, why in disposed:
        if why.disposition in NOT_THE_CODERS_FAULT and failure.kind is not FailureKind.UNKNOWN:
            return Unattempted(f"{why.reason}: {failure.message}", why.disposition)
    mine = [failure for failure, why in disposed if why.disposition is Disposition.REPAIRABLE]
    checked = [failure for failure in mine if failure.kind in _CHECKS]
    built = [failure for failure in mine if failure.kind not in _CHECKS]
    return (*_uncompiled(built, has_cases=has_cases), *_checks(tool, checked)) or None


def _disposed(failure: Failure, found: Outcome, exit_code: int | None, log: Path, *, has_cases: bool) -> Disposed:
    """Whose the failure is. The log's last lines speak only where no test ran that could have written them."""
    with log.open("rb") as file:
        tail = "" if has_cases else "\n".join(decode.tail(file, TAIL_LINES))
    end = ToolEnd(exit_code, tests_run=found.parsed.summary.tests if found.parsed.summary else None)
    return dispose(FailureFacts(failure, Tool.UNIT_TESTS, found.status, end, has_network=True, tail=tail))


def _uncompiled(failures: list[Failure], *, has_cases: bool) -> Iterable[Broken]:
    """Where other tests ran, each file for itself; else all that the command runs was kept back."""
    if not failures:
        return ()
    if not has_cases:
        return (_broken("does not build", failures, ""),)
    files = dict.fromkeys(failure.file or "" for failure in failures)
    return tuple(_broken("does not build", [f for f in failures if (f.file or "") == file], file) for file in files)


def _broken(what: str, failures: list[Failure], file: str, *, is_check: bool = False) -> Broken:
    first = failures[0]
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    text = "\n".join(f"{_place(failure)}{failure.message}" for failure in failures[:_SHOWN])
    return Broken(
        f"{first.file or 'the code'} {what}{more}", file, f"{text}\n{first.evidence}", first.message, is_check
    )


def _checks(tool: str, failures: list[Failure]) -> Iterable[Broken]:
    return (_broken(f"does not pass {tool}", failures, "", is_check=True),) if failures else ()


def _place(failure: Failure) -> str:
    parts = (failure.file, failure.line, failure.column)
    return ":".join(str(part) for part in parts if part is not None) + ": " if failure.file else ""
