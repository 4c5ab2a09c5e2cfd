"""Whether a spec's folder asks for specifications; `library_files` reads them, and takes longer to load."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_fox.core.spec import Spec

FILE = "specifications.toml"


def has_library(spec: Spec, root: Path) -> bool:
    return not spec.is_withdrawn and os.path.lexists(f"{root}/{spec.path}/{FILE}")
