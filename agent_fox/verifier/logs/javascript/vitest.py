"""What vitest prints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.drafts import Excerpt, Findings
from agent_fox.verifier.logs.frames import Place, at, first_line, javascript_place
from agent_fox.verifier.logs.gathering import too_little
from agent_fox.verifier.logs.javascript.stacks import LOADING, exception_of, loader_place

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_SECTION = regex(r"⎯+ (?P<name>\S.*?) ⎯+$")
_FAILED = regex(r"Failed (?:Suites|Tests) \d+$")
_UNHANDLED = regex(r"(?:Unhandled|Uncaught|Unhandled Source) (?:Rejection|Exception|Error)s?$|Startup Error$")
_TITLE = regex(r" ?FAIL {1,2}(?:\|[^|]*\| )?(?P<title>\S.*)$")
_SUITE = regex(r"(?P<file>.*?) \[ .* \]$")
_CLOSED = regex(r"⎯{10,}(?:\[\d+/\d+\]⎯+)?$")
_FRAME = regex(r" +❯ (?P<frame>\S.*):(?P<line>\d+):(?P<column>\d+)$")
_FUNCTION = regex(r"(?:async |new )?[^\s/\\]+ (?=\S)")
_TESTS = regex(r" +Tests +(?P<counts>(?:\d+ [a-z ]+(?: \| )?)+|no tests)(?:\((?P<total>\d+)\))?$")
_COUNT = regex(r"(\d+) (failed|passed|skipped|todo|expected fail)")
_NOTHING = regex(r"(?P<message>No test files found.*?)(?:, exiting with code \d+)?$")


@dataclass(slots=True)
class _Block:
    """One error, of one test or of several that failed alike."""

    titles: list[str]
    is_of_suite: bool = False
    is_unhandled: bool = False
    shown: Excerpt = field(default_factory=Excerpt)

    def failures(self, workspace: Workspace) -> Iterable[Failure]:
        return [self._failure(title, workspace) for title in self.titles]

    def _failure(self, title: str, workspace: Workspace) -> Failure:
        suite = _SUITE.match(title)
        file, _, test = (suite["file"] if suite else title).partition(" > ")
        place, message = self._place(file, workspace), first_line(self.shown.text)
        is_loading = (self.is_of_suite or self.is_unhandled) and not test and bool(LOADING.search(self.shown.text))
        return Failure(
            FailureKind.COMPILE_ERROR if is_loading else FailureKind.TEST_FAILURE,
            message,
            **at(place, workspace.relative(file) or None),
            test_name=test or None,
            evidence=self.shown.text,
            exception=exception_of(message),
            is_error=self.is_of_suite or self.is_unhandled,
        )

    def _place(self, file: str, workspace: Workspace) -> Place | None:
        """The first frame of the project. A function's name may stand before a path, which may hold spaces."""
        frames = (match for line in self.shown if (match := _FRAME.match(line)))
        for match in frames:
            path = match["frame"]
            path = path if path == file else _FUNCTION.sub("", path, count=1)
            if place := javascript_place(f"at ({path}:{match['line']}:{match['column']})", workspace):
                return place
        return loader_place(self.shown.text, workspace)


class VitestReader:
    """Reads the errors at the end, which name tests, suites that did not load, and what nothing caught."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._findings = Findings()
        self._section = ""
        self._open: _Block | None = None
        self._broken_suites = 0
        self._summary: TestSummary | None = None

    def take(self, line: str) -> None:
        is_rule = line[:1] == "⎯"
        if is_rule and (section := _SECTION.match(line)):
            self._enter(section["name"])
        elif is_rule and _CLOSED.match(line):
            self._close()
        elif self._section and (title := _TITLE.match(line)):
            self._name(title["title"])
        elif " Tests  " in line and (tests := _TESTS.match(line)):
            self._count(tests)
        elif self._open is not None:
            self._open.shown.add(line)
        elif line.startswith("ERROR: Coverage") and (covered := too_little(line)):
            self._findings.fall_back(covered)
        elif line[:1] == "N" and (failed := _NOTHING.match(line)):
            self._findings.fall_back(Failure(FailureKind.UNKNOWN, failed["message"], evidence=line))
            self._summary = TestSummary()

    def _enter(self, name: str) -> None:
        self._close()
        self._section = name if _FAILED.match(name) or _UNHANDLED.match(name) else self._section
        if _UNHANDLED.match(name) and not name.endswith("s"):
            self._open = _Block([""], is_unhandled=True)

    def _name(self, title: str) -> None:
        """Tests that failed alike are named one after the other, above one error."""
        if self._open is not None and not self._open.is_unhandled and not self._open.shown.text.strip():
            self._open.titles.append(title)
            return
        self._close()
        self._open = _Block([title], is_of_suite=self._section.startswith("Failed Suites"))

    def _close(self) -> None:
        if self._open is not None and self._open.shown.text.strip():
            self._broken_suites += self._open.is_of_suite
            for failure in () if self._findings.gathering.is_full else self._open.failures(self._workspace):
                self._findings.gathering.fail(failure)
        self._open = None

    def _count(self, tests: re.Match[str]) -> None:
        self._close()
        counts = {word: int(number) for number, word in _COUNT.findall(tests["counts"])}
        of, total = counts.get, int(tests["total"] or 0)
        passed, skipped = of("passed", 0), of("skipped", 0) + of("todo", 0)
        self._summary = TestSummary(total, passed, of("failed", 0), 0, skipped, of("expected fail", 0))

    def parsed(self) -> Parsed:
        self._close()
        summary = replace(self._summary, errors=self._broken_suites) if self._summary else None
        return self._findings.parsed(summary, is_complete=summary is not None)
