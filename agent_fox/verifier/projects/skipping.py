"""The last look at a command that runs tests: nothing in it may leave tests out, or hide that they failed. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.request import Refused

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import Tool

CODE = "test_skipping"
_FALSE = r"=(?:false|no|off|0)"  # a switch that is turned off is none
_PROPERTY = regex(
    rf"-D(?:skip(?:Tests?|ITs|UTs|UnitTests)|maven\.test\.(?:skip(?:\.exec)?|failure\.ignore)|testFailureIgnore|"
    rf"maven\.main\.skip|surefire\.(?:skip\w*|excludes(?:File)?|excludedGroups)|excludedGroups|groups)"
    rf"(?!{_FALSE}$)(?:$|=)"
    r"|-D(?:argLine|surefire\.argLine|test=[!%]|test\.ignoreFailures)"
)
# Of each program: options that leave tests out, stop early, hide failures, or bring in other settings and code.
_OPTIONS = {
    "pytest": (
        r"--collect-only|--co|--deselect|--ignore(?:-glob)?|-k.*|-m.*|--setup-(?:only|plan)|--sw(?:-skip)?|--nf|"
        r"--stepwise(?:-skip)?|--lf|--last-failed|--exitfirst|-[a-z]*x|--maxfail=[1-9]\d*|--noconftest|--runxfail|"
        r"--suppress-no-test-exit-code|--fixtures|--markers|--help|-h|--version|-c.*|--rootdir|--confcutdir|"
        r"-o.*|--override-ini|-p.*|--no-summary|--pyargs"
    ),
    "django": r"-k.*|--tag|--exclude-tag|--failfast|--pdb|--testrunner|--pattern|-p.*|-h|--help",
    "unittest": r"-k.*|-f|--failfast|-h|--help|-p.*|--pattern",
    "maven": (
        r"-fn|--fail-never|--help|-h|-v|--version|-rf|--resume-from|-P.*|--activate-profiles|-s|--settings|"
        r"-gs|--global-settings|-f|--file|-N|--non-recursive"
    ),
    "gradle": (
        r"-x.*|--exclude-task|-m|--dry-run|--help|-h|-I.*|--init-script|-b.*|--build-file|-c.*|--settings-file|-P.*"
    ),
    "go": r"--?(?:skip|short|list|n|c|exec|toolexec|overlay|vet|tags|failfast|args|modfile|ldflags|gcflags)",
    "cargo": r"--no-run|--skip|--list|--ignored|--exclude|--config|--doc|--help|-h|--manifest-path",
    "ctest": (
        r"-N|--show-only|-E.*|--exclude-regex|-LE.*|--label-exclude|-I.*|--tests-information|--fixture-exclude-\w+|"
        r"-F[ASC]|--no-tests=ignore|--help|-S.*|--script|--rerun-failed|--stop-on-failure"
    ),
    "make": (
        r"-[a-zA-Z]*[nitqoWfC].*|--just-print|--dry-run|--recon|--ignore-errors|--touch|--question|--old-file|"
        r"--assume-(?:old|new)|--what-if|--file|--makefile|--eval|--directory|[A-Za-z_]\w*[:?+!]?="
    ),
    "jest": (
        r"--passWithNoTests|--testPathIgnorePatterns|--onlyChanged|-o|--lastCommit|--changedSince|--onlyFailures|"
        r"-f|--listTests|--showConfig|--shard|--bail|-b|--watch(?:All)?|--updateSnapshot|-u|--clearCache|--filter|"
        r"--help|-h|--version|-v|--modulePathIgnorePatterns|--ignoreProjects|--selectProjects|--testFailureExitCode"
    ),
    "vitest": (
        r"--passWithNoTests|--exclude|--changed|--shard|--bail|--watch|-w|--update|-u|--allowOnly|--help|-h|"
        r"--version|-v|--dangerouslyIgnoreUnhandledErrors|--project|--dir|list|bench|init|--typecheck\.only"
    ),
    "mocha": (
        r"--pass-with-no-tests|--exclude|--ignore|--dry-run|--invert|-i|--bail|-b|--update|--help|-h|--version|-V|"
        r"--watch|-w|--exit-zero|--posix-exit-codes"
    ),
    "ava": r"--match|-m|--fail-fast|--watch|-w|--update-snapshots|-u|--help|--version|reset-cache|debug",
    "tap": (
        r"--bail|-b|--only|-O|--changed|-n|--watch|-w|--invert|-i|--exclude|--snapshot|-S|--pass(?:es)?|--allow-empty|"
        r"--help|-h|--version|-v|--repl|--list|-l"
    ),
    "tape": r"--ignore(?:-pattern)?|-i|--help|-h",
    "jasmine": r"--filter(?:-path)?|--fail-fast|--stop-on-failure|--helper|-h|--help|-v|version|init|examples",
    "qunit": r"--filter|-f|--module|-m|--watch|-w|--help|-h|--version",
    "uvu": r"--bail|-b|--help|-h|--version|-v",
    "node": (
        r"--test-only|--test-skip-pattern|--test-shard|--eval|-e|--print|-p|-pe|--check|-c|--watch|--help|-h|"
        r"--version|-v|--interactive|-i|--run"
    ),
}
_NARROWS = regex(r"(?:-t|--testNamePattern|-g|--grep|-f|--fgrep|--test-name-pattern)(?:$|=.*)", re.DOTALL)
_OURS = {("-o", "junit_family=xunit1"), ("-p", "no:cacheprovider"), ("-m", "pytest"), ("-m", "unittest")}
_PROGRAMS = {
    "mvn": "maven",
    "mvnw": "maven",
    "gradlew": "gradle",
    "gmake": "make",
    "craco": "jest",
    "react-scripts": "jest",
}
_SCRIPTS = {"unittest_junit.py": "unittest", "manage.py": "django"}
_RULES = {tool: regex(rf"(?:{options})(?:$|=.*)", re.DOTALL) for tool, options in _OPTIONS.items()}
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "csh", "tcsh", "busybox", "cmd", "powershell", "pwsh"})
_DOWNLOADERS = frozenset({"npx", "pnpx", "bunx", "uvx", "pipx"})

# Variables that carry options or code into a tool; `_HARMLESS` are the values that do not.
_CARRIERS = regex(
    r"MAVEN_.*|M2_HOME|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|JAVA_OPTS|JAVACMD|GRADLE_.*|ORG_GRADLE_.*|"
    r"PYTEST_.*|PYTHON(?:STARTUP|HOME|INSPECT|OPTIMIZE|BREAKPOINT|WARNINGS|PLATLIBDIR)|"
    r"GO(?:FLAGS|TESTFLAGS|ENV|OS|ARCH|EXPERIMENT|WORK|ROOT)|CARGO_.*|RUST(?:FLAGS|DOCFLAGS|C|DOC|C_.*|_TEST_.*)|"
    r"NODE_(?:OPTIONS|TEST_.*|PATH|V8_.*)|NPM_CONFIG_.*|YARN_.*|PNPM_.*|JEST_.*|VITEST.*|MOCHA_.*|"
    r"CTEST_.*|CMAKE_.*|GTEST_.*|MAKEFLAGS|GNUMAKEFLAGS|MFLAGS|MAKEFILES|BASH_ENV|ENV|SHELLOPTS|"
    r"LD_PRELOAD|LD_AUDIT|LD_LIBRARY_PATH|DYLD_.*|SKIP_TESTS?|TESTS?_SKIP",
    re.IGNORECASE,
)
_HARMLESS = {
    "CARGO_TERM_COLOR": r"never|always|auto",
    "CARGO_NET_OFFLINE": r"true",
    "CARGO_HOME": r"/.*",
    "CARGO_TARGET_DIR": r"/.*",
    "GRADLE_USER_HOME": r"/.*",
    "NODE_OPTIONS": r"(?:(?:--experimental-vm-modules|--enable-source-maps|--no-warnings)(?: |$))+",
    "npm_config_offline": r"true",
    "npm_config_update_notifier": r"false",
    "npm_config_fund": r"false",
    "npm_config_audit": r"false",
    "npm_config_cache": r"/.*",
}


def refuse_skipping(tool: Tool, argv: Sequence[str], environment: Mapping[str, str]) -> None:
    """Raise Refused if this command could run fewer tests than its tool promises, or hide failures.

    To be asked of the final argv and of all variables that were added, whoever added them. For tools that run no
    tests only shells, and programs that download others, are refused.
    """
    _refuse_program(argv)
    if not tool.runs_tests:
        return
    for argument in skipping_arguments(argv):
        raise Refused(CODE, f"{argument} leaves tests out or hides that they fail, so no test tool is given it")
    for name, value in environment.items():
        if carries_options(name, value):
            raise Refused(CODE, f"the variable {name} can leave tests out, so no test tool is given it")


def carries_options(name: str, value: str) -> bool:
    """Whether this variable can change which tests run, or what they are run with."""
    harmless = _HARMLESS.get(name)
    if harmless and re.fullmatch(harmless, value):
        return False
    return _CARRIERS.fullmatch(name) is not None


def skipping_arguments(argv: Sequence[str]) -> tuple[str, ...]:
    """The arguments that leave tests out or hide failures, as this program understands them."""
    kind = _kind(argv)
    pairs = pairwise((*argv[1:], ""))
    return tuple(
        argument for argument, following in pairs if (argument, following) not in _OURS and _skips(kind, argument)
    )


def narrows(argument: str) -> bool:
    """Whether this option of a JavaScript runner runs only some tests, by their names."""
    return _NARROWS.match(argument) is not None


def _skips(kind: str, argument: str) -> bool:
    rule = _RULES.get(kind)
    return _PROPERTY.match(argument) is not None or (rule is not None and rule.fullmatch(argument) is not None)


def _kind(argv: Sequence[str]) -> str:
    """Whose options these arguments are, by the program's name."""
    name = PurePath(argv[0]).name.removesuffix(".exe").removesuffix(".cmd")
    if re.fullmatch(r"python[\d.]*", name) and argv[1:2] == ("-m",) and len(argv) > 2:
        return argv[2]
    script = PurePath(argv[1]).name if argv[1:] else ""
    if script in _SCRIPTS:
        return _SCRIPTS[script]
    return _PROGRAMS.get(name, name)


def _refuse_program(argv: Sequence[str]) -> None:
    name = PurePath(argv[0]).name.lower().removesuffix(".exe")
    if name in _SHELLS:
        raise Refused("shell", f"{name} is a shell, and commands run without one")
    if name in _DOWNLOADERS:
        raise Refused("download", f"{name} downloads what it runs, so it is not used")
