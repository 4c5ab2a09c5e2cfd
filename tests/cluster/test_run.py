"""Whole runs whose sessions are done by workers: the same end as on one machine, and nothing paid or landed twice."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.cluster import Cluster
from agent_fox.testing.worlds import Req, World, rows, run_cli


def run_there(root: Path, cluster: Cluster, *words: str) -> tuple[int, str]:
    done = run_cli(root, "run", "--engine", cluster.address, *words, **cluster.variables())  # type: ignore[arg-type]
    return done.returncode, done.stdout + done.stderr


def end_state(root: Path) -> list[tuple[object, ...]]:
    """What a run came to, without times and names of launches."""
    return [
        *rows(root, "SELECT id, status, outcome, attempt, reading FROM plan_nodes ORDER BY id"),
        *rows(root, "SELECT node_id, attempt, reading, end_kind FROM sessions ORDER BY node_id, attempt, reading"),
        *rows(root, "SELECT kind, count(*) FROM decisions GROUP BY kind ORDER BY kind"),
    ]


def test_a_fail_is_repaired_and_proven_by_workers_as_on_one_machine(shared: Cluster, tmp_path: Path) -> None:
    story = World({"01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", right_at=2)]})
    here, there = story.build(tmp_path / "here"), story.build(tmp_path / "there")
    assert run_cli(here, "run").returncode == 0
    code, said = run_there(there, shared)
    assert code == 0, said + shared.logs()
    assert end_state(there) == end_state(here)
    assert {name for (name,) in rows(there, "SELECT DISTINCT runner FROM launches")} == {f"{shared.address}/default"}
