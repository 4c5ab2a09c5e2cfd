"""What words mean in the tests of a language: `data/words.toml`. How they stand in a source is the readers' affair."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from agent_fox.verifier.policy.reading import Strength


@cache
def _written() -> Mapping[str, Any]:
    return tomllib.loads(files("agent_fox.verifier.policy").joinpath("data/words.toml").read_text("utf-8"))


@cache
def demands(language: str, table: str) -> Mapping[str, tuple[str, Strength]]:
    """What assertions demand by their names: an operator and how much of it. The operator may be empty."""
    return {
        word: (operator, Strength[strength.upper()])
        for strength, operators in _written()[language][table].items()
        for operator, words in operators.items()
        for word in words.split()
    }


@cache
def words_of(language: str, kind: str) -> frozenset[str]:
    """The names of a kind, such as those of functions that make tests."""
    return frozenset(_written()[language]["names"][kind].split())
