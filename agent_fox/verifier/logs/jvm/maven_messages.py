"""Lines of checks of style and format that run within Maven, and what its last words mean: kinds of failures by the
goal or the message, and errors in POMs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.frames import java_file
from agent_fox.verifier.logs.kinds import kind_in

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_CHECKSTYLE = regex(
    r"(?P<file>/?(?:[A-Za-z]:)?[^:\n\[]+\.\w+):\[(?P<line>\d+)(?:,(?P<column>\d+))?\] \([\w-]+\) "
    r"(?P<rule>\w+): (?P<message>.*)"
)
_AUDIT = regex(
    r"(?P<file>/?(?:[A-Za-z]:)?[^:\n\[]+\.\w+):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.*) \[(?P<rule>\w+)\]$"
)
_PMD = regex(r"PMD Failure: (?P<class>[\w.$]+):(?P<line>\d+) Rule:(?P<rule>\w+) Priority:\d+ (?P<message>.*?)\.?$")
_SPOTBUGS = regex(
    r"(?:High|Medium|Low): (?P<message>.*?) \[(?P<class>[\w.$]+)[^\]]*\] .*?At (?P<name>\w+\.\w+):\[lines? "
    r"(?P<line>\d+)[^\]]*\] (?P<rule>\w+)"
)
_FORMAT = regex(
    r"    (?P<file>[^\s@+-][^\n]*\.\w+)$|Non complying file: (?P<other>.+)$|File '"
    r"(?P<quoted>[^']+)' has not been previously formatted"
)


def check_draft(level: str, text: str, workspace: Workspace) -> Draft | None:
    """A violation that a style checker prints; None for any other line."""
    if match := _CHECKSTYLE.match(text) or _AUDIT.match(text):
        file = workspace.relative(match["file"])
    elif match := _PMD.match(text):
        simple = match["class"].rpartition(".")[2].split("$")[0]
        file = java_file(match["class"], f"{simple}.java")
    elif match := _SPOTBUGS.match(text):
        file = java_file(match["class"], match["name"])
    else:
        return None
    column = match.groupdict().get("column")
    return Draft(
        kind=FailureKind.LINT_FAILURE,
        message=match["message"].strip(),
        file=file,
        line=int(match["line"]),
        column=int(column) if column else None,
        code=match["rule"],
        is_warning=level in ("WARNING", "WARN"),
        evidence=[text],
    )


def format_draft(text: str, workspace: Workspace) -> Draft | None:
    """A file that a formatter would change; None for any other line."""
    match = _FORMAT.match(text)
    if not match:
        return None
    file = workspace.relative(match["file"] or match["other"] or match["quoted"])
    return Draft(FailureKind.FORMAT_FAILURE, "would be reformatted", file=file, evidence=[text])


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
