"""Several tries of one attempt, from the same commit: which may land, the best first, and what is told of them. Pure.

Source of the rules: `docs/semantics.md`, "Candidates".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from agent_fox.core.retry.best import ReadTree, best_first
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Word
from agent_fox.core.words import counted


@dataclass(frozen=True, slots=True)
class Candidate:
    """One try that ended. `number` counts from 1; `launch` is its launch's id, `ref` keeps its commit.

    `failure` says why it cannot land, empty where it may. `words`: what the verifier read in its tree, None where that
    was not read; `same_as` is the earlier candidate with the same files, whose reading it has. `change`: lines that
    differ from the commit that all began with. `is_last`: no other try would come to more.
    """

    number: int
    launch: str
    commit: str = ""
    tree: str = ""
    ref: str = ""
    failure: str = ""
    is_unchanged: bool = False
    is_last: bool = False
    change: int = 0
    same_as: int = 0
    words: Mapping[str, Word] | None = None
    note: str = ""

    @property
    def may_land(self) -> bool:
        return not self.failure

    @property
    def awaits_reading(self) -> bool:
        return self.may_land and not self.is_unchanged and self.words is None

    @property
    def result(self) -> str:
        """What came of it, in a few words."""
        if self.failure:
            return self.failure
        if self.is_unchanged:
            return "changed nothing"
        if self.words is None:
            return f"was not read{f': {self.note}' if self.note else ''}"
        passing = sum(word is Word.PASS for word in self.words.values())
        same = f", the same files as {self.same_as}, read once" if self.same_as else ""
        noted = f" ({self.note})" if self.note else ""
        return f"{passing} of {counted(len(self.words), 'requirement')} pass{same}{noted}"


@dataclass(frozen=True, slots=True)
class Contest:
    """The tries of one attempt so far. `wanted`: how many there are to be."""

    wanted: int
    made: tuple[Candidate, ...] = ()

    @property
    def to_read(self) -> Candidate | None:
        return next((each for each in self.made if each.awaits_reading), None)

    @property
    def is_complete(self) -> bool:
        return (len(self.made) >= self.wanted or bool(self.why_no_more)) and self.to_read is None

    @property
    def why_no_more(self) -> str:
        """Why no other try is made although fewer were than there are to be; empty where one is."""
        last = next((each for each in self.made if each.is_last), None)
        return f"after the failure of {last.number} the same again would fail, too" if last is not None else ""

    @property
    def has_any(self) -> bool:
        """Whether one of them may land."""
        return any(each.may_land for each in self.made)

    def of_launch(self, launch: str) -> Candidate | None:
        return next((each for each in self.made if each.launch == launch), None)

    def twin_of(self, tree: str) -> Candidate | None:
        """The first that may land with the same files."""
        return next((each for each in self.made if each.may_land and each.tree == tree), None)

    def ranking(self, proven_before: frozenset[str]) -> tuple[Candidate, ...]:
        """Those that may land, the best first: by the order of the best tree those that were read; then those that were
        not; last those that changed nothing, for what they leave was refused already.
        """
        able = [each for each in self.made if each.may_land]
        read = {each.number: each for each in able if each.words is not None and not each.is_unchanged}
        trees = [ReadTree(number, each.words or {}, each.change) for number, each in read.items()]
        unread = [each for each in able if each.awaits_reading]
        unchanged = [each for each in able if each.is_unchanged]
        return (*(read[tree.order] for tree in best_first(trees, proven_before)), *unread, *unchanged)


@dataclass(frozen=True, slots=True)
class Choice:
    """What came of a contest. `chosen`: the number of the candidate whose end counts; `landed`: whether it may land.

    `passed_over`: better ones that cannot land, and what is in the way; `why_short`: why there are fewer, or
    fewer readings, than there were to be.
    """

    wanted: int
    made: tuple[Candidate, ...]
    chosen: int
    landed: bool
    passed_over: Mapping[int, str] = field(default_factory=dict)
    why_short: str = ""

    @property
    def in_words(self) -> str:
        """In a sentence, for a person."""
        head = f"candidate {self.chosen} of {len(self.made)} is taken" if self.landed else self.none_landed
        short = f"{len(self.made)} of {self.wanted} were made: {self.why_short}" if self.why_short else ""
        each = "; ".join(self.line(candidate) for candidate in self.made)
        return "; ".join(part for part in (head, short, each) if part)

    @property
    def none_landed(self) -> str:
        if self.passed_over:
            return f"none of {counted(len(self.made), 'candidate')} can land"
        alike = " alike" if len(self.made) > 1 and len({candidate.failure for candidate in self.made}) == 1 else ""
        return f"all {counted(len(self.made), 'candidate')} failed{alike}"

    def line(self, candidate: Candidate) -> str:
        obstacle = self.passed_over.get(candidate.number)
        conflict = f", but {obstacle}" if obstacle else ""
        kept = f" ({candidate.ref})" if candidate.ref and not (self.landed and candidate.number == self.chosen) else ""
        return f"{candidate.number}: {candidate.result}{conflict}{kept}"

    @property
    def failure(self) -> str:
        """Why the attempt failed where none may land."""
        reasons = tuple(dict.fromkeys(candidate.failure for candidate in self.made))
        return f"{self.none_landed}: {'; '.join(reasons)}"


def made_from(rows: Iterable[Candidate], readings: Mapping[str, Candidate]) -> tuple[Candidate, ...]:
    """The candidates in their order, each as its reading left it, where it has one (by launch)."""
    return tuple(readings.get(each.launch, each) for each in sorted(rows, key=lambda each: each.number))
