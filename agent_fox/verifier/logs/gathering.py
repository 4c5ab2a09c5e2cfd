"""What a parser gathers while it reads: failures whose lines are still coming, each failure once, up to a limit; counts
of tests; and several readings of one run as one, where reports win over the log, and nothing counts twice."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from agent_fox.core.values import names_of
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.frames import is_file

MOST_KEPT = 1_000
LONGEST_EVIDENCE = 1_500  # characters
LONGEST_MESSAGE = 500
MOST_LINES = 40  # of evidence

Key = tuple[object, ...]


def bounded(failure: Failure) -> Failure:
    """The failure with its texts cut to their limits."""
    message = cut(failure.message.strip(), LONGEST_MESSAGE)
    return replace(failure, message=message, evidence=cut(failure.evidence.strip("\n"), LONGEST_EVIDENCE))


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


_KEPT = tuple(name for name in names_of(Failure) if name != "evidence")


@dataclass(slots=True)
class Gathering:
    """Failures and warnings in the order they came. A fallback says that something failed, and counts only where
    nothing says more."""

    failures: dict[Key, Failure] = field(default_factory=dict)
    warnings: dict[Key, Failure] = field(default_factory=dict)
    _alone: list[Failure] = field(default_factory=list)
    _of_kind: list[Failure] = field(default_factory=list)

    def fail(self, *failures: Failure) -> None:
        _keep(self.failures, failures)

    def warn(self, *warnings: Failure) -> None:
        _keep(self.warnings, warnings)

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
        self.fail(*(failure for failure in self._of_kind if failure.kind not in kinds))
        self.fail(*(() if self.failures else self._alone))
        return Parsed(tuple(self.failures.values()), tuple(self.warnings.values()), summary, is_complete)


def _keep(kept: dict[Key, Failure], more: Iterable[Failure]) -> None:
    for failure in more:
        if len(kept) >= MOST_KEPT:
            return
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

    def add(self, outcome: str) -> None:
        """One more, by the name of a field."""
        setattr(self, outcome, getattr(self, outcome) + 1)

    def summary(self) -> TestSummary:
        tests = self.passed + self.failures + self.errors + self.skipped + self.xfailed - self.uncounted
        return TestSummary(tests, self.passed, self.failures, self.errors, self.skipped, self.xfailed)


def summed(summaries: Iterable[TestSummary | None]) -> TestSummary | None:
    """The counts of the parts of a run together, of those that have any."""
    known = [summary for summary in summaries if summary is not None]
    counts = (sum(getattr(summary, name) for summary in known) for name in names_of(TestSummary))
    return TestSummary(*counts) if known else None


MILD = ("warning", "warn", "info", "information", "note", "message")
"""A tool's words for how grave a finding is, where it fails nothing."""
STILL_RUNNING = "the log ends while this was running"


def merged(readings: Iterable[Parsed]) -> Parsed:
    """Readings of different parts of a run, such as one report for each module: counts add up."""
    gathering, summary, is_complete = Gathering(), None, True
    for reading in readings:
        summary, is_complete = summed((summary, reading.summary)), is_complete and reading.is_complete
        gathering.fail(*reading.failures)
        gathering.warn(*reading.warnings)
    return gathering.parsed(summary, is_complete=is_complete)


def completed(better: Parsed, other: Parsed) -> Parsed:
    """`better`, and of `other` (a reading of the same run, less to be trusted) what `better` does not know."""
    if better == Parsed():
        return other
    gathering, names = Gathering(), Counter(map(_short, other.failures))
    of_name = {name: failure for failure in other.failures if names[name := _short(failure)] == 1 and name}
    for failure in better.failures:
        known = of_name.get(_short(failure))
        if known and known.line and not failure.line:  # the log names the place that the report does not
            failure = replace(failure, kind=known.kind, file=known.file, line=known.line, column=known.column)
        gathering.fail(failure)
    gathering.fail(*_new_failures(better, other))
    places = {_place(warning) for warning in better.warnings}
    gathering.warn(*better.warnings, *(each for each in other.warnings if _place(each) not in places))
    is_known = better.summary is not None and (better.is_complete or other.summary is None)
    summary = better.summary if is_known else other.summary
    return gathering.parsed(summary, is_complete=better.is_complete or other.is_complete)


def _new_failures(better: Parsed, other: Parsed) -> Iterable[Failure]:
    places = {_place(failure) for failure in better.failures}
    messages = {failure.message for failure in better.failures}
    kinds = {failure.kind for failure in better.failures} | ({FailureKind.UNKNOWN} if better.failures else set())
    if FailureKind.LINT_FAILURE in kinds:
        kinds.add(FailureKind.COMPILE_ERROR)  # compilers that lint say that they could not compile
    names = {name for failure in better.failures if (name := _short(failure))}
    knows_tests = better.is_complete and any(f.kind is FailureKind.TEST_FAILURE for f in better.failures)
    for failure in other.failures:
        is_known = _place(failure) in places if failure.line else failure.message in messages
        is_known = is_known or (_short(failure) in names)
        is_vague = failure.kind in kinds and failure.file is None and failure.test_name is None
        is_other_test = failure.kind is FailureKind.TEST_FAILURE and knows_tests
        if not (is_known or is_vague or is_other_test):
            yield failure


def _place(failure: Failure) -> tuple[str | None, int | None, str]:
    """Where a failure is; without a line, what it says."""
    return (failure.file, failure.line, "" if failure.line else failure.message)


def _short(failure: Failure) -> str:
    """The name of a test without what tools put before it."""
    name = (failure.test_name or "").removesuffix("()")
    return name if is_file(name) else re.split(r"::| > |\.(?=\w+$)", name)[-1]
