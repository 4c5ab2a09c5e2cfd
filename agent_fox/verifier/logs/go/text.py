"""Logs of go build, go vet and go test as text, `-v` or not: places in sources, missing modules, packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.gathering import MOST_KEPT
from agent_fox.verifier.logs.go.places import Packages
from agent_fox.verifier.logs.go.tests import GoTestReader
from agent_fox.verifier.logs.line_formats import built_in
from agent_fox.verifier.logs.row_reader import RowReader

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_PACKAGE = regex(r"# (?P<package>[\w.~/-]+)(?: \[[^\]]+\])?$")


class GoBuildReader:
    """Takes the lines of Go's compiler, vet and linters out of a log, which tell where packages lie."""

    def __init__(self, findings: Findings, packages: Packages, workspace: Workspace) -> None:
        self._packages = packages
        self._rows = RowReader(built_in("go_build"), findings, workspace)
        self._package = ""
        self.told: set[str] = set()  # packages whose errors were shown
        self.finish = self._rows.finish

    def feed(self, line: str) -> None:
        if line.startswith("# ") and (match := _PACKAGE.match(line)):
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


_PACKAGE_ENDS = regex(
    r"(?P<how>ok  |FAIL|\?   )\t(?P<package>[\w.~/-]+)(?:\t(?P<time>[\d.]+s|\(cached\)))?[\t ]?"
    r"(?P<note>\[.*\])?(?:\tcoverage: .*)?$"
)
_BUILD_FAILED = regex(r"\[(?:build|setup) failed\]")


class GoReader:
    """Reads what the go command prints for people."""

    def __init__(self, workspace: Workspace) -> None:
        self._findings, self._packages = Findings(), Packages()
        self._build = GoBuildReader(self._findings, self._packages, workspace)
        self._tests = GoTestReader(self._packages, workspace)

    def skip(self, block: str, at: int) -> int:
        return self._tests.skip(block, at)

    def take(self, line: str) -> None:
        if "\t" in line and (match := _PACKAGE_ENDS.match(line)):
            self._end_package(match["package"], match["note"] or "", line)
        elif not self._tests.feed(line):
            self._build.feed(line)

    def _end_package(self, package: str, note: str, line: str) -> None:
        self._packages.see(package)
        self._build.end_package()
        if not _BUILD_FAILED.search(note):
            self._tests.end_package(package, line)
        elif package not in self._build.told:
            unbuilt = Failure(FailureKind.COMPILE_ERROR, f"{package}: build failed", evidence=line)
            self._findings.fall_back(unbuilt, on_kind=True)

    def parsed(self) -> Parsed:
        self._build.finish()
        for draft in self._tests.failures():
            self._findings.keep(draft)
        return self._findings.parsed(self._tests.summary(), is_complete=not self._tests.is_running)
