"""What stands now, that the chain of evidence of a spec is held against: tree, environment, verifier. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.engine.record.environment import facts, standpoint, with_bound
from agent_fox.evidence import library
from agent_fox.evidence.chain import Now
from agent_fox.store import sessions

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.cluster import places
    from agent_fox.config import Settings
else:
    places = late_module("agent_fox.cluster.places")


def now_of(db: Database, settings: Settings, spec_name: str, tree: str | None) -> Now:
    """For the verifier of this spec, by the agent (and rung) that judged it last. `tree` is the branch's, if known."""
    agent = settings.agent_for(Archetype.VERIFIER, spec_name, sessions.last_judging_rung(db, spec_name))
    workers = places.verifiers_of(spec_name, settings) if settings.cluster.engine else ""
    at = standpoint(settings, agent, workers)
    verifier = with_bound(at.verifier, library.unweighed(db, spec_name))
    return Now(tree, at.environment, verifier, facts(settings.verify, workers))
