"""What a build, test, lint or format run came to: the result contract, as values. Running and parsing are elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
    evidence: str = ""
    code: str | None = None
    exception: str | None = None
    is_error: bool = False


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
