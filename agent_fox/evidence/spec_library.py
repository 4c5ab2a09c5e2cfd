"""Whether a spec's folder asks for specifications; `library_files` reads them, and takes longer to load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_fox.core.spec import Spec

FILE = "specifications.toml"


def has_library(spec: Spec, root: Path) -> bool:
    path = root / spec.path / FILE
    return not spec.is_withdrawn and (path.is_symlink() or path.exists())
