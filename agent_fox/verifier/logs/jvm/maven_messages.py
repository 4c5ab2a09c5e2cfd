"""What Maven's last words mean: kinds of failures by the goal or the message, and errors in POMs."""

from __future__ import annotations

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.kinds import kind_in

_POSITION = regex(r"@ ?(?:line |\S*, line )?(?P<line>\d+)(?:, column |:)(?P<column>\d+)")
_HELP = regex(r"\s*-> \[Help \d+\]\s*$")


def without_help(message: str) -> str:
    return _HELP.sub("", message).strip()


def kind_of(message: str, plugin: str = "") -> FailureKind:
    """The kind of a message, which the plugin tells that failed where the words do not."""
    artifact = plugin.split(":")[1] if ":" in plugin else plugin
    return kind_in("maven", message) or kind_in("maven plugins", artifact) or FailureKind.UNKNOWN


def pom_problem(message: str, pom: str | None, line: str) -> Draft:
    """An error in a POM, which lies where its message says."""
    is_dependency = kind_in("maven", message) is FailureKind.DEPENDENCY_RESOLUTION_FAILURE
    position = _POSITION.search(message)
    return Draft(
        kind=FailureKind.DEPENDENCY_RESOLUTION_FAILURE if is_dependency else FailureKind.COMPILE_ERROR,
        message=without_help(message),
        file=pom,
        line=int(position["line"]) if position else None,
        column=int(position["column"]) if position else None,
        evidence=[line],
    )
