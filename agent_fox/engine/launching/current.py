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
    workers, container = held_by(db, spec_name, settings)
    at = standpoint(settings, agent, workers, container)
    verifier = with_bound(at.verifier, library.unweighed(db, spec_name))
    return Now(tree, at.environment, verifier, facts(settings.verify, workers, container))


def facts_of(db: Database, settings: Settings, spec_name: str) -> dict[str, str]:
    """What the environment is named by in which the verifier of this spec would judge."""
    return facts(settings.verify, *held_by(db, spec_name, settings))


def held_by(db: Database, spec_name: str, settings: Settings) -> tuple[str, str]:
    """The class of workers that does the verifier's sessions of a spec, and the container that they are kept in. An
    engine that only the last run was told of (`run --engine`) counts as it did there.
    """
    last = "" if settings.cluster.engine else sessions.last_judging_runner(db, spec_name)
    if last and not last.startswith("ssh://"):
        settings = settings.model_copy(update={"cluster": settings.cluster.model_copy(update={"engine": last})})
    if not (settings.cluster.engine or settings.places):
        return "", ""
    tag = places.verifiers_of(spec_name, settings)
    return places.class_of(tag, settings), places.container_at(tag, settings)
