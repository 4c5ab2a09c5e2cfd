"""What is data of the rooms: files of tables, how lines look by the `patterns.toml` of a room, and what kind of failure
a text tells of by `data/kinds.toml`. Which text is meant is the asker's affair."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agent_fox.core.late import Late
from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind

DATA = Path(__file__).parent / "data"


def with_parts(pattern: str, parts: Mapping[str, str]) -> str:
    """The pattern with each `{name}` of a part replaced by it; a part may name those below it."""
    for name, part in parts.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return pattern


def made(place: str) -> Any:  # noqa: ANN401 - whatever stands there
    """What a table names by `module:NAME`, a module of this folder, which is imported when it is asked for."""
    return Late[Any](f"agent_fox.verifier.logs.{place}").load()


@cache
def written(path: Path) -> dict[str, Any]:
    """What a file of tables holds."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def patterns_in(module: str) -> Mapping[str, re.Pattern[str]]:
    """How the lines that a module reads look: its table in the `patterns.toml` beside it."""
    tables = written(Path(module).with_name("patterns.toml"))
    parts = tables.get("parts", {})
    return {name: regex(with_parts(pattern, parts)) for name, pattern in tables[Path(module).stem].items()}


def kind_in(table: str, text: str) -> FailureKind | None:
    """The kind of the first row of a table that is found in `text`."""
    return next((kind for kind, pattern, how in _tables()[table] if getattr(pattern, how)(text)), None)


@cache
def _tables() -> dict[str, tuple[tuple[FailureKind, re.Pattern[str], str], ...]]:
    """The rows of each table: a kind, a pattern, and how it is asked for."""
    parts, tables = (of := written(DATA / "kinds.toml"))["parts"], {}
    for table in filter("parts".__ne__, of):
        rows = [(row, regex(with_parts("|".join(row["pattern"]), parts))) for row in of[table]]
        tables[table] = tuple((FailureKind(row["kind"]), pattern, row.get("how", "search")) for row, pattern in rows)
    return tables
