"""One run of one test command: what was run, what its report says, what kept tests from running."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agent_fox.core.verdict import Disposition
from agent_fox.verifier.command_line import Command, CommandRefused, split_command, with_report
from agent_fox.verifier.commands import Ended, private_environment, run_command
from agent_fox.verifier.junit import Case, Outcome, ReportUnreadable, read_junit
from agent_fox.verifier.order import CheckOrder

_COLLECTION = "collection failure"
_EXIT_NOT_EXECUTABLE = (126, 127)
_EXIT_KILLED = (-9, 137)
_EXIT_PYTEST_USAGE = 4
_EXIT_PYTEST_NOTHING = 5
_ABSENT = re.compile(r"^ERROR: (?:file or directory )?not found: (\S+)", re.MULTILINE)
_CONFTEST = re.compile(r"^\S*(?:Import|Syntax)?Error while loading conftest '([^']+)'|conftest\.py", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Broken:
    """What of the coder's kept tests from running: a file that can't be collected, a hang, an absent file.

    `file` is the file at fault; empty where everything that the command runs is kept back.
    """

    what: str
    file: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Unattempted:
    """Why a run shows nothing about the code: tool missing, machine failed, report not to be trusted.

    `is_silent_pass`: the command ended with exit 0 and writes no report (a linter, a build). It passed, and proves
    nothing by itself; every other case stands against what other commands prove.
    """

    reason: str
    disposition: Disposition
    is_silent_pass: bool = False


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """What came of one command. Where `unattempted` says that nothing did, `cases` are empty."""

    line: str
    command: Command | None = None
    exit_code: int | None = None
    seconds: float = 0.0
    output: str = ""
    cases: tuple[Case, ...] = ()
    broken: tuple[Broken, ...] = ()
    unattempted: Unattempted | None = None

    @property
    def kept_back(self) -> Broken | None:
        """What of the coder's kept everything that the command runs from running."""
        return None if self.cases else next((broken for broken in self.broken if not broken.file), None)


def run_suite(line: str, order: CheckOrder, private: Path) -> SuiteRun:
    """Run one command line in the order's workspace; `private` is an empty folder of this run.

    Never raises for what the command does. One that ran into its time limit is run again: a hang must repeat.
    """
    try:
        command = split_command(line)
    except CommandRefused as error:
        return SuiteRun(line, unattempted=Unattempted(str(error), Disposition.ENVIRONMENT))
    first = _run_once(command, order, _folder(private, "first"))
    if not first.is_hang:
        return first.read()
    second = _run_once(command, order, _folder(private, "second"))
    return second.read()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One process, ended, and the report files it wrote."""

    command: Command
    ended: Ended
    reports: tuple[Path, ...]
    timeout: float

    @property
    def is_hang(self) -> bool:
        return self.ended.is_timed_out

    def read(self) -> SuiteRun:
        cases, unreadable = _read_reports(self.reports)
        collected = tuple(case for case in cases if not _is_collection_error(case))
        broken = (*self._broken(), *(_collection_error(case) for case in cases if _is_collection_error(case)))
        unattempted = self._not_run() or unreadable or self._disagreement(collected, broken)
        return SuiteRun(
            self.command.line,
            self.command,
            self.ended.exit_code,
            round(self.ended.seconds, 3),
            self.ended.output,
            () if unattempted else collected,
            () if unattempted else broken,
            unattempted,
        )

    def _broken(self) -> Iterable[Broken]:
        if self.is_hang:
            what = f"the command was still running after {self.timeout:g} s, twice"
            return (Broken(what, text=self.ended.output[-2000:]),)
        if self.ended.exit_code == _EXIT_PYTEST_USAGE and self.command.pytest_at is not None:
            return _usage_errors(self.ended.output)
        return ()

    def _not_run(self) -> Unattempted | None:
        if self.ended.not_started:
            return Unattempted(f"the command can't be started: {self.ended.not_started}", Disposition.ENVIRONMENT)
        if self.ended.exit_code in _EXIT_NOT_EXECUTABLE:
            tail = _last_line(self.ended.output)
            return Unattempted(f"a tool is missing (exit {self.ended.exit_code}): {tail}", Disposition.ENVIRONMENT)
        if self.ended.exit_code in _EXIT_KILLED:
            return Unattempted("the command was killed, as when memory runs out", Disposition.INFRASTRUCTURE)
        return None

    def _disagreement(self, cases: tuple[Case, ...], broken: tuple[Broken, ...]) -> Unattempted | None:
        """Exit status and report must tell one story, else neither is believed."""
        code, failed = self.ended.exit_code, sum(case.outcome is Outcome.FAILED for case in cases)
        if broken and code != 0:
            return None
        if code == 0 and (failed or broken):
            return _untrusted(f"exit 0, but the report has {failed + len(broken)} failing tests or files")
        if not self.reports:
            return self._no_report()
        if code != 0 and not failed and code != _EXIT_PYTEST_NOTHING:
            return _untrusted(f"exit {code}, but no test of the report failed: {_last_line(self.ended.output)}")
        return None

    def _no_report(self) -> Unattempted:
        tail = _last_line(self.ended.output)
        if self.command.pytest_at is not None:
            return Unattempted(
                f"pytest ended with exit {self.ended.exit_code} and no report: {tail}",
                Disposition.ENVIRONMENT,
            )
        return Unattempted(
            f"exit {self.ended.exit_code}, and no test report was written; "
            "where the command runs tests, name the JUnit XML files that it writes in [verify] reports",
            Disposition.VERIFIER_FAULT,
            is_silent_pass=self.ended.exit_code == 0,
        )


def _run_once(command: Command, order: CheckOrder, private: Path) -> _Attempt:
    own = private / "report.xml"
    workspace = Path(order.workspace)
    before = _stamps(workspace, order.reports)
    environment = private_environment(private, {**order.environment, **command.variables})
    ended = run_command(with_report(command, str(own)), workspace, environment, order.timeout)
    written = [path for path, stamp in _stamps(workspace, order.reports).items() if before.get(path) != stamp]
    reports = ([own] if own.is_file() else []) + sorted(written)
    return _Attempt(command, ended, tuple(reports), order.timeout)


def _folder(private: Path, name: str) -> Path:
    folder = private / name
    folder.mkdir()
    return folder


def _stamps(workspace: Path, globs: Iterable[str]) -> dict[Path, tuple[int, int, int]]:
    """Report files as they stand: a file that was there before and did not change is not of this run."""
    found = {path for pattern in globs for path in workspace.glob(pattern) if path.is_file()}
    return {path: (s.st_ino, s.st_size, s.st_ctime_ns) for path in found for s in [path.stat()]}


def _read_reports(paths: Iterable[Path]) -> tuple[tuple[Case, ...], Unattempted | None]:
    try:
        return tuple(case for path in paths for case in read_junit(path)), None
    except ReportUnreadable as error:
        return (), _untrusted(str(error))


def _untrusted(reason: str) -> Unattempted:
    return Unattempted(reason, Disposition.VERIFIER_FAULT)


def _is_collection_error(case: Case) -> bool:
    return case.outcome is Outcome.FAILED and not case.classname and case.message == _COLLECTION


def _collection_error(case: Case) -> Broken:
    file = case.file or case.name.replace(".", "/") + ".py"
    return Broken(f"{file} can't be collected", file, case.text)


def _usage_errors(output: str) -> Iterable[Broken]:
    absent = _ABSENT.findall(output)
    if absent:
        return (Broken(f"{' and '.join(absent)} is not there, and the command names it", text=output[-2000:]),)
    if _CONFTEST.search(output):
        return (Broken("conftest.py can't be loaded", text=output[-2000:]),)
    return ()


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it printed nothing"
