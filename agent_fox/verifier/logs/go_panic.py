"""A panic, a fatal error or a timeout of a Go test process, with the stack traces of its goroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.drafts import Draft

if TYPE_CHECKING:
    from agent_fox.verifier.logs.go_packages import Packages
    from agent_fox.verifier.logs.protocol import Workspace

MOST_LINES = 400  # kept of one trace
_BEGINS = regex(
    r"(?:panic|fatal error|runtime): (?!goroutine)|unexpected fault address|SIG[A-Z]+: |WARNING: DATA RACE$"
)
_FIRST = "pfruSW"
_TIMEOUT = regex(r"panic: test timed out after ")
_RUNNING = regex(r"\t\t?(?P<name>(?:Test|Fuzz|Example|Benchmark)\S*) \([\dhms.]+\)$")
_FUNCTION = regex(r"(?P<package>[\w.~/-]+?)\.(?P<name>[\w.*()\[\]]+)\(.*\)$|created by ")
_PLACE = regex(r"[\t ]+(?P<file>(?:[A-Za-z]:)?[/\\][^:\n]+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$")
_TEST = regex(r"\.(?P<name>(?:Test|Fuzz|Example|Benchmark)\w*)(?:\.func\d+[\d.]*)?\(")
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
    def test(self) -> str | None:
        """The test that a timeout names, or the first that a stack trace shows."""
        named = next((match["name"] for line in self._lines if (match := _RUNNING.match(line))), None)
        traced = (match["name"] for line in self._lines if (match := _TEST.search(line)))
        return named.partition("/")[0] if named else next(traced, None)

    def draft(self, workspace: Workspace, packages: Packages) -> Draft:
        is_timeout = bool(_TIMEOUT.match(self._lines[0]))
        draft = Draft(
            kind=FailureKind.TIMEOUT if is_timeout else FailureKind.TEST_FAILURE,
            message=self._lines[0].removesuffix(" [recovered]"),
            is_error=True,
            evidence=["\n".join(self._lines)],
        )
        for above, line in zip(self._lines, self._lines[1:], strict=False):
            match = _PLACE.match(line)
            if match and workspace.holds(match["file"]) and not _is_library(match["file"]):
                draft.file, draft.line = workspace.relative(match["file"]), int(match["line"])
                _learn(above, draft.file, packages)
                break
        return draft


def _is_library(path: str) -> bool:
    return "/pkg/mod/" in path or "/vendor/" in path or path.endswith("_testmain.go")


def _learn(function: str, file: str, packages: Packages) -> None:
    if match := _FUNCTION.match(function):
        packages.lies(match["package"] or "", file.rpartition("/")[0])
