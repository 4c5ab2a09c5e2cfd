"""The provers of the extra `formal`: whether they are here, and which. Nothing is proved here."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module

if TYPE_CHECKING:
    from importlib import metadata
else:
    metadata = late_module("importlib.metadata")

REMEDY = "pip install 'agent-fox[formal]'"


def why_missing() -> str:
    """Why nothing can be proved here; empty where it can."""
    lacking = [name for name, is_here in (("CrossHair", has_crosshair()), ("z3", bool(solver()))) if not is_here]
    return f"{' and '.join(lacking)} missing: {REMEDY}" if lacking else ""


def has_crosshair() -> bool:
    return importlib.util.find_spec("crosshair") is not None


def solver() -> str:
    """The program `z3` that belongs to this interpreter, else the one on PATH; empty where there is none."""
    own = shutil.which("z3", path=str(Path(sys.executable).parent))
    return own or shutil.which("z3") or ""


@cache
def version_of(package: str) -> str:
    """`crosshair-tool 0.0.113`; the name alone where the version cannot be read."""
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return package
