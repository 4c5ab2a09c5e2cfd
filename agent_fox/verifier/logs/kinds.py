"""What kind of failure a text tells of: the tables of `data/kinds.toml`. Which text is meant is the asker's affair."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind

DATA = Path(__file__).parent / "data"


def with_parts(pattern: str, parts: Mapping[str, str]) -> str:
    """The pattern with each `{name}` of a part replaced by it; a part may name those below it."""
    for name, part in parts.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return pattern


def kind_in(table: str, text: str) -> FailureKind | None:
    """The kind of the first row of a table that is found in `text`."""
    for kind, pattern, how in _tables()[table]:
        if getattr(pattern, how)(text):
            return kind
    return None


def kind_tables() -> tuple[str, ...]:
    """The names of the tables."""
    return tuple(_tables())


@cache
def _tables() -> dict[str, tuple[tuple[FailureKind, re.Pattern[str], str], ...]]:
    """The rows of each table: a kind, a pattern, and how it is asked for."""
    written = tomllib.loads((DATA / "kinds.toml").read_text(encoding="utf-8"))
    parts = written.pop("parts")
    return {table: tuple(_row(row, parts) for row in rows) for table, rows in written.items()}


def _row(written: Mapping[str, Any], parts: Mapping[str, str]) -> tuple[FailureKind, re.Pattern[str], str]:
    pattern = regex(with_parts("|".join(written["pattern"]), parts))
    return FailureKind(written["kind"]), pattern, written.get("how", "search")
