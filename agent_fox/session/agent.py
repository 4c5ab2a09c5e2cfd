"""An agent, and what its checkout is provided with, as values. The rest of a launch's order is in `order`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from agent_fox.core.values import dataclass

EVERY_BACKEND = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent as configured. `timeout` and `idle_timeout` are in seconds; `inherit` names variables of the
    orchestrator's environment; `models` maps a backend's name, or EVERY_BACKEND, to the model it is to use.

    `like` "agent": a runner of ours holds the sessions of its `command`. `provider` names whose models a program of the
    person's own choice asks; empty: nobody has said.

    A relative `command[0]` or `program` with a slash in it, and a relative `script`, count from the repository's root.
    """

    backend: str = "command"
    command: tuple[str, ...] = ()
    timeout: float = 3600.0
    environment: Mapping[str, str] = field(default_factory=dict)
    inherit: tuple[str, ...] = ()
    script: str | None = None
    program: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    effort: str = ""
    arguments: tuple[str, ...] = ()
    sandbox: str = "auto"
    idle_timeout: float = 600.0
    max_turns: int | None = None
    max_cost_usd: float | None = None
    tools: bool = True
    stop_hook: bool = True
    like: str = ""
    provider: str = ""

    @property
    def is_contained(self) -> bool:
        """Whether its `sandbox` names a container, in several words, and no mode."""
        return " " in self.sandbox

    @property
    def model(self) -> str:
        """The model for its backend; empty: the program's own choice."""
        return self.models.get(self.backend, self.models.get(EVERY_BACKEND, ""))


@dataclass(frozen=True, slots=True)
class Provisions:
    """What a fresh checkout lacks: `setup` commands, and paths of the repository (globs) to `copy` or
    `link` in.
    """

    setup: tuple[str | tuple[str, ...], ...] = ()
    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
