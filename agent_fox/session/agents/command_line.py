"""What an adapter for an agent's command line has to say; the runner does everything else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from agent_fox.core.values import dataclass
from agent_fox.session.agents.task import AgentTask, Door, Provider, Role

if TYPE_CHECKING:
    from agent_fox.session.agents.events import Event, Finished


@dataclass(frozen=True, slots=True)
class Start:
    """One process to start in the workspace. `environment` comes over the task's; `stdin` is written and closed."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""


class Reader(Protocol):
    """Reads what one process prints, and remembers what it must between two lines. Each process gets a new one."""

    def line(self, text: str) -> Iterable[Event]:
        """The events of one line of standard output, without its end. Never raises for what the line holds."""
        ...

    def complaint(self, text: str) -> Iterable[Event]:
        """The events of one line of standard error."""
        ...

    def end(self, exit_status: int | None) -> Finished | None:
        """At the end of the process: the last word, where no line was one and what was read amounts to one."""
        ...


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a program beforehand. `least` is the oldest version that is known to work.

    `counts_resumed`: a resumed session's numbers hold the earlier parts. `tells_cost`: in dollars. `beats`: a long tool
    gives signs of life. `can_resume`, `has_schema`, `has_hooks`: whether it can be asked again, takes a JSON Schema,
    and runs a stop hook.
    """

    name: str
    program: str
    least: tuple[int, ...]
    install: str
    providers: tuple[Provider, ...]
    keys: Mapping[Provider, tuple[str, ...]]
    """Variables that hold a key for the model, in the order they are looked for."""
    direct: tuple[str, ...] = ()
    """Variables with credentials of another kind, which are handed to the program as they are."""
    logins: tuple[str, ...] = ()
    """Those of `direct` of which one must be set for the others to mean anything; empty: any of them."""
    roles: frozenset[Role] = frozenset(Role)
    """The roles that the program can be held to by its own means; for others the sandbox must hold it."""
    counts_resumed: bool = True
    tells_cost: bool = False
    beats: bool = False
    can_resume: bool = True
    has_schema: bool = False
    has_hooks: bool = False
    has_tools: bool = True
    """Whether it can call the tools of an MCP server."""
    most_idle: float = math.inf
    """Seconds of silence after which the program itself goes wrong."""


class CommandLine(Protocol):
    """An adapter. Holds no state: the same task gives the same words."""

    @property
    def facts(self) -> Facts: ...

    def provider(self, model: str) -> Provider:
        """Whose protocol is spoken for this model."""
        ...

    def prepare(self, task: AgentTask, door: Door) -> None:
        """Write the configuration below `task.home`. Nothing is written into the workspace."""
        ...

    def start(self, task: AgentTask, door: Door) -> Start:
        """The first process of the session."""
        ...

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        """A process that asks the ended session once more for its answer (`task.ask_again`), without any tool."""
        ...

    def reader(self, task: AgentTask) -> Reader: ...

    def may(self, role: Role, tool: str) -> bool:
        """Whether a session of this role may call the tool; a call that it may not is told in the report."""
        ...
