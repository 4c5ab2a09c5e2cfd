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
    workers, container = held_by(spec_name, settings) if settings.cluster.engine or settings.places else ("", "")
    at = standpoint(settings, agent, workers, container)
    verifier = with_bound(at.verifier, library.unweighed(db, spec_name))
    return Now(tree, at.environment, verifier, facts(settings.verify, workers, container))


def held_by(spec_name: str, settings: Settings) -> tuple[str, str]:
    """The class of workers that does the verifier's sessions of a spec, and the container that they are kept in."""
    tag = places.verifiers_of(spec_name, settings)
    return places.class_of(tag, settings), places.container_at(tag, settings)
