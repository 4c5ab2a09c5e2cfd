"""What words mean in the tests of a language, and nodes to a reader of tests: `data/words.toml`, `data/kinds.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from agent_fox.verifier.policy.reading import Strength


@cache
def _written(file: str) -> Mapping[str, Any]:
    return tomllib.loads(files("agent_fox.verifier.policy").joinpath(f"data/{file}.toml").read_text("utf-8"))


@cache
def demands(language: str, table: str) -> Mapping[str, tuple[str, Strength]]:
    """What assertions demand by their names: an operator and how much of it. The operator may be empty."""
    return {
        word: (operator, Strength[strength.upper()])
        for strength, operators in _written("words")[language].get(table, {}).items()
        for operator, words in operators.items()
        for word in words.split()
    }


@cache
def words_of(language: str, kind: str) -> frozenset[str]:
    """The names of a kind, such as those of functions that make tests."""
    return frozenset(_written("words")[language]["names"].get(kind, "").split())


def says(language: str, kind: str, text: str) -> bool:
    """Whether one of the parts of texts that tell of `kind` stands in this text."""
    return any(part in text for part in _written("words")[language].get("texts", {}).get(kind, ()))


@cache
def roles() -> Mapping[str, str]:
    """What the types of nodes are to a reader of steps."""
    return {kind: role for role, kinds in _written("kinds")["roles"].items() for kind in kinds.split()}


@cache
def kinds(name: str) -> tuple[str, ...]:
    """The types of nodes that go by a name."""
    return tuple(_written("kinds")["kinds"][name].split())
