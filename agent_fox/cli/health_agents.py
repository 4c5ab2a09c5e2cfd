"""Do the agents that work without a person stand as they should: apart from the machine, and from each other?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_fox.cli.health import Check, State
from agent_fox.config import FILE, AgentSettings, Settings
from agent_fox.core.ids import Archetype
from agent_fox.engine.agents import agent_of, own_words_trouble
from agent_fox.session.agents.registry import NAMES
from agent_fox.session.built_in import CHECKS
from agent_fox.system.sandbox import REMEDY, why_missing


def agents_apart(root: Path, settings: Settings) -> Iterator[Check]:
    """What is said of agents beside whether they are there. Nothing where no agent's program is configured."""
    trouble = own_words_trouble(root)
    if trouble:
        yield Check("prompts", State.MISSING, "; ".join(trouble), "see there")
    if any(_minds(settings.agents.of(archetype)) for archetype in Archetype):
        yield _enclosed(settings)
    if settings.plan.verifier:
        yield from _independent(settings)


def _minds(agent: AgentSettings) -> set[tuple[str, str]]:
    """The agents' programs, each with its model; empty: the program's own choice."""
    found = (agent_of(agent, backend) for backend in agent.backends if backend in NAMES)
    return {(one.backend, one.model) for one in found}


def _enclosed(settings: Settings) -> Check:
    open_ones = [one for one in Archetype if settings.agents.of(one).sandbox == "off"]
    missing = why_missing()
    if missing:
        return Check("agents' sandbox", State.WARNING, f"{missing}; agents can read what you can read", REMEDY)
    if open_ones:
        what = f"switched off for {', '.join(open_ones)}; they can read what you can read"
        return Check("agents' sandbox", State.WARNING, what, f'set `sandbox = "auto"` in [agents.…] of {FILE}')
    return Check("agents' sandbox", State.OK, "each agent in bubblewrap, with a home of its own")


def _independent(settings: Settings) -> Iterator[Check]:
    """Who writes code should not judge it: the same model has the same blind spots."""
    coder, verifier = settings.agents.coder, settings.agents.verifier
    name, judges = "independent verifier", _minds(verifier)
    shared = judges & set().union(*(_minds(settings.agent_for("coder", "", rung)) for rung in _rungs(coder)))
    if judges and CHECKS not in verifier.backends:
        what = "only a model judges, and nothing is run by ourselves"
        yield Check(name, State.WARNING, what, 'put "checks" first into [agents.verifier] backend')
    if shared:
        backend, model = sorted(shared)[0]
        what = f"{backend} with {f'model {model}' if model else 'its usual model'} both writes and judges"
        yield Check(name, State.WARNING, what, "set another `model` or backend for [agents.verifier]")
    elif judges:
        yield Check(name, State.OK, "another model judges than writes")


def _rungs(agent: AgentSettings) -> range:
    return range(len(agent.rungs) + 1)
