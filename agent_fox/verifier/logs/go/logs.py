"""Logs of go build, go vet and go test: places in sources, missing modules, tests and packages; as text, `-v` or not,
or as the events of `go test -json`, one a line, with the compiler's lines between them."""

from __future__ import annotations

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.decode import without_colours
from agent_fox.verifier.logs.gathering import MOST_KEPT, Gathering
from agent_fox.verifier.logs.go.places import Packages
from agent_fox.verifier.logs.go.tests import GoTestReader, GoTests, Package
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.line_formats import built_in
from agent_fox.verifier.logs.parsers import LineLog
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.row_reader import RowReader
from agent_fox.verifier.logs.streams.records import Record, record_of, text

_LIKE = patterns_in(__file__)


class _BuildReader:
    """Takes the lines of Go's compiler, vet and linters out of a log, which tell where packages lie."""

    def __init__(self, findings: Gathering, packages: Packages, workspace: Workspace) -> None:
        self._packages = packages
        self._rows = RowReader(built_in("go_build"), findings, workspace)
        self._package = ""
        self.told: set[str] = set()  # packages whose errors were shown
        self.finish = self._rows.finish

    def feed(self, line: str) -> None:
        if line.startswith("# ") and (match := _LIKE["package"].match(line)):
            self._package = match["package"].removesuffix("_test")
            self._packages.see(self._package)
        if self._rows.feed(line) and (file := self._rows.file):
            if self._package and "/vendor/" not in file:
                self._packages.lies(self._package, file.rpartition("/")[0])
            if len(self.told) < MOST_KEPT:
                self.told.add(self._package)

    def end_package(self) -> None:
        self._rows.leave()
        self._package = ""


class GoReader:
    """Reads what the go command prints for people."""

    def __init__(self, workspace: Workspace) -> None:
        self._findings, self._packages = Gathering(), Packages()
        self._build = _BuildReader(self._findings, self._packages, workspace)
        self._tests = GoTestReader(self._packages, workspace)

    def skip(self, block: str, at: int) -> int:
        return self._tests.skip(block, at)

    def take(self, line: str) -> None:
        if "\t" in line and (match := _LIKE["package_ends"].match(line)):
            package = match["package"]
            self._packages.see(package)
            self._build.end_package()
            if not _LIKE["unbuilt"].search(match["note"] or ""):
                self._tests.end_package(package, line)
            elif package not in self._build.told:
                unbuilt = Failure(FailureKind.COMPILE_ERROR, f"{package}: build failed", evidence=line)
                self._findings.fall_back(unbuilt, on_kind=True)
        elif not self._tests.feed(line):
            self._build.feed(line)

    def parsed(self) -> Parsed:
        self._build.finish()
        for failure in self._tests.failures():
            self._findings.fail(failure)
        return self._findings.parsed(self._tests.summary(), is_complete=not self._tests.is_running)


class _EventReader:
    """Reads the events, which tell of each line whose it is."""

    def __init__(self, workspace: Workspace) -> None:
        self._findings, self._folders = Gathering(), Packages()
        self._build = _BuildReader(self._findings, self._folders, workspace)
        self._tests = GoTests(self._folders, workspace)
        self._open: dict[str, Package] = {}
        self._has_tests = False

    def skip(self, block: str, at: int) -> int:
        """Passes over tests that passed and have no sub-tests."""
        while (match := _LIKE["passed"].match(block, at)) and "/" not in match[2]:
            package = self._package(match[1])
            if match[2] in package.tests:
                break
            package.pass_test(match[2])
            self._has_tests, at = True, match.end()
        return at

    def take(self, line: str) -> None:
        event = record_of(line) if line.startswith("{") else None
        if event is None:
            self._build.feed(line)
            return
        action, name, output = text(event.get("Action")), text(event.get("Package")), text(event.get("Output"))
        output = without_colours(output).rstrip("\n")
        if action == "build-output":
            self._build.feed(output)
        elif name:
            self._in_package(name, action, event, output)

    def _package(self, name: str) -> Package:
        if name not in self._open:
            self._folders.see(name)
            self._open[name] = Package(is_streamed=True, is_told=True)
        return self._open[name]

    def _in_package(self, name: str, action: str, event: Record, output: str) -> None:
        package, test = self._package(name), text(event.get("Test"))
        match action:
            case "run":
                package.run(test)
            case "output" if not (("--- " in output or "=== " in output) and _LIKE["framing"].match(output)):
                package.says(test, output)
                package.is_unbuilt = package.is_unbuilt or bool(_LIKE["unbuilt"].search(output))
            case "pass" | "fail" | "skip" if test:
                self._has_tests = package.end(test, action.upper()) is not None or self._has_tests
            case "pass" | "fail" | "skip":
                is_build = package.is_unbuilt or text(event.get("FailedBuild"))
                has_failed = action == "fail" and not is_build
                self._tests.end_package(package, name, f"FAIL {name}" if has_failed else "ok")
                del self._open[name]

    def parsed(self) -> Parsed:
        self._build.finish()
        for name, package in self._open.items():  # the log was cut
            self._tests.end_package(package, name, "")
        for failure in self._tests.failures():
            self._findings.fail(failure)
        return self._findings.parsed(self._tests.summary() if self._has_tests else None, is_complete=not self._open)


def _recognises(head: str) -> bool:
    match = _LIKE["ours"].search(head)
    return match is not None and not _LIKE["text_run"].search(head, 0, match.start())


GO_JSON = LineLog(_EventReader, recognises=_recognises)
