"""Regression memory: what once failed, as something that can be run again; where its life stands, and where it is used.

An item is made from a verdict of our own judge of tests, or by a person who signs; nothing here believes prose. Rows
are in `store.ledger.memory`, what makes and moves items in `engine.record.memory`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from heapq import nsmallest
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.known import How
from agent_fox.core.verdicts.proof import Effect
from agent_fox.core.verdicts.verdict import Word

if TYPE_CHECKING:
    from agent_fox.core.verdicts.proof import Trials, Tried
    from agent_fox.core.verdicts.scope import Scope
    from agent_fox.core.verdicts.verdict import RunTest

DIGITS = 16
SHOWN_ID = 8
LONGEST_INPUT = 1_000
"""Characters of a minimal input that an item keeps."""

MOST_INPUT_LINES = 20
MOST_FILES = 100
"""Files of one item; a change of more than these says nothing of what it depends on."""

MOST_BORN_OF_ONE = 3
"""Items that one verdict makes; of more failing tests than these, the others are named in its evidence."""


class Birth(StrEnum):
    """How an item came into the world."""

    REGRESSION = "regression"
    REPAIR = "repair"
    COUNTEREXAMPLE = "counterexample"
    PERSON = "person"

    @property
    def in_words(self) -> str:
        return _BIRTHS[self]


_BIRTHS = {
    Birth.REGRESSION: "the requirement had passed, and failed",
    Birth.REPAIR: "the requirement had failed, and passed by a test that can fail",
    Birth.COUNTEREXAMPLE: "a property test found an input that refutes it, and shrank it",
    Birth.PERSON: "a person added it",
}


class Status(StrEnum):
    """Whether what the item remembers holds now, as far as was seen."""

    OPEN = "open"
    FIXED = "fixed"
    ACCEPTED = "accepted"
    REGRESSED = "regression detected"


class Watch(StrEnum):
    """When an item is run again."""

    EVERY = "every reading"
    TOUCH = "on touch"
    OVER = "never"


class Step(StrEnum):
    """What happened to an item. The last three end it; the first two of these are a person's, signed."""

    BORN = "born"
    FAILED = "failed"
    PASSED = "passed"
    UNREAD = "not read"
    LOST = "lost"
    DEMOTED = "demoted"
    ACCEPTED = "accepted"
    FORGOTTEN = "forgotten"
    WITHDRAWN = "withdrawn"


ENDINGS = frozenset({Step.ACCEPTED, Step.FORGOTTEN, Step.WITHDRAWN})
SIGNED = frozenset({Step.ACCEPTED, Step.FORGOTTEN})


@dataclass(frozen=True, slots=True)
class Item:
    """What never changes about an item.

    spec, requirement, version: what the test is about, in which version of its text. test: what is run, and by which
    command line. files: the test's file, and the files whose change may break it again; the test's alone where no
    other is known. counterexample: a minimal input. first_error: normalised, of the failure that it remembers. cause:
    the name of the issue that it belongs to, empty where it never failed. joins: the id of an older item of the same
    cause. first_seen: ISO 8601, UTC.
    """

    id: str
    spec: str
    requirement: str
    version: str
    test: RunTest
    born: Birth
    first_seen: str
    files: tuple[str, ...] = ()
    counterexample: str = ""
    first_error: str = ""
    cause: str = ""
    joins: str = ""
    note: str = ""
    envelope: str = ""

    @property
    def address(self) -> str:
        return f"{self.spec}/{self.requirement}"

    @property
    def is_scoped(self) -> bool:
        """Whether any file is known beside the test's own."""
        return any(path != self.test.file for path in self.files)

    def is_touched_by(self, changed: frozenset[str]) -> bool:
        """Whether a change of these files may break it. What an item depends on and nobody knows, any change may."""
        return bool(changed) and (not self.is_scoped or not changed.isdisjoint(self.files))


@dataclass(frozen=True, slots=True)
class Move:
    """One thing that happened to an item. `file`: where its test stands now, if that is another file than before.
    `is_touched`: the change that was read overlaps its files. `envelope`: what a person signed."""

    step: Step
    at: str
    file: str = ""
    is_touched: bool = False
    commit: str = ""
    note: str = ""
    envelope: str = ""


@dataclass(frozen=True, slots=True)
class Life:
    """Where an item stands. `greens`: readings that it passed since it last failed; `last_seen`: when that was;
    `touched_at`: when a change last overlapped its files; `read_at`: when it was last run; `green_on`: the commit on
    which it last passed; `file`: where its test stands, empty for where it stood first; `is_lost`: its test was not
    found when it was last looked for."""

    status: Status
    watch: Watch = Watch.EVERY
    greens: int = 0
    last_seen: str = ""
    touched_at: str = ""
    read_at: str = ""
    green_on: str = ""
    file: str = ""
    is_lost: bool = False

    @property
    def is_over(self) -> bool:
        return self.watch is Watch.OVER

    @property
    def fails(self) -> bool:
        """Whether it failed when it was last run."""
        return self.status in (Status.OPEN, Status.REGRESSED)


@dataclass(frozen=True, slots=True)
class Remembered:
    """An item with its life up to now."""

    item: Item
    life: Life

    @property
    def test(self) -> RunTest:
        """What is run now: a test that was moved stands in another file."""
        return replace(self.item.test, file=self.life.file) if self.life.file else self.item.test

    @property
    def is_regression(self) -> bool:
        """Whether a failure now is one of something that worked."""
        return self.life.status in (Status.FIXED, Status.REGRESSED)


def item_id(spec: str, requirement: str, version: str, test: RunTest) -> str:
    """16 hex digits: one requirement in one version, and one test of it, are one item."""
    return digest_of("memory", spec, requirement, version, test.id, digits=DIGITS)


def born(item: Item, commit: str = "") -> Life:
    """The life of an item at its birth."""
    match item.born:
        case Birth.REPAIR:
            return Life(Status.FIXED, touched_at=item.first_seen, read_at=item.first_seen, green_on=commit)
        case Birth.REGRESSION:
            return Life(Status.REGRESSED, last_seen=item.first_seen, touched_at=item.first_seen)
        case Birth.COUNTEREXAMPLE:
            return Life(Status.OPEN, last_seen=item.first_seen, touched_at=item.first_seen)
        case Birth.PERSON:
            return Life(Status.OPEN, touched_at=item.first_seen)


def moved(life: Life, move: Move) -> Life:
    """The life after a move. What is over stays so, whatever is said of it."""
    if life.is_over or move.step is Step.BORN:
        return life
    touched_at = move.at if move.is_touched else life.touched_at
    now = replace(life, touched_at=touched_at, file=move.file or life.file)
    match move.step:
        case Step.FAILED:
            status = Status.OPEN if life.status is Status.OPEN else Status.REGRESSED
            return replace(
                now, status=status, watch=Watch.EVERY, greens=0, last_seen=move.at, read_at=move.at, is_lost=False,
                touched_at=move.at,
            )  # fmt: skip
        case Step.PASSED:
            greens = life.greens + 1
            return replace(
                now, status=Status.FIXED, greens=greens, read_at=move.at, green_on=move.commit or life.green_on,
                is_lost=False,
            )  # fmt: skip
        case Step.LOST:
            return replace(now, watch=Watch.TOUCH, is_lost=True, read_at=move.at)
        case Step.DEMOTED:
            return replace(now, watch=Watch.TOUCH)
        case Step.ACCEPTED:
            return replace(now, status=Status.ACCEPTED, watch=Watch.OVER)
        case Step.FORGOTTEN | Step.WITHDRAWN:
            return replace(now, watch=Watch.OVER)
        case _:  # not read: nothing is known
            return replace(life, read_at=move.at)


def life_of(item: Item, moves: Iterable[Move]) -> Life:
    """Where an item stands after everything that happened to it."""
    life = born(item)
    for move in moves:
        life = born(item, move.commit) if move.step is Step.BORN else moved(life, move)
    return life


@dataclass(frozen=True, slots=True)
class Limits:
    """`read`: items of one pre-reading, and `seconds` for all of them; `named`: in one brief. An item is run on touch
    alone after `green_readings` and `days` without a change of its files."""

    read: int = 50
    seconds: float = 60.0
    named: int = 20
    green_readings: int = 20
    days: int = 90


DEFAULT_LIMITS = Limits()


def is_worn(life: Life, limits: Limits, before: str) -> bool:
    """Whether the life of an item calls for its demotion. `before`: the time that is `limits.days` ago."""
    is_old = life.greens >= limits.green_readings and life.touched_at < before
    return is_old and life.watch is Watch.EVERY and life.status is Status.FIXED


@dataclass(frozen=True, slots=True)
class Picked:
    """Some of the items in the order in which they are used, and how many are left out since there are too many."""

    items: tuple[Remembered, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    """The ids of items, and how many more there are."""

    ids: tuple[str, ...] = ()
    left_out: int = 0


def to_read(items: Iterable[Remembered], changed: frozenset[str], most: int) -> Picked:
    """What a pre-reading runs: what failed last, then what the change touches, then the rest of every reading, those
    first that were read longest ago."""
    ranked = [(rank, each) for each in items if (rank := rank_to_read(each, changed)) is not None]
    ordered = sorted(ranked, key=lambda pair: (pair[0], pair[1].life.read_at, pair[1].item.id))
    return Picked(tuple(each for _, each in ordered[:most]), max(0, len(ordered) - most))


def rank_to_read(each: Remembered, changed: frozenset[str]) -> int | None:
    life, is_touched = each.life, each.item.is_touched_by(changed)
    if life.is_over or (life.watch is Watch.TOUCH and not is_touched):
        return None
    if life.fails:
        return 0
    return 1 if is_touched else 2


@dataclass(frozen=True, slots=True)
class Sketch:
    """As much of an item that holds now as a brief needs to know whether to name it."""

    id: str
    address: str
    files: frozenset[str]


def to_name(sketches: Iterable[Sketch], parts: frozenset[str], files: frozenset[str], most: int) -> Named:
    """What a brief names as what must stay green: of its own requirements first, then what its files overlap.

    `parts`: addresses of requirements. Always in the same order for the same items.
    """
    near = [
        (each.address not in parts, each.address, each.id)
        for each in sketches
        if each.address in parts or not files.isdisjoint(each.files)
    ]
    chosen = nsmallest(most, near)
    return Named(tuple(number for *_, number in chosen), max(0, len(near) - most))


@dataclass(frozen=True, slots=True)
class Reading:
    """A verdict that counted, as far as it makes items: the tests that it rests on, as our own judge ran them, and what
    was tried to see them fail. `word`: None where nothing was read in this version. `cause`: the name of the issue
    that a FAIL belongs to; `first_error`: as its signal has it. `rests_on`: what of the tree a PASS rests on."""

    word: Word | None = None
    tests: tuple[RunTest, ...] = ()
    trials: Trials | None = None
    how: str = ""
    evidence: str = ""
    cause: str = ""
    first_error: str = ""
    rests_on: Scope | None = None

    @property
    def measured(self) -> tuple[str, ...]:
        """The files that a PASS was seen to rest on; none where it rests on the whole tree, or on very many."""
        scope = self.rests_on
        return scope.files if scope is not None and not scope.whole and len(scope.files) <= MOST_FILES else ()

    @property
    def killers(self) -> tuple[Tried, ...]:
        """What was broken, and seen by a test."""
        return tuple(tried for tried in self.trials.tried if tried.effect == Effect.KILLED) if self.trials else ()


def birth_of(before: Reading, now: Reading) -> Birth | None:
    """Whether a verdict makes items, and of which birth."""
    if not now.tests:
        return None
    if now.word is Word.FAIL and before.word is Word.PASS:
        return Birth.REGRESSION
    if now.word is Word.FAIL and counterexample_in(now.evidence):
        return Birth.COUNTEREXAMPLE
    is_repair = now.word is Word.PASS and before.word is Word.FAIL and now.how == How.RED_WITHOUT
    return Birth.REPAIR if is_repair else None


def tests_born(birth: Birth, before: Reading, now: Reading) -> tuple[RunTest, ...]:
    """The tests that become items: those that failed; of a repair those first that had failed, and were seen to fail
    when the work was broken."""
    if birth is not Birth.REPAIR:
        return now.tests[:MOST_BORN_OF_ONE]
    failed, killed = {test.id for test in before.tests}, {tried.test for tried in now.killers}
    ranked = sorted(now.tests, key=lambda test: (test.id not in failed, test.id not in killed))
    return tuple(ranked[:MOST_BORN_OF_ONE])


def files_of(test: RunTest, readings: Iterable[Reading], changed: Iterable[str]) -> tuple[str, ...]:
    """The files whose change may break an item: its test's, those that its requirement was measured to rest on or had
    something broken in that its tests saw, and those that the work changed between the two verdicts that made it."""
    readings, landed = tuple(readings), tuple(changed)
    tried = [tried.file for reading in readings for tried in reading.killers]
    measured = [path for reading in readings for path in reading.measured]
    paths = (test.file, *tried, *measured, *(landed if len(landed) <= MOST_FILES else ()))
    return tuple(sorted({path for path in paths if path}))


_MARKS = regex(r"(?:Falsifying (?:explicit )?example|Counterexample|minimal failing input):\s*(.*)")
_EDGE = regex(r"^E? {0,3}")


def counterexample_in(text: str) -> str:
    """The minimal input that a property test found, as its tool prints it (Hypothesis, fast-check, proptest); empty
    where the text has none."""
    lines = [_EDGE.sub("", line) for line in text.splitlines()]
    for number, line in enumerate(lines):
        mark = _MARKS.search(line)
        if mark is not None:
            return whole_call(mark[1], lines[number + 1 : number + MOST_INPUT_LINES])[:LONGEST_INPUT]
    return ""


def whole_call(first: str, rest: Sequence[str]) -> str:
    """A call that goes over several lines, up to the line that only closes it."""
    if not first.rstrip().endswith("("):
        return first.strip()
    lines = [line.strip() for line in rest]
    closed = lines.index(")") + 1 if ")" in lines else len(lines)
    return " ".join([first.strip(), *lines[:closed]])


def roots(items: Sequence[Remembered]) -> Mapping[str, tuple[Remembered, ...]]:
    """Items of one cause under the oldest of them: by its id, all of them in their order."""
    groups: dict[str, tuple[Remembered, ...]] = {}
    known = {each.item.id for each in items}
    for each in items:
        root = each.item.joins if each.item.joins in known else each.item.id
        groups[root] = (*groups.get(root, ()), each)
    return groups


class Ending(StrEnum):
    """What came of one item; words of `core.memory.Step`."""

    PASSED = "passed"
    FAILED = "failed"
    UNREAD = "not read"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class ReadItem:
    """One item, read. `file`: where its test was found, if that is not the file that it stood in."""

    id: str
    ending: Ending
    is_touched: bool = False
    file: str = ""
    note: str = ""
