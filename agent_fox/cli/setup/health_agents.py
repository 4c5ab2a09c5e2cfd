"""Do the agents that work without a person stand as they should: apart from the machine, and from each other?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.setup.health import Check, State
from agent_fox.config import FILE, AgentSettings, Settings, hidden_folder
from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.words import counted, listed
from agent_fox.engine.launching.agents import agent_of, own_words_trouble, unmetered
from agent_fox.session.agents.registry import ACP, COMMAND, NAMES, command_line, is_watched
from agent_fox.session.briefs.project_words import STEERING_FILE, unread_words
from agent_fox.session.built_in.registry import CHECKS, OUR_OWN
from agent_fox.system import git
from agent_fox.system.sandbox.bubblewrap import REMEDY, why_missing
from agent_fox.verifier.judging.hidden_files import hidden_files, unread

if TYPE_CHECKING:
    from agent_fox.session.agent import Agent
    from agent_fox.session.agents import backend, credentials
else:
    backend = late_module("agent_fox.session.agents.backend")
    credentials = late_module("agent_fox.session.agents.credentials")

KNOWN = frozenset(NAMES) - {ACP}
"""Programs of which it is known where their keys are; of others `money` tells."""


def agents_apart(root: Path, settings: Settings) -> Iterator[Check]:
    """Checks of agents beside whether their programs are installed. None where no agent's program is configured."""
    trouble = own_words_trouble(root)
    if trouble:
        yield Check("prompts", State.MISSING, "; ".join(trouble), "see there")
    if any(_minds(settings.agents.of(archetype)) for archetype in Archetype):
        yield _enclosed(settings)
        yield from _steering(root)
    yield from _as_you(settings)
    yield from keys_apart(settings)
    yield from money(settings)
    if settings.plan.verifier:
        yield from _independent(settings)
    yield from hidden_apart(root, settings)


def _as_you(settings: Settings) -> Iterator[Check]:
    """Commands of a person's own run in the sandbox only where that is asked for."""
    free = [
        archetype
        for archetype in Archetype
        if COMMAND in settings.agents.of(archetype).backends and settings.agents.of(archetype).command
        if not settings.agents.of(archetype).like
    ]
    free = [archetype for archetype in free if settings.agents.of(archetype).sandbox != "require"]
    if free:
        what = f'{listed(free)}: runs without a sandbox, as you; set `sandbox = "require"` to change that'
        yield Check("command", State.OK, what)


def keys_apart(settings: Settings) -> Iterator[Check]:
    """What opens each program's model, and whether the program sees it."""
    agents = [agent_of(each, name) for each in _agents(settings) for name in each.backends if name in KNOWN]
    for chosen in {agent.backend: agent for agent in agents}.values():
        facts = command_line(chosen.backend).facts
        try:
            provider = command_line(chosen.backend).provider(chosen.model)
        except ValueError:
            continue  # told with the program
        found = credentials.find(facts, provider, backend.variables_of(chosen))
        if found.login is not None and facts.login is not None:
            yield Check(
                "keys", State.OK, f"{chosen.backend}: the {facts.login.name} login in {found.login}, kept from it"
            )
        elif found.cloud is not None:
            what = f"{chosen.backend}: your own credentials for {found.cloud.name}, kept from it"
            yield Check("keys", State.OK, what)
        elif found.is_held:
            yield Check("keys", State.OK, f"{chosen.backend}: {found.name}, kept from it")
        elif found.direct:
            what = f"{chosen.backend}: its program and whatever it starts can read {listed(sorted(found.direct))}"
            yield Check(
                "keys", State.WARNING, what, "use a key or a login, or: pip install 'agent-fox[cloud]' (docs/agents.md)"
            )


def _agents(settings: Settings) -> Iterator[AgentSettings]:
    return (settings.agents.of(archetype) for archetype in Archetype)


def money(settings: Settings) -> Iterator[Check]:
    """Agents that may spend what nobody counts."""
    for what in unmetered(settings):
        remedy = "set `provider`, if its program can be pointed at another address of its model (docs/agents.md)"
        yield Check("money", State.WARNING, what, remedy)


def _steering(root: Path) -> Iterator[Check]:
    """Whether sessions get the instructions that the project gives agents in a chat."""
    committed = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD")
    unread = unread_words(root, git.call(root, *committed).records if git.head(root) else ())
    if unread:
        what = f"{listed(unread)}: not given to sessions"
        yield Check("steering", State.WARNING, what, f"agent-fox init --steering {unread[0]}, or write {STEERING_FILE}")


def _minds(agent: AgentSettings) -> set[tuple[str, str]]:
    """The agents' programs, each with its model; empty: the program's own choice. One of a person's own choice is named
    by its command too: by the same backend come many.
    """
    agents = (agent_of(agent, name) for name in agent.backends if is_watched(name, agent.like or ""))
    return {(" ".join((chosen.backend, *own_command(chosen))), chosen.model) for chosen in agents}


def own_command(agent: Agent) -> tuple[str, ...]:
    return agent.command if agent.backend in (ACP, COMMAND) else ()


def _enclosed(settings: Settings) -> Check:
    open_ones = [archetype for archetype in Archetype if settings.agents.of(archetype).sandbox == "off"]
    missing = why_missing()
    if missing:
        return Check("agents' sandbox", State.WARNING, f"{missing}; agents can read what you can read", REMEDY)
    if open_ones:
        what = f"switched off for {', '.join(open_ones)}; they can read what you can read"
        return Check("agents' sandbox", State.WARNING, what, f'set `sandbox = "auto"` in [agents.…] of {FILE}')
    return Check("agents' sandbox", State.OK, "each agent in bubblewrap, with a home of its own")


def hidden_apart(root: Path, settings: Settings) -> Iterator[Check]:
    """Whether the folder of hidden checks is there, and out of reach of every agent that works."""
    folder = hidden_folder(settings, root)
    if folder is None:
        return
    name = "hidden checks"
    not_read = unread(folder)
    if not_read:
        named = ", ".join(f"{name} ({why})" for name, why in not_read.items())
        yield Check(name, State.WARNING, f"{len(not_read)} not read: {named}", "put smaller files there, and no links")
    if not hidden_files(folder):
        yield Check(name, State.MISSING, f"{folder}: there are none", "write some, or unset [verify] hidden")
        return
    free = sorted({place for archetype in Archetype for place in _unenclosed(settings, archetype)})
    if free:
        what = f"{folder} can be read by {', '.join(free)}, which run without a sandbox"
        yield Check(name, State.WARNING, what, "use an agent that runs in bubblewrap, or another user for the folder")
    else:
        yield Check(name, State.OK, f"{counted(len(hidden_files(folder)), 'file')} in {folder}")


def _unenclosed(settings: Settings, archetype: Archetype) -> Iterator[str]:
    """The agents of an archetype that can read what you can read."""
    agent = settings.agents.of(archetype)
    is_open = agent.sandbox == "off" or bool(why_missing())
    rungs = [settings.agent_for(archetype, "", rung) for rung in _rungs(agent)]
    rungs = [
        each for each in rungs if each.command or each.backends != [COMMAND]
    ]  # the default, which nobody has set up
    for name in dict.fromkeys(name for each in rungs for name in each.backends):
        if name not in OUR_OWN and (is_open or not _is_enclosed(agent, name)):
            yield f"[agents.{archetype}] {name}"


def _is_enclosed(agent: AgentSettings, backend: str) -> bool:
    return is_watched(backend, agent.like or "") or (backend == COMMAND and agent.sandbox == "require")


def _independent(settings: Settings) -> Iterator[Check]:
    """Who writes code should not judge it: the same model has the same blind spots."""
    coder, verifier = settings.agents.coder, settings.agents.verifier
    name, judges = "independent verifier", _minds(verifier)
    shared = judges & set().union(*(_minds(settings.agent_for("coder", "", rung)) for rung in _rungs(coder)))
    if judges and CHECKS not in verifier.backends:
        what = "only a model judges: no tests are run"
        yield Check(name, State.WARNING, what, 'put "checks" first into [agents.verifier] backend')
    if shared:
        backend, model = sorted(shared)[0]
        what = f"{backend} with {f'model {model}' if model else 'its usual model'} both writes and judges"
        yield Check(name, State.WARNING, what, "set another `model` or backend for [agents.verifier]")
    elif judges:
        yield Check(name, State.OK, "the judge is another model than the coder")


def _rungs(agent: AgentSettings) -> range:
    return range(len(agent.rungs) + 1)
