"""Where tools find what a private home hides from them: the compiler's own files, and caches for one verification."""

from __future__ import annotations

import os
from pathlib import Path


def toolchain(tool: str, shared: Path) -> dict[str, str]:
    """Variables for a tool. None of them leads to a folder with credentials."""
    if tool == "cargo" or tool == "rustc":
        rustup = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
        return {"CARGO_TERM_COLOR": "never", **({"RUSTUP_HOME": str(rustup)} if rustup.is_dir() else {})}
    if tool == "go":
        return {"GOCACHE": str(shared / "go-build"), "GOFLAGS": "-modcacherw"}
    return {}
