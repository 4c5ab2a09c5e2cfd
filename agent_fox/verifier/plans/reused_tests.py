"""A project's tests by pytest, of which only those run that a change concerns: by file, and by what was measured.

Where a file was added or removed, or anything but source differs, all run. `docs/verifier.md`, "Results that are taken
again", says what that rests on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_fox.core.regex import regex
from agent_fox.core.verdicts.scope import Kind, Scope, TreeChange, touched
from agent_fox.system.files import replace_file
from agent_fox.verifier.ground.results import FailureKind, Status, TestSummary, Tool, VerificationResult
from agent_fox.verifier.reporting.documents import ResultDocument, result_document, result_of
from agent_fox.verifier.suites.recording import Recording
from agent_fox.verifier.suites.resting import Resting

if TYPE_CHECKING:
    from agent_fox.verifier.ground.request import Prepared
    from agent_fox.verifier.plans.standing import Ground, Moment
    from agent_fox.verifier.reporting.report import Step

SHORT = 30.0
"""Seconds of a suite of which each call may be watched, by a Python that has nothing cheaper."""

_SHARE = regex(rb"fail[-_]under")

REUSED = "reused: "

MOST_FILES = 200
"""So many files of tests are named to pytest; where more are concerned, all run."""

_SETTINGS = ("pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg", "setup.py")
"""By which pytest takes a folder for the root of a project, where it is told a file below it."""


class _Row(BaseModel, defer_build=True):
    """How the tests of one file ended, by their ids, when and at which commit; and what that rests on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    commit: str
    at: str
    ends: dict[str, str]
    files: tuple[str, ...]
    folders: tuple[str, ...]
    names: tuple[str, ...]
    whole: str
    asks: bool

    @property
    def scope(self) -> Scope:
        return Scope(self.files, self.folders, (), self.names, self.whole)


class _Kept(BaseModel, defer_build=True):
    """The last suite that passed, put together from its files. `sources`: every file's mode and content, by path."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    day: str
    command: str
    rest: str
    products: str
    environment: str
    sources: dict[str, str]
    seconds: float
    result: ResultDocument
    files: dict[str, _Row]


@dataclass(slots=True)
class ReusedTests:
    """The tests of one step of one verification. `file`: where they are kept; `command`: the digest of what runs;
    `short`: as in `SeenBefore`.

    reused: the files of tests that need not run; None: all run. changed: the files of source that changed since.
    """

    file: Path
    command: str
    short: float
    reused: dict[str, _Row] | None = None
    changed: frozenset[str] = frozenset()
    recording: Recording = field(default_factory=Recording)
    _last: _Kept | None = None

    @staticmethod
    def fits(step: Step, prepared: Prepared, root: Path) -> bool:
        """Whether it is a run of all tests by pytest in the root of the workspace."""
        is_whole = step.tool is Tool.UNIT_TESTS and step.module is None
        return is_whole and prepared.parser == "pytest" and prepared.cwd.resolve() == root.resolve()

    def begin(self, ground: Ground | None, day: str) -> None:
        """Choose what runs, by how everything stands now (None: that is not known)."""
        try:
            self._last = kept = _Kept.model_validate_json(self.file.read_bytes())
        except (OSError, ValidationError):  # what cannot be read was not seen
            kept = None
        self.recording = Recording(is_short=kept is not None and kept.seconds <= self.short)
        if kept is None or ground is None or not kept.files or (kept.day, kept.command) != (day, self.command):
            return
        now, sources = ground.standing, ground.sources
        is_same = (kept.rest, kept.products, kept.environment) == (now.rest, now.products, now.environment)
        if not is_same or kept.sources.keys() != sources.keys():
            return
        self.changed = frozenset(path for path, held in sources.items() if held != kept.sources[path])
        change = TreeChange(dict.fromkeys(self.changed, Kind.OTHER))
        rows = kept.files.items()
        concerned = {file for file, row in rows if row.asks or file in self.changed or touched(row.scope, change)}
        is_few = len(concerned) < len(rows) and len(concerned) <= MOST_FILES
        if is_few and not needs_all(concerned, sources, ground.tree.root):
            self.recording.only = tuple(sorted(concerned))
            self.reused = {file: row for file, row in rows if file not in concerned}

    def unrun(self) -> VerificationResult | None:
        """The result, where no test needs to run."""
        if self._last is None or not (oldest := self.oldest) or self.recording.only:
            return None
        result = result_of(self._last.result)
        notes = (*(note for note in result.notes if not note.startswith(REUSED)), self._note(0))
        return replace(result, seconds=0.0, notes=notes, seen_at=oldest.commit or oldest.at)

    @property
    def oldest(self) -> _Row | None:
        """Of the files that need not run, the one that was seen first."""
        return min(self.reused.values(), key=lambda row: row.at) if self.reused else None

    def everything(self) -> None:
        """Take nothing again: all tests are to run."""
        self.reused, self.recording = None, Recording(is_short=self.recording.is_short)

    def whole(self, result: VerificationResult) -> VerificationResult | None:
        """The result of those that ran, with those that did not; None where it does not tell what all would have come
        to, so that all must run.
        """
        if self.reused is None or self._last is None:
            return result
        ran = _by_file(self.recording.measured.ends)
        before = self._last.files
        other = {file for file in self.recording.only if ran.get(file, {}).keys() != before[file].ends.keys()}
        if result.test_summary is None or other - self.changed or ran.keys() - {*self.recording.only}:
            return None
        is_told = all(failure.kind is FailureKind.TEST_FAILURE for failure in result.failures)
        if result.status not in (Status.PASSED, Status.FAILED) or not is_told:
            return None
        unrun, ran_now = _counted(Counter(_ends(self.reused.values()))), result.test_summary
        counts = TestSummary(*(getattr(unrun, each.name) + getattr(ran_now, each.name) for each in fields(TestSummary)))
        summary = f"passed: {counts.passed} tests, {counts.skipped} skipped"
        note = self._note(result.test_summary.tests)
        passed = replace(result, summary=summary) if result.status is Status.PASSED else result
        return replace(passed, test_summary=counts, notes=(*result.notes, note))

    def keep(self, moment: Moment, result: VerificationResult) -> None:
        """Keep what was measured of a suite that passed, for the next verification."""
        measured, rows = self.recording.measured, self.reused or {}
        ran = _by_file(measured.ends)
        ends = Counter(_ends(rows.values())) + Counter(measured.ends.values())
        is_known = bool(measured.processes) and result.test_summary == _counted(ends)
        if is_known and all((moment.ground.tree.root / file).is_file() for file in ran):
            scopes = Resting(moment.ground.tree.root).of_files(ran, measured.windows, measured.processes)
            rows = rows | {
                file: _Row(
                    commit=moment.commit, at=moment.at, ends=dict(ran[file]),
                    files=scope.files, folders=scope.folders, names=scope.names, whole=scope.whole,
                    asks=moment.asks_clock_or_chance(None if scope.whole else scope.files),
                )
                for file, scope in scopes.items()
            }  # fmt: skip
        else:
            rows = {}
        now, seconds = moment.ground.standing, result.seconds
        kept = _Kept(
            day=moment.day, command=self.command, rest=now.rest, products=now.products, environment=now.environment,
            sources=dict(moment.ground.sources), result=result_document(result), files=rows,
            seconds=max(seconds, self._last.seconds) if self.reused is not None and self._last else seconds,
        )  # fmt: skip
        replace_file(self.file, kept.model_dump_json().encode(), is_durable=False)

    def _note(self, ran: int) -> str:
        count, oldest = len([*_ends((self.reused or {}).values())]), self.oldest
        return reused_note(f"{count} of {count + ran} tests", oldest.commit, oldest.at) if oldest else ""


def reused_note(what: str, commit: str, at: str) -> str:
    """How much was not run, and where (a full id; empty outside of git) and when it was seen."""
    where = f" at commit {commit[:12]}" if commit else ""
    return f"{REUSED}{what}, seen{where} at {at}; nothing it rests on has changed since (--fresh runs it)"


def needs_all(concerned: Iterable[str], sources: Iterable[str], root: Path) -> bool:
    """Whether a part of the tests tells nothing of all: pytest, told one of these files, would take a folder below the
    workspace for the project's; or settings name the least part of the code that tests have to execute.
    """
    known = frozenset(sources)
    folders = {parent.as_posix() for file in concerned for parent in PurePosixPath(file).parents} - {"."}
    if any(f"{folder}/{name}" in known for folder in folders for name in _SETTINGS):
        return True
    settings = (root / name for name in (*_SETTINGS, ".coveragerc"))
    return any(_SHARE.search(file.read_bytes()) for file in settings if file.is_file())


def _by_file(ends: Mapping[str, str]) -> dict[str, dict[str, str]]:
    files: dict[str, dict[str, str]] = {}
    for test, end in ends.items():
        files.setdefault(test.partition("::")[0], {})[test] = end
    return files


def _ends(rows: Iterable[_Row]) -> Iterator[str]:
    return (end for row in rows for end in row.ends.values())


def _counted(ends: Counter[str]) -> TestSummary:
    passed, failed, skipped, xfailed = (ends[end] for end in ("passed", "failed", "skipped", "xfailed"))
    return TestSummary(ends.total(), passed, failed, skipped=skipped, xfailed=xfailed)
