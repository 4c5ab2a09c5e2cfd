"""Which agent-fox this is. Apart from `main`, because asking the package metadata takes time."""

from __future__ import annotations

from importlib import metadata


def installed() -> str:
    """The installed version, or words that say there is none."""
    try:
        return metadata.version("agent-fox")
    except metadata.PackageNotFoundError:
        return "(not installed)"
