"""An agent's command line as a backend: is it there and usable, and the task that its runner gets. Any program of a
person's choice too: `acp`, and `command` where `like = "agent"` asks for it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.session.agents import credentials
from agent_fox.session.agents.command_line import EFFORT, MODEL, OF_PROXY, filled, names_any
from agent_fox.session.agents.credentials import Credentials, secret_names
from agent_fox.session.agents.logins import TOKEN_URL
from agent_fox.session.agents.prices import prices_of
from agent_fox.session.agents.registry import ACP, command_line, is_watched
from agent_fox.session.agents.report import AgentReport, write_report
from agent_fox.session.agents.task import TASK, UPSTREAMS, AgentTask, Limits, Provider, Role
from agent_fox.session.agents.versions import problem_of
from agent_fox.session.backends import base_environment, module_argv
from agent_fox.session.briefs import prompts
from agent_fox.session.briefs.project_words import read_overrides, read_steering
from agent_fox.session.workspaces.steps import beginning_of
from agent_fox.session.workspaces.workspace import read_preparation
from agent_fox.system import git
from agent_fox.system.sandbox.bubblewrap import SandboxMode, container_in, why_missing

if TYPE_CHECKING:
    from agent_fox.session.agents.acp import adapter
    from agent_fox.session.agents.command_line import CommandLine
    from agent_fox.session.order import Agent, LaunchOrder, Paths
    from agent_fox.system.sandbox import containers
else:
    adapter = late_module("agent_fox.session.agents.acp.adapter")
    containers = late_module("agent_fox.system.sandbox.containers")

RESERVE = 10.0
"""Seconds before the shim's own time limit at which the runner ends a session, so that its cost is still told."""

ANSWERING = 900.0
"""Seconds that a tool of the verifier may take."""

CHANGING = "run_format_apply"
OFFERED = tuple(name for name in prompts.TOOL_HINTS if name != CHANGING)
"""The verifier's tools that a session is offered: those that change no source."""

SCHEMAS = {Role.VERIFIER: prompts.VERDICT_SCHEMA, Role.REVIEWER: prompts.REVIEW_SCHEMA}
NO_ACP = "the protocol needs the extra `acp`: pip install 'agent-fox[acp]'"
NO_MCP = (
    "the verifier's tools need the extra `mcp`: pip install 'agent-fox[mcp]', or set `tools = false` for this agent"
)


@dataclass(frozen=True, slots=True)
class AgentBackend:
    """One agent's command line. Sessions are held by `agents.runner`, a process of ours between it and the shim."""

    name: str

    @property
    def cli(self) -> CommandLine:
        return command_line(self.name)

    def missing(self, agent: Agent, root: Path) -> str | None:
        facts, program = self.cli.facts, self.program(agent, root)
        container = container_in(agent.sandbox)
        if container is not None:
            trouble = containers.found(container.program, container.image).objection
            return f"backend {self.name!r}: {trouble}" if trouble else self.without_credentials(agent)
        if program is None:
            wanted = agent.program or facts.program
            remedy = f"install it ({facts.install}) or set `program`"
            return f"backend {self.name!r}: {wanted!r} is not an executable; {remedy}"
        if agent.tools and facts.has_tools and importlib.util.find_spec("mcp") is None:
            return f"backend {self.name!r}: {NO_MCP}"
        problem = problem_of(facts, program) if facts.least else None
        if problem:
            return f"backend {self.name!r}: {problem}"
        if SandboxMode(agent.sandbox) is SandboxMode.REQUIRE and why_missing():
            return f'backend {self.name!r}: sandbox = "require", but {why_missing()}'
        return self.without_credentials(agent)

    def without_credentials(self, agent: Agent) -> str | None:
        facts = self.cli.facts
        try:
            provider = self.provider(agent)
        except ValueError as error:
            return f"backend {self.name!r}: {error}"
        if provider is None:
            return None
        access = credentials.find(facts, provider, variables_of(agent))
        try:
            address = credentials.upstream(provider, variables_of(agent), cloud=access.cloud)
        except ValueError as error:
            return f"backend {self.name!r}: {error}"
        if not re.match(r"https?://[^\s/]", address):
            return f"backend {self.name!r}: {address!r} is no address of a model's server; it begins with https://"
        if access:
            return None
        tokens = (facts.token,) if facts.token else ()
        names = ", ".join((*facts.keys.get(provider, ()), *tokens, *facts.logins))
        login = f", or log in: {facts.login.command}" if facts.login is not None else ""
        return f"backend {self.name!r}: there is no key for its model; set one of {names} in the environment{login}"

    def provider(self, agent: Agent) -> Provider | None:
        """Whose protocol its program speaks to its model. Raises ValueError for a model of another provider."""
        return self.cli.provider(agent.model)

    def program(self, agent: Agent, root: Path) -> str | None:
        word = agent.program or self.cli.facts.program
        if agent.is_contained:
            return word
        path = agent.environment.get("PATH", os.environ.get("PATH"))
        return shutil.which(str(root / word) if "/" in word else word, path=path)

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]:
        write_report(paths.report, AgentReport(self.name))  # a runner that never comes to speak is no coder's failure
        paths.document.write_bytes(TASK.dump_json(self.task(order, paths)))
        paths.document.chmod(0o600)
        return module_argv("agent_fox.session.agents.runner.main", [str(paths.document)])

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        """The keys, for the runner; it hands none of them to what it starts, but what only the program can use."""
        access = self.credentials(order.agent)
        if access.cloud is not None:
            return access.cloud.for_runner(variables_of(order.agent))
        if access.login is not None:
            return {TOKEN_URL: os.environ[TOKEN_URL]} if TOKEN_URL in os.environ else {}
        return {access.name: access.key} if access.key else dict(access.direct)

    def credentials(self, agent: Agent) -> Credentials:
        return credentials.find(self.cli.facts, self.provider(agent), variables_of(agent))

    def task(self, order: LaunchOrder, paths: Paths) -> AgentTask:
        agent, role = order.agent, Role(order.archetype.value)
        provider, access, kind = self.provider(agent), self.credentials(agent), self.cli.facts.login
        tools = OFFERED if agent.tools and self.cli.facts.has_tools and role is not Role.REVIEWER else ()
        wall = max(1.0, agent.timeout - min(RESERVE, agent.timeout / 10))
        idle, answer = min(agent.idle_timeout, self.cli.facts.most_idle), min(ANSWERING, wall)
        limits = Limits(wall, idle, answer, agent.max_turns, agent.max_cost_usd, order.left_usd)
        has_files = order.writes and paths.preparation.exists()  # those of others do not change
        beginning = beginning_of(order, read_preparation(order)) if has_files else None
        template = read_overrides(order.repo).get(prompts.template_name(order))
        prompt = prompts.render_prompt(order, tools=tools, steering=read_steering(order.repo), template=template)
        wall = max(1.0, agent.timeout - min(RESERVE, agent.timeout / 10))
        idle, answer = min(agent.idle_timeout, self.cli.facts.most_idle), min(ANSWERING, wall)
        limits = Limits(wall, idle, answer, agent.max_turns, agent.max_cost_usd, order.left_usd)
        has_files = order.writes and paths.preparation.exists()  # those of others do not change
        beginning = beginning_of(order, read_preparation(order)) if has_files else None
        address = credentials.upstream(provider, variables_of(agent), kind if access.is_login else None, access.cloud)
        return AgentTask(
            cli=self.name, program=self.program(agent, order.repo) or self.cli.facts.program, role=role,
            workspace=paths.workspace.resolve(), home=(paths.agent / "home").resolve(),
            scratch=(paths.agent / "tmp").resolve(), report=paths.report, system=prompt.system, prompt=prompt.user,
            limits=limits, provider=provider, upstream=address,
            environment=self.seen(order, paths), model=agent.model, effort=agent.effort, schema=SCHEMAS.get(role),
            ask_again="" if role is Role.CODER else prompts.ask_again(order.archetype),
            verifier=verifier_argv(order, paths) if tools else (), tools=tools, sandbox=agent.sandbox,
            readable=readable(order, paths), stop_gate=agent.stop_hook and bool(tools) and not agent.is_contained,
            direct=self.cli.facts.direct, login=access.login, prices=prices_of(order.repo), arguments=agent.arguments,
            beginning=beginning,
            transcript=paths.transcript if order.writes and order.keeps_transcript else None,
        )  # fmt: skip

    @property
    def of_models(self) -> frozenset[str]:
        """Variables with keys and addresses of models."""
        return secret_names(self.cli.facts) | {name for names, _ in UPSTREAMS.values() for name in names}

    def seen(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        """What the program and all that it starts may see: no key; a home and a temporary folder of its own."""
        hidden = self.of_models | {"AGENT_FOX_RESULT"}
        whole = base_environment(order, paths, os.environ)
        own = {"HOME": str((paths.agent / "home").resolve()), "TMPDIR": str((paths.agent / "tmp").resolve())}
        return {name: value for name, value in whole.items() if name not in hidden} | own


@dataclass(frozen=True, slots=True)
class AnyBackend(AgentBackend):
    """A program that the settings name by `command`, spoken with in the way of this backend."""

    def missing(self, agent: Agent, root: Path) -> str | None:
        lack = self.lacking_words(agent)
        if lack is None and self.name == ACP and importlib.util.find_spec("acp") is None:
            lack = NO_ACP
        if lack is not None:
            return f"backend {self.name!r}: {lack}"
        missing = AgentBackend.missing(self, replace(agent, program=agent.command[0]), root)
        if missing is None and self.name == ACP:
            argv = self.argv_of(agent, root)
            trouble = adapter.trouble_of(argv, agent.environment)
            missing = f"backend {self.name!r}: `{' '.join(argv)}`: {trouble}" if trouble else None
        return missing

    def lacking_words(self, agent: Agent) -> str | None:
        if not agent.command:
            return f"it has no command; set `command = [...]`, as by `agent-fox init --agent {self.name} -- PROGRAM`"
        if not agent.provider and names_any(" ".join((*agent.command, *agent.environment.values())), OF_PROXY):
            known = ", ".join(f'"{provider}"' for provider in Provider)
            return f"its words hold {' or '.join(OF_PROXY)}, but not whose models it asks; set `provider`: {known}"
        return None

    def provider(self, agent: Agent) -> Provider | None:
        return Provider(agent.provider) if agent.provider else None

    def program(self, agent: Agent, root: Path) -> str | None:
        """A path counts from the repository's root: what stands in the workspace may be a coder's own making."""
        return AgentBackend.program(self, replace(agent, program=agent.command[0]), root) if agent.command else None

    def argv_of(self, agent: Agent, root: Path) -> tuple[str, ...]:
        """Its command line as it is asked what it is: without the model's address, which no session has yet."""
        words = {MODEL: agent.model, EFFORT: agent.effort, **dict.fromkeys(OF_PROXY, "")}
        arguments = (filled(word, words) for word in (*agent.command[1:], *agent.arguments))
        return (self.program(agent, root) or agent.command[0], *arguments)

    def task(self, order: LaunchOrder, paths: Paths) -> AgentTask:
        usual, agent = AgentBackend.task(self, order, paths), order.agent
        files = [word for word in agent.command[1:] if word.startswith("/") and Path(word).exists()]
        return replace(
            usual, arguments=(*agent.command[1:], *agent.arguments), readable=(*usual.readable, *files),
        )  # fmt: skip

    def seen(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        """Without a provider a person hands the program its key by `inherit`, for nobody else can use it."""
        seen = AgentBackend.seen(self, order, paths)
        if order.agent.provider:
            return seen
        whole = base_environment(order, paths, os.environ)
        return seen | {name: value for name, value in whole.items() if name in self.of_models}


def variables_of(agent: Agent) -> dict[str, str]:
    """Where keys are looked for: the person's environment, and what the settings say over it."""
    return {**os.environ, **agent.environment}


def verifier_argv(order: LaunchOrder, paths: Paths) -> tuple[str, ...]:
    """The command that serves the verifier's tools for this launch's workspace.

    A coder may read what is recorded as evidence; who judges is told nothing of what others judged.
    """
    words = ["mcp", "verifier", "--http", "--port", "0", "--root", str(paths.workspace.resolve())]
    words += ["--artifacts", order.artifacts or str(paths.state / "artifacts"), "--run", order.launch]
    words += ["--attempt", str(order.attempt), "--sandbox", order.sandbox]
    words += [word for file in order.formats for word in ("--format", str(order.repo / file))]
    state = order.repo / ".agent-fox/state.db"
    if order.writes and state.is_file():
        words += ["--state", str(state)]
    return tuple(module_argv("agent_fox.cli.main", words))


def readable(order: LaunchOrder, paths: Paths) -> tuple[str, ...]:
    """What lies outside of the workspace and belongs to it: the objects it borrows, and what was linked in."""
    brought = read_preparation(order).brought if paths.preparation.exists() else ()
    links = (paths.workspace / path for path in brought)
    objects = git.common_folder(order.repo) / "objects"
    briefs = (str(paths.brief), str(paths.brief_json), *([str(paths.handoff)] if order.handoff else []))
    return (str(objects), *briefs, *(str(link.resolve()) for link in links if link.is_symlink()))


def without_keys(agent: Agent, environment: Mapping[str, str]) -> Mapping[str, str]:
    """What setup commands may see: they run files that an earlier session may have written."""
    is_ours = is_watched(agent.backend, agent.like)
    hidden = secret_names(command_line(agent.backend).facts) if is_ours else frozenset()
    return {name: value for name, value in environment.items() if name not in hidden}
