"""What a source file says about tests, in the same words for every language. How it is read is the readers' affair."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum

from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.expressions import Tokens, is_literal, substituted


class Strength(IntEnum):
    """How much an assertion demands."""

    NONE = 0  # holds whatever the code does
    LOOSE = 1  # something came
    PARTIAL = 2  # a bound, a part, a type
    EXACT = 3


@dataclass(frozen=True, slots=True)
class Assertion:
    """One demand: that `subject` stands in `operator` to `expected`.

    tolerance: absolute, where one is stated as a number. detail: a message that an error must have, for one.
    guard: conditions under which it is looked at all. written: the subject before local names were put in.
    line: where the test demands it, and origin: where a helper of the same file that it calls is written to do so.
    """

    subject: Tokens
    operator: str
    strength: Strength
    line: int
    expected: Tokens = ()
    detail: Tokens = ()
    tolerance: float | None = None
    guard: Tokens = ()
    text: str = ""
    written: Tokens = ()
    origin: int | None = None

    @property
    def place(self) -> int:
        return self.origin or self.line

    @property
    def key(self) -> tuple[Tokens, str, Tokens, Tokens, float | None, Tokens, Strength]:
        return (self.subject, self.operator, self.expected, self.detail, self.tolerance, self.guard, self.strength)


def settled(found: Assertion) -> Assertion:
    """The assertion with its true strength: a name compared with itself, and literals alone, demand nothing.

    A call that is compared with the same call still shows that it repeats itself.
    """
    if found.operator in ("equal", "same", "close") and found.subject == found.expected:
        return replace(found, strength=Strength.LOOSE if "(" in found.subject else Strength.NONE)
    return of_literals(found)


def of_literals(found: Assertion) -> Assertion:
    """The assertion with strength NONE where no code takes part in it."""
    is_fixed = is_literal(found.subject) and (is_literal(found.expected) or not found.expected)
    return replace(found, strength=Strength.NONE) if is_fixed else found


@dataclass(frozen=True, slots=True)
class Bind:
    """A name gets a value, once."""

    name: str
    value: Tokens


@dataclass(frozen=True, slots=True)
class Check:
    assertion: Assertion


@dataclass(frozen=True, slots=True)
class Use:
    """A function is called as a statement: one that asserts may be behind it.

    otherwise: what its name says that it asserts, for where it can't be looked into.
    """

    function: str
    arguments: tuple[Tokens, ...]
    line: int
    guard: Tokens = ()
    otherwise: Assertion | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """Steps that are gone through once for each row, with these names bound: a loop over literals, parameters."""

    names: tuple[str, ...]
    rows: tuple[tuple[Tokens, ...], ...]
    steps: tuple[Step, ...]


Step = Bind | Check | Use | Rows


@dataclass(frozen=True, slots=True)
class Skip:
    """Why a test does not run, or runs without counting. `is_conditional`: only on some machines."""

    text: str
    line: int
    is_conditional: bool = False


@dataclass(frozen=True, slots=True)
class Patch:
    """Something is replaced by a stand-in: the last name of it, and where it is from.

    module: the module replaced, or the one that the name is in. names: what is replaced; empty: all of the module.
    """

    module: str
    names: tuple[str, ...]
    line: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A test, or a function beside tests. `name` holds the names around it, with `::` between.

    shape: the body as tokens without layout and comments, joined, for telling a renamed test. said: docstring and
    comments. is_hook: runs before tests, or stands for one of their arguments; is_for_all: without being asked for.
    """

    name: str
    line: int
    is_test: bool
    parameters: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    skips: tuple[Skip, ...] = ()
    patches: tuple[Patch, ...] = ()
    is_focused: bool = False
    shape: str = ""
    said: str = ""
    is_hook: bool = False
    is_for_all: bool = False

    @property
    def leaf(self) -> str:
        return self.name.rpartition("::")[2]


@dataclass(frozen=True, slots=True)
class Reading:
    """One file. imports: local name to module. patches: those outside of any test. defined: names it offers."""

    functions: tuple[Function, ...] = ()
    imports: tuple[tuple[str, str], ...] = ()
    patches: tuple[Patch, ...] = ()
    defined: frozenset[str] = frozenset()

    @property
    def tests(self) -> tuple[Function, ...]:
        return tuple(function for function in self.functions if function.is_test)


class Unreadable(ValueError):
    """A file that can't be parsed; the message says why, without what it holds."""


class Broken(Unreadable):
    """A text that is not of its language: whoever wrote it can mend it. `line`: where, from 1, if that is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def put(found: Assertion, values: dict[str, Tokens]) -> Assertion:
    """The assertion with names replaced by their values.

    What comes to one plain value on both sides looks at no code. A list that a name stood for may have been filled.
    """
    subject, expected = substituted(found.subject, values), substituted(found.expected, values)
    is_plain = found.operator in ("equal", "same", "close") and subject == expected and is_literal(subject)
    is_filled = subject[:1] in (("[",), ("{",)) and subject != found.subject
    return replace(
        found,
        subject=subject,
        expected=expected,
        detail=substituted(found.detail, values),
        guard=substituted(found.guard, values),
        strength=Strength.NONE if is_plain and not is_filled else found.strength,
        written=found.written or found.subject,
    )
