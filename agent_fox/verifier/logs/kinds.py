"""What kind of failure a text tells of: the tables of `data/kinds.toml`. Which text is meant is the asker's affair."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

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
    return next((kind for kind, pattern in _tables()[table] if pattern.search(text)), None)


@cache
def _tables() -> dict[str, tuple[tuple[FailureKind, re.Pattern[str]], ...]]:
    written = tomllib.loads((DATA / "kinds.toml").read_text(encoding="utf-8"))
    parts = written.pop("parts")
    return {
        table: tuple((FailureKind(row["kind"]), regex(with_parts("|".join(row["pattern"]), parts))) for row in rows)
        for table, rows in written.items()
    }
