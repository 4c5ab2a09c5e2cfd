"""What stands now, that the chain of evidence of a spec is held against: tree, environment, verifier. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.engine.record.environment import facts, standpoint, with_bound
from agent_fox.evidence import library
from agent_fox.evidence.chain import Now

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import Settings


def now_of(db: Database, settings: Settings, spec_name: str, tree: str | None) -> Now:
    """For the verifier of this spec, by the agent (and rung) that judged it last. `tree` is the branch's, if known."""
    agent = settings.agent_for(Archetype.VERIFIER, spec_name, rung_of(db, spec_name))
    at = standpoint(settings, agent)
    verifier = with_bound(at.verifier, library.unweighed(db, spec_name))
    return Now(tree, at.environment, verifier, facts(settings.verify))


def rung_of(db: Database, spec_name: str) -> int:
    """Of the last session that ended with a verdict."""
    sql = (
        "SELECT s.rung FROM verification_results AS v JOIN sessions AS s ON s.id = v.session_id "
        "WHERE v.spec_name = ? AND v.restores IS NULL ORDER BY v.id DESC LIMIT 1"
    )
    row = db.execute(sql, [spec_name]).fetchone()
    return int(row[0]) if row else 0
