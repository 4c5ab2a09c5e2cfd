"""Logs of go build, go vet and go test as text, `-v` or not: places in sources, missing modules, packages; and the
lists at the end of gotestsum."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.drafts import Draft, DraftReader, Findings
from agent_fox.verifier.logs.gathering import MOST_KEPT
from agent_fox.verifier.logs.go.places import Packages
from agent_fox.verifier.logs.go.tests import GoTestReader
from agent_fox.verifier.logs.kinds import kind_in

if TYPE_CHECKING:
    from agent_fox.verifier.logs.go.places import Packages
    from agent_fox.verifier.logs.protocol import Workspace

_PLACE = regex(
    r"(?P<vet>vet: )?(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*\.(?:go|mod|work|s|c|h|cc|cpp|cgo2\.go)):"
    r"(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.+)"
)
_PACKAGE = regex(r"# (?P<package>[\w.~/-]+)(?: \[(?P<test>[^\]]+)\])?$")
_LINTER = regex(r" \((?P<code>(?:[A-Z]{1,3}\d{4})|[a-z][a-z0-9]+)\)$")
_CYCLE = regex(r"\timports (?P<package>\S+): (?P<message>import cycle not allowed.*)")
_SILENT = regex(
    r"too many errors|note: module requires Go|go: (?:downloading|finding|found|added|upgraded|extracting"
    r"|to add|creating)|\t"
)
_COMMAND = regex(r"(?:go|package \S+|pattern \S+): (?P<message>.+)")


class GoBuildReader(DraftReader):
    """Takes the lines of Go's compiler, vet and linters out of a log."""

    def __init__(self, findings: Findings, packages: Packages, workspace: Workspace) -> None:
        super().__init__(findings)
        self._packages = packages
        self._workspace = workspace
        self._package = ""
        self.told: set[str] = set()  # packages whose errors were shown

    def feed(self, line: str) -> bool:
        """Whether the line was the go command's."""
        if line.startswith("# ") and (match := _PACKAGE.match(line)):
            self._begin_package(match)
        elif ": " in line and not line[:1].isspace() and (match := _PLACE.match(line)):
            self._located(match, line)
        elif line.startswith("\t") and (match := _CYCLE.match(line)):
            self._keep(FailureKind.COMPILE_ERROR, f"{match['package']}: {match['message']}", line)
        elif self._open is not None and line.startswith("\t"):
            self._open.add(line)
        elif _SILENT.match(line) or not line.strip():
            return False
        else:
            return self._plain(line)
        return True

    def end_package(self) -> None:
        self.finish()
        self._package = ""

    def _begin_package(self, found: re.Match[str]) -> None:
        self.finish()
        self._package = found["package"].removesuffix("_test")
        self._packages.see(self._package)

    def _located(self, found: re.Match[str], line: str) -> None:
        self.finish()
        file = self._workspace.relative(found["file"])
        if self._package and "/vendor/" not in file:
            self._packages.lies(self._package, file.rpartition("/")[0])
        message, code = _message(found["message"])
        if len(self.told) < MOST_KEPT:
            self.told.add(self._package)
        self._open = Draft(
            kind=build_kind(message, code, is_vet=bool(self._package) and not found["vet"]),
            message=message,
            file=file,
            line=int(found["line"]),
            column=int(found["column"]) if found["column"] else None,
            code=code,
            evidence=[line],
        )

    def _plain(self, line: str) -> bool:
        """Lines without a place: the go command's own, and below a package's name the linker's."""
        if (line.startswith("go: ") or _COMMAND.match(line)) and kind_in("go", line):
            self._keep(FailureKind.DEPENDENCY_RESOLUTION_FAILURE, line.removeprefix("go: "), line)
        elif kind_in("go command", line):
            self._keep(FailureKind.ENVIRONMENT_FAILURE, line.removeprefix("go: "), line)
        elif self._package:
            self.finish()
            self._findings.fall_back(Failure(FailureKind.COMPILE_ERROR, line.strip(), evidence=line), on_kind=True)
        elif line.startswith("go: "):
            self._findings.fall_back(Failure(FailureKind.ENVIRONMENT_FAILURE, line.removeprefix("go: "), evidence=line))
        else:
            return False
        return True

    def _keep(self, kind: FailureKind, message: str, line: str) -> None:
        self.finish()
        self._findings.keep(Draft(kind, message, evidence=[line]))


def _message(text: str) -> tuple[str, str | None]:
    match = _LINTER.search(text)
    return (text[: match.start()], match["code"]) if match else (text, None)


def build_kind(message: str, code: str | None = None, *, is_vet: bool) -> FailureKind:
    """`is_vet`: whether the line stands below a package's name, as vet's do, and the compiler's."""
    if kind := kind_in("go", message):
        return kind
    is_lint = (is_vet and kind_in("vet", message)) or (code and code not in ("typecheck", "compile"))
    return FailureKind.LINT_FAILURE if is_lint else FailureKind.COMPILE_ERROR


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
