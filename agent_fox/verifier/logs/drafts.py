"""A failure whose lines are still coming, what is kept of a long passage, and what a parser makes of a whole log. What
lines mean is elsewhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.gathering import LONGEST_EVIDENCE, Gathering

FIRST = 60  # lines
LAST = 240
LONGEST_LINE = 2_000  # characters


@dataclass(slots=True)
class Excerpt:
    """The first and the last lines of a passage of any length."""

    first: list[str] = field(default_factory=list)
    last: deque[str] = field(default_factory=lambda: deque(maxlen=LAST))

    def add(self, line: str) -> None:
        kept = self.first if len(self.first) < FIRST else self.last
        kept.append(line[:LONGEST_LINE])

    def extend(self, lines: Sequence[str]) -> None:
        room = FIRST - len(self.first)
        self.first.extend(line[:LONGEST_LINE] for line in lines[:room])
        self.last.extend(line[:LONGEST_LINE] for line in lines[room:][-LAST:])

    def __iter__(self) -> Iterator[str]:
        return iter((*self.first, *self.last))

    @property
    def text(self) -> str:
        return "\n".join(self)


MOST_LINES = 40  # of evidence


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
        """One more line of evidence, up to the limits."""
        if not self.is_full:
            self.evidence.append(line)
            self._length += len(line) + 1

    def failure(self) -> Failure:
        known = {name: getattr(self, name) for name in _KEPT}
        return Failure(**known, evidence="\n".join(self.evidence))


_KEPT = tuple(each.name for each in fields(Failure) if each.name != "evidence")


@dataclass(slots=True)
class Findings:
    """What a log came to so far. A fallback says that something failed, and counts only where nothing says more."""

    gathering: Gathering = field(default_factory=Gathering)
    _alone: list[Failure] = field(default_factory=list)
    _of_kind: list[Failure] = field(default_factory=list)

    def keep(self, draft: Draft) -> None:
        if draft.is_warning:
            self.gathering.warn(draft.failure())
        else:
            self.gathering.fail(draft.failure())

    def fall_back(self, failure: Failure, *, on_kind: bool = False) -> None:
        """Keep `failure` if the log names no other; with `on_kind`, if it names none of the same kind."""
        fallbacks = self._of_kind if on_kind else self._alone
        if len(fallbacks) < MOST_LINES:
            fallbacks.append(failure)

    def parsed(self, summary: TestSummary | None = None, *, is_complete: bool = True) -> Parsed:
        kinds = {failure.kind for failure in self.gathering.failures.values()}
        for failure in self._of_kind:
            if failure.kind not in kinds:
                self.gathering.fail(failure)
        if not self.gathering.failures:
            for failure in self._alone:
                self.gathering.fail(failure)
        return self.gathering.parsed(summary, is_complete=is_complete)
