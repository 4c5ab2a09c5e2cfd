"""Source expressions as tokens, the same for every language: comparing, substituting, telling literals. No grammar."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
_STRING = regex(r"^[rbfuRBFU]{0,2}[\"'`]")
_NUMBER = regex(r"^\d[\w.]*$")
_CONSTANTS = frozenset({"True", "False", "None", "true", "false", "null", "undefined", "nil", "NaN"})
_COMMON = _CONSTANTS | {
    *("len", "list", "dict", "set", "tuple", "str", "int", "float", "bool", "sorted", "sum", "any", "all", "next"),
    *("iter", "range", "zip", "map", "isinstance", "await", "async", "for", "not", "and", "new", "const", "let"),
    *("function", "self", "this", "length", "name", "size", "value", "get", "toString", "expect", "assert", "return"),
    *("lambda", "else"),
}
_NAME = regex(r"^[^\W\d]\w*$")


def tokens_of(text: str) -> Tokens:
    """Split source text. Quotes become double ones, commas before a closing bracket and outer brackets go."""
    tokens = [_normal(token) if "'" in token else token for token in _TOKEN.findall(text)]
    if "," in tokens:
        pairs = pairwise((*tokens, ""))
        tokens = [token for token, after in pairs if token != "," or after not in ")]}"]
    return _shortened(_unwrapped(tuple(tokens)))


def joined(tokens: Sequence[str]) -> str:
    return " ".join(tokens)


def _normal(token: str) -> str:
    if not _STRING.match(token) or "\\" in token or '"' in token[1:-1]:
        return token
    return re.sub(r"^([rbfuRBFU]{0,2})'(.*)'$", r'\1"\2"', token, flags=re.DOTALL)


def _unwrapped(tokens: Tokens) -> Tokens:
    while len(tokens) > 2 and tokens[0] == "(" and _closes_at(tokens, 0) == len(tokens) - 1 and "," not in tokens:
        tokens = tokens[1:-1]
    return tokens


def _closes_at(tokens: Tokens, start: int) -> int:
    depth = 0
    for place in range(start, len(tokens)):
        depth += tokens[place] in ("(", "[", "{")
        depth -= tokens[place] in (")", "]", "}")
        if depth == 0:
            return place
    return len(tokens)


def _shortened(tokens: Tokens) -> Tokens:
    if len(tokens) <= LONGEST_EXPRESSION:
        return tokens
    return (*tokens[:LONGEST_EXPRESSION], f"…{crc32(joined(tokens).encode()):x}")


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
    """The number that a literal stands for."""
    digits = "".join(tokens).replace("_", "")
    match = re.fullmatch(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)[a-zA-Z]?\d*", digits)
    return float(match[1]) if match else None


def calls(tokens: Tokens, name: str) -> bool:
    """Whether the expression calls something of this name."""
    return any(pair == (name, "(") for pair in pairwise(tokens))


def contains(whole: Tokens, part: Tokens) -> bool:
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def split_arguments(tokens: Tokens) -> tuple[Tokens, ...]:
    """The parts between commas at the outermost level."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += token in ("(", "[", "{")
        depth -= token in (")", "]", "}")
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return tuple(tuple(part) for part in parts if part)
