"""The state file: made, migrated, locked, durable; every way in which it can be unusable is said in one line."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.store import sessions
from agent_fox.store import state as states
from agent_fox.store.light import FORMATS
from agent_fox.store.records import record_event
from agent_fox.store.schema.migrations import MIGRATIONS
from agent_fox.store.state import (
    LockHeld,
    NoState,
    StateError,
    StateStuck,
    checkpoint,
    open_state,
    read_state,
    single_writer,
    transaction,
)
from agent_fox.store.values import insert
from agent_fox.testing.worlds import wait_until
from tests.store.world import AT, fill, state, stranger

HEADER = "import os, resource, subprocess, sys, time\nfrom pathlib import Path\nfrom agent_fox.store.state import *\n"


@contextmanager
def program(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Another process that runs `code` and says `ready` when it got there."""
    argv = [sys.executable, "-c", HEADER + code, *map(str, arguments)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def events(folder: Path) -> int:
    with stranger(folder) as connection:
        return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])


def test_a_state_file_is_made_where_there_was_none_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "odd ?#% name" / "state.db"
    db = open_state(path)
    insert(db, "runs", {"started_at": AT})
    db.close()
    with read_state(path) as again:
        assert again.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        assert sessions.open_run(again) == 1


def test_commits_are_durable_and_readers_are_not_blocked_by_design(tmp_path: Path) -> None:
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "recursive_triggers": 1}
    with state(tmp_path) as db:
        assert {name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted} == wanted


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        before = list(db.conn.iterdump())
    with state(tmp_path) as db:
        assert list(db.conn.iterdump()) == before


def test_programs_that_make_the_state_at_the_same_time_do_not_disturb_each_other(tmp_path: Path) -> None:
    code = "open_state(Path(sys.argv[1])).close(); print('ready')"
    argv = [sys.executable, "-c", HEADER + code, str(tmp_path / "state.db")]
    programs = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    assert [one.communicate() for one in programs] == [(b"ready\n", b"")] * 4


def test_a_state_from_a_newer_version_is_refused_with_the_remedy_and_left_alone(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        db.execute("PRAGMA user_version = 4711")
    before = (tmp_path / "state.db").read_bytes()
    for opening in (open_state, read_state):
        with pytest.raises(StateError, match=r"newer agent-fox .* install that version or a later one"):
            opening(tmp_path / "state.db")
    assert (tmp_path / "state.db").read_bytes() == before


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database " * 500)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:8192])


def overwritten(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + os.urandom(len(whole) - 4096))


def foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE runs (lap INTEGER)")
    connection.close()


@pytest.mark.parametrize("damage", [garbage, cut_short, overwritten, foreign])
def test_a_file_that_is_not_a_sound_state_is_refused_before_anything_is_written(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "state.db"
    with state(tmp_path) as db:
        fill(db)
    damage(path)
    with pytest.raises(StateError, match=r"state\.db: (cannot be read .* restore|not agent-fox state) .*move it away"):
        open_state(path)


def test_somebody_elses_database_gets_no_table_of_ours(tmp_path: Path) -> None:
    (tmp_path / "state.db").touch()
    foreign(tmp_path / "state.db")
    with pytest.raises(StateError):
        open_state(tmp_path / "state.db")
    with stranger(tmp_path) as connection:
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("runs",)]


def test_a_place_that_cannot_hold_a_state_is_named_with_what_to_check(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "state.db").mkdir()
    for path in (tmp_path / "file" / "state.db", tmp_path / "state.db"):
        with pytest.raises(StateError, match="check what is there"):
            open_state(path)
        with pytest.raises(StateError, match="check what is there"), single_writer(path):
            pass


def test_reading_makes_no_state_and_says_what_does(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with pytest.raises(NoState, match="there is no state yet; `agent-fox run` makes it"):
        read_state(path)
    assert not path.exists()
    path.touch()
    with pytest.raises(NoState, match="there is no state yet"):
        read_state(path)


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
    with read_state(tmp_path / "state.db") as reader, pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM plan_parts")


HOLD = """
with single_writer(Path(sys.argv[1])):
    if sys.argv[2:]:
        subprocess.Popen(sys.argv[2:], close_fds=False, stdout=subprocess.DEVNULL)
    print('ready', flush=True)
    time.sleep(60)
"""


def test_a_second_writer_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "run.lock"
    with program(HOLD, lock) as holder:
        assert said(holder) == "ready"
        held = rf"run\.lock: .*\(process {holder.pid}\) .* wait for it or stop it"
        with pytest.raises(LockHeld, match=held), single_writer(lock):
            pass


def test_the_lock_is_free_once_its_holder_leaves(tmp_path: Path) -> None:
    lock = tmp_path / "run.lock"
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), single_writer(lock):
            raise ZeroDivisionError
    with single_writer(lock):
        assert lock.read_text() == str(os.getpid())


def test_the_lock_ends_with_its_holder_though_a_child_lives_on(tmp_path: Path) -> None:
    lock, child = tmp_path / "run.lock", tmp_path / "child"
    with program(HOLD, lock, "sh", "-c", f"echo $$ > {child}.new; mv {child}.new {child}; exec sleep 60") as holder:
        assert said(holder) == "ready"
        while not child.exists():
            assert holder.poll() is None
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    number = int(child.read_text())
    try:
        os.kill(number, 0)
        with single_writer(lock):
            pass
    finally:
        os.kill(number, signal.SIGKILL)


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        with suppress(KeyboardInterrupt), transaction(db):
            record_event(db, AT, None, "first")
            raise KeyboardInterrupt
        assert events(tmp_path) == 0
        with transaction(db):
            record_event(db, AT, None, "first")
            record_event(db, AT, None, "second")
            assert events(tmp_path) == 0
        assert events(tmp_path) == 2


def test_a_transaction_inside_another_is_refused_and_undoes_it(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        with pytest.raises(RuntimeError, match="already open"):
            outer_and_inner(db)
        assert events(tmp_path) == 0


def outer_and_inner(db: Database) -> None:
    with transaction(db):
        record_event(db, AT, None, "outer")
        with transaction(db):
            pass


def test_what_is_refused_only_at_the_commit_leaves_the_state_usable(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        before = events(tmp_path)
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            supersede_by_nothing(db)
        with transaction(db):
            record_event(db, AT, None, "after it")
        assert events(tmp_path) == before + 1


def supersede_by_nothing(db: Database) -> None:
    with transaction(db):
        record_event(db, AT, None, "with it")
        db.execute("UPDATE verification_results SET superseded_by = 4 WHERE id = 2")


def test_a_kill_in_the_middle_of_a_transaction_leaves_nothing_of_it(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
    before = events(tmp_path)
    code = """
db = open_state(Path(sys.argv[1]))
db.execute("PRAGMA cache_size = 1")
with transaction(db):
    for number in range(2000):
        db.execute("INSERT INTO events (at, kind, data) VALUES ('now', 'half', ?)", ["x" * 500])
    print('ready', flush=True)
    time.sleep(60)
"""
    with program(code, tmp_path / "state.db") as writer:
        assert said(writer) == "ready"
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    with state(tmp_path):
        assert events(tmp_path) == before


def test_a_state_that_cannot_grow_says_so_and_keeps_what_it_has(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        before = events(tmp_path)
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StateStuck, match="the disk is full: free some space, then run again"):
            write_much(db)
        assert events(tmp_path) == before
        db.execute(f"PRAGMA max_page_count = {pages + 1000}")
        with transaction(db):
            record_event(db, AT, None, "room again")
        assert events(tmp_path) == before + 1


def write_much(db: Database) -> None:
    with transaction(db):
        for _ in range(100):
            record_event(db, AT, None, "filler", data={"text": "x" * 1000})


def test_a_disk_that_takes_no_more_bytes_leaves_nothing_half_written(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
    before = events(tmp_path)
    code = """
db = open_state(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    with transaction(db):
        for number in range(1000):
            db.execute("INSERT INTO events (at, kind, data) VALUES ('now', 'half', ?)", ["x" * 1000])
except StateStuck as error:
    print('stuck', flush=True)
"""
    with program(code, tmp_path / "state.db") as writer:
        assert said(writer) == "stuck"
        writer.wait()
    with state(tmp_path):
        assert events(tmp_path) == before


def test_reading_goes_on_while_a_transaction_is_open_and_does_not_hold_it_up(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        before = events(tmp_path)
        with read_state(tmp_path / "state.db") as reader:
            reader.execute("PRAGMA busy_timeout = 0")
            reader.execute("BEGIN")
            with transaction(db):
                record_event(db, AT, None, "new")
                assert reader.execute("SELECT count(*) FROM events").fetchone() == (before,)
            assert reader.execute("SELECT count(*) FROM events").fetchone() == (before,)
            reader.execute("COMMIT")
            assert reader.execute("SELECT count(*) FROM events").fetchone() == (before + 1,)


def test_a_writer_that_is_soon_done_is_waited_for(tmp_path: Path) -> None:
    code = """
db = open_state(Path(sys.argv[1]))
with transaction(db):
    print('ready', flush=True)
    time.sleep(0.3)  # nothing tells that a writer waits for the lock: it gets time to
    db.execute("INSERT INTO events (at, kind) VALUES ('now', 'theirs')")
"""
    with state(tmp_path) as db, program(code, tmp_path / "state.db") as other:
        assert said(other) == "ready"
        with transaction(db):
            record_event(db, AT, None, "ours")
            assert [kind for (kind,) in db.execute("SELECT kind FROM events ORDER BY id")] == ["theirs", "ours"]


def test_the_log_stays_small_when_it_is_moved_into_the_file_between_sessions(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        checkpoint(db)
        for _ in range(200):
            with transaction(db):
                record_event(db, AT, None, "more", data={"text": "x" * 2000})
            checkpoint(db)
        assert (tmp_path / "state.db-wal").stat().st_size < 1_000_000
    assert not (tmp_path / "state.db-wal").exists()


def test_who_only_reads_knows_how_many_formats_there_are() -> None:
    assert len(MIGRATIONS) == FORMATS


def test_a_state_that_another_host_writes_is_refused_by_its_name_and_taken_when_that_is_dead(tmp_path: Path) -> None:
    lock, beside = tmp_path / "run.lock", tmp_path / states.HOST
    beside.write_text("another-boot 4711 upstairs")
    with pytest.raises(LockHeld, match=r"host upstairs \(process 4711\)"), single_writer(lock):
        pass
    assert beside.read_text() == "another-boot 4711 upstairs"
    long_ago = time.time() - states.STALE - 1
    os.utime(beside, (long_ago, long_ago))
    with single_writer(lock):
        assert beside.read_text() == states.host()
    assert not beside.exists()


def test_what_this_host_left_when_it_was_killed_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / states.HOST).write_text(states.host())
    with single_writer(tmp_path / "run.lock"):
        pass


def test_a_sign_of_life_is_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "BEAT", 0.02)
    beside = tmp_path / states.HOST
    with single_writer(tmp_path / "run.lock"):
        os.utime(beside, (1, 1))
        wait_until(lambda: beside.stat().st_mtime > 1, "the sign was renewed")


def test_who_slept_while_another_host_took_the_state_leaves_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A laptop that is opened again after hours: its locks are not heard on the other host, nor those from there."""
    monkeypatch.setattr(states, "BEAT", 0.02)
    beside, state = tmp_path / states.HOST, states.StateFile.at(tmp_path / "state.db")
    with single_writer(tmp_path / "run.lock"):
        state.refuse_gone()
        beside.write_text("another-boot 4711 upstairs")
        time.sleep(0.2)
        assert beside.read_text() == "another-boot 4711 upstairs"
        with pytest.raises(states.StateGone, match="host upstairs has taken this state over"):
            state.refuse_gone()
    assert beside.read_text() == "another-boot 4711 upstairs"
