"""What one launch of an agent's command line needs to know: written by the backend, read by the runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import adapter, late_module
from agent_fox.core.values import dataclass
from agent_fox.session.workspaces.steps import Beginning  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    import pydantic

    from agent_fox.system.sandbox import bubblewrap
else:
    bubblewrap = late_module("agent_fox.system.sandbox.bubblewrap")
    pydantic = late_module("pydantic")


class Role(StrEnum):
    """What a session may do: edit and run, judge through the verifier's tools, or only read."""

    CODER = "coder"
    VERIFIER = "verifier"
    REVIEWER = "reviewer"


class Provider(StrEnum):
    """The provider whose protocol a program speaks to its model."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    GEMINI = "gemini"


UPSTREAMS: Mapping[Provider, tuple[tuple[str, ...], str]] = {
    Provider.ANTHROPIC: (("ANTHROPIC_BASE_URL",), "https://api.anthropic.com"),
    Provider.OPENAI: (("OPENAI_BASE_URL", "OPENAI_API_BASE"), "https://api.openai.com/v1"),
    Provider.GEMINI: (("GOOGLE_GEMINI_BASE_URL",), "https://generativelanguage.googleapis.com"),
}
"""Where each provider is: the variables that may say so, and where it is without them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings of one session. `wall`, `idle` and `answer` in seconds; None: no ceiling.

    `idle`: how long nothing may be heard while no tool runs. `answer`: how long a tool of an MCP server may take.
    `cost_usd` is the session's own, `left_usd` what the run had left when the session was launched.
    """

    wall: float
    idle: float
    answer: float
    turns: int | None = None
    cost_usd: float | None = None
    left_usd: float | None = None


@dataclass(frozen=True, slots=True)
class AgentTask:
    """One session of one program. All paths are absolute.

    `home` is its own HOME, empty at first, where adapters put configuration; `scratch` is its TMPDIR. `system` are the
    rules, `prompt` the brief. `schema` is the JSON Schema of the answer where one is wanted. `verifier` is the command
    that serves the verifier's tools over HTTP, empty where none are offered. `environment` is everything that the
    program and what it starts may see, without any key. `upstream` is where the model is, `provider` its protocol, None
    where nobody has said which: its requests then do not pass through us.
    `direct` names variables with credentials that must reach the program itself, because nobody else can use them.
    """

    cli: str
    program: str
    role: Role
    workspace: Path
    home: Path
    scratch: Path
    report: Path
    system: str
    prompt: str
    limits: Limits
    provider: Provider | None
    upstream: str
    environment: Mapping[str, str]
    model: str = ""
    effort: str = ""
    schema: Mapping[str, object] | None = None
    ask_again: str = ""
    """The question that a session whose answer could not be read is asked once more; empty: it is not."""
    verifier: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """Names of the verifier's tools that are offered."""
    sandbox: str = "off"
    readable: tuple[str, ...] = ()
    """Paths outside of the workspace that it may read inside the sandbox."""
    stop_gate: bool = False
    direct: tuple[str, ...] = ()
    login: Path | None = None
    """The file of the login that the metering proxy uses."""
    prices: Path | None = None
    arguments: tuple[str, ...] = ()
    """A person's own further arguments for the program."""
    beginning: Beginning | None = None
    """What a coder's session begins with, where the states of its files are to be taken."""
    transcript: Path | None = None
    """Where all that is said, called and shown is written down; None: nowhere."""

    @property
    def is_contained(self) -> bool:
        """Whether its program is that of a container's image."""
        return bubblewrap.container_in(self.sandbox) is not None

    @property
    def model_side(self) -> Provider:
        """The provider, for a program that has one always. Raises ValueError where there is none."""
        if self.provider is None:
            raise ValueError(f"{self.cli}: nobody has said whose models it asks")
        return self.provider


TASK: pydantic.TypeAdapter[AgentTask] = adapter(lambda: pydantic.TypeAdapter(AgentTask))


@dataclass(frozen=True, slots=True)
class Door:
    """Where a session reaches what we serve it, all on loopback. Made by the runner just before the program starts.

    `model_url` takes the requests to the model, with `model_key` as the key: the real one, or a word of this launch
    that the metering proxy knows. `mcp_url` and `mcp_token` are the verifier's tools, empty where there are none.
    `stop_command` is the argv of a stop hook (reads the hook's JSON; exit 0: may stop, exit 2: may not, with the reason
    on standard error), empty where none is wanted.
    """

    model_url: str
    model_key: str
    mcp_url: str = ""
    mcp_token: str = ""
    stop_command: tuple[str, ...] = ()
    is_login: bool = False
    """The way to the model is that of somebody who is logged in; `model_key` stands for the token."""
    cloud: Mapping[str, str] = field(default_factory=dict)
    """What leads a program to its cloud by us; `model_key` stands in it."""
    credentials: Mapping[str, str] = field(default_factory=dict)
    """The variables of `AgentTask.direct` with their values."""
