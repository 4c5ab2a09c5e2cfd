"""The head of a repository's ledger, noted outside of it: a ledger that was cut or put back is noticed.

The note only ever goes forward along the chain. Who appends writes it after the commit.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import adapter, late_module
from agent_fox.core.ledger.evidence import GENESIS
from agent_fox.core.values import dataclass, to_document
from agent_fox.store.ledger.ledger import head_at, repository_of, tip_of
from agent_fox.system.state_folders import default_state, folder_of

if TYPE_CHECKING:
    import pydantic
    from sqlite_utils import Database

    from agent_fox.store.ledger import journal
    from agent_fox.system import files
else:
    files = late_module("agent_fox.system.files")
    pydantic = late_module("pydantic")
    journal = late_module("agent_fox.store.ledger.journal")

FILE = "ledger-head.json"
LOST = (
    "restore the newer state file with its -wal, or go on without what is lost: "
    "`agent-fox ledger accept-loss --reason TEXT`"
)


class WitnessBroken(Exception):
    """The note cannot be used, or the ledger is not the one that was noted. Its text says what to do."""


@dataclass(frozen=True, slots=True)
class Witness:
    """The end of the chain as it was noted."""

    position: int
    head: str
    at: str
    repository: str = ""
    """The id of whose ledger it is; empty in a note of version 0.1."""


_NOTE: pydantic.TypeAdapter[Witness] = adapter(lambda: pydantic.TypeAdapter(Witness))


def path_of(environ: Mapping[str, str], root: Path) -> Path:
    """Where the note about the repository with this root is kept."""
    return folder_of(default_state(environ), root) / FILE


def read(path: Path) -> Witness | None:
    """The note, None where there is none. Raises WitnessBroken for one that cannot be read."""
    try:
        return _NOTE.validate_json(path.read_bytes(), strict=True)
    except FileNotFoundError:
        return None
    except pydantic.ValidationError as error:
        raise WitnessBroken(
            f"{path}: damaged; look at the ledger (`agent-fox ledger verify`), then remove it"
        ) from error
    except OSError as error:
        raise WitnessBroken(f"{path}: cannot be read ({error.strerror}); check what is there") from error


def why_other(db: Database, note: Witness) -> str:
    """In what the ledger differs from the one that was noted, in words; empty where it goes on from there."""
    repository = repository_of(db)
    if note.repository and repository is not None and repository.id != note.repository:
        return f"the ledger is of the repository {repository.id[:12]}, and that of {note.repository[:12]} was noted"
    if note.position == 0:
        return "" if note.head == GENESIS else "the note names no head that a ledger can have"
    head = head_at(db, note.position)
    if head is None:
        return f"the ledger ends at record {tip_of(db).position}, and had {note.position} at {note.at}"
    return "" if head == note.head else f"record {note.position} has another head than it had at {note.at}"


def trouble(db: Database, path: Path) -> str:
    """Why the ledger is not the one that was noted: cut, put back, rewritten. Empty where it is, or none was noted."""
    try:
        note = read(path)
    except WitnessBroken as error:
        return str(error)
    why = why_other(db, note) if note else ""
    return f"{why}: it was cut, put back or rewritten; {LOST}, which sets {path} aside" if why else ""


def why_lost(db: Database, path: Path) -> str:
    """Why the history does not hold together, in a sentence that says how to go on: no run may rest on it.

    Empty where nothing was noted, or the note cannot be asked for. It is read by hand, for who must be there at once.
    """
    try:
        note = json.loads(path.read_bytes())
        why = why_other(db, Witness(int(note["position"]), str(note["head"]), str(note["at"])))
    except OSError:
        return ""
    except (ValueError, KeyError, TypeError):
        return f"{path}: damaged, so that nothing shows whether the ledger is whole; {LOST}"
    return f"{why}: {LOST}" if why else ""


def why_unbelieved(db: Database, path: Path) -> str:
    """Why nothing that the state says is a ground for a claim, or for more work: its history does not hold together, or
    its rows are not those of the ledger. Empty where it may be believed."""
    return why_lost(db, path) or journal.why_others(db)


def advance(db: Database, path: Path) -> None:
    """Note the end of the chain as it is committed. Raises WitnessBroken where it does not go on from the last note."""
    with _alone(path):
        why, tip = trouble(db, path), tip_of(db)
        if why:
            raise WitnessBroken(why)
        note = read(path)
        if tip.position and (note is None or tip.position > note.position):
            repository = repository_of(db)
            _replace(path, Witness(tip.position, tip.head, tip.at, repository.id if repository else ""))


def set_aside(path: Path) -> Path:
    """Keep the note of a ledger that is gone beside the place of the next one; gives where. Raises WitnessBroken."""
    with _alone(path):
        kept = next(p for n in count(1) if not (p := path.with_name(f"{path.stem}.{n}{path.suffix}")).exists())
        try:
            path.rename(kept)
        except OSError as error:
            raise WitnessBroken(f"{path}: cannot be moved ({error.strerror}); check the folder") from error
        return kept


def kept(path: Path) -> tuple[Path, ...]:
    """The notes that were set aside, of ledgers that are gone."""
    return tuple(sorted(path.parent.glob(f"{path.stem}.*{path.suffix}")))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Two processes never note at once: the slower one would take the note back."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise WitnessBroken(f"{path}: cannot be written ({error.strerror}); check the folder") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _replace(path: Path, note: Witness) -> None:
    try:
        files.replace_file(path, json.dumps(to_document(note)))
    except OSError as error:
        raise WitnessBroken(f"{path}: cannot be written ({error.strerror}); free space, or check the folder") from error
