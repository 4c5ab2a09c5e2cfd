"""Which agent-fox this is. Apart from `main`, because asking the package metadata takes time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.late import late_module

if TYPE_CHECKING:
    from importlib import metadata
else:
    metadata = late_module("importlib.metadata")


def installed() -> str:
    """The installed version, or words that say there is none."""
    try:
        return metadata.version("agent-fox")
    except metadata.PackageNotFoundError:
        return "(not installed)"
