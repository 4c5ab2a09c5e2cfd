"""What `run` says while it goes on and at its end, and what it takes from the command line."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, environment, git, log, program, rows, run_cli, wait_until
from tests.cli.conftest import Finished, story


def one_spec(**more: object) -> World:
    return World({"01_a": [Req("01-REQ-1.1"), Req("01-REQ-2.1", 2)]}, **more)  # type: ignore[arg-type]


def story_lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines of the story without their time of day, columns closed up."""
    told = done.stdout.split("\n\n")[0].splitlines()
    return [" ".join(line.split()[1:]) for line in told]


def test_plain_lines_read_as_a_story(finished: Finished) -> None:
    assert finished.done.returncode == 2
    told = story_lines(finished.done)
    for line in (
        "01_calc:1 attempt 1 landed",
        "01_calc:3 Reread: asked again: the verifier gave no complete answer; no coder is charged",
        "01_calc:3 Recode: sent back to 01_calc:2 (attempt 2 of 3); fails 01-REQ-2.E1",
        "01_calc:3 PROVEN",
        "02_top:2 Block: stopped: no progress; fails 02-REQ-1.1",
        "03_dep waits for 02_top:2, which stopped",
    ):
        assert line in told, told
    assert any(line.startswith("01_calc:3 FAIL 01-REQ-2.E1 WHEN its proof is read") for line in told)
    assert any(line.startswith("issue filed: 02_top") and ".agent-fox/issues/0001-" in line for line in told)


def test_the_end_tells_what_is_proven_and_what_to_do_next(finished: Finished) -> None:
    end = finished.done.stdout.split("\n\n", 1)[1]
    commit = rows(finished.root, "SELECT verified_commit FROM plan_specs WHERE name = '01_calc'")[0][0]
    assert f"3 of 3  proven              3 judged; on {str(commit)[:12]}" in end
    page, shown = end.partition("\n\nthe work")[0], finished.tell("status")
    assert page == shown.partition("\n\nnext")[0]
    assert "take it over: git merge agent-fox/integration" in end
    assert "proof/01-REQ-1.1.txt" in end
    assert end.partition("\n\nnext")[2] == shown.partition("\n\nnext")[2]


def test_json_is_an_object_a_line_and_the_summary_is_the_last(tmp_path: Path) -> None:
    root = story().build(tmp_path / "w")
    done = run_cli(root, "run", "--parallel", "1", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    recodes = [event for event in events if event.get("decision") == "Recode"]
    recode = next(event for event in recodes if event["node"] == "01_calc:3")
    assert {key: recode[key] for key in ("kind", "node", "row", "failing", "blamed")} == {
        "kind": "decided", "node": "01_calc:3", "row": 8, "failing": ["01-REQ-2.E1"], "blamed": ["01_calc:2"],
    }  # fmt: skip
    summary = events[-1]
    assert (summary["kind"], summary["exit_code"], done.returncode) == ("summary", 2, 2)
    assert summary["requirements"] == {"proven": 3, "not_proven": 3, "waived": 0}
    assert summary["cost"]["total_usd"] == pytest.approx(0.5 * summary["sessions"])
    assert summary["next"] == ["agent-fox explain 02_top:2", "agent-fox reset 02_top:2"]
    assert [(b["node"], b["waiting"]) for b in summary["blocked"]] == [("02_top:2", ["03_dep:1", "03_dep:2"])]
    assert (root / summary["issues"][0]["where"]).is_file()


def test_everything_proven_exits_0_and_the_merge_is_next(tmp_path: Path) -> None:
    done = run_cli(one_spec().build(tmp_path / "w"), "run")
    assert done.returncode == 0, done
    assert done.stdout.rstrip().endswith(
        "next\n  git merge agent-fox/integration   take over the work, 2 commits ahead"
    )


def test_a_dry_run_tells_the_order_and_the_cost_and_touches_nothing(tmp_path: Path) -> None:
    root = one_spec().build(tmp_path / "w")
    done = run_cli(root, "run", "--dry-run", "--json")
    told = json.loads(done.stdout)
    assert [step["node"] for step in told["sessions"]] == ["01_a:1", "01_a:2", "01_a:3"]
    assert told["cost_usd"] == 1.5
    assert "assumed" in told["estimates"]["coder"]["source"]
    assert not (root / ".agent-fox" / "state.db").exists()
    assert git(root, "branch", "--list", "agent-fox/*") == ""
    assert log(root) == []


def test_a_dry_run_after_a_run_takes_its_cost_from_recorded_sessions(tmp_path: Path) -> None:
    world = one_spec(cost=0.25)
    root = world.build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    assert run_cli(root, "reset", "01_a:2").returncode == 0
    before = rows(root, "SELECT count(*) FROM decisions")
    told = run_cli(root, "run", "--dry-run").stdout
    assert "01_a:2  coder     attempt 2  $0.25" in told
    assert "a coder's session: $0.25, the mean of 2 recorded" in told
    assert "\n2 sessions, about $" in told
    assert [line for line in told.splitlines() if line != line.rstrip()] == []
    assert rows(root, "SELECT count(*) FROM decisions") == before


def test_a_max_cost_of_nothing_starts_nothing(tmp_path: Path) -> None:
    root = one_spec(cost=1.0).build(tmp_path / "w")
    done = run_cli(root, "run", "--max-cost", "0")
    assert (done.returncode, log(root)) == (3, [])
    assert "ceiling of the run" in done.stdout


def test_max_cost_counts_over_the_settings(tmp_path: Path) -> None:
    root = one_spec(cost=1.0, settings="[limits]\ncost_usd = 50.0\n").build(tmp_path / "w")
    done = run_cli(root, "run", "--max-cost", "1.2")
    assert done.returncode == 3
    assert "ceiling of the run" in done.stdout
    assert "agent-fox run --max-cost DOLLARS" in done.stdout
    assert [row["node"] for row in log(root)] == ["01_a:1"]
    assert run_cli(root, "run").returncode == 0


def test_only_the_specs_named_and_what_they_depend_on_are_run_and_counted(tmp_path: Path) -> None:
    specs = {name: [Req(f"{name[:2]}-REQ-1.1")] for name in ("01_a", "02_b", "03_c")}
    root = World(specs, depends={"02_b": "01_a"}).build(tmp_path / "w")
    done = run_cli(root, "run", "--spec", "02_b", "--json")
    assert done.returncode == 0, done
    assert {str(row["node"])[:4] for row in log(root)} == {"01_a", "02_b"}
    summary = json.loads(done.stdout.splitlines()[-1])
    assert [spec["name"] for spec in summary["specs"]] == ["01_a", "02_b"]


def test_a_spec_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = run_cli(one_spec().build(tmp_path / "w"), "run", "--spec", "07_x")
    assert done.returncode == 1
    assert done.stderr == "agent-fox: --spec 07_x: there is no such spec; there are: 01_a\n"


def test_everything_wrong_at_the_start_is_told_at_once_a_line_each(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")], "02_b": [Req("02-REQ-1.1")]}).build(tmp_path / "w")
    for name in ("01_a", "02_b"):
        (root / ".agent-fox" / "specs" / name / "tasks.md").write_text("<<<<<<< ours\n- [ ] 1. A\n>>>>>>> theirs\n")
    done = run_cli(root, "run")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert all(line.startswith("agent-fox: ") for line in lines)
    assert any("01_a/tasks.md" in line for line in lines)
    assert any("02_b/tasks.md" in line for line in lines)
    assert "--skip-broken" in lines[-1]


def test_changes_that_are_not_committed_are_a_warning(tmp_path: Path) -> None:
    root = one_spec().build(tmp_path / "w")
    (root / "notes.txt").write_text("mine")
    done = run_cli(root, "run")
    assert done.returncode == 0
    assert done.stderr == "agent-fox: warning: not committed, so agents do not see it: notes.txt\n"
    assert (root / "notes.txt").read_text() == "mine"


def begin(root: Path, *arguments: str) -> subprocess.Popen[str]:
    """A run under way, with its first session started. SIGINT is ignored, as in a shell's background."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        run = subprocess.Popen(
            program("run", *arguments), cwd=root, env=environment(), text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, handler)
    wait_until(lambda: running(root), "a session was started")
    return run


def running(root: Path) -> bool:
    if not (root / ".agent-fox" / "state.db").exists():
        return False
    try:
        return rows(root, "SELECT count(*) FROM launches WHERE status = 'running'") != [(0,)]
    except sqlite3.Error:  # the state is being made
        return False


def test_ctrl_c_once_finishes_what_runs_and_the_next_run_goes_on(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    root = one_spec(coder_does={"01_a:1/1": f"wait {gate}"}).build(tmp_path / "w")
    run = begin(root)
    run.send_signal(signal.SIGINT)
    said = run.stderr.readline() if run.stderr else ""
    gate.touch()
    out, _ = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "finishing what runs; press again to stop now" in said
    assert "01_a:1  attempt 1 landed" in out
    assert out.rstrip().endswith("next\n  agent-fox run   go on from here")
    assert run_cli(root, "run").returncode == 0
    assert [row["node"] for row in log(root)] == ["01_a:1", "01_a:2", "01_a:3"]


@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,), (signal.SIGHUP,)])
def test_ctrl_c_twice_or_a_termination_ends_what_runs_at_once(tmp_path: Path, signals: tuple[int, ...]) -> None:
    root = one_spec(seconds=60.0).build(tmp_path / "w")
    run = begin(root)
    begun = time.monotonic()
    said = ""
    for number in signals:
        run.send_signal(number)
        said += run.stderr.readline() if run.stderr else ""  # two that come before either is seen are one
    _, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert time.monotonic() - begun < 20
    assert "stopping what runs" in said + err
    assert rows(root, "SELECT status, attempt FROM plan_nodes WHERE id = '01_a:1'") == [("pending", 1)]


def test_a_second_run_says_which_process_holds_the_state(tmp_path: Path) -> None:
    root = one_spec(seconds=20.0).build(tmp_path / "w")
    run = begin(root)
    try:
        for arguments in (("run",), ("reset", "01_a:1")):
            done = run_cli(root, *arguments)
            assert done.returncode == 4
            assert f"process {run.pid}" in done.stderr
        status = json.loads(run_cli(root, "status", "--json").stdout)
        assert (status["status"], status["is_alive"]) == ("running", True)
        assert [one["node"] for one in status["running"]] == ["01_a:1"]
    finally:
        os.kill(run.pid, signal.SIGKILL)
        run.communicate()
    status = json.loads(run_cli(root, "status", "--json").stdout)
    assert (status["status"], status["is_alive"]) == ("running", False)
    assert "STOPPED  ended from outside; " in run_cli(root, "status").stdout.splitlines()[0]


def test_whom_to_notify_reads_the_summary_at_the_end(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    command = json.dumps(["sh", "-c", f"cat > {told}"])
    root = one_spec(settings=f"[notify]\ncommand = {command}\n").build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    assert json.loads(told.read_text())["requirements"] == {"proven": 2, "not_proven": 0, "waived": 0}


@pytest.mark.parametrize(
    ("command", "why"),
    [(["sh", "-c", "echo no mail >&2; exit 5"], "exit status 5, no mail"), (["no-such-program"], "No such file")],
)
def test_a_notify_command_that_fails_is_a_warning_only(tmp_path: Path, command: list[str], why: str) -> None:
    root = one_spec(settings=f"[notify]\ncommand = {json.dumps(command)}\n").build(tmp_path / "w")
    done = run_cli(root, "run")
    assert done.returncode == 0
    assert f"warning: [notify] command {command[0]}: {why}" in done.stderr


def test_a_broken_spec_that_is_skipped_counts_as_not_proven(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")], "02_b": [Req("02-REQ-1.1", right_at=NEVER)]}).build(tmp_path / "w")
    (root / ".agent-fox" / "specs" / "02_b" / "tasks.md").write_text("<<<<<<< ours\n- [ ] 1. A\n>>>>>>> theirs\n")
    done = run_cli(root, "run", "--skip-broken")
    assert done.returncode == 2
    assert "✗ 02_b  0 of 1  left out" in done.stdout


def test_an_agent_that_is_assumed_to_cost_nothing_is_free_and_not_unknown(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}, cost=None).build(tmp_path)
    done = run_cli(
        root, "run", AGENT_FOX__AGENTS__CODER__ASSUMED_COST_USD="0", AGENT_FOX__AGENTS__VERIFIER__ASSUMED_COST_USD="0"
    )
    assert done.returncode == 0, done
    assert "$0.00 spent\n" in done.stdout
    assert json.loads(run_cli(root, "status", "--json").stdout)["cost"]["known_usd"] == 0
    assert "cost unknown" not in run_cli(root, "explain", "01_a:1").stdout
