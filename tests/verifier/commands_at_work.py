"""A workspace and the ways in which the tests of the runner run commands in it: with and without the sandbox."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_fox.system.processes import start_time
from agent_fox.system.sandbox.bubblewrap import SandboxMode, why_missing
from agent_fox.verifier.running.guarded import CommandEnd, CommandOrder, Progress, run_command
from agent_fox.verifier.running.limits import Limits

PYTHON = (sys.executable, "-I", "-S", "-c")
PLAIN = Limits(seconds=30.0, output_bytes=1 << 20)

needs_sandbox = pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox")
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")

both_ways = pytest.mark.parametrize(
    "mode",
    [pytest.param(SandboxMode.REQUIRE, marks=needs_sandbox, id="sandbox"), pytest.param(SandboxMode.OFF, id="off")],
)
"""Runs a test in the sandbox and without it, under the name `mode`."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace, and beside it a private folder for each command that runs in it."""

    root: Path
    beside: Path
    stop: threading.Event = field(default_factory=threading.Event)

    def order(
        self, *argv: str, cwd: str = ".", limits: Limits = PLAIN, environment: Mapping[str, str] | None = None
    ) -> CommandOrder:
        private = Path(tempfile.mkdtemp(prefix="private-", dir=self.beside))  # several threads may ask at once
        return CommandOrder(argv, self.root / cwd, self.root, private, environment or {}, limits)

    def run(self, order: CommandOrder, mode: SandboxMode, progress: Progress | None = None) -> tuple[CommandEnd, str]:
        """The end, and what was kept of the output."""
        kept = io.BytesIO()
        end = run_command(order, kept, mode, self.stop, progress)
        return end, kept.getvalue().decode("utf-8", "surrogateescape")

    def python(self, code: str, mode: SandboxMode, limits: Limits = PLAIN) -> tuple[CommandEnd, str]:
        return self.run(self.order(*PYTHON, code, limits=limits), mode)

    def shell(self, code: str, mode: SandboxMode, limits: Limits = PLAIN) -> tuple[CommandEnd, str]:
        return self.run(self.order("sh", "-c", code, limits=limits), mode)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for name in ("work", "beside"):
        (tmp_path / name).mkdir()
    return Workspace((tmp_path / "work").resolve(), (tmp_path / "beside").resolve())


def alive_with(mark: str) -> list[int]:
    """Processes on this machine whose command line holds `mark`, but for this one."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in words and start_time(int(place.name)) is not None:
            found.append(int(place.name))
    return [pid for pid in found if pid != os.getpid()]
