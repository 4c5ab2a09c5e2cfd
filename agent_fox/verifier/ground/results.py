"""What a build, test, lint or format run came to: the result contract, as values. Running and parsing are elsewhere."""

from __future__ import annotations

from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core.verdicts.verdict import Disposition


class Status(StrEnum):
    """How a run ended. `errored`: it could not do its job; never a pass and never the code's failure."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    TIMED_OUT = "timed_out"
    SKIPPED = "skipped"


class FailureKind(StrEnum):
    COMPILE_ERROR = "compile_error"
    TEST_FAILURE = "test_failure"
    LINT_FAILURE = "lint_failure"
    FORMAT_FAILURE = "format_failure"
    DEPENDENCY_RESOLUTION_FAILURE = "dependency_resolution_failure"
    ENVIRONMENT_FAILURE = "environment_failure"
    TIMEOUT = "timeout"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that failed. What a log does not say stays None: nothing is invented.

    `file` is relative to the workspace, with forward slashes; `line` and `column` count from 1. `code` is the tool's
    own name of the rule or error. `is_error` holds for a test that broke instead of failing an assertion.
    """

    kind: FailureKind
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    symbol: str | None = None
    test_name: str | None = None
    code: str | None = None
    exception: str | None = None
    is_error: bool = False
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class TestSummary:
    """Counts of one test run. Parents of sub-tests do not count beside them; `xfailed` failed as was expected."""

    __test__ = False  # not a test class, whatever its name begins with

    tests: int = 0
    passed: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    xfailed: int = 0


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a log or report says. `is_complete` is false where it was cut off or could not be read to its end."""

    failures: tuple[Failure, ...] = ()
    warnings: tuple[Failure, ...] = ()
    summary: TestSummary | None = None
    is_complete: bool = True


class Tool(StrEnum):
    """What the verifier can be asked to run: the names that clients, plans and reports know."""

    FORMAT_CHECK = "run_format_check"
    FORMAT_APPLY = "run_format_apply"
    LINT = "run_lint"
    COMPILE = "run_compile"
    UNIT_TESTS = "run_unit_tests"
    SELECTED_TEST = "run_selected_test"
    STATIC_POLICY = "run_static_policy_checks"
    DEPENDENCY_TREE = "run_dependency_tree"
    SECURITY_SCAN = "run_security_scan"
    SUMMARIZE = "summarize_build_log"
    RESOLVE = "resolve_dependencies"

    @property
    def may_change_source(self) -> bool:
        return self is Tool.FORMAT_APPLY

    @property
    def runs_tests(self) -> bool:
        return self in (Tool.UNIT_TESTS, Tool.SELECTED_TEST)


class Scope(StrEnum):
    """How much of the tests ran. Counts of different scopes are never compared."""

    SELECTED = "selected"
    MODULE = "module"
    FULL = "full"


class ArtifactKind(StrEnum):
    LOG = "log"
    REPORT = "report"
    JUNIT_XML = "junit_xml"
    COVERAGE = "coverage"
    DIFF = "diff"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that is kept whole beside a result. `uri` names it to anybody; where it lies is the store's affair.

    `name` is unique within one attempt of a run. `bytes` and `sha256` (hex) are those of what is stored, after masking.
    """

    kind: ArtifactKind
    name: str
    uri: str
    bytes: int
    sha256: str
    is_secret_suspected: bool = False


@dataclass(frozen=True, slots=True)
class Disposed:
    """Why one failure failed, and who can do something about it. `reason` says by which evidence."""

    disposition: Disposition
    reason: str
    retryable_infrastructure: bool = False
    repairable_by_agent: bool = False
    requires_human: bool = False
    is_proven: bool = False


Explained = tuple[Failure, Disposed | None]


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """What one tool of the verifier came to.

    command: argv as it may be shown, without paths of this machine. started_at, completed_at: ISO 8601, UTC.
    changed_sources: source files that changed while the command ran, relative to the workspace.
    dispositions: one for each of `failures`, in their order; empty where nothing was looked into.
    isolation: in words, how the command was kept apart from the machine.
    notes: whatever a reader must know beside it, such as an earlier run on the same tree.
    seen_at: nothing ran, the result was seen at this commit (outside of git: at this time); empty: it was executed.
    """

    tool: Tool
    status: Status
    profile: str
    command: tuple[str, ...]
    summary: str
    exit_code: int | None = None
    seconds: float = 0.0
    started_at: str = ""
    completed_at: str = ""
    module: str | None = None
    selector: str | None = None
    scope: Scope | None = None
    failures: tuple[Failure, ...] = ()
    warnings: tuple[Failure, ...] = ()
    test_summary: TestSummary | None = None
    artifacts: tuple[Artifact, ...] = ()
    dispositions: tuple[Disposed, ...] = ()
    changed_sources: tuple[str, ...] = ()
    isolation: str = ""
    notes: tuple[str, ...] = ()
    seen_at: str = ""

    @property
    def explained(self) -> tuple[Explained, ...]:
        """Each failure with why it failed, where that was looked into."""
        return tuple((failure, why) for failure, why in zip_longest(self.failures, self.dispositions) if failure)

    @property
    def source_mutation_detected(self) -> bool:
        return bool(self.changed_sources) and not self.tool.may_change_source

    @property
    def retryable(self) -> bool:
        """Whether running it again, with nothing changed, may come to something else."""
        return bool(self.dispositions) and all(
            disposition.retryable_infrastructure for disposition in self.dispositions
        )

    @property
    def repairable_by_agent(self) -> bool:
        return any(disposition.repairable_by_agent for disposition in self.dispositions)

    @property
    def requires_human(self) -> bool:
        return any(disposition.requires_human for disposition in self.dispositions)
