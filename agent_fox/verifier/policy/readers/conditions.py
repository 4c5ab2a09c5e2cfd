"""What a condition that is asserted demands, by its tokens: `a == b`, `not a`, `isinstance(a, int)`, `a and b`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import pairwise

from agent_fox.verifier.policy.expressions import Tokens, bare, is_literal, number_of, outer_call, outside, split
from agent_fox.verifier.policy.reading import Assertion, Strength
from agent_fox.verifier.policy.tables import demands, words_of

_AND, _OR = frozenset({"and", "&&"}), frozenset({"or", "||"})
_TRUTHS = {"True": True, "False": False}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "equal": "equal", "same": "same"}
_ORDERS = frozenset({"==", "<", ">", "<=", ">="})


def constant_of(condition: Tokens) -> bool | None:
    """Whether a condition is settled by its text: `False`, `0`, `not True`, `TYPE_CHECKING`."""
    if condition[:1] in (("not",), ("!",)):
        inner = constant_of(condition[1:])
        return None if inner is None else not inner
    if condition[-1:] == ("TYPE_CHECKING",) or any(constant_of(part) is False for part in split(condition, _AND)[1:]):
        return False
    if len(condition) != 1 or not is_literal(condition):
        return None
    return condition[0] not in words_of("any", "false")


def is_part(listed: Tokens) -> bool:
    """Whether only a part of something is gone through: `items[:1]`, `items.slice(0, 1)`."""
    name, _ = outer_call(listed) or ("", [])
    return name in words_of("any", "parts") or (listed[-1:] == ("]",) and listed[0] != "[" and ":" in listed)


class Conditions:
    """The conditions of one assertion, which stands in this line."""

    def __init__(self, language: str, line: int) -> None:
        self.language = language
        self.line = line

    def demand(
        self, subject: Tokens, operator: str, strength: Strength, expected: Tokens = (), tolerance: float | None = None
    ) -> Assertion:
        return Assertion(subject, operator, strength, self.line, expected, tolerance=tolerance).settled()

    def holds(self, condition: Tokens) -> Iterator[Assertion]:
        """The demands of a condition: a conjunction is several. One that chooses, or makes, what it gives is loose."""
        condition = bare(condition)
        at_top = {token for _, token in outside(condition)}
        if not at_top.isdisjoint(words_of("any", "choosing")) or {"?", ":"} <= at_top:
            is_void = not {"lambda", "for"}.isdisjoint(condition)
            yield self.demand(condition, "truthy", Strength.NONE if is_void else Strength.LOOSE)
        elif not at_top.isdisjoint(_OR):
            strengths = (each.strength for choice in split(condition, _OR) for each in self.holds(choice))
            least = reduce(min, strengths, Strength.PARTIAL)
            yield Assertion(condition, "one of", least, self.line)
        elif not at_top.isdisjoint(_AND):
            for part in split(condition, _AND):
                yield from self.holds(part)
        elif condition[:1] == ("not",):
            yield self.fails(condition[1:])
        else:
            yield from self._compared(condition) or [self._simple(condition)]

    def fails(self, condition: Tokens) -> Assertion:
        return self.demand(bare(condition), "falsy", Strength.PARTIAL)

    def _compared(self, condition: Tokens) -> list[Assertion]:
        """A demand for each sign of a comparison. In some languages one within a call counts too, where it is alone."""
        signs = list(_signs(condition))
        if not signs and words_of(self.language, "deep") and (_AND | _OR).isdisjoint(condition):
            deep = list(_signs(condition, is_deep=True))
            signs = [sign for sign in deep if sign[2][0] in ("equal", "not equal")]
            signs = signs if len(signs) == 1 else [sign for sign in deep if sign[2][0][0] in "<>"][:1]
        starts, ends = [0, *(at + width for at, width, _ in signs)], [*(at for at, _, _ in signs), len(condition)]
        sides = [condition[start:end] for start, end in zip(starts, ends, strict=True)]
        of_signs = zip(pairwise(sides), signs, strict=True)
        return [each for (left, right), (_, _, of) in of_signs for each in self.compared(left, *of, right)]

    def compared(self, left: Tokens, operator: str, strength: Strength, right: Tokens) -> Iterator[Assertion]:
        left, right = bare(left), bare(right)
        left = left[3:] if left[1:3] == (":", "=") else left
        if len(left) == 1 and is_literal(left) and not (len(right) == 1 and is_literal(right)) and operator in _TURNED:
            left, right, operator = right, left, _TURNED[operator]
        is_negated = operator.startswith("not")
        is_equality = operator.removeprefix("not ") in ("equal", "same")
        near = next((side for side in (right, left) if (call := outer_call(side)) and call[0] == "approx"), None)
        if is_equality and len(right) == 1 and right[0] in words_of("any", "none"):
            yield self.demand(left, *(("is something", Strength.LOOSE) if is_negated else ("is none", Strength.EXACT)))
        elif is_equality and self.language == "python" and len(right) == 1 and right[0] in _TRUTHS:
            yield from self.holds(left) if _TRUTHS[right[0]] is not is_negated else [self.fails(left)]
        elif near is not None:
            expected, *others = outer_call(near)[1]  # type: ignore[index]
            yield self.close(left if near is right else right, expected, others, ("rel", "abs"))
        else:
            yield self.demand(left, operator, strength, right)

    def close(self, subject: Tokens, expected: Tokens, others: list[Tokens], places: tuple[str, ...] = ()) -> Assertion:
        """As near as named arguments say, or those at `places`."""
        in_order = [each for each in others if each[1:2] != ("=",)]
        given = dict(zip(places, map(number_of, in_order), strict=False))
        given |= {each[0]: number_of(each[2:]) for each in others if each[1:2] == ("=",)}
        absolute = next((given[word] for word in ("abs", "abs_tol", "atol") if word in given), None)
        relative = next((given[word] for word in ("rel", "rel_tol", "rtol") if word in given), None)
        if relative is not None:
            absolute = max(absolute or 0.0, relative * abs(number_of(expected) or 1.0))
        return self.demand(subject, "close", Strength.EXACT, expected, absolute)

    def _simple(self, condition: Tokens) -> Assertion:
        name, given = outer_call(condition) or ("", [])
        if len(condition) == 1 and constant_of(condition) is False:
            return Assertion(condition, "fails", Strength.EXACT, self.line)
        if name == "matches" and self.language == "rust" and len(given) == 2:
            is_open = not words_of("rust", "open").isdisjoint(given[1])
            return self.demand(given[0], "equal", Strength.PARTIAL if is_open else Strength.EXACT, given[1])
        if name == "isinstance" and len(given) == 2:
            return self.demand(given[0], "isinstance", Strength.PARTIAL, given[1])
        if name in ("isclose", "allclose") and len(given) > 1:
            return self.close(given[0], given[1], given[2:])
        if condition[:1] == ("!",):
            return self.fails(condition[1:])
        is_telling = name in words_of(self.language, "predicates") or (self.language == "cpp" and "," in condition)
        is_tuple = condition[:1] == ("(",) and not name and "," in {token for _, token in outside(condition[1:-1])}
        strength = Strength.EXACT if name == "equals" else Strength.PARTIAL if is_telling else Strength.LOOSE
        return self.demand(condition, "truthy", Strength.NONE if is_tuple else strength)

    def failing(self, start: Tokens, condition: Tokens) -> Assertion:
        """A condition under which a test fails, as what it demands: `got != 25` demands that got equals 25."""
        signs = [sign for sign in _signs(condition, is_deep=True) if sign[2][0] == "not equal"]
        if constant_of(condition) is False:
            return Assertion(condition, "holds", Strength.NONE, self.line)
        name, given = outer_call(condition[1:]) or ("", [])
        if condition[:1] == ("!",) and name in ("DeepEqual", "Equal") and len(given) == 2:
            return self.demand((*start, *given[0]), "equal", Strength.EXACT, given[1])
        if len(signs) == 1 and (_AND | _OR).isdisjoint(condition):
            at = signs[0][0]
            return self.demand((*start, *condition[:at]), "equal", Strength.EXACT, condition[at + 1 :])
        strength = Strength.EXACT if "DeepEqual" in condition or "Is" in condition else Strength.PARTIAL
        strength = Strength.LOOSE if condition[-2:] == ("==", "nil") else strength
        subject = tuple(token for token in (*start, *condition) if token not in _ORDERS)
        operator = next((token for token in condition if token in _ORDERS), "holds")
        return Assertion(subject, f"not {operator}", strength, self.line)


def _signs(condition: Tokens, *, is_deep: bool = False) -> Iterator[tuple[int, int, tuple[str, Strength]]]:
    """The signs of comparison, by their place: how many tokens they are, what they demand."""
    known, taken, generic = demands("any", "comparisons"), -1, 0
    for place, token in enumerate(condition) if is_deep else outside(condition):
        if token in ("<", ">") and (generic or condition[max(place - 1, 0)] == "::"):  # `Ring::<u8>::new()`
            generic += 1 if token == "<" else -1
            continue
        pair = f"{token}_{condition[place + 1]}" if token in ("is", "not") and place + 1 < len(condition) else ""
        sign = pair if pair in known else token
        if sign in known and place > taken:
            taken = place + sign.count("_")
            yield place, taken - place + 1, known[sign]
