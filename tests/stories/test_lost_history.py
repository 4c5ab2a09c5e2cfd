"""A history that does not hold together is never the ground of exit 0: the run stops, and says how to go on."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from agent_fox.evidence import witness
from agent_fox.testing.worlds import Req, World, git, run_cli

LOST = "agent-fox ledger accept-loss --reason TEXT"


def told(root: Path, *arguments: str, environ: dict[str, str]) -> CompletedProcess[str]:
    """What the program says in this environment."""
    return run_cli(root, *arguments, timeout=120, data=None, **environ)


@pytest.fixture
def here(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A repository whose run has ended, proven, and a person's own state folder."""
    root = World({"01_bell": [Req("01-REQ-1.1")]}).build(tmp_path / "world")
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    done = told(root, "run", environ=environ)
    assert done.returncode == 0, done
    return root, environ


def state_of(root: Path) -> Path:
    return root / ".agent-fox/state.db"


def cut(root: Path, state: bytes) -> None:
    """The state file as it was, without what its write-ahead log held: what a lost log leaves."""
    for path in root.glob(".agent-fox/state.db*"):
        path.unlink()
    state_of(root).write_bytes(state)


def empty_state(tmp_path: Path) -> bytes:
    """What is left of a new state whose whole content was in the log that is lost."""
    path = tmp_path / "empty.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    return path.read_bytes()


def test_a_state_that_lost_its_log_stops_the_run_until_a_person_accepts_the_loss(
    here: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    root, environ = here
    before = git(root, "rev-parse", "agent-fox/integration")
    cut(root, empty_state(tmp_path))
    done = told(root, "run", environ=environ)
    assert (done.returncode, len(done.stderr.splitlines())) == (4, 1), done
    assert "does not hold together" in done.stderr
    assert LOST in done.stderr
    assert git(root, "rev-parse", "agent-fox/integration") == before
    accepted = told(root, "ledger", "accept-loss", "--reason", "the disk was full", "--json", environ=environ)
    assert accepted.returncode == 0, accepted
    document = json.loads(accepted.stdout)
    assert document["reason"] == "the disk was full"
    assert document["who"]
    assert document["noted"]["position"] > document["found"]["position"] == 0
    again = told(root, "run", environ=environ)
    assert (again.returncode, "launched" in again.stdout or "begins" in again.stdout) == (0, True), again
    verified = told(root, "ledger", "verify", environ=environ)
    assert verified.returncode == 0, verified
    assert "the disk was full" in verified.stdout
    assert told(root, "ledger", "export", "out.jsonl", "--unsigned", environ=environ).returncode == 0
    carried = told(root, "ledger", "verify", "--export", "out.jsonl", environ=environ).stdout
    assert "the disk was full" in carried
    assert f"which begins with {git(root, 'rev-list', '--max-parents=0', 'HEAD')[:12]}" in carried


def test_an_older_state_that_was_put_back_is_told_by_status_gate_reset_and_run(
    here: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    root, environ = here
    older = state_of(root).read_bytes()
    assert told(root, "reset", "01_bell:1", environ=environ).returncode == 0
    with closing(sqlite3.connect(state_of(root))) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert told(root, "run", environ=environ).returncode == 0
    cut(root, older)
    for arguments, code in ((["run"], 4), (["reset", "01_bell:1"], 4), (["status"], 0)):
        done = told(root, *arguments, environ=environ)
        text = " ".join((done.stdout + done.stderr).split())
        assert (done.returncode, "the ledger ends at record" in text) == (code, True), done
        assert LOST in text
    assert json.loads(told(root, "status", "--json", environ=environ).stdout)["ledger_lost"]
    assert "0 of 1  not believed" in told(root, "status", environ=environ).stdout
    assert "not proven now" in told(root, "explain", "01-REQ-1.1", environ=environ).stdout
    gate = told(root, "gate", "--task-id", "01_bell:1@1", environ=environ)
    assert (gate.returncode, "the ledger cannot be believed" in gate.stdout) == (2, True), gate


def test_a_plan_from_which_rows_were_deleted_is_the_ground_of_nothing(tmp_path: Path) -> None:
    root = World({"01_bell": [Req("01-REQ-1.1")], "02_door": [Req("02-REQ-1.1")]}).build(tmp_path / "world")
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    assert told(root, "run", environ=environ).returncode == 0
    past_the_engine(root, "DELETE FROM plan_parts WHERE spec_name = '02_door'")
    for arguments, code in (
        (["run"], 4), (["run", "--dry-run"], 4), (["reset", "01_bell:1"], 4),
        (["gate", "--task-id", "01_bell:1@1"], 2), (["status"], 0), (["explain", "01-REQ-1.1"], 0),
    ):  # fmt: skip
        done = told(root, *arguments, environ=environ)
        assert (done.returncode, "not those of the ledger" in done.stdout + done.stderr) == (code, True), done
    shown = json.loads(told(root, "ledger", "show", "01-REQ-1.1", "--json", environ=environ).stdout)
    assert (shown["is_proven_now"], shown["how"]) == (False, "")
    assert told(root, "ledger", "export", "out.jsonl", "--unsigned", environ=environ).returncode == 2
    assert told(root, "ledger", "rebuild", "--install", environ=environ).returncode == 0
    shown = json.loads(told(root, "ledger", "show", "01-REQ-1.1", "--json", environ=environ).stdout)
    assert (shown["is_proven_now"], shown["disbelieved"]) == (True, "")


def test_a_trigger_that_changes_what_the_engine_writes_stops_the_run(here: tuple[Path, dict[str, str]]) -> None:
    root, environ = here
    with closing(sqlite3.connect(state_of(root))) as db:
        db.execute("CREATE TRIGGER kind AFTER INSERT ON sessions BEGIN UPDATE plan_specs SET title = 'other'; END")
    done = told(root, "run", environ=environ)
    assert (done.returncode, "triggers of the state file are not ours (kind)" in done.stderr) == (4, True), done
    assert told(root, "ledger", "rebuild", "--install", environ=environ).returncode == 0
    assert told(root, "run", environ=environ).returncode == 0


def past_the_engine(root: Path, statement: str) -> None:
    """What a program with the whole file may do, which leaves the guards as they were."""
    with closing(sqlite3.connect(state_of(root))) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        guards = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f"DROP TRIGGER {name}")
        assert db.execute(statement).rowcount, f"{statement} changes nothing"
        for _, sql in guards:
            db.execute(sql)
        db.commit()


def test_a_note_that_is_damaged_is_no_note_that_fits(here: tuple[Path, dict[str, str]]) -> None:
    root, environ = here
    note = witness.path_of(environ, root)
    note.write_text('{"position": "many"}')
    done = told(root, "run", environ=environ)
    assert (done.returncode, "damaged" in done.stderr, LOST in done.stderr) == (4, True, True), done
    assert told(root, "ledger", "accept-loss", "--reason", "a slip", environ=environ).returncode == 0
    assert told(root, "run", environ=environ).returncode == 0


def test_without_a_note_nothing_changes_and_there_is_nothing_to_accept(
    here: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    root, environ = here
    done = told(root, "ledger", "accept-loss", "--reason", "to be sure", environ=environ)
    assert (done.returncode, "nothing is lost" in done.stderr) == (1, True), done
    witness.path_of(environ, root).unlink()
    cut(root, empty_state(tmp_path))
    assert told(root, "run", environ=environ).returncode == 0


def test_a_session_cannot_accept_a_loss(here: tuple[Path, dict[str, str]]) -> None:
    root, environ = here
    done = told(root, "ledger", "accept-loss", "--reason", "mine", environ={**environ, "AGENT_FOX_LAUNCH": "x"})
    assert (done.returncode, "a session cannot accept a loss" in done.stderr) == (1, True), done


def test_a_state_that_a_person_removed_begins_anew(here: tuple[Path, dict[str, str]]) -> None:
    root, environ = here
    for path in root.glob(".agent-fox/state.db*"):
        path.unlink()
    done = told(root, "run", environ=environ)
    assert (done.returncode, "the state is a new one" in done.stdout) == (0, True), done
