"""What the agents of a launch do just now, as far as their runners write it down. Read-only, and quick to load."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from agent_fox.core.values import dataclass

REPORT = "report.json"
LARGEST = 1024 * 1024
"""Bytes; a larger file is not read."""

RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Activity:
    """One agent at work. Cost in US dollars, None where not known yet; `silent` in seconds, about a second old."""

    cli: str
    model: str
    turns: int
    cost_usd: float | None
    last: str
    silent: float


def activity_in(folder: Path) -> Activity | None:
    """The agent at work in a launch's folder; of several judges, the one whose turn it is. None: nobody tells."""
    places = (folder, *sorted(folder.glob("judge-*"), reverse=True))
    found = (_read(place / REPORT) for place in places)
    return next((activity for activity in found if activity is not None), None)


def _read(path: Path) -> Activity | None:
    """What a runner wrote; anything else that may stand there is nothing."""
    try:
        raw = path.read_bytes() if path.stat().st_size <= LARGEST else b""
        told = json.loads(raw)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or told.get("ending") != RUNNING:
        return None
    return Activity(
        cli=str(told.get("cli", "")),
        model=str(told.get("model", "")),
        turns=int(_number(told, "turns") or 0),
        cost_usd=_number(told, "cost_usd"),
        last=str(told.get("last", "")),
        silent=_number(told, "silent") or 0.0,
    )


def _number(told: Mapping[str, object], key: str) -> float | None:
    value = told.get(key)
    return float(value) if isinstance(value, int | float) else None
