"""Where the real agent command lines are: below the folder that AGENT_FOX_TEST_CLIS names."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "AGENT_FOX_TEST_CLIS"
BINS = ("node_modules/.bin", "mini/bin", "bin")


def program(name: str) -> Path | None:
    """The program, or None where there is none."""
    root = os.environ.get(VARIABLE)
    found = (Path(root) / folder / name for folder in BINS) if root else iter(())
    return next((path for path in found if os.access(path, os.X_OK)), None)
