"""What every runner keeps to: the suite that ships, held against the runners of this package."""

from __future__ import annotations

from collections.abc import Mapping

from agent_fox.session.local_runner import LocalRunner
from agent_fox.session.runners import Runner
from agent_fox.testing.runners import RunnerContract


class Here:
    seconds = 10.0

    def runner(self) -> Runner:
        return LocalRunner()

    def spelled(self) -> tuple[str, Mapping[str, str]]:
        return "agent_fox.testing.runners:local_runner", {}


class TestOfTheLocalRunner(RunnerContract):
    place = Here()
