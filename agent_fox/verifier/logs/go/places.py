"""Where a Go failure is: the folder of a package, the line of a test's log, the trace of a panic."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import Place, at, first_line, place_of

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_HOSTS_WITH_OWNERS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitee.com")
_LOG_LINE = regex(r"^\s+(?:[\w./-]*/)?([\w.-]+\.go):(\d+): ?(.*)$")
_SAYS_WRONG = regex(
    r"!=|\b(?:want(?:ed)?|got|expected|unexpected|errors?|fail(?:ed|ure)?|not|should|must|mismatch|differ\w*|bad"
    r"|invalid|missing|wrong)\b",
    re.IGNORECASE,
)
_TESTIFY = regex(r"Error Trace:\s+(?P<file>\S+\.go):(?P<line>\d+)")
_TESTIFY_ERROR = regex(r"^\s+Error:\s+(\S.*)$", re.MULTILINE)


def module_of(packages: Iterable[str]) -> str:
    """The module that packages belong to, by what is common to their import paths.

    A module named by a host is at least the host and a name (and an owner, where the host has owners).
    """
    paths = [package.split("/") for package in sorted(set(packages))]
    if not paths:
        return ""
    first, last = paths[0], paths[-1]
    common = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    usual = 3 if first[0] in _HOSTS_WITH_OWNERS else 2 if "." in first[0] else 1
    if len(first) > usual and re.fullmatch(r"v\d+", first[usual]):
        usual += 1
    return "/".join(first[: min(common, usual)])


def logged_failure(lines: Sequence[str], workspace: Workspace) -> tuple[Place | None, str]:
    """The place and message of what a test logged as wrong: the first line that sounds like it, else the last."""
    text = "\n".join(lines)
    trace, error = _TESTIFY.search(text), _TESTIFY_ERROR.search(text)
    if trace and error:
        return place_of(trace, workspace), error[1].strip()
    logged = [(match, n) for n, line in enumerate(lines) if (match := _LOG_LINE.match(line))]
    if not logged:
        return None, ""
    match, n = next(((f, n) for f, n in logged if _SAYS_WRONG.search(f[3])), logged[-1])
    message = match[3].strip() or next((line.strip() for line in lines[n + 1 :] if line.strip()), "")
    return Place(match[1], int(match[2])), message


def logged_go(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    place, message = logged_failure(text.split("\n"), workspace)
    message = message if place else first_line(text)
    return Failure(FailureKind.TEST_FAILURE, message or "it failed without a word", **at(place))


MOST_PACKAGES = 10_000


@dataclass(slots=True)
class Packages:
    """The packages that a log names, and what it tells of their module's path."""

    names: set[str] = field(default_factory=set)
    _module: str = ""

    def see(self, package: str) -> None:
        if len(self.names) < MOST_PACKAGES:
            self.names.add(package.removesuffix("_test"))

    def lies(self, package: str, folder: str) -> None:
        """A line shows that `package` lies in `folder`, relative to the workspace."""
        folder = folder.strip("/")
        if not folder or folder == ".":
            self._module = self._module or package
        elif package.endswith("/" + folder):
            self._module = package[: -len(folder) - 1]

    def folder(self, package: str) -> str:
        """The folder of a package below the workspace; `""` is the workspace itself.

        Without evidence: below the packages' common path where that is a package, else below what hosts usually use.
        """
        module = self._module
        if not (module and f"{package}/".startswith(f"{module}/")):
            common = posixpath.commonpath([*self.names, package])
            is_package = common in self.names and len(self.names) > 1
            module = common if is_package else module_of({*self.names, package})
        return package[len(module) + 1 :]


MOST_LINES = 400  # kept of one trace
_BEGINS = regex(
    r"(?:panic|fatal error|runtime): (?!goroutine)|unexpected fault address|SIG[A-Z]+: |WARNING: DATA RACE$"
)
_FIRST = "pfruSW"
_RUNNING = regex(r"\t\t?(?P<name>(?:Test|Fuzz|Example|Benchmark)\S*) \([\dhms.]+\)$")
_FUNCTION = regex(r"(?P<package>[\w.~/-]+?)\.(?P<name>[\w.*()\[\]]+)\(.*\)$|created by ")
_PLACE = regex(r"[\t ]+(?P<file>(?:[A-Za-z]:)?[/\\][^:\n]+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$")
_TEST = regex(r"\.(?P<name>(?:Test|Fuzz|Example|Benchmark)\w*)(?:\.func\d+[\d.]*)?\(")
_LIBRARY = regex(r"/pkg/mod/|/vendor/|_testmain\.go$")
_ENDS = regex(r"(?:FAIL|ok  |PASS|---|===)(?:[\t ]|$)|exit status \d+$")


class Panic:
    """The lines from `panic:` to the end of the package."""

    def __init__(self, first: str) -> None:
        self._lines = [first]

    @staticmethod
    def begins(line: str) -> bool:
        return line[:1] in _FIRST and bool(_BEGINS.match(line))

    def takes(self, line: str) -> bool:
        """Whether the line still belongs to it."""
        if _ENDS.match(line):
            return False
        if len(self._lines) < MOST_LINES:
            self._lines.append(line)
        return True

    @property
    def test(self) -> str:
        """The test that a timeout names, or the first that a stack trace shows."""
        for pattern in (_RUNNING, _TEST):
            matches = (pattern.match(line) if pattern is _RUNNING else pattern.search(line) for line in self._lines)
            if match := next(filter(None, matches), None):
                return match["name"].partition("/")[0]
        return ""

    def failure(self, test: str, workspace: Workspace, packages: Packages) -> Failure:
        place = None
        for above, line in zip(self._lines, self._lines[1:], strict=False):
            match = _PLACE.match(line)
            if match and workspace.holds(match["file"]) and not _LIBRARY.search(match["file"]):
                place = place_of(match, workspace)
                if function := _FUNCTION.match(above):
                    packages.lies(function["package"] or "", place.file.rpartition("/")[0])
                break
        first, text, name = self._lines[0], "\n".join(self._lines), test or self.test or None
        kind = FailureKind.TIMEOUT if first.startswith("panic: test timed out after ") else FailureKind.TEST_FAILURE
        message = first.removesuffix(" [recovered]")
        return Failure(kind, message, **at(place), test_name=name, evidence=text, is_error=True)
