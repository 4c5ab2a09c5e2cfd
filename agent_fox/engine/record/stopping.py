"""What a stop for want of progress saved: the attempts that were left, and what the sessions before it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from agent_fox.core.retry.decision import Cause
from agent_fox.core.values import dataclass
from agent_fox.engine.record.history import names_of

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class Unspent:
    """Attempts that a coder had left when it was stopped, of how many."""

    node: str
    left: int
    total: int


@dataclass(frozen=True, slots=True)
class Saved:
    """What a person judges a stop by. `cost_usd` is that of the spec's `sessions`; `untold` of them told no cost."""

    coders: tuple[Unspent, ...]
    sessions: int
    cost_usd: float
    untold: int


class _Blamed(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="ignore", frozen=True)

    uid: str
    attempts: int
    spent: int


class _Facts(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="ignore", frozen=True)

    suspects: tuple[_Blamed, ...] = ()


def saved_by_stopping(db: Database, uid: str, spec_name: str) -> Saved | None:
    """By the last decision that stopped this verifier's spec for want of progress; None where there is none."""
    sql = "SELECT facts FROM decisions WHERE node_uid = ? AND kind = 'Block' AND cause = ? ORDER BY id DESC LIMIT 1"
    row = db.execute(sql, [uid, Cause.NO_PROGRESS.value]).fetchone()
    if row is None:
        return None
    coders = tuple(
        Unspent(name, max(one.attempts - one.spent, 0), one.attempts)
        for one in _Facts.model_validate_json(row[0]).suspects
        for name in names_of(db, [one.uid])
    )
    costs = "SELECT count(*), coalesce(sum(cost_usd), 0), count(*) - count(cost_usd) FROM sessions WHERE spec_name = ?"
    return Saved(coders, *db.execute(costs, [spec_name]).fetchone())
