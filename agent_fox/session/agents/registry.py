"""The adapters that there are, by the name that settings use. Each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_fox.session.agents.command_line import CommandLine

NAMES = ("claude", "codex", "gemini", "opencode", "mini")


def command_line(name: str) -> CommandLine:
    """The adapter of this name: `NAME` in upper case, of `adapter` in the package of the same name. Raises KeyError."""
    if name not in NAMES:
        raise KeyError(name)
    adapter: CommandLine = getattr(import_module(f"agent_fox.session.agents.{name}.adapter"), name.upper())
    return adapter
