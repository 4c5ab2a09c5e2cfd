"""What test runners and coverage tools say when too little was covered. The tests may all have passed."""

from __future__ import annotations

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind

_MARKS = ("coverage", "Coverage", "threshold")
_TOO_LITTLE = regex(
    r"(?:FAIL |ERROR: |Jest: |Error: |\[ERROR\] )?(?P<message>Required test coverage of \S+ not reached.*"
    r"|Coverage failure: total of .*"
    r"|Coverage for \w+ \([\d.]+%\) does not meet .*threshold.*"
    r"|\"?[\w ./-]*\"? ?coverage threshold for .* not met.*"
    r"|[Cc]overage total of \S+ .*(?:below|under) .*)$"
)


def too_little(line: str) -> Failure | None:
    """The failure that a line tells of, where it is about a threshold of coverage."""
    match = _TOO_LITTLE.match(line.strip()) if any(mark in line for mark in _MARKS) else None
    return Failure(FailureKind.UNKNOWN, match["message"].strip(), evidence=line) if match else None
