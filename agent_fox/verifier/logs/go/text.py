"""Logs of go build, go vet and go test as text, `-v` or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.go.build import GoBuildReader
from agent_fox.verifier.logs.go.places import Packages
from agent_fox.verifier.logs.go.tests import GoTestReader

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

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
