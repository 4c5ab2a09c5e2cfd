"""What a source file says about tests, in the same words for every language. How it is read is the readers' affair."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import NamedTuple

from agent_fox.verifier.policy.expressions import Tokens, is_literal, substituted


class Strength(IntEnum):
    """How much an assertion demands."""

    NONE = 0  # holds whatever the code does
    LOOSE = 1  # something came
    PARTIAL = 2  # a bound, a part, a type
    EXACT = 3


class Assertion(NamedTuple):
    """One demand: that `subject` stands in `operator` to `expected`. tolerance: absolute, where one is stated as a
    number. detail: a message that an error must have, for one. guard: conditions under which it is looked at. written:
    the subject before local names were put in. line: where the test demands it; origin: where a helper that it calls is
    written to.
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

    @property
    def is_equality(self) -> bool:
        return self.operator in ("equal", "same", "close")

    def settled(self) -> Assertion:
        """With its true strength: literals alone, and a name compared with itself, demand nothing; a call little."""
        is_same = self.is_equality and self.subject == self.expected
        is_fixed = is_literal(self.subject) and (is_literal(self.expected) or not self.expected)
        if is_same and "(" in self.subject:
            return self._replace(strength=Strength.LOOSE)
        return self._replace(strength=Strength.NONE) if is_same or is_fixed else self

    def put(self, values: Mapping[str, Tokens]) -> Assertion:
        """With names replaced by their values. One plain value on both sides looks at no code; a list that a name stood
        for may have been filled.
        """
        subject, expected = substituted(self.subject, values), substituted(self.expected, values)
        is_plain = self.is_equality and subject == expected and is_literal(subject)
        is_filled = subject[:1] in (("[",), ("{",)) and subject != self.subject
        return self._replace(
            subject=subject,
            expected=expected,
            detail=substituted(self.detail, values),
            guard=substituted(self.guard, values),
            strength=Strength.NONE if is_plain and not is_filled else self.strength,
            written=self.written or self.subject,
        )


class Bind(NamedTuple):
    """A name gets a value, once."""

    name: str
    value: Tokens


class Use(NamedTuple):
    """A function is called as a statement. otherwise: what its name says it asserts, where it can't be looked into."""

    function: str
    arguments: tuple[Tokens, ...]
    line: int
    guard: Tokens = ()
    otherwise: Assertion | None = None


class Rows(NamedTuple):
    """Steps that are gone through once for each row, with these names bound: a loop over literals, parameters."""

    names: tuple[str, ...]
    rows: tuple[tuple[Tokens, ...], ...]
    steps: tuple[Step, ...] = ()


Step = Bind | Assertion | Use | Rows


class Skip(NamedTuple):
    """Why a test does not run, or runs without counting. `is_conditional`: only on some machines."""

    text: str
    line: int
    is_conditional: bool = False


class Patch(NamedTuple):
    """Something is replaced by a stand-in. module: the one replaced, or that the name is in. names: what is replaced;
    empty: all of the module.
    """

    module: str
    names: tuple[str, ...]
    line: int
    text: str = ""


class Function(NamedTuple):
    """A test, or a function beside tests. `name` holds the names around it, with `::` between. shape: gives the body as
    tokens without layout and comments, for telling a renamed test. said: docstring and comments. is_hook: runs before
    tests, or stands for one of their arguments; is_for_all: without being asked for.
    """

    name: str
    line: int
    is_test: bool
    parameters: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    skips: tuple[Skip, ...] = ()
    patches: tuple[Patch, ...] = ()
    is_focused: bool = False
    shape: Callable[[], str] = str
    said: str = ""
    is_hook: bool = False
    is_for_all: bool = False

    @property
    def leaf(self) -> str:
        return self.name.rpartition("::")[2]


class Reading(NamedTuple):
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
