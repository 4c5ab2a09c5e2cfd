"""Formulas about the order of events, and what a recorded trace says of them: TRUE, FALSE, or UNKNOWN.

A trace that was cut says only what no continuation could change. Where events come from is not here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import assert_never

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

LONGEST_FORMULA = 2000
DEEPEST = 40


class Truth(StrEnum):
    """Three values, as Kleene has them: UNKNOWN is neither, and nothing is concluded from it."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"


T, F, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN
FLIPPED = {T: F, F: T, U: U}


class EventKind(StrEnum):
    """What a session records of its agent: that it asked for a tool, and how that ended."""

    CALL = "call"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One event. `tool` is the tool's short name; `edits` the files that the call changes, None where it changes files
    that nobody can name; `command` the command line that it runs, None where it runs one that nobody can name.
    """

    kind: EventKind
    tool: str
    edits: tuple[str, ...] | None = ()
    command: str | None = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """The events of one session, in order. `is_whole`: nothing is missing at its end."""

    events: tuple[TraceEvent, ...]
    is_whole: bool = True


class AtomKind(StrEnum):
    """What an atom asks of one event."""

    CALL = "call"
    DONE = "done"
    FAILED = "failed"
    EDIT = "edit"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Constant:
    truth: Truth


@dataclass(frozen=True, slots=True)
class Atom:
    """Whether an event is of that kind, about something that fits `pattern` (`*` and `?` as in file names)."""

    kind: AtomKind
    pattern: str


@dataclass(frozen=True, slots=True)
class Not:
    inner: Formula


@dataclass(frozen=True, slots=True)
class And:
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Or:
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Always:
    inner: Formula


@dataclass(frozen=True, slots=True)
class Eventually:
    inner: Formula


@dataclass(frozen=True, slots=True)
class Next:
    """There is a next event, and it holds there."""

    inner: Formula


@dataclass(frozen=True, slots=True)
class Until:
    """`right` holds some time from here on, and `left` at every event before."""

    left: Formula
    right: Formula


Formula = Constant | Atom | Not | And | Or | Always | Eventually | Next | Until


class FormulaError(ValueError):
    """A formula that cannot be read. `position` counts characters from 1."""

    def __init__(self, what: str, position: int) -> None:
        super().__init__(f"{what}, at character {position}")
        self.position = position


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a formula and where it stands."""

    kind: str
    text: str
    position: int


_WORDS = regex(
    r"""\s*(?:(?P<arrow>->)|(?P<sign>[(),!&|])|(?P<string>"(?:[^"\\]|\\.)*")|(?P<name>[A-Za-z_]+)|(?P<odd>\S))"""
)


def words(text: str) -> Iterator[Word]:
    """Raises FormulaError for what is no word of the language."""
    place = 0
    while match := _WORDS.match(text, place):
        kind = str(match.lastgroup)
        position = match.start(kind) + 1
        if kind == "odd":
            raise FormulaError(f"{match[kind]!r} has no meaning here", position)
        yield Word(kind, match[kind], position)
        place = match.end()
    yield Word("end", "", len(text) + 1)


def parse(text: str) -> Formula:
    """Read `always(edit("tests/*") -> eventually(call("run_unit_tests")))`. Raises FormulaError with its position."""
    if len(text) > LONGEST_FORMULA:
        raise FormulaError(f"a formula has at most {LONGEST_FORMULA} characters", LONGEST_FORMULA)
    reader = Reader(list(words(text)))
    formula = reader.implication()
    reader.expect("end")
    return formula


@dataclass(slots=True)
class Reader:
    """Reads words by precedence: `->` binds least, then `until`, `or`, `and`, `not`."""

    words: list[Word]
    at: int = 0
    depth: int = 0

    @property
    def here(self) -> Word:
        return self.words[self.at]

    def take(self, *texts: str) -> bool:
        """Whether one of these words stands here; it is passed over then."""
        is_there = self.here.text in texts
        self.at += is_there
        return is_there

    def expect(self, kind: str, text: str = "") -> Word:
        word = self.here
        if word.kind != kind or (text and word.text != text):
            wanted = {"end": "the end", "string": 'a pattern in quotes, such as "tests/*"'}.get(kind, f"{text!r}")
            raise FormulaError(f"{word.text or 'the end'!r} where {wanted} should stand", word.position)
        self.at += 1
        return word

    def implication(self) -> Formula:
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormulaError(f"brackets nest more than {DEEPEST} deep", self.here.position)
        left = self.until()
        formula = Or(Not(left), self.implication()) if self.take("->") else left
        self.depth -= 1
        return formula

    def until(self) -> Formula:
        left = self.either()
        return Until(left, self.either()) if self.take("until") else left

    def either(self) -> Formula:
        formula = self.both()
        while self.take("or", "|"):
            formula = Or(formula, self.both())
        return formula

    def both(self) -> Formula:
        formula = self.single()
        while self.take("and", "&"):
            formula = And(formula, self.single())
        return formula

    def single(self) -> Formula:
        flips = False
        while self.take("not", "!"):
            flips = not flips
        formula = self.unit()
        return Not(formula) if flips else formula

    def unit(self) -> Formula:
        if self.take("("):
            formula = self.implication()
            self.expect("sign", ")")
            return formula
        word = self.here
        if word.kind != "name" or word.text not in READ:
            known = ", ".join(READ)
            raise FormulaError(f"{word.text or 'the end'!r} where one of {known} should stand", word.position)
        self.at += 1
        return READ[word.text](self, word)

    def inside(self, count: int) -> list[Formula]:
        """The formulas between brackets."""
        self.expect("sign", "(")
        formulas = [self.implication()]
        while self.take(","):
            formulas.append(self.implication())
        closing = self.expect("sign", ")")
        if len(formulas) != count:
            raise FormulaError(f"{len(formulas)} formulas in brackets where {count} should stand", closing.position)
        return formulas

    def pattern(self) -> str:
        self.expect("sign", "(")
        word = self.expect("string")
        self.expect("sign", ")")
        return re.sub(r"\\(.)", r"\1", word.text[1:-1])


def _of_one(make: Callable[[Formula], Formula]) -> Callable[[Reader, Word], Formula]:
    return lambda reader, _: make(reader.inside(1)[0])


def _of_two(make: Callable[[Formula, Formula], Formula]) -> Callable[[Reader, Word], Formula]:
    return lambda reader, _: make(*reader.inside(2))


def never(inner: Formula) -> Formula:
    return Always(Not(inner))


def precedes(first: Formula, second: Formula) -> Formula:
    """Nothing of the `second` before something of the `first`; also where neither ever comes."""
    return Or(Until(Not(second), first), never(second))


READ: dict[str, Callable[[Reader, Word], Formula]] = {
    "true": lambda _reader, _word: Constant(T),
    "false": lambda _reader, _word: Constant(F),
    "always": _of_one(Always),
    "eventually": _of_one(Eventually),
    "never": _of_one(never),
    "next": _of_one(Next),
    "until": _of_two(Until),
    "precedes": _of_two(precedes),
    **{kind.value: lambda reader, word: Atom(AtomKind(word.text), reader.pattern()) for kind in AtomKind},
}
"""What can begin a formula."""


def check(formula: Formula, trace: Trace) -> Truth:
    """What the trace says of the formula at its first event. A trace without any event says nothing."""
    return values(formula, trace)[0] if trace.events else U


def values(formula: Formula, trace: Trace) -> list[Truth]:
    """What holds at each event, in time proportional to formula and trace; behind the last: what holds at the end."""
    match formula:
        case Constant(truth):
            return [truth] * len(trace.events)
        case Atom():
            return [asked(formula, event) for event in trace.events]
        case Not(inner):
            return [FLIPPED[value] for value in values(inner, trace)]
        case And(left, right):
            return list(map(both, values(left, trace), values(right, trace)))
        case Or(left, right):
            return list(map(either, values(left, trace), values(right, trace)))
        case Always(inner):
            return backwards(values(inner, trace), both, T if trace.is_whole else U)
        case Eventually(inner):
            return backwards(values(inner, trace), either, F if trace.is_whole else U)
        case Next(inner):
            return [*values(inner, trace)[1:], F if trace.is_whole else U]
        case Until(left, right):
            return until(values(left, trace), values(right, trace), F if trace.is_whole else U)
        case _:
            assert_never(formula)


def asked(atom: Atom, event: TraceEvent) -> Truth:
    """What one event says of an atom; UNKNOWN where it may be about it and nobody can tell."""
    match atom.kind:
        case AtomKind.CALL | AtomKind.DONE | AtomKind.FAILED:
            return F if event.kind != atom.kind.value else truth_of(fnmatchcase(event.tool, atom.pattern))
        case AtomKind.EDIT if event.kind is EventKind.CALL:
            return U if event.edits is None else truth_of(any(fnmatchcase(path, atom.pattern) for path in event.edits))
        case AtomKind.RUN if event.kind is EventKind.CALL:
            return U if event.command is None else truth_of(fnmatchcase(event.command, atom.pattern))
        case _:
            return F


def truth_of(holds: bool) -> Truth:
    return T if holds else F


def both(a: Truth, b: Truth) -> Truth:
    if F in (a, b):
        return F
    return T if a is b is T else U


def either(a: Truth, b: Truth) -> Truth:
    return FLIPPED[both(FLIPPED[a], FLIPPED[b])]


def backwards(inner: Sequence[Truth], join: Callable[[Truth, Truth], Truth], last: Truth) -> list[Truth]:
    values: list[Truth] = []
    for value in reversed(inner):
        last = join(value, last)
        values.append(last)
    return values[::-1]


def until(left: Sequence[Truth], right: Sequence[Truth], last: Truth) -> list[Truth]:
    values: list[Truth] = []
    for place in reversed(range(len(left))):
        last = either(right[place], both(left[place], last))
        values.append(last)
    return values[::-1]


def witness(formula: Formula, trace: Trace) -> int | None:
    """The number (from 0) of the event that shows why the formula is FALSE; None where no single one does."""
    match formula:
        case Always(inner):
            return next((place for place, value in enumerate(values(inner, trace)) if value is F), None)
        case And(left, right):
            broken = left if check(left, trace) is F else right
            return witness(broken, trace)
    return None
