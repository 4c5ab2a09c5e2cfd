"""A verifier for tests of the server alone, and ways to reach a server that has it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from mcp.server.mcpserver import MCPServer

from agent_fox.mcp.runs import Runs
from agent_fox.mcp.server import build_server
from agent_fox.verifier.artifacts.index import ArtifactError
from agent_fox.verifier.ground.request import Refused, Request
from agent_fox.verifier.ground.results import Failure, FailureKind, Status, Tool, VerificationResult
from agent_fox.verifier.logs.registry import BUILT_IN, UnknownTool
from agent_fox.verifier.profiles.context import Progress
from agent_fox.verifier.profiles.loading import built_in
from agent_fox.verifier.profiles.model import Profile
from agent_fox.verifier.projects.systems import BuildSystem, Detection, SystemKind
from agent_fox.verifier.reporting.report import Step, StepOutcome, VerificationReport

SLOW = "slow"
CRASHES = "crashes"
GONE = "gone"
SECRET_PATH = "/home/somebody/workspace"


@dataclass
class ScriptedToolbox:
    """Fakes every answer of a verifier: nothing is detected, built or read. What it does by module:

    `slow` starts a real process and waits until it is told to stop, `crashes` raises what nobody foresaw, `gone` finds
    no workspace, any other that is not in `modules` is refused. All else fails with as many failures as `failures`.
    """

    modules: tuple[str, ...] = ()
    failures: int = 1
    message: str = "expected 3, got 4"
    may_format: bool = False
    reports: dict[tuple[str, int], VerificationReport] = field(default_factory=dict)
    children: list[int] = field(default_factory=list)
    running: int = 0
    most_at_once: int = 0
    has_begun: threading.Event = field(default_factory=threading.Event)

    def profile(self) -> Profile:
        return built_in()["python"]

    def detect(self) -> Detection:
        return Detection((BuildSystem(SystemKind.PYTHON, ".", "pyproject.toml", self.modules, None, "python"),))

    def run(
        self, request: Request, *, stop: threading.Event, progress: Callable[[Progress], None]
    ) -> VerificationResult:
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            return self._ran(request, stop, progress)
        finally:
            self.running -= 1

    def _ran(self, request: Request, stop: threading.Event, progress: Callable[[Progress], None]) -> VerificationResult:
        match request.module:
            case "slow":
                self._wait(stop, progress)
            case "crashes":
                raise RuntimeError(f"{SECRET_PATH} is broken")
            case "gone":
                raise FileNotFoundError(2, "No such file or directory", SECRET_PATH)
            case str() as module if module not in self.modules:
                raise Refused("unknown_module", f"there is no module {module!r}")
        return self.result(request.tool, request.selector)

    def _wait(self, stop: threading.Event, progress: Callable[[Progress], None]) -> None:
        child = subprocess.Popen(["sleep", "300"], start_new_session=True)
        self.children.append(child.pid)
        self.has_begun.set()
        started = time.monotonic()
        while not stop.wait(0.05):
            progress(Progress(time.monotonic() - started, 300.0, 1234))
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()

    def result(self, tool: Tool, selector: str | None = None) -> VerificationResult:
        """One test that failed, as often as was asked for."""
        failure = Failure(FailureKind.TEST_FAILURE, self.message, "tests/test_cart.py", 7, test_name="test_total")
        return VerificationResult(
            tool=tool,
            status=Status.FAILED if self.failures else Status.PASSED,
            profile="python",
            command=("python", "-m", "pytest"),
            summary=f"{self.failures} tests failed",
            selector=selector,
            failures=(failure,) * self.failures,
        )

    def summarize(self, artifact_uri: str, tool: str) -> VerificationResult:
        if "missing" in artifact_uri:
            raise ArtifactError("there is no such artifact")
        if tool not in BUILT_IN.words():
            raise UnknownTool(f"there is no parser for the tool {tool!r}")
        return self.result(Tool.UNIT_TESTS)

    def report(self, run: str | None = None, attempt: int | None = None) -> VerificationReport | None:
        return self.reports.get((run or "run-1", attempt or 1))


def report(results: int = 1) -> VerificationReport:
    """A report with as many failing steps."""
    failed = ScriptedToolbox(failures=3).result(Tool.UNIT_TESTS)
    outcomes = tuple(StepOutcome(Step(Tool.UNIT_TESTS), failed) for _ in range(results))
    return VerificationReport("run-1", 1, "python", "ordinary", outcomes=outcomes, created_at="2026-01-01T00:00:00Z")


def scripted_server(box: ScriptedToolbox) -> MCPServer:
    """The server over it."""
    return build_server(box, "0", Runs())


def is_alive(pid: int) -> bool:
    """Whether a process still runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
