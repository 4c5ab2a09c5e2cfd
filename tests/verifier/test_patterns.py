"""Every long pattern of some rooms has examples: what it matches, and what it must not."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from agent_fox.core.regex import Regex

VERIFIER = Path(__file__).parents[2] / "agent_fox" / "verifier"
ROOMS = (
    "artifacts",
    "dispositions",
    "ground",
    "lanes",
    "mutants",
    "profiles",
    "projects",
    "proof",
    "running",
    "source",
    "suites",
)
LONGEST_WITHOUT = 40
EXAMPLES: dict[str, dict[str, list[str]]] = tomllib.loads((Path(__file__).parent / "patterns.toml").read_text("utf-8"))


def long_patterns() -> Iterator[str]:
    for room in ROOMS:
        for path in sorted((VERIFIER / room).glob("*.py")):
            module = import_module(f"agent_fox.verifier.{room}.{path.stem}")
            own = [name for name, value in vars(module).items() if isinstance(value, Regex)]
            source = path.read_text(encoding="utf-8")
            yield from (
                f"{room}.{path.stem}:{name}"
                for name in own
                if f"\n{name} = regex(" in source and len(getattr(module, name).pattern) > LONGEST_WITHOUT
            )


def test_every_long_pattern_has_examples() -> None:
    assert {
        name for name in long_patterns() if not (name in EXAMPLES and all(map(EXAMPLES[name].get, ("yes", "no"))))
    } == set()


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_pattern_matches_what_it_is_for_and_nothing_like_it(name: str) -> None:
    module, _, pattern = name.partition(":")
    row = EXAMPLES[name]
    made = getattr(import_module(f"agent_fox.verifier.{module}"), pattern)
    match = getattr(made, str(row.get("how", "search")))
    is_of_bytes = isinstance(made.pattern, bytes)
    yes, no = ([text.encode() if is_of_bytes else text for text in row[word]] for word in ("yes", "no"))
    assert [text for text in yes if not match(text)] == []
    assert [text for text in no if match(text)] == []
