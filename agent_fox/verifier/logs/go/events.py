"""`go test -json`: events of tests and builds, one a line, and the compiler's lines between them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.decode import without_colours
from agent_fox.verifier.logs.frames import at, first_line, in_folder
from agent_fox.verifier.logs.gathering import MOST_KEPT, Counts, Gathering
from agent_fox.verifier.logs.go.places import Packages, Panic, logged_failure
from agent_fox.verifier.logs.go.text import build_kind
from agent_fox.verifier.logs.line_log import LineStream
from agent_fox.verifier.logs.streams.records import Record, record_of, text

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

MOST_LINES = 200  # of a test's output: its beginning, and as many of its end
_OURS = regex(r'^\{(?:"Time":"[^"]*",|"ImportPath":"[^"]*",)?"Action":"[a-z-]+"', re.MULTILINE)
_TEXT_RUN = regex(r"^(?:=== RUN|--- (?:FAIL|PASS|SKIP)|(?:FAIL|ok  )\t(?!.*\[(?:build|setup) failed\]))", re.MULTILINE)
_BUILD_LINE = regex(r"^((?:[A-Za-z]:)?[^\s:][^:]*\.go):(\d+)(?::(\d+))?: (?:vet: )?(\S.*)$")
_FRAMING = regex(r"^\s*(?:=== (?:RUN|PAUSE|CONT|NAME)|--- (?:PASS|FAIL|SKIP|BENCH):)")
_TIME = r'\{(?:"Time":"[^"\\]*+",)?"Action":'
_PASSED = regex(  # all events of a test that passed, with none of another's between them
    rf"""{_TIME}"run","Package":"(?P<package>[^"\\]++)","Test":"(?P<test>[^"\\]++)"\}}\n
        (?>(?:{_TIME}"output","Package":"(?P=package)","Test":"(?P=test)",
           "Output":"[^"\\\n]*+(?>(?:\\[^\n][^"\\\n]*+)*)"(?:,"OutputType":"[\w-]*+")?\}}\n)*)
        {_TIME}"pass","Package":"(?P=package)","Test":"(?P=test)"(?:,"Elapsed":[\d.e+-]++)?\}}\n""",
    re.VERBOSE,
)
_NOTHING_SAID = regex(r"^(?:FAIL|PASS|ok|exit status \d+|\?|coverage:)")


@dataclass(slots=True)
class _Test:
    """A test that runs: what it printed, its beginning and its end."""

    first: list[str] = field(default_factory=list)
    last: deque[str] | None = None
    has_run: bool = False
    has_failed_child: bool = False
    has_children: bool = False

    def add(self, output: str) -> None:
        if ("--- " in output or "=== " in output) and _FRAMING.match(output):
            return
        if len(self.first) < MOST_LINES:
            self.first.append(output.rstrip("\n"))
            return
        if self.last is None:
            self.last = deque(maxlen=MOST_LINES)
        self.last.append(output.rstrip("\n"))

    def lines(self) -> list[str]:
        return [*self.first, *(self.last or ())]


@dataclass(slots=True)
class _Package:
    """A package under test. The test with the empty name is the package itself."""

    tests: dict[str, _Test] = field(default_factory=dict)
    has_failure: bool = False


class _Reader:
    """Reads the events. A parent of sub-tests is neither counted nor a failure where one of them failed."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._packages: dict[str, _Package] = {}
        self._folders = Packages()
        self._found = Gathering()
        self._owners: list[str] = []
        self._failures: list[Failure] = []
        self._counts = Counts()
        self._has_tests = False
        self._is_below_package = False  # the compiler and vet name a package before what is wrong with it

    def skip(self, block: str, at: int) -> int:
        """Passes over tests that passed."""
        while match := _PASSED.match(block, at):
            name, test = match.groups()
            package = self._package(name)
            self._start(package, test)
            self._end_test(name, package, test, "pass")
            at = match.end()
        return at

    def take(self, line: str) -> None:
        event = record_of(line) if line.startswith("{") else None
        if event is None:
            self.build_line(line)
        else:
            self._event(event)

    def _event(self, event: Record) -> None:
        action, name = text(event.get("Action")), text(event.get("Package"))
        if action == "build-output":
            self.build_line(without_colours(text(event.get("Output"))).rstrip("\n"))
        elif name:
            self._in_package(name, self._package(name), action, event)

    def _package(self, name: str) -> _Package:
        package = self._packages.get(name)
        if package is None:
            self._folders.see(name)
            package = self._packages[name] = _Package()
        return package

    def _in_package(self, name: str, package: _Package, action: str, event: Record) -> None:
        test = text(event.get("Test"))
        match action:
            case "run":
                self._start(package, test)
            case "output":
                self._say(package, test, without_colours(text(event.get("Output"))))
            case "pass" | "fail" | "skip" if test:
                self._end_test(name, package, test, action)
            case "pass" | "fail" | "skip":
                self._end_package(name, package, action, text(event.get("FailedBuild")))

    def _say(self, package: _Package, test: str, output: str) -> None:
        says = package.tests.get(test)
        if says is None:
            says = package.tests[test] = _Test()
        says.add(output)

    def _start(self, package: _Package, test: str) -> None:
        package.tests[test] = _Test(has_run=True)
        for parent in _parents(test):
            if parent in package.tests:
                package.tests[parent].has_children = True

    def _end_test(self, name: str, package: _Package, test: str, action: str) -> None:
        ended = package.tests.pop(test, _Test())
        if not ended.has_run:  # a line of a test's output that looks like the end of another test
            return
        self._has_tests = True
        if action == "fail":
            self._fail_test(name, package, test, ended)
        elif not ended.has_children:
            self._counts.passed += action == "pass"
            self._counts.skipped += action == "skip"

    def _fail_test(self, name: str, package: _Package, test: str, ended: _Test) -> None:
        package.has_failure = True
        for parent in _parents(test):
            if parent in package.tests:
                package.tests[parent].has_failed_child = True
        if not ended.has_failed_child:
            self._counts.failures += 1
            self._fail(name, ended.lines(), test)

    def _end_package(self, name: str, package: _Package, action: str, failed_build: str) -> None:
        own = package.tests.pop("", _Test())
        for test, hung in package.tests.items():
            if action == "fail" and any("panic: " in line for line in hung.lines()):
                self._fail_test(name, package, test, hung)
        telling = [line for line in own.lines() if line.strip() and not _NOTHING_SAID.match(line)]
        is_build = failed_build or any("[build failed]" in line or "[setup failed]" in line for line in own.lines())
        if action == "fail" and not package.has_failure and not is_build:
            self._fail(name, telling or own.lines(), None)
        del self._packages[name]

    def _fail(self, package: str, lines: list[str], test: str | None) -> None:
        if len(self._failures) < MOST_KEPT:
            panicked = self._panicked(lines, test)
            self._failures.append(panicked or _failure(lines, test, self._workspace))
            self._owners.append("" if panicked else package)

    def _panicked(self, lines: list[str], test: str | None) -> Failure | None:
        """A panic or timeout, whose traces name files by their whole paths."""
        at = next((n for n, line in enumerate(lines) if Panic.begins(line)), None)
        if at is None:
            return None
        panic = Panic(lines[at])
        for line in lines[at + 1 :]:
            panic.takes(line)
        draft = panic.draft(self._workspace, self._folders)
        draft.test_name = test or panic.test
        return draft.failure()

    def build_line(self, line: str) -> None:
        """A line of the compiler: `folder/file.go:3:5: undefined: x`, from where Go was started."""
        self._is_below_package = self._is_below_package or line.startswith("# ")
        match = _BUILD_LINE.match(line)
        if not match or "too many errors" in line:
            return
        self._found.fail(
            Failure(
                kind=build_kind(match[4], is_vet=self._is_below_package and "vet: " not in line),
                message=match[4],
                file=self._workspace.relative(match[1]),
                line=int(match[2]),
                column=int(match[3]) if match[3] else None,
                evidence=line,
            )
        )

    def parsed(self) -> Parsed:
        for package, failure in zip(self._owners, self._failures, strict=True):
            folder = self._folders.folder(package) if package else ""
            self._found.fail(replace(failure, file=in_folder(failure.file, folder) if failure.file else None))
        is_complete = not self._packages
        return self._found.parsed(self._counts.summary() if self._has_tests else None, is_complete=is_complete)


def _parents(test: str) -> Iterable[str]:
    return (test[:at] for at, letter in enumerate(test) if letter == "/") if "/" in test else ()


def _failure(lines: list[str], test: str | None, workspace: Workspace) -> Failure:
    output = "\n".join(lines)
    place, message = logged_failure(lines, workspace) or (None, first_line(output))
    return Failure(
        kind=FailureKind.TEST_FAILURE,
        message=message or "it failed without a word",
        **at(place),
        test_name=test,
        evidence=output,
    )


def _recognises(head: str) -> bool:
    match = _OURS.search(head)
    return match is not None and not _TEXT_RUN.search(head, 0, match.start())


GO_JSON = LineStream(_Reader, _recognises)
