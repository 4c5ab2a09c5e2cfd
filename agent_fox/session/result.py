"""What a session said about itself in AGENT_FOX_RESULT: cost, tokens, a summary. Read with care, never
required.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from agent_fox.core.json_text import NotJson, read_json
from agent_fox.core.late import adapter
from agent_fox.core.values import dataclass
from agent_fox.system.files import read_regular

LARGEST_RESULT = 256 * 1024
"""Bytes; a larger file is not read."""

LONGEST_SUMMARY = 4000
"""Characters of a summary that are kept."""

HIGHEST_COST = 1_000_000.0
"""US dollars; more is a mistake, not a cost."""

MOST_TOKENS = 10**15

T = TypeVar("T")

_COST = adapter(lambda: TypeAdapter(Annotated[float, Field(ge=0, le=HIGHEST_COST, allow_inf_nan=False, strict=True)]))
_TOKENS = adapter(lambda: TypeAdapter(Annotated[int, Field(ge=0, le=MOST_TOKENS, strict=True)]))
_SUMMARY = adapter(lambda: TypeAdapter(Annotated[str, StringConstraints(strict=True)]))


@dataclass(frozen=True, slots=True)
class Result:
    """Cost in US dollars, tokens, summary; None (or empty) where unknown. `notes` say what could not be
    used.
    """

    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    summary: str = ""
    notes: tuple[str, ...] = ()
    agent: Mapping[str, object] = field(default_factory=dict)
    """What an agent's runner tells beside: program, model, where the cost comes from. Empty for other backends."""


def read_result(path: Path) -> Result:
    """Read the file; whatever in it is missing or invalid is unknown, and noted. Never raises for what it
    holds.
    """
    raw = read_regular(path, LARGEST_RESULT + 1)
    if raw is None:
        return Result(notes=("no result file; cost unknown",))
    if len(raw) > LARGEST_RESULT:
        return Result(notes=(f"result file over {LARGEST_RESULT} bytes; cost unknown",))
    try:
        document = read_json(raw)
    except NotJson:
        return Result(notes=("result file is not JSON; cost unknown",))
    if not isinstance(document, dict):
        return Result(notes=("result file is not a JSON object; cost unknown",))
    return _read_fields(document)


def _read_fields(document: Mapping[str, Any]) -> Result:
    notes: list[str] = []
    cost = _field(document, "cost_usd", _COST, notes)
    given = _field(document, "input_tokens", _TOKENS, notes)
    made = _field(document, "output_tokens", _TOKENS, notes)
    summary = _field(document, "summary", _SUMMARY, notes) or ""
    return Result(cost, given, made, summary[:LONGEST_SUMMARY], tuple(notes))


def _field(document: Mapping[str, Any], name: str, kind: TypeAdapter[T], notes: list[str]) -> T | None:
    if document.get(name) is None:
        return None
    try:
        return kind.validate_python(document[name])
    except ValidationError:
        notes.append(f"result file: {name} is not usable; unknown")
        return None
