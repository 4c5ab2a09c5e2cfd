"""What Rust's test harness prints for one target, from `running N tests` to `test result:`, and cargo-nextest for all.

The list of failures at the harness's end decides what failed. Sections before it hold what each failed test printed,
which may look like anything.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, TestSummary
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.gathering import MOST_KEPT

if TYPE_CHECKING:
    from agent_fox.verifier.logs.drafts import Draft
    from agent_fox.verifier.logs.protocol import Workspace

_BEGINS = regex(r"\s+(?:Nextest run ID \S+ with|Starting \d+ tests? across )")
_ENDED = regex(
    r"\s+(?P<how>[A-Z][A-Z0-9-]*(?: \d+ [A-Z]+)?) \[[> ]*[\d.]+s\](?: \([ \d/]+\))? "
    r"(?P<binary>\S+)(?: (?P<name>\S.*))?$"
)
_OUTPUT = regex(r"--- (?:TRY \d+ )?(?:STDOUT|STDERR|OUTPUT): +(?P<binary>\S+) (?P<name>\S.*?) +---$")
_LABEL = regex(r" +(?:stdout|stderr|output) ─{3,}$")
_RULE = regex(r"(?:-{4,}|─{4,})$")
_SUMMARY = regex(r"\s+Summary \[[ \d.]+s\] +(?:\d+/)?\d+ tests? run: (?P<counts>.*)$")
_COUNT = regex(r"(\d+) (passed|failed|timed out|exec failed|skipped)")
_FINE = ("PASS", "SKIP", "SLOW", "LEAK", "FLAKY", "SETUP", "SETUP PASS")


class NextestReader:
    """Takes every line after nextest has begun."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._outputs: dict[tuple[str, str], list[str]] = {}
        self._failed: dict[tuple[str, str], str] = {}
        self._open: list[str] | None = None
        self._latest = ("", "")
        self.summary: TestSummary | None = None

    @staticmethod
    def begins(line: str) -> bool:
        return bool(_BEGINS.match(line))

    def take(self, line: str) -> None:
        if self.summary is not None:
            return
        if line.startswith("--- ") and (match := _OUTPUT.match(line)):
            self._output((match["binary"], match["name"]))
        elif "s] " in line and (match := _ENDED.match(line)):
            self._result(match)
        elif "Summary [" in line and (match := _SUMMARY.match(line)):
            self._end({word: int(number) for number, word in _COUNT.findall(match["counts"])})
        elif _LABEL.match(line):
            self._output(self._latest)
        elif _RULE.match(line):
            self._open = None
        elif self._open is not None and len(self._open) < 2 * MOST_LINES:
            self._open.append(line)

    def failures(self) -> list[Draft]:
        return [self._draft(test, how) for test, how in self._failed.items()]

    def _result(self, found: re.Match[str]) -> None:
        self._open, self._latest = None, (found["binary"], found["name"] or "")
        how = re.sub(r"^TRY \d+ ", "", found["how"])
        if how in _FINE:
            self._failed.pop(self._latest, None)  # it failed at first, and was tried again
        elif len(self._failed) < MOST_KEPT:
            self._failed.setdefault(self._latest, how)

    def _output(self, test: tuple[str, str]) -> None:
        self._open = self._outputs.setdefault(test, []) if len(self._outputs) < MOST_KEPT else None

    def _end(self, counts: dict[str, int]) -> None:
        of = counts.get
        failed = of("failed", 0) + of("timed out", 0) + of("exec failed", 0)
        passed, skipped = of("passed", 0), of("skipped", 0)
        self.summary = TestSummary(passed + failed + skipped, passed, failed, 0, skipped)

    def _draft(self, test: tuple[str, str], how: str) -> Draft:
        binary, name = test
        lines = textwrap.dedent("\n".join(self._outputs.get(test, []))).split("\n")
        draft = draft_of(name or binary, lines, self._workspace)
        if how == "TIMEOUT":
            draft.kind = FailureKind.TIMEOUT
        if how != "FAIL":
            draft.message = f"{how}: {draft.message}"
        return draft


MOST_LINES = 60  # kept of what one failed test printed
_SECTION = regex(r"---- (?P<name>\S.*?) (?:stdout|stderr) ----$")
_RESULT = regex(
    r"test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; "
    r"(?P<ignored>\d+) ignored; \d+ measured; \d+ filtered out"
)
_NAME = regex(r"    (?P<name>\S.*)$")
_PANIC = regex(
    r"thread '(?P<thread>[^']*)'(?: \(\d+\))? panicked at (?P<file>[^\s'].*?):(?P<line>\d+):(?P<column>\d+):$"
)
_OLD_PANIC = regex(r"thread '(?P<thread>[^']*)' panicked at '(?P<message>.*)")
_OLD_PLACE = regex(r"(?P<message>.*)', (?P<file>[^\s,':]+):(?P<line>\d+):(?P<column>\d+)$")
_BACKTRACE = regex(r"\s+at (?:\./)?(?P<file>(?!/rustc/)[^\s:]+\.rs):(?P<line>\d+):(?P<column>\d+)$")
_NO_PANIC = regex(r"note: test did not panic as expected(?: at (?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+))?")
_DOC = regex(r"(?P<file>\S+\.(?:rs|md)) - (?:.* )?\(line (?P<line>\d+)\)(?: - .*)?$")
_ARROW = regex(r"\s*--> (?P<file>\S+?):(?P<line>\d+):(?P<column>\d+)$")
_COMPILER = regex(r"error(?:\[\w+\])?: (?P<message>.+)")
_MESSAGE_ENDS = regex(r"(?:stack backtrace:|note: run with|note: Some details|\s*$)")


@dataclass(slots=True)
class _Panic:
    thread: str
    message: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    is_reading: bool = True


@dataclass(slots=True)
class _Section:
    name: str
    lines: list[str] = field(default_factory=list)
    panics: list[_Panic] = field(default_factory=list)

    def add(self, line: str) -> None:
        _read_panic(self.panics, line)
        if len(self.lines) < MOST_LINES:
            self.lines.append(line)


class RustTarget:
    """The tests of one target. It takes every line until it is over."""

    def __init__(self) -> None:
        self._sections: list[_Section] = []
        self._shown: list[_Panic] = []  # outside of sections, with --nocapture
        self._failed: dict[str, None] = {}
        self._is_listing = False
        self.summary: TestSummary | None = None

    def feed(self, line: str) -> bool:
        """Whether the target is over with this line."""
        if match := _RESULT.match(line):
            passed, failed, ignored = int(match["passed"]), int(match["failed"]), int(match["ignored"])
            self.summary = TestSummary(passed + failed + ignored, passed, failed, 0, ignored)
        elif line.startswith("---- ") and (match := _SECTION.match(line)):
            self._begin(match["name"])
        elif line == "failures:":
            self._is_listing = True
            self._failed.clear()
        elif self._is_listing and (match := _NAME.match(line)):
            self._failed[match["name"]] = None
        elif self._sections:
            self._sections[-1].add(line)
        elif "panicked at" in line or (self._shown and self._shown[-1].is_reading):
            _read_panic(self._shown, line)
        return self.summary is not None

    def failures(self, workspace: Workspace) -> list[Draft]:
        """The failed tests; those of a log that was cut, as far as their sections tell."""
        if self.summary is None and not self._failed:
            self._failed = dict.fromkeys(section.name for section in self._sections)
        sections = self._merged()
        return [self.draft(name, sections.get(name) or _Section(name), workspace) for name in self._failed]

    def _begin(self, name: str) -> None:
        self._is_listing = False
        if len(self._sections) < MOST_KEPT:
            self._sections.append(_Section(name))

    def _merged(self) -> dict[str, _Section]:
        """Sections by test; a section named after a test that passed was printed by the test before it."""
        merged: dict[str, _Section] = {}
        for section in self._sections:
            name = section.name.removesuffix(" - should panic")
            if name in self._failed or section.name in self._failed or not merged:
                merged[name if name in self._failed else section.name] = section
            else:
                last = next(reversed(merged.values()))
                last.lines += section.lines
                last.panics += section.panics
        return merged

    def draft(self, name: str, section: _Section, workspace: Workspace) -> Draft:
        panic = _of_test(name, section.panics) or _of_test(name, self._shown, only_own=True)
        draft = Draft(FailureKind.TEST_FAILURE, "", test_name=name, evidence=["\n".join(section.lines).strip()])
        if panic is not None:
            _place(draft, panic.file, panic.line, panic.column, workspace)
            draft.message = panic.message
            _leave_library(draft, section.lines, workspace)
        if match := _first(_NO_PANIC, section.lines):
            draft.message = match[0]
            _place(draft, match["file"], match["line"], match["column"], workspace)
        if doc := _DOC.match(name):
            _place_doc(draft, doc, section.lines, workspace)
        draft.message = draft.message.strip() or next(
            (line.strip() for line in section.lines if line.strip()), f"{name} failed"
        )
        return draft


def draft_of(name: str, lines: list[str], workspace: Workspace) -> Draft:
    """A failed test of which only its name and output are known."""
    target, section = RustTarget(), _Section(name)
    for line in lines:
        section.add(line)
    return target.draft(name, section, workspace)


def _read_panic(panics: list[_Panic], line: str) -> None:
    """Panics of Rust from 1.73 name the place first, older ones last."""
    if match := _PANIC.match(line):
        place = match["file"], int(match["line"]), int(match["column"])
        panics.append(_Panic(match["thread"], "", *place))
    elif old := _OLD_PANIC.match(line):
        panics.append(_Panic(old["thread"]))
        _old_message(panics[-1], old["message"])
    elif not panics or not panics[-1].is_reading:
        return
    elif not panics[-1].file:
        _old_message(panics[-1], line)
    elif _MESSAGE_ENDS.match(line):
        panics[-1].is_reading = False
    else:
        panics[-1].message += line + "\n"


def _old_message(panic: _Panic, text: str) -> None:
    match = _OLD_PLACE.match(text)
    panic.message += match["message"] if match else text + "\n"
    if match:
        panic.file, panic.line, panic.column = match["file"], int(match["line"]), int(match["column"])
        panic.is_reading = False


def _of_test(name: str, panics: list[_Panic], *, only_own: bool = False) -> _Panic | None:
    """The panic of the test's own thread; else the last one of any."""
    own = next((panic for panic in panics if panic.thread in (name, name.rpartition("::")[2])), None)
    return own or (panics[-1] if panics and not only_own else None)


def _leave_library(draft: Draft, lines: list[str], workspace: Workspace) -> None:
    """A panic within the standard library is placed where the project called it, if there is a backtrace."""
    if draft.file and (workspace.holds(draft.file) and not draft.file.startswith("library/")):
        return
    frame = next((m for line in lines if (m := _BACKTRACE.match(line)) and workspace.holds(m["file"])), None)
    if frame:
        _place(draft, frame["file"], frame["line"], frame["column"], workspace)


def _place_doc(draft: Draft, doc: re.Match[str], lines: list[str], workspace: Workspace) -> None:
    """A documentation test that panicked, that did not compile, or that did and should not have."""
    arrow, compiler = _first(_ARROW, lines), _first(_COMPILER, lines)
    if arrow and compiler:
        draft.message = compiler["message"]
        _place(draft, arrow["file"], arrow["line"], arrow["column"], workspace)
    if draft.file != workspace.relative(doc["file"]) or (draft.line or 0) < int(doc["line"]):
        _place(draft, doc["file"], doc["line"], None, workspace)


def _first(pattern: re.Pattern[str], lines: list[str]) -> re.Match[str] | None:
    return next((match for line in lines if (match := pattern.match(line))), None)


def _place(
    draft: Draft, file: str | None, line: str | int | None, column: str | int | None, workspace: Workspace
) -> None:
    if file:
        draft.file = workspace.relative(file)
        draft.line = int(line) if line else None
        draft.column = int(column) if column else None
