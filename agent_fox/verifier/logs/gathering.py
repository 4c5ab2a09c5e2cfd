"""What a parser gathers while it reads: each failure once, counted without end, kept up to a limit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary

MOST_KEPT = 1_000
LONGEST_EVIDENCE = 1_500  # characters
LONGEST_MESSAGE = 500

Key = tuple[str, str | None, int | None, int | None, str | None, str]


def key_of(failure: Failure) -> Key:
    """What makes two reports of a failure the same one."""
    return (failure.kind, failure.file, failure.line, failure.column, failure.test_name, failure.message)


def bounded(failure: Failure) -> Failure:
    """The failure with its texts cut to their limits."""
    message, evidence = failure.message.strip(), failure.evidence.strip("\n")
    message, evidence = cut(message, LONGEST_MESSAGE), cut(evidence, LONGEST_EVIDENCE)
    if message == failure.message and evidence == failure.evidence:
        return failure
    return replace(failure, message=message, evidence=evidence)


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


@dataclass(slots=True)
class Gathering:
    """Failures and warnings in the order they came, and the counts of tests."""

    failures: dict[Key, Failure] = field(default_factory=dict)
    warnings: dict[Key, Failure] = field(default_factory=dict)

    def fail(self, failure: Failure) -> None:
        _keep(self.failures, failure)

    def warn(self, warning: Failure) -> None:
        _keep(self.warnings, warning)

    @property
    def is_full(self) -> bool:
        """Whether another failure would not be kept."""
        return len(self.failures) >= MOST_KEPT

    @property
    def is_warned(self) -> bool:
        """Whether another warning would not be kept."""
        return len(self.warnings) >= MOST_KEPT

    def parsed(self, summary: TestSummary | None = None, *, is_complete: bool = True) -> Parsed:
        return Parsed(tuple(self.failures.values()), tuple(self.warnings.values()), summary, is_complete)


def _keep(kept: dict[Key, Failure], failure: Failure) -> None:
    if len(kept) < MOST_KEPT:
        short = bounded(failure)
        kept.setdefault(key_of(short), short)


@dataclass(slots=True)
class Counts:
    """Tests counted as they end. `uncounted` broke before they were tests: they are errors, but no tests."""

    passed: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    xfailed: int = 0
    uncounted: int = 0

    def summary(self) -> TestSummary:
        tests = self.passed + self.failures + self.errors + self.skipped + self.xfailed - self.uncounted
        return TestSummary(tests, self.passed, self.failures, self.errors, self.skipped, self.xfailed)


MILD = ("warning", "warn", "info", "information", "note", "message")


def is_mild(severity: str | None) -> bool:
    """Whether a tool's word for how grave a finding is means that it fails nothing."""
    return (severity or "").strip().lower() in MILD


STILL_RUNNING = "the log ends while this was running"


def still_running(file: str | None, test: str | None, line: str) -> Failure:
    """What a log names last that does not end in it: what hung, or ended the runner."""
    return Failure(FailureKind.TEST_FAILURE, STILL_RUNNING, file, test_name=test, evidence=line, is_error=True)
