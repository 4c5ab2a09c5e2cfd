"""From the settings of an agent to what a session is told of it, and what a project's own words lack."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.session.agent import EVERY_BACKEND, Agent
from agent_fox.session.agents.registry import command_line, is_watched
from agent_fox.session.built_in.registry import LIBRARY, MEMORY

if TYPE_CHECKING:
    from agent_fox.config import AgentSettings, Settings
    from agent_fox.session.agents import prices as price_list
    from agent_fox.session.agents import task
    from agent_fox.session.briefs import project_words
    from agent_fox.system.sandbox import bubblewrap as boxes
else:
    price_list = late_module("agent_fox.session.agents.prices")
    task = late_module("agent_fox.session.agents.task")
    project_words = late_module("agent_fox.session.briefs.project_words")
    boxes = late_module("agent_fox.system.sandbox.bubblewrap")


def agent_of(agent: AgentSettings, backend: str = "") -> Agent:
    """The agent as a session knows it, for one of its backends; the first of them where none is named."""
    return Agent(
        backend=backend or agent.backends[0],
        command=tuple(agent.command),
        timeout=agent.timeout,
        environment=agent.environment,
        inherit=tuple(agent.inherit),
        script=agent.script,
        program=agent.program or "",
        models={EVERY_BACKEND: agent.model} if isinstance(agent.model, str) else agent.model or {},
        effort=agent.effort or "",
        arguments=tuple(agent.arguments),
        sandbox=agent.sandbox,
        idle_timeout=agent.idle_timeout,
        max_turns=agent.max_turns,
        max_cost_usd=agent.max_cost_usd,
        tools=agent.tools,
        stop_hook=agent.stop_hook,
        like=agent.like or "",
        provider=agent.provider or "",
    )


def own_words_trouble(root: Path) -> list[str]:
    """What is wrong with the project's own prompts, steering file and prices, a sentence each."""
    prices = price_list.prices_of(root)
    try:
        if prices is not None:
            price_list.read_prices(prices)
    except price_list.PricesError as error:
        return [*project_words.check_templates(root), str(error)]
    return project_words.check_templates(root)


def role_trouble(archetype: str, agent: AgentSettings) -> str | None:
    """Why an agent's program cannot be held to a role here; None where it can, by its own means or by the sandbox."""
    programs = (name for name in agent.backends if is_watched(name, agent.like or ""))
    unheld = [name for name in programs if task.Role(archetype) not in command_line(name).facts.roles]
    if not unheld or (agent.sandbox != "off" and not boxes.why_missing()):
        return None
    remedy = f'install bubblewrap and leave `sandbox` at "auto", or set another backend for the {archetype}'
    is_any = command_line(unheld[0]).facts.is_any
    why = "no tool can be taken away from its program" if is_any else "its only tool is a shell"
    return f"backend {unheld[0]!r}: {why}, so a {archetype} could write; {remedy}"


def unmetered(settings: Settings) -> list[str]:
    """The agents for which no ceiling of money can be promised, a sentence each: those whose requests do not pass
    through our proxy, and whose program is not known to tell its cost.
    """
    every = (
        (archetype, settings.agent_for(archetype, "", rung))
        for archetype in Archetype
        for rung in range(settings.rungs_of(archetype, "") + 1)
    )
    return list(dict.fromkeys(why for archetype, agent in every if (why := why_unmetered(archetype, agent))))


def why_unmetered(archetype: str, agent: AgentSettings) -> str | None:
    names = (name for name in agent.backends if is_watched(name, agent.like or ""))
    open_ones = [name for name in names if command_line(name).facts.is_any and not agent.provider]
    if not open_ones:
        return None
    return (
        f"[agents.{archetype}] {open_ones[0]}: its requests to the model are not metered, so no ceiling of money is "
        f"promised; a session that does not tell its cost counts as ${agent.assumed_cost_usd:.2f}"
    )


def choice_trouble(archetype: str, agent: AgentSettings) -> str | None:
    """Why these backends cannot be an archetype's: only verifiers may be several, or none but our own checks."""
    names = agent.backends
    if not names or len(names) != len(set(names)):
        return f"backend = {names}: name at least one, and each once"
    for name, where in ((LIBRARY, "where a spec has specifications"), (MEMORY, "where something is remembered")):
        if name in names:
            return f"backend = {names}: `{name}` joins by itself {where}; take it out"
    if archetype != "verifier" and (len(names) > 1 or "checks" in names):
        return f"backend = {names}: a {archetype} is one agent; `checks` and lists are for verifiers"
    return None
