"""What shells and interpreters say when a tool is missing, or the machine has no room. Any tool's log may hold it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.drafts import Findings

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_MISSING = (
    regex(r"\S*sh: (?:.+: (?:command )?not found$|command not found: )"),
    regex(r"'.+' is not recognized as an internal or external command"),
    regex(r"\S*python[\d.]*(?:\.exe)?: (?:No module named \S+|can't open file .+)$"),
    regex(r"env: \S.*: No such file or directory$"),
    regex(r"(?:npm (?:error|ERR!) )?could not determine executable to run$"),
    regex(r".*: (?:cannot execute(?: binary file)?|Exec format error)\b"),
)
_EXHAUSTED = (
    regex(r".*(?:No space left on device|ENOSPC: )"),
    regex(r"FATAL ERROR: .*(?:JavaScript heap out of memory|Allocation failed)"),
    regex(r".*java\.lang\.OutOfMemoryError: "),
    regex(r"(?:\S+: )?(?:fork: )?Cannot allocate memory$"),
    regex(r".*EMFILE: too many open files"),
)


class EnvironmentLog:
    """Reads why a tool could not do its work at all, for logs in which nothing else is found."""

    tools = ("environment",)

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        findings = Findings()
        for line in lines:
            if is_of_environment(line):
                failure = Failure(FailureKind.ENVIRONMENT_FAILURE, line.strip(), evidence=line, is_error=True)
                findings.gathering.fail(failure)
        return findings.parsed()


def is_of_environment(line: str) -> bool:
    """Whether the line says that a tool is missing or the machine exhausted."""
    return any(pattern.match(line) for pattern in (*_MISSING, *_EXHAUSTED))
