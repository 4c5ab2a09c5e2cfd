"""Does every agent that is configured answer? One tiny real session with each; `doctor` asks for it by `--try`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.setup.health import Check, State
from agent_fox.cli.setup.health_settings import titles, used
from agent_fox.core.values import dataclass
from agent_fox.core.words import counted, listed
from agent_fox.engine.doors.trying import Tried, try_agent
from agent_fox.engine.launching.agents import agent_of
from agent_fox.engine.planning.extensions import backends_of
from agent_fox.engine.planning.preflight import lacks
from agent_fox.plugins import load_plugins
from agent_fox.session.agents.registry import is_watched
from agent_fox.session.built_in.registry import OUR_OWN

if TYPE_CHECKING:
    from agent_fox.config import AgentSettings, Settings
    from agent_fox.core.ids import Archetype
    from agent_fox.session.agent import Agent


@dataclass(frozen=True, slots=True)
class Candidate:
    """One agent in one role, with every place of the settings that names it."""

    archetype: Archetype
    agent: Agent
    settings: AgentSettings
    places: tuple[str, ...]


def candidates(settings: Settings) -> list[Candidate]:
    """Every backend of every agent and rung that a run may use, the same agent in the same role once."""
    candidates: list[Candidate] = []
    for archetype in used(settings):
        for spec, title in titles(settings, archetype):
            for rung in range(settings.rungs_of(archetype, spec) + 1):
                own = settings.agent_for(archetype, spec, rung)
                for backend in own.backends:
                    _add(candidates, Candidate(archetype, agent_of(own, backend), own, (_shown(title, rung),)))
    return candidates


def _shown(title: str, rung: int) -> str:
    return f"{title}.rungs[{rung - 1}]" if rung else title


def _add(found: list[Candidate], one: Candidate) -> None:
    for at, other in enumerate(found):
        if (other.archetype, other.agent) == (one.archetype, one.agent):
            found[at] = Candidate(one.archetype, one.agent, other.settings, (*other.places, *one.places))
            return
    found.append(one)


def tries(root: Path, settings: Settings) -> Iterator[Check]:
    """One check for each agent, as its session ends, and one line for what all of them cost."""
    backends, spent, had = backends_of(load_plugins()), 0.0, 0
    is_known = True
    for candidate in candidates(settings):
        name = f"try {listed(candidate.places)}"
        if not is_watched(candidate.agent.backend, candidate.agent.like):
            if candidate.agent.backend not in OUR_OWN:
                yield Check(name, State.OK, f"{candidate.agent.backend}: not tried: what it would do is not known")
            continue
        missing = lacks(backends, candidate.agent.backend, candidate.settings, root)
        if missing:
            yield Check(name, State.MISSING, f"not tried: {missing}", "see there")
            continue
        tried = try_agent(root, candidate.agent, candidate.archetype)
        spent, had, is_known = spent + (tried.cost_usd or 0.0), had + 1, is_known and tried.cost_usd is not None
        yield _check(name, candidate.agent, tried)
    if had:
        more = "" if is_known else ", and what is not known"
        yield Check("tries", State.OK, f"{counted(had, 'session')}, ${spent:.4f}{more}")


def _check(name: str, agent: Agent, tried: Tried) -> Check:
    who = f"{agent.backend}, {agent.model or 'its usual model'}"
    cost = "cost unknown" if tried.cost_usd is None else f"${tried.cost_usd:.4f}"
    spent = f"{tried.seconds:.0f} s, {cost}"
    if tried.why:
        return Check(name, State.MISSING, f"{who}: {tried.why} ({spent})", tried.remedy)
    return Check(name, State.OK, f"{who}: answered {tried.answer!r} ({spent})")
