"""A verifier from its context and the plugins that are installed. Imports much: see `late_verifier`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.engine.planning.plugged_parsers import parsers_of
from agent_fox.plugins import load_plugins
from agent_fox.verifier.plans.toolbox import Verifier

if TYPE_CHECKING:
    from pathlib import Path

    from agent_fox.verifier.profiles.context import RunContext


def verifier_of(context: RunContext, formats: tuple[Path, ...] = ()) -> Verifier:
    """Raises BadFormat for a file that is no format, and PluginError for a plugin that cannot be used."""
    return Verifier(replace(context, parsers=parsers_of(load_plugins(), formats)))
