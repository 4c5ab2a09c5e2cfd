"""The text of an issue that lies in no file here: as the tracker of these settings is handed it, or writes it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.config import ConfigError, load
from agent_fox.engine.issues.effects import effect_of
from agent_fox.store.outbox import OutboxRow
from agent_fox.trackers.text.pages import written
from agent_fox.trackers.text.pen import Pen, PlainPen, Style
from agent_fox.trackers.text.sections import status_text

if TYPE_CHECKING:
    from agent_fox.store.issue_view import EffectView, IssueView


def as_sent(root: Path, issue: IssueView, effects: tuple[EffectView, ...]) -> str:
    """How it stands, what was filed last, then what came after it. Links to code, which need the tracker, are left
    out."""
    starts = [number for number, sent in enumerate(effects) if sent.kind == "file"]
    is_neutral = is_on_github(root)
    texts = [(effect, on_github(issue, effect) if is_neutral else effect.body) for effect in effects[last(starts) :]]
    status = effect_of(row_of(issue, effects[-1])).status if effects else None
    top = [status_text(status, (Pen if is_neutral else PlainPen)(Style()))] if status else []
    return "\n\n".join([*top, *_sections(texts)])


def last(starts: list[int]) -> int:
    return starts[-1] if starts else 0


def _sections(texts: list[tuple[EffectView, str]]) -> Iterator[str]:
    for number, (effect, text) in enumerate(texts):
        body = text.strip() or "(no text)"
        yield f"## {effect.kind}, {effect.at}\n\n{body}" if number or effect.kind != "file" else body


def is_on_github(root: Path) -> bool:
    """Settings that cannot be read hide no issue."""
    try:
        return load(root, os.environ).tracker.kind == "github"
    except ConfigError:
        return False


def on_github(issue: IssueView, effect: EffectView) -> str:
    """Body and follow-up comments as they are written there, without the mark."""
    page = written(effect_of(row_of(issue, effect)), Style())
    return "\n\n".join((page.body, *page.more))


def row_of(issue: IssueView, effect: EffectView) -> OutboxRow:
    return OutboxRow(
        effect.id, effect.kind, issue.fingerprint, effect.spec, json.loads(effect.payload), effect.state, effect.tries,
        effect.note, None, issue.number or None,
    )  # fmt: skip
