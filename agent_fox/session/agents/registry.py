"""The adapters that there are, by the name that settings use. Each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_fox.session.agents.command_line import CommandLine

ACP, COMMAND, AGENT = "acp", "command", "agent"
NAMES = ("claude", "codex", "gemini", "opencode", "mini", ACP)
"""The backends whose sessions a runner of ours always holds."""

ADAPTERS = (*NAMES, COMMAND)
"""With the one that it holds where `like = "agent"` asks for it."""


def is_watched(backend: str, like: str) -> bool:
    """Whether a runner of ours holds the sessions of this backend: sandbox, home, proxy, report and trace."""
    return backend in NAMES or (backend == COMMAND and like == AGENT)


def command_line(name: str) -> CommandLine:
    """The adapter of this name: `NAME` in upper case, of `adapter` in the package of the same name. Raises KeyError."""
    if name not in ADAPTERS:
        raise KeyError(name)
    adapter: CommandLine = getattr(import_module(f"agent_fox.session.agents.{name}.adapter"), name.upper())
    return adapter
