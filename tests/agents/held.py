"""Whole sessions of a real agent's program under our runner, as the engine has them: proxy, verifier, stop gate, ends.

Fake: the model, and with it the key. Real: the runner, the program, the verifier's server, the workspace.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agent_fox.session.agents.registry import command_line
from agent_fox.session.agents.report import AgentReport, read_report
from agent_fox.session.agents.task import TASK, AgentTask
from agent_fox.system.sandbox.bubblewrap import why_missing
from agent_fox.testing.model_server import ModelServer
from tests.agents.world import PATHS

REAL_KEY = "sk-the-real-key-of-a-person-0123456789"
SECONDS = 180.0
IN_SANDBOX = pytest.param("require", marks=pytest.mark.skipif(bool(why_missing()), reason="no sandbox here"))
SANDBOXES = ["off", IN_SANDBOX]

Then = Callable[[subprocess.Popen[str]], object]


@dataclass(frozen=True)
class Held:
    """What a session under the runner left: report, exit status, answer, log, and the seconds that it took."""

    report: AgentReport
    status: int
    answer: str
    log: str
    seconds: float


def with_verifier(task: AgentTask, *tools: str) -> AgentTask:
    """The task with the verifier's own server for its workspace; by default with the tool that runs the tests."""
    artifacts = str(task.report.with_name("artifacts"))
    words = ("mcp", "verifier", "--http", "--port", "0", "--root", str(task.workspace), "--artifacts", artifacts)
    command = (sys.executable, "-P", "-m", "agent_fox.cli.main", *words, "--sandbox", "off")
    return replace(task, verifier=command, tools=tools or ("run_unit_tests",))


def hold(task: AgentTask, server: ModelServer, then: Then | None = None, **changes: Any) -> Held:  # noqa: ANN401
    """Run the runner to its end. `then` is called with its process once it runs; changes: fields of the task."""
    own = {**task.environment, "HOME": str(task.home), "TMPDIR": str(task.scratch)}
    address = f"{server.url}{PATHS.get(task.cli, '')}"
    whole = replace(task, **{"environment": own, "upstream": address, **changes})
    document = task.report.with_name("task.json")
    document.write_bytes(TASK.dump_json(whole))
    key = command_line(task.cli).facts.keys[task.model_side][0]
    environment = {**own, "HOME": os.environ["HOME"], key: REAL_KEY}
    argv = (sys.executable, "-P", "-m", "agent_fox.session.agents.runner.main", str(document))
    began = time.monotonic()
    with subprocess.Popen(
        argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as runner:
        try:
            if then is not None:
                then(runner)
            answer, log = runner.communicate(timeout=SECONDS)
        finally:
            runner.kill()
    report = read_report(task.report)
    assert report is not None, log
    return Held(report, runner.returncode, answer, log, time.monotonic() - began)


def left_over(launch: str) -> list[str]:
    """Command lines of what still runs with the name of a launch in its environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"AGENT_FOX_LAUNCH={launch}".encode() in (place / "environ").read_bytes():
                found.append((place / "cmdline").read_text(encoding="utf-8"))
        except OSError:
            continue
    return [line for line in found if line]
