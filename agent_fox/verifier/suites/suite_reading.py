"""From a command that ended, and the files it left, to what its run shows. Runs nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, ValidationError

from agent_fox.core.json_text import NotJson, read_json
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.system.files import open_regular
from agent_fox.verifier.ground.cases import COLLECTION, Case, Outcome, ReportUnreadable
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.suites.go_cases import plain_text, read_go
from agent_fox.verifier.suites.junit import read_junit
from agent_fox.verifier.suites.rust_cases import read_rust
from agent_fox.verifier.suites.suite import Broken, SuiteRun, Unattempted

if TYPE_CHECKING:
    from agent_fox.verifier.ground.command_line import Command
    from agent_fox.verifier.running.commands import Ended
    from agent_fox.verifier.suites.calls import Call
    from agent_fox.verifier.suites.controls import Controls

_EXIT_NOT_EXECUTABLE = (126, 127)
_EXIT_KILLED = (-9, 137)
_EXIT_PYTEST_USAGE = 4
_EXIT_NOTHING_RAN = 5  # pytest's and unittest's
_ABSENT = regex(r"^ERROR: (?:file or directory )?not found: (\S+)", re.MULTILINE)
_CONFTEST = regex(r"^\S*(?:Import|Syntax)?Error while loading conftest '([^']+)'|conftest\.py", re.MULTILINE)
_EXPLAINING = "agent_fox.verifier.judging.why_failed"
_GO_NOT_BUILT = "[build failed]"
_JEST = "agent_fox.verifier.suites.suite_reading"
OWN_REPORT = "report"
"""The name of the file that a tool is asked to write its report to."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One process, ended, its log, and the report files it wrote."""

    command: Command
    call: Call | None
    ended: Ended
    reports: tuple[Path, ...]
    timeout: float
    log: Path
    workspace: Path
    started: int
    kept_log: str = ""
    controls: Controls | None = None

    @property
    def tool(self) -> str:
        return self.call.tool if self.call else ""


@dataclass(frozen=True, slots=True)
class _Reading:
    """The tests that were read. `is_reported`: whether the tool reported its tests at all, even if there are none."""

    cases: tuple[Case, ...] = ()
    is_reported: bool = False
    unreadable: Unattempted | None = None


def read_attempt(attempt: Attempt) -> SuiteRun:
    """What one attempt shows: its tests, or what kept them from running. Exit code and reports decide."""
    reading = _read(attempt)
    collected = tuple(case for case in reading.cases if not _is_broken_file(case))
    broken = (*_broken(attempt), *(_broken_file(case) for case in reading.cases if _is_broken_file(case)))
    attempt, collected, doubted = _without_controls(attempt, collected, broken)
    unattempted = _not_run(attempt.ended) or reading.unreadable or doubted
    if unattempted is None and _is_unexplained(attempt, collected, broken):
        explained = _explained(attempt, has_cases=bool(collected))
        broken = (*broken, *explained) if isinstance(explained, tuple) else broken
        has_failed = any(case.outcome is Outcome.FAILED for case in collected)
        unattempted = explained if isinstance(explained, Unattempted) and not has_failed else None
    unattempted = unattempted or _disagreement(attempt, collected, broken, is_reported=reading.is_reported)
    return SuiteRun(
        attempt.command.line,
        attempt.command,
        attempt.call,
        attempt.ended.exit_code,
        round(attempt.ended.seconds, 3),
        plain_text(attempt.ended.output) if attempt.tool == "go" else attempt.ended.output,
        () if unattempted else collected,
        () if unattempted else broken,
        unattempted,
        attempt.started,
        attempt.kept_log,
        attempt.ended.isolation,
    )


def _without_controls(
    attempt: Attempt, cases: tuple[Case, ...], broken: tuple[Broken, ...]
) -> tuple[Attempt, tuple[Case, ...], Unattempted | None]:
    """The attempt and its tests as if there were no controls; and why nothing of the report counts, if so."""
    controls = attempt.controls
    if controls is None:
        return attempt, cases, None
    others, doubt = controls.taken_out(cases, [each.file for each in broken])
    code, lines = attempt.ended.exit_code, attempt.ended.output.splitlines(keepends=True)
    shown = "".join(line for line in lines if controls.name not in line)
    attempt = replace(attempt, ended=replace(attempt.ended, output=shown))
    if controls.is_counted and len(others) < len(cases):
        if code == 0 and not doubt:
            doubt = "the exit code is 0, although tests of our own failed"
        if code == 1 and not broken and not any(case.outcome is Outcome.FAILED for case in others):
            attempt = replace(attempt, ended=replace(attempt.ended, exit_code=0))
    if not doubt:
        return attempt, others, None
    return attempt, others, Unattempted(f"the runner is not believed: {doubt}", Disposition.POLICY)


def _read(attempt: Attempt) -> _Reading:
    try:
        cases = [case for path in attempt.reports for case in _read_report(path, attempt)]
        by_log = _read_log(attempt)
    except ReportUnreadable as error:
        return _Reading(unreadable=_untrusted(str(error)))
    return _Reading((*cases, *(by_log or ())), bool(attempt.reports) or by_log is not None)


def _read_report(path: Path, attempt: Attempt) -> tuple[Case, ...]:
    if attempt.tool == "jest" and path.name == OWN_REPORT:
        read: Callable[[Path, Path], tuple[Case, ...]] = import_module(_JEST).read_jest
        return read(path, attempt.workspace)
    return read_junit(path, attempt.workspace)


def _read_log(attempt: Attempt) -> tuple[Case, ...] | None:
    """The tests of a tool that lists them in its output; None if it lists none."""
    if attempt.ended.not_started or attempt.ended.is_timed_out:
        return None
    if attempt.tool == "go":
        run = read_go(attempt.log, attempt.workspace)
        return run.cases if run.has_events else None
    return read_rust(attempt.log, attempt.workspace) if attempt.tool == "cargo" else None


def _broken(attempt: Attempt) -> Iterable[Broken]:
    ended = attempt.ended
    if ended.is_timed_out:
        what = f"the command was still running after {attempt.timeout:g} s, twice"
        return (Broken(what, text=ended.output[-2000:]),)
    if ended.exit_code == _EXIT_PYTEST_USAGE and attempt.tool == "pytest":
        return _usage_errors(ended.output)
    return ()


def _not_run(ended: Ended) -> Unattempted | None:
    if ended.not_started:
        return Unattempted(f"the command can't be started: {ended.not_started}", Disposition.ENVIRONMENT)
    if ended.exit_code in _EXIT_NOT_EXECUTABLE:
        tail = _last_line(ended.output)
        return Unattempted(f"a tool is missing (exit {ended.exit_code}): {tail}", Disposition.ENVIRONMENT)
    if ended.exit_code in _EXIT_KILLED:
        return Unattempted("the command was killed, as when memory runs out", Disposition.INFRASTRUCTURE)
    return None


def _is_unexplained(attempt: Attempt, cases: tuple[Case, ...], broken: tuple[Broken, ...]) -> bool:
    """Whether the command failed, and neither a test nor anything broken says why; of Go, not wholly."""
    has_failed = any(case.outcome is Outcome.FAILED for case in cases)
    has_failed = has_failed and not (attempt.tool == "go" and _GO_NOT_BUILT in attempt.ended.output)
    has_ended = attempt.ended.exit_code not in (None, 0)
    return has_ended and bool(attempt.tool) and attempt.tool != "pytest" and not (broken or has_failed)


def _explained(attempt: Attempt, *, has_cases: bool) -> tuple[Broken, ...] | Unattempted | None:
    """What the log says of a failure that no report explains. The log's parsers are loaded only here: they cost."""
    explain: Callable[..., tuple[Broken, ...] | Unattempted | None] = import_module(_EXPLAINING).why_failed
    return explain(attempt.tool, attempt.ended.exit_code, attempt.log, attempt.workspace, has_cases=has_cases)


def _disagreement(
    attempt: Attempt, cases: tuple[Case, ...], broken: tuple[Broken, ...], *, is_reported: bool
) -> Unattempted | None:
    """Exit status and report must tell one story, else neither is believed."""
    code, failed = attempt.ended.exit_code, sum(case.outcome is Outcome.FAILED for case in cases)
    if broken and code != 0:
        return None
    if code == 0 and (failed or broken):
        return _untrusted(f"exit 0, but the report has {failed + len(broken)} failing tests or files")
    if not is_reported:
        return _no_report(attempt)
    if code != 0 and not failed and not (code == _EXIT_NOTHING_RAN and attempt.tool in ("pytest", "unittest")):
        return _untrusted(f"exit {code}, but no test of the report failed: {_last_line(attempt.ended.output)}")
    return None


def _no_report(attempt: Attempt) -> Unattempted:
    code = attempt.ended.exit_code
    if attempt.tool in ("pytest", "unittest"):
        tail = _last_line(attempt.ended.output)
        return Unattempted(f"{attempt.tool} ended with exit {code} and no report: {tail}", Disposition.ENVIRONMENT)
    return Unattempted(
        f"exit {code}, and no test report was written; "
        "where the command runs tests, name the JUnit XML files that it writes in [verify] reports",
        Disposition.VERIFIER_FAULT,
        is_silent_pass=code == 0,
    )


def _untrusted(reason: str) -> Unattempted:
    return Unattempted(reason, Disposition.VERIFIER_FAULT)


def _is_broken_file(case: Case) -> bool:
    is_whole_file = case.message == COLLECTION or (bool(case.file) and case.name == case.file)
    return case.outcome is Outcome.FAILED and not case.classes and is_whole_file


def _broken_file(case: Case) -> Broken:
    file = case.file or case.name.replace(".", "/") + ".py"
    return Broken(f"{file} can't be collected", file, case.text)


def _usage_errors(output: str) -> Iterable[Broken]:
    absent = _ABSENT.findall(output)
    if absent:
        what = f"{' and '.join(absent)} is not there, and the command names it"
        return (Broken(what, text=output[-2000:], is_absent=True),)
    if _CONFTEST.search(output):
        return (Broken("conftest.py can't be loaded", text=output[-2000:]),)
    return ()


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it printed nothing"


LONGEST_TEXT = 20_000
_OUTCOMES = {"passed": Outcome.PASSED, "failed": Outcome.FAILED}


class _Test(BaseModel, defer_build=True):
    title: str
    status: str
    around: list[str] = Field(default=[], alias="ancestorTitles")
    failures: list[str] | None = Field(default=None, alias="failureMessages")


class _File(BaseModel, defer_build=True):
    name: str
    status: str
    message: str = ""
    tests: list[_Test] = Field(default=[], alias="assertionResults")


class _Report(BaseModel, defer_build=True):
    files: list[_File] = Field(alias="testResults")


def read_jest(path: Path, workspace: Path) -> tuple[Case, ...]:
    """The cases of one report; a file that could not be run is a case without classes. Raises ReportUnreadable."""
    try:
        with open_regular(path) as file:
            report = _Report.model_validate(read_json(file.read()))
    except (OSError, NotJson, ValidationError) as error:
        raise ReportUnreadable(f"{path.name} is no readable report of Jest: {type(error).__name__}") from error
    return tuple(case for file in report.files for case in _cases(file, workspace))


def _cases(file: _File, workspace: Path) -> Iterator[Case]:
    name = Workspace(PurePosixPath(workspace)).relative(file.name)
    if file.status == "failed" and not file.tests:
        yield Case((), name, name, Outcome.FAILED, COLLECTION, file.message[:LONGEST_TEXT])
    for test in file.tests:
        text = "\n".join(test.failures or ())[:LONGEST_TEXT]
        outcome = _OUTCOMES.get(test.status, Outcome.SKIPPED)
        yield Case(tuple(test.around), test.title, name, outcome, text.partition("\n")[0], text)
