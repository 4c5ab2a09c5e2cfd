"""What a parser gathers while it reads: failures whose lines are still coming, each failure once, up to a limit; counts
of tests. What lines mean is elsewhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, fields, replace

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary

MOST_KEPT = 1_000
LONGEST_EVIDENCE = 1_500  # characters
LONGEST_MESSAGE = 500
MOST_LINES = 40  # of evidence

Key = tuple[object, ...]


def bounded(failure: Failure) -> Failure:
    """The failure with its texts cut to their limits."""
    message, evidence = (
        cut(failure.message.strip(), LONGEST_MESSAGE),
        cut(failure.evidence.strip("\n"), LONGEST_EVIDENCE),
    )
    if message == failure.message and evidence == failure.evidence:
        return failure
    return replace(failure, message=message, evidence=evidence)


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


@dataclass(slots=True)
class Draft:
    """One diagnostic or failed test, to which the following lines still add."""

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
    is_warning: bool = False
    evidence: list[str] = field(default_factory=list)
    _length: int = 0

    @property
    def is_full(self) -> bool:
        """Whether no more evidence is kept."""
        return len(self.evidence) >= MOST_LINES or self._length >= LONGEST_EVIDENCE

    def add(self, line: str) -> None:
        if not self.is_full:
            self.evidence.append(line)
            self._length += len(line) + 1

    def failure(self) -> Failure:
        return Failure(**{name: getattr(self, name) for name in _KEPT}, evidence="\n".join(self.evidence))


_KEPT = tuple(each.name for each in fields(Failure) if each.name != "evidence")


@dataclass(slots=True)
class Gathering:
    """Failures and warnings in the order they came. A fallback says that something failed, and counts only where
    nothing says more."""

    failures: dict[Key, Failure] = field(default_factory=dict)
    warnings: dict[Key, Failure] = field(default_factory=dict)
    _alone: list[Failure] = field(default_factory=list)
    _of_kind: list[Failure] = field(default_factory=list)

    def fail(self, failure: Failure) -> None:
        _keep(self.failures, failure)

    def warn(self, warning: Failure) -> None:
        _keep(self.warnings, warning)

    def keep(self, draft: Draft) -> None:
        (self.warn if draft.is_warning else self.fail)(draft.failure())

    def fall_back(self, failure: Failure, *, on_kind: bool = False) -> None:
        """Keep `failure` if the log names no other; with `on_kind`, if it names none of the same kind."""
        fallbacks = self._of_kind if on_kind else self._alone
        if len(fallbacks) < MOST_LINES:
            fallbacks.append(failure)

    @property
    def is_full(self) -> bool:
        """Whether another failure would not be kept."""
        return len(self.failures) >= MOST_KEPT

    def parsed(self, summary: TestSummary | None = None, *, is_complete: bool = True) -> Parsed:
        kinds = {failure.kind for failure in self.failures.values()}
        for failure in self._of_kind:
            if failure.kind not in kinds:
                self.fail(failure)
        for failure in () if self.failures else self._alone:
            self.fail(failure)
        return Parsed(tuple(self.failures.values()), tuple(self.warnings.values()), summary, is_complete)


def _keep(kept: dict[Key, Failure], failure: Failure) -> None:
    if len(kept) < MOST_KEPT:
        short = bounded(failure)
        kept.setdefault((short.kind, short.file, short.line, short.column, short.test_name, short.message), short)


FIRST, LAST = 60, 240  # lines
LONGEST_LINE = 2_000  # characters


@dataclass(slots=True)
class Excerpt:
    """The first and the last lines of a passage of any length."""

    first: list[str] = field(default_factory=list)
    last: deque[str] = field(default_factory=lambda: deque(maxlen=LAST))

    def add(self, line: str) -> None:
        (self.first if len(self.first) < FIRST else self.last).append(line[:LONGEST_LINE])

    def extend(self, lines: Sequence[str]) -> None:
        room = FIRST - len(self.first)
        self.first.extend(line[:LONGEST_LINE] for line in lines[:room])
        self.last.extend(line[:LONGEST_LINE] for line in lines[room:][-LAST:])

    def __iter__(self) -> Iterator[str]:
        return iter((*self.first, *self.last))

    @property
    def text(self) -> str:
        return "\n".join(self)


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


def summed(summaries: Iterable[TestSummary | None]) -> TestSummary | None:
    """The counts of the parts of a run together, of those that have any."""
    columns = [astuple(summary) for summary in summaries if summary is not None]
    return TestSummary(*map(sum, zip(*columns, strict=True))) if columns else None


MILD = ("warning", "warn", "info", "information", "note", "message")


def is_mild(severity: str | None) -> bool:
    """Whether a tool's word for how grave a finding is means that it fails nothing."""
    return (severity or "").strip().lower() in MILD


STILL_RUNNING = "the log ends while this was running"


def still_running(file: str | None, test: str | None, line: str) -> Failure:
    """What a log names last that does not end in it: what hung, or ended the runner."""
    return Failure(FailureKind.TEST_FAILURE, STILL_RUNNING, file, test_name=test, evidence=line, is_error=True)
