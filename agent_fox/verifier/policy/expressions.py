"""Source expressions as tokens, the same for every language: comparing, substituting, telling literals. No grammar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from zlib import crc32

from agent_fox.core.regex import regex

Tokens = tuple[str, ...]

LONGEST_EXPRESSION = 400  # tokens; what is longer is compared by its beginning and its checksum

_TOKEN = regex(
    r"""[rbfuRBFU]{0,2}(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
    r"""|\d[\w.]*|[^\W\d]\w*[!?]?(?=\()|[^\W\d]\w*|===|!==|==|!=|<=|>=|&&|\|\||=>|->|::|\.\.\.|[^\s\w]""",
    re.DOTALL,
)
_QUOTED = regex(r"^([rbfuRBFU]{0,2})'([^\"\\]*)'$")
_CONSTANTS = frozenset({"True", "False", "None", "true", "false", "null", "undefined", "nil", "NaN"})
_COMMON = _CONSTANTS | {
    *("len", "list", "dict", "set", "tuple", "str", "int", "float", "bool", "sorted", "sum", "any", "all", "next"),
    *("iter", "range", "zip", "map", "isinstance", "await", "async", "for", "not", "and", "new", "const", "let"),
    *("function", "self", "this", "length", "name", "size", "value", "get", "toString", "expect", "assert", "return"),
    *("lambda", "else"),
}
_NAME = regex(r"^[^\W\d]\w*$")
_OPENING, _CLOSING, _COMMA = frozenset("([{"), frozenset(")]}"), frozenset({","})


def tokens_of(text: str) -> Tokens:
    """Split source text. Quotes become double ones, commas before a closing bracket and outer brackets go."""
    tokens = [_QUOTED.sub(r'\1"\2"', token) if "'" in token else token for token in _TOKEN.findall(text)]
    if "," in tokens:
        pairs = pairwise((*tokens, ""))
        tokens = [token for token, after in pairs if token != "," or after not in ")]}"]
    return _shortened(_unwrapped(tuple(tokens)))


def _unwrapped(tokens: Tokens) -> Tokens:
    while len(tokens) > 2 and tokens[0] == "(" and "," not in tokens:
        if [place for place, _ in outside(tokens)] != [0, len(tokens) - 1]:
            break
        tokens = tokens[1:-1]
    return tokens


def bare(tokens: Tokens) -> Tokens:
    """An expression without brackets around all of it."""
    return tokens_of(" ".join(tokens)) if tokens[:1] == ("(",) and tokens[-1:] == (")",) else tokens


def _shortened(tokens: Tokens) -> Tokens:
    if len(tokens) <= LONGEST_EXPRESSION:
        return tokens
    checksum = crc32(" ".join(tokens).encode())
    return (*tokens[:LONGEST_EXPRESSION], f"…{checksum:x}")


def substituted(tokens: Tokens, values: Mapping[str, Tokens]) -> Tokens:
    """Put values in the place of names; an attribute (`.name`) or a keyword (`name=`) is no use of the name."""
    if not values or values.keys().isdisjoint(tokens):
        return tokens
    made: list[str] = []
    for place, token in enumerate(tokens):
        value = values.get(token)
        is_part = place > 0 and tokens[place - 1] in (".", "::")
        is_keyword = place + 1 < len(tokens) and tokens[place + 1] == "=" and place > 0
        made.extend((token,) if value is None or is_part or is_keyword else value)
    return _shortened(tuple(made))


def is_literal(tokens: Tokens) -> bool:
    """Whether an expression names nothing: numbers, strings, constants, and lists of them."""
    return bool(tokens) and not any(_NAME.match(token) and token not in _CONSTANTS for token in tokens)


def names_of(tokens: Tokens) -> frozenset[str]:
    """The names that an expression uses, those of the language left out."""
    return frozenset(token for token in tokens if _NAME.match(token) and len(token) > 2) - _COMMON


def called_names(tokens: Tokens) -> frozenset[str]:
    """The names that an expression calls, those of the language left out."""
    return frozenset(name for name, after in pairwise(tokens) if after == "(" and _NAME.match(name)) - _COMMON


def without_self(tokens: Tokens) -> Tokens:
    """`self.cart.total` and `this.cart.total` as `cart.total`: where a test keeps its things says nothing."""
    if "self" not in tokens and "this" not in tokens:
        return tokens
    places = {at for at in range(len(tokens) - 1) if tokens[at] in ("self", "this") and tokens[at + 1] == "."}
    return tuple(token for at, token in enumerate(tokens) if at not in places and at - 1 not in places)


def number_of(tokens: Tokens) -> float | None:
    digits = "".join(tokens).replace("_", "")
    match = re.fullmatch(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)[a-zA-Z]?\d*", digits)
    return float(match[1]) if match else None


def contains(whole: Tokens, part: Tokens) -> bool:
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def outside(tokens: Tokens) -> Iterator[tuple[int, str]]:
    """Tokens, by their place, that stand within no brackets, with the outermost brackets."""
    depth = 0
    for place, token in enumerate(tokens):
        depth -= token in _CLOSING
        if depth == 0:
            yield place, token
        depth += token in _OPENING


def split(tokens: Tokens, words: frozenset[str]) -> list[Tokens]:
    """The parts between these words at the outermost level."""
    places = [place for place, token in outside(tokens) if token in words] if not words.isdisjoint(tokens) else []
    starts, ends = [0, *(at + 1 for at in places)], [*places, len(tokens)]
    return [tokens[start:end] for start, end in zip(starts, ends, strict=True)]


def split_arguments(tokens: Tokens) -> tuple[Tokens, ...]:
    return tuple(part for part in split(tokens, _COMMA) if part)


def outer_call(tokens: Tokens) -> tuple[str, list[Tokens]] | None:
    """The name and the arguments of the call that an expression is: `f` and `a`, `b` of `x.f(a, b)`."""
    places = [place for place, _ in outside(tokens)][-2:] if tokens[-1:] == (")",) else []
    if len(places) < 2 or places[0] == 0:
        return None
    place = places[0]
    name = tokens[place - 2] if tokens[place - 1] == "!" and place > 1 else tokens[place - 1].rstrip("!")
    return (name, list(split_arguments(tokens[place + 1 : -1]))) if name[:1].isalpha() or name[:1] == "_" else None


def flat(parts: Iterable[Tokens]) -> Tokens:
    return tuple(token for part in parts for token in part)
