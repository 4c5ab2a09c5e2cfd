"""Lines of checks of style and format that run within Maven, and what its last words mean: kinds of failures by the
goal or the message, and errors in POMs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.frames import java_file

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


_DEPENDENCY = regex(
    r"Could not resolve dependencies|Could not find artifact|Failed to collect dependencies"
    r"|Could not transfer artifact"
    r"|Failed to read artifact descriptor|Non-resolvable|could not be resolved|Could not resolve"
    r"|No plugin found for prefix"
    r"|Unresolve?able build extension|Error resolving version for plugin|Plugin not found in any"
    r"|has not been downloaded"
    r"|was not found in \S+ during a previous attempt|Failure to (?:find|transfer)|Blocked mirror"
)
_ENVIRONMENT = regex(
    r"Unknown lifecycle phase|requires a project to execute|No compiler is provided|JAVA_HOME|No space left"
    r"|OutOfMemoryError|Cannot allocate memory|Could not find the selected project|Unable to parse command line"
    r"|Could not find goal|The specified user settings file|Error occurred in starting fork|toolchain|JDK version"
    r"|requires Maven version|RequireJavaVersion|RequireMavenVersion|Detected JDK"
)
_JAVAC_REFUSED = regex(
    r"invalid (?:target|source) release|release version \S+ not supported|invalid flag|no source files"
    r"|source release \S+ requires"
)
_TIMEOUT = regex(r"There was a timeout|timeout or other error in the fork")
_NO_TESTS = regex(r"No tests (?:were executed|matching pattern|to run)")
_GOALS = (
    (
        regex(r"(?:compiler|kotlin|scala|aspectj|gmaven|gmavenplus|groovy|antlr|protobuf|jaxb|openapi)[\w.-]*"),
        FailureKind.COMPILE_ERROR,
    ),
    (regex(r"(?:surefire|failsafe|scalatest|pitest|invoker|karate|cucumber)"), FailureKind.TEST_FAILURE),
    (
        regex(r"(?:spotless|formatter|fmt|googleformatter|prettier|sortpom|impsort|license|editorconfig|ktlint)"),
        FailureKind.FORMAT_FAILURE,
    ),
    (
        regex(
            r"(?:checkstyle|pmd|spotbugs|findbugs|rat|forbiddenapis|animal-sniffer|detekt|dependency|jacoco"
            r"|javadoc|revapi|japicmp)"
        ),
        FailureKind.LINT_FAILURE,
    ),
    (regex(r"(?:enforcer|toolchains|resources|install|deploy|clean|jar|war)"), FailureKind.ENVIRONMENT_FAILURE),
)
_POSITION = regex(r"@ ?(?:line |\S*, line )?(?P<line>\d+)(?:, column |:)(?P<column>\d+)")
_HELP = regex(r"\s*-> \[Help \d+\]\s*$")


def invalid_environment(message: str) -> bool:
    """Whether the compiler refused its settings, not the source."""
    return bool(_JAVAC_REFUSED.search(message))


def without_help(message: str) -> str:
    return _HELP.sub("", message).strip()


def kind_of(message: str, plugin: str = "") -> FailureKind:
    """The kind of a message, which the plugin tells that failed where the words do not."""
    if _DEPENDENCY.search(message):
        return FailureKind.DEPENDENCY_RESOLUTION_FAILURE
    if _ENVIRONMENT.search(message) or invalid_environment(message):
        return FailureKind.ENVIRONMENT_FAILURE
    if _TIMEOUT.search(message):
        return FailureKind.TIMEOUT
    if _NO_TESTS.search(message):
        return FailureKind.UNKNOWN
    artifact = plugin.split(":")[1] if ":" in plugin else plugin
    return next((kind for pattern, kind in _GOALS if pattern.search(artifact)), FailureKind.UNKNOWN)


def pom_problem(message: str, pom: str | None, line: str) -> Draft:
    """An error in a POM, which lies where its message says."""
    is_dependency = bool(_DEPENDENCY.search(message))
    position = _POSITION.search(message)
    return Draft(
        kind=FailureKind.DEPENDENCY_RESOLUTION_FAILURE if is_dependency else FailureKind.COMPILE_ERROR,
        message=without_help(message),
        file=pom,
        line=int(position["line"]) if position else None,
        column=int(position["column"]) if position else None,
        evidence=[line],
    )
