"""The state file itself: opening, migrating, one writer, transactions. What stands in the tables is elsewhere."""

from __future__ import annotations

import fcntl
import functools
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.store.light import (
    FORMATS,
    STUCK,
    UNUSABLE,
    is_of_the_world,
    light_database,
    primary_code,
    whole_database,
)
from agent_fox.system.state_folders import IGNORED_BY_ITSELF, STATE

if TYPE_CHECKING:
    import threading

    from sqlite_utils import Database

    from agent_fox.store.ledger import journal
    from agent_fox.store.schema import migrations as schema
else:
    threading = late_module("threading")
    journal = late_module("agent_fox.store.ledger.journal")
    schema = late_module("agent_fox.store.schema.migrations")

BUSY_SECONDS = 10.0
CHECKPOINT_PAGES = 1000
STATEMENTS_KEPT = 256


class StateError(Exception):
    """The state file cannot be used: corrupt, from a newer version, not readable. Its text says what to do."""


def is_begun(state: Path) -> bool:
    """Whether a state file was there before it was opened: one that lost its write-ahead log may hold no table."""
    try:
        return state.stat().st_size > 0
    except OSError:
        return False


class NoState(StateError):
    """There is no state yet, or an empty file; a run makes it."""


class OlderState(StateError):
    """An older agent-fox left the file; a run that begins brings it up to date, one migration after the other."""


class StateStuck(StateError):
    """The state cannot be written just now (disk full, file busy). What was committed is safe; run again later."""


class StateGone(StateError):
    """The state file was removed or replaced while it was open: what is written to it is nowhere."""


class LockHeld(Exception):
    """Another run (or reset) is writing this state."""


@contextmanager
def single_writer(path: Path) -> Iterator[None]:
    """Hold the run lock: an flock on a file beside the state, released by the kernel when this process ends. Where the
    folder is shared with other hosts, whose locks the kernel may not know, a sign of life stands beside it.

    Raises LockHeld with the other process's id, and its host; StateError where the file cannot be made.
    """
    handle = open_lock(path)
    try:
        take_lock(handle, path)
        with sign_of_life(path.with_name(HOST), os.fstat(handle).st_mtime):
            yield
    finally:
        os.close(handle)


HOST = "state.db-host"
"""Beside the state: which host writes it, renewed every BEAT seconds, taken for dead after STALE."""
BEAT, STALE = 2.0, 30.0


@contextmanager
def sign_of_life(path: Path, now: float) -> Iterator[None]:
    """Say which host writes the state, again and again. `now`: the time (since the epoch) of the file system itself.

    Raises LockHeld where another host said so less than STALE seconds ago.
    """
    own = host()
    refuse_other_host(path, own, now)
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT) and not taken_by(path):
            with suppress(OSError):
                path.write_text(own, encoding="utf-8")

    with suppress(OSError):  # a full disk: what cannot be written there is told where it is evidence
        path.write_text(own, encoding="utf-8")
    beating = threading.Thread(target=beat, name="sign of life", daemon=True)
    beating.start()
    try:
        yield
    finally:
        ended.set()
        beating.join()
        if not taken_by(path):
            path.unlink(missing_ok=True)


def taken_by(path: Path) -> str:
    """The other host that says it writes the state: while this one slept, it was taken for dead. Empty for none."""
    try:
        boot, _, name = [*path.read_text(encoding="utf-8", errors="replace").split(" ", 2), "", "", ""][:3]
    except OSError:
        return ""
    return "" if boot in ("", boot_of_host()) else name or "unknown"


def host() -> str:
    """This host, by what no other has as long as it runs, and its name for people; with the process."""
    return f"{boot_of_host()} {os.getpid()} {os.uname().nodename}"


@functools.cache
def boot_of_host() -> str:
    """Asked once: a process that could read it once and not again would take its own sign for another host's."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return os.uname().nodename


def refuse_other_host(path: Path, own: str, now: float) -> None:
    try:
        written, beaten = path.read_text(encoding="utf-8", errors="replace"), path.stat().st_mtime
    except OSError:
        return
    boot, pid, name = [*written.split(" ", 2), "", "", ""][:3]
    age = now - beaten
    if boot != own.split(" ", 1)[0] and age < STALE:
        raise LockHeld(
            f"{path.parent}: agent-fox on host {name or 'unknown'} (process {pid or 'unknown'}) wrote this state "
            f"{max(0.0, age):.0f} s ago; wait for it or stop it there. It is free {STALE:.0f} s after its last sign"
        )


def open_lock(path: Path) -> int:
    """The lock file, closed in every program that is started from this one."""
    make_folder(path.parent)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except (PermissionError, IsADirectoryError) as error:
        raise StateError(f"{path}: cannot be written ({error.strerror}); check what is there") from error


LOOKS, BETWEEN_LOOKS = 5, 0.05
"""How often a lock is asked for, and the seconds between: who only looks whether it is held has it for a moment."""


def take_lock(handle: int, path: Path) -> None:
    for look in range(1, LOOKS + 1):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if look == LOOKS:
                raise held_by_another(handle, path) from None
            time.sleep(BETWEEN_LOOKS)
    os.ftruncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)


def held_by_another(handle: int, path: Path) -> LockHeld:
    holder = os.pread(handle, 32, 0).decode(errors="replace").strip() or "unknown"
    return LockHeld(f"{path}: another agent-fox (process {holder}) is writing this state; wait for it or stop it first")


def is_locked(path: Path) -> bool:
    """Whether some process holds the run lock now. The lock itself is asked: a process id does not say who has it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise StateError(f"{folder}: cannot be made ({error.strerror}); check what is there") from error


def hide_from_git(folder: Path) -> None:
    """What git is to leave alone in our own folder, where nothing says so yet: neither `init` nor a person.

    The list is on itself, so that nothing of it shows in the person's `git status`.
    """
    if folder.name == STATE.parent.name:
        with suppress(OSError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
            file.write(IGNORED_BY_ITSELF)


@dataclass(frozen=True, slots=True)
class StateFile:
    """Which file is open as the state: its path may come to lead to another, or nowhere."""

    path: Path
    place: tuple[int, int] | None

    @classmethod
    def at(cls, path: Path) -> StateFile:
        return cls(path, _place(path))

    def refuse_gone(self) -> None:
        """Raises StateGone."""
        other = taken_by(self.path.with_name(HOST))
        if other:
            raise StateGone(
                f"{self.path}: host {other} has taken this state over, while nothing was heard of this one; "
                "the run goes on there. Run again here when it has ended there"
            )
        if _place(self.path) != self.place:
            raise StateGone(
                f"{self.path}: removed or replaced while the run went on, so that nothing more can be kept; "
                "put it back from a backup, or run again, which begins a new history and does its work anew"
            )


def _place(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def open_state(path: Path) -> Database:
    """Open for writing, made or migrated as needed, and checked. Raises StateError."""
    make_folder(path.parent)
    hide_from_git(path.parent)
    return opened(path, f"{path.absolute().as_uri()}?mode=rwc", prepare, whole_database)


def read_state(path: Path) -> Database:
    """Open for reading only, short and without a lock. Raises StateError; a missing file is one."""
    if not path.exists():
        raise no_state(path)
    return opened(path, f"{path.absolute().as_uri()}?mode=ro", check_readable, light_database)


def read_any_format(path: Path) -> Database:
    """Open for reading only, a file that an older agent-fox left too. Raises StateError."""
    return opened(path, f"{path.absolute().as_uri()}?mode=ro", check_begun, light_database)


def opened(
    path: Path,
    uri: str,
    ready: Callable[[Database, Path], object],
    database: Callable[[sqlite3.Connection], Database],
) -> Database:
    """Connect and make `ready`; where that fails nothing stays open."""
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise not_ours(path, f"it is {'a folder' if path.is_dir() else 'no file'}")
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, cached_statements=STATEMENTS_KEPT)
    except sqlite3.DatabaseError as error:
        raise broken(path, error) from error
    try:
        db = database(connection)
        ready(db, path)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise broken(path, error) from error
    except StateError:
        connection.close()
        raise
    return db


def prepare(db: Database, path: Path) -> None:
    """What a writing connection needs: durable commits, the guards on, the present format, a sound file."""
    check_version(db, path)  # before anything is changed: the file may be another program's
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA recursive_triggers = ON")
    db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    migrate(db, path)
    (answer,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if answer != "ok":
        raise broken(path, answer)
    journal.watch(db)


def check_readable(db: Database, path: Path) -> None:
    if check_begun(db, path) < FORMATS:
        raise OlderState(f"{path}: written by an older agent-fox; `agent-fox run` brings it up to date")


def check_begun(db: Database, path: Path) -> int:
    """The format of a file that has tables already."""
    number = check_version(db, path)
    if number == 0:
        raise no_state(path)
    return number


FORMAT = (
    "SELECT (SELECT user_version FROM pragma_user_version), EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table')"
)
"""Both in one statement: another process may be making the tables just now."""


def check_version(db: Database, path: Path) -> int:
    """The format of the file: how many migrations were applied. Raises StateError for a newer or a foreign one."""
    number, has_tables = db.execute(FORMAT).fetchone()
    if number == 0 and has_tables:
        raise not_ours(path, "it has tables of another program")
    if number > FORMATS:
        raise StateError(
            f"{path}: written by a newer agent-fox (format {number}, this one knows {FORMATS}); "
            "install that version or a later one"
        )
    return int(number)


def migrate(db: Database, path: Path) -> None:
    """Apply what is missing, each migration in one transaction; another process may be doing the same."""
    while (number := check_version(db, path)) < FORMATS:
        script = f"BEGIN IMMEDIATE;\n{schema.MIGRATIONS[number]}\nPRAGMA user_version = {number + 1};\nCOMMIT;"
        try:
            db.executescript(script)
        except sqlite3.DatabaseError:
            db.rollback()
            if check_version(db, path) == number:
                raise


def not_ours(path: Path, why: str) -> StateError:
    return StateError(f"{path}: not agent-fox state ({why}); check what is there, and move it away")


def no_state(path: Path) -> NoState:
    return NoState(f"{path}: there is no state yet; `agent-fox run` makes it")


RESTORE = "restore it from a backup, or move it away to start with a new one (its history is then no longer used)"


def broken(path: Path, error: sqlite3.DatabaseError | str) -> StateError:
    """What a failure of SQLite means to a person, with what to do."""
    code = primary_code(error)
    if code in STUCK:
        return StateStuck(f"{path}: {STUCK[code]}, then run again; nothing is half-written ({error})")
    if code in UNUSABLE:
        return StateError(f"{path}: {UNUSABLE[code]} ({error})")
    return StateError(f"{path}: cannot be read as agent-fox state ({error}); {RESTORE}")


@contextmanager
def transaction(db: Database) -> Iterator[Database]:
    """One transaction: all of it or nothing. A nested one is an error of ours.

    Raises StateError where the disk or the file fails; a refused statement stays sqlite3's IntegrityError.
    """
    if db.conn.in_transaction:
        raise RuntimeError("a transaction is already open")
    try:
        db.execute("BEGIN IMMEDIATE")
        yield db
        if has_watch(db):
            journal.flush(db)
        db.conn.commit()
    except sqlite3.DatabaseError as error:
        if is_of_the_world(error):
            raise broken(path_of(db), error) from error
        raise
    finally:
        db.conn.rollback()


@contextmanager
def snapshot(db: Database) -> Iterator[None]:
    """What is read stands still meanwhile, whoever writes."""
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.conn.rollback()


def has_watch(db: Database) -> bool:
    """Whether the connection puts what it changes into the ledger; a scratch copy of a state does not."""
    return db.execute("SELECT 1 FROM sqlite_temp_master LIMIT 1").fetchone() is not None


@contextmanager
def within_transaction(db: Database) -> Iterator[Database]:
    """The open transaction, else one of its own."""
    if db.conn.in_transaction:
        yield db
        return
    with transaction(db):
        yield db


def path_of(db: Database) -> Path:
    return Path(db.execute("PRAGMA database_list").fetchone()[2])


def checkpoint(db: Database) -> None:
    """Move the write-ahead log into the state file; called when the run is idle. Readers do not block it.

    Where the disk or the file does not let it, the log stays as long as it is: nothing is lost by that.
    """
    try:
        db.execute("PRAGMA wal_checkpoint(PASSIVE)")
    except sqlite3.DatabaseError as error:
        if not is_of_the_world(error):
            raise


@contextmanager
def told_of(path: Path) -> Iterator[None]:
    """What SQLite says of the disk or the file, wherever it was asked, is a StateError for a person."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if is_of_the_world(error):
            raise broken(path, error) from error
        raise
