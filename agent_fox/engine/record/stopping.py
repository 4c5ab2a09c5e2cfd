"""What a stop for want of progress saved: the attempts that were left, and what the sessions before it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from agent_fox.core.retry.decision import Cause
from agent_fox.core.values import dataclass
from agent_fox.store.history import names_of
from agent_fox.store.records import last_facts
from agent_fox.store.sessions import cost_of_spec

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
    facts = last_facts(db, uid, "Block", Cause.NO_PROGRESS)
    if facts is None:
        return None
    coders = tuple(
        Unspent(name, max(suspect.attempts - suspect.spent, 0), suspect.attempts)
        for suspect in _Facts.model_validate_json(facts).suspects
        for name in names_of(db, [suspect.uid])
    )
    return Saved(coders, *cost_of_spec(db, spec_name))
