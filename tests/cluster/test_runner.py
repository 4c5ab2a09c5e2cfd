"""The runner of Temporal keeps to what every runner keeps to, with a real server and a real worker."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agent_fox.session.runners import Runner
from agent_fox.testing.cluster import Cluster, runner_at
from agent_fox.testing.runners import RunnerContract


class There:
    seconds = 20.0

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def runner(self) -> Runner:
        return runner_at(self.cluster.address)

    def spelled(self) -> tuple[str, Mapping[str, str]]:
        return "agent_fox.testing.cluster:from_environment", {"AGENT_FOX_TEST_ENGINE": self.cluster.address}


class TestOfTemporal(RunnerContract):
    @pytest.fixture(autouse=True)
    def served(self, shared: Cluster) -> None:
        self.place = There(shared)
