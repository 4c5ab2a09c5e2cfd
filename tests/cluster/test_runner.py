"""The runner of Temporal keeps to what every runner keeps to, with a real server and a real worker."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_fox.cluster.connection import Connection
from agent_fox.cluster.engine import engine_of
from agent_fox.cluster.sessions import Sessions
from agent_fox.cluster.worker import NICER, Worker
from agent_fox.config import ClusterSettings
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


def test_what_a_workers_session_starts_gives_way_to_its_signs_of_life(tmp_path: Path) -> None:
    connection = Connection(engine_of("temporal://127.0.0.1", ClusterSettings(), {}))
    pool = Worker(connection, {"coder": 1}, Sessions(tmp_path, "0", {}), print).pool
    argv = [sys.executable, "-c", "import os; print(os.nice(0))"]
    own, started = os.nice(0), pool.submit(subprocess.run, argv, stdout=subprocess.PIPE, check=True).result()
    pool.shutdown()
    assert (os.nice(0), int(started.stdout)) == (own, min(own + NICER, 19))
