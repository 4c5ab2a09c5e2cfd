"""What kind of failure Maven's last words tell of: a goal of a plugin, a dependency, a POM, the environment."""

from __future__ import annotations

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.drafts import Draft

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
