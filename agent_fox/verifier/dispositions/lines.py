"""Which lines of a failure the tool itself wrote, and which sign they bear. What a test printed is never among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.dispositions.paths import changes_build
from agent_fox.verifier.dispositions.signs import (
    DISK_FULL,
    MISSING_TOOL,
    NO_SUCH_IMPORT,
    OF_DEPENDENCIES,
    OF_OTHERS,
    READ_ONLY,
    Sign,
    resolver_sign,
    sign_of,
)
from agent_fox.verifier.ground.results import FailureKind

if TYPE_CHECKING:
    from agent_fox.verifier.ground.disposition_facts import FailureFacts

_OUTPUT = regex(r"error while writing |(?:cannot|can't|could not|unable to) write ")


def sign_in(facts: FailureFacts) -> Sign | None:
    """The sign that the tool's own lines bear."""
    failure = facts.failure
    lines = tool_lines(facts)
    if failure.kind is FailureKind.DEPENDENCY_RESOLUTION_FAILURE:
        is_own = failure.line is not None and not (failure.file or "").startswith("/")
        return sign_of([failure.code or "", *lines], (*OF_DEPENDENCIES, NO_SUCH_IMPORT) if is_own else OF_DEPENDENCIES)
    if failure.line is not None and failure.kind is FailureKind.COMPILE_ERROR:
        is_code = not changes_build([failure.file or ""])
        return _sign_beside_code(facts) if is_code else sign_of([failure.message], OF_OTHERS)
    return sign_of(lines, OF_OTHERS) or resolver_sign(lines)


def _sign_beside_code(facts: FailureFacts) -> Sign | None:
    """A compiler points at the code: only what it says of its own output or version speaks for the code."""
    if _OUTPUT.match(facts.failure.message):
        return sign_of([facts.failure.message], (DISK_FULL, READ_ONLY, MISSING_TOOL))
    notes = [line for line in facts.tail.splitlines() if line.startswith("note: module requires Go")]
    return sign_of(notes, OF_OTHERS)


def tool_lines(facts: FailureFacts) -> list[str]:
    """The failure's own lines, and the log's last ones where no test has run that could have written them."""
    tail = "" if facts.end.tests_run else facts.tail
    return [*own_lines(facts), *tail.splitlines()]


def own_lines(facts: FailureFacts) -> list[str]:
    """The lines of the failure itself."""
    return [*facts.failure.message.splitlines(), *facts.failure.evidence.splitlines()]
