"""The evidence ledger in the state file: records appended in the caller's transaction, and read back; and whose it is.

What a record holds is in `core.evidence`; whether a chain is whole, and what a record is worth now, in `evidence`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agent_fox.core.late import late_module
from agent_fox.core.ledger.evidence import GENESIS, Evidence, Json, Link, Repository, canonical, content_of, linked
from agent_fox.core.values import dataclass
from agent_fox.store.values import insert_many

if TYPE_CHECKING:
    import secrets

    from sqlite_utils import Database

    from agent_fox.system import git
else:
    git = late_module("agent_fox.system.git")
    secrets = late_module("secrets")

COLUMNS = (
    "position, record_id, identity, previous, head, kind, spec_name, address, version, status, tree, decision_id, "
    "session_id, at, content"
)
BACKWARDS = "the clock stood before the record in front of it"


@dataclass(frozen=True, slots=True)
class Kept:
    """A record as it is kept. `content` is its canonical JSON, the text that `record_id` is the hash of."""

    link: Link
    kind: str
    spec_name: str | None
    address: str
    version: str
    status: str
    tree: str
    decision_id: int | None
    session_id: int | None
    at: str
    content: str

    @property
    def document(self) -> dict[str, Json]:
        document: dict[str, Json] = json.loads(self.content)
        return document


@dataclass(frozen=True, slots=True)
class Tip:
    """The end of the chain: how many records, the head after the last, and its time."""

    position: int = 0
    head: str = GENESIS
    at: str = ""


def tip_of(db: Database) -> Tip:
    """To be read inside the transaction that appends: nobody else can then append in between."""
    row = db.execute("SELECT position, head, at FROM ledger ORDER BY position DESC LIMIT 1").fetchone()
    return Tip(*row) if row else Tip()


def append(db: Database, records: Sequence[Evidence], spec_name: str | None = None) -> list[Link]:
    """Chain records behind the last one, in the open transaction (BEGIN IMMEDIATE). Gives their links.

    `spec_name`: the spec they belong to. A clock that was set back does not turn time back: the record gets the time of
    the one before it, and says so. Raises sqlite3.IntegrityError for an event that is recorded already.
    """
    if not db.conn.in_transaction:
        raise RuntimeError("the ledger is written in the transaction of what it records")
    if not records:
        return []
    tip, repository, links, rows = tip_of(db), known(db), [], []
    for record in records:
        timely = record if record.timestamp >= tip.at else replace(record, timestamp=tip.at).limited(BACKWARDS)
        content = canonical(content_of(timely, repository))
        link = linked(tip.position + 1, tip.head, content)
        rows.append(_row(link, timely, spec_name, content))
        links.append(link)
        tip = Tip(link.position, link.head, timely.timestamp)
    insert_many(db, "ledger", COLUMNS, rows)
    return links


def _row(link: Link, record: Evidence, spec_name: str | None, content: str) -> tuple[object, ...]:
    return (
        link.position, link.record_id, record.identity, link.previous, link.head, record.kind.value, spec_name,
        record.about.address, record.about.version, record.outcome.status, record.artifact.tree,
        record.context.decision, record.context.session, record.timestamp, content,
    )  # fmt: skip


READ = (
    "SELECT position, record_id, previous, head, kind, spec_name, address, version, status, tree, decision_id, "
    "session_id, at, content FROM ledger"
)


def records(db: Database, condition: str = "1", values: Sequence[object] = ()) -> Iterator[Kept]:
    """Records by a condition of ours, in the order of the chain; read as they are asked for."""
    for row in db.execute(f"{READ} WHERE {condition} ORDER BY position", list(values)):
        position, name, previous, head, *rest = row
        yield Kept(Link(position, name, previous, head), *rest)


OWN = ".agent-fox"


def repository_of(db: Database) -> Repository | None:
    """None where nothing was recorded yet, or by version 0.1 alone."""
    row = db.execute("SELECT id, root FROM ledger_repository").fetchone()
    return Repository(*row) if row else None


def known(db: Database) -> Repository:
    """The identity that records get, made where there is none yet, in the open transaction."""
    repository = repository_of(db)
    if repository is None:
        repository = Repository(secrets.token_hex(16), root_of(Path(db.execute("PRAGMA database_list").fetchone()[2])))
        db.execute("INSERT INTO ledger_repository (only, id, root) VALUES (1, ?, ?)", [repository.id, repository.root])
    return repository


def root_of(path: Path) -> str:
    """The first commit of the repository that a state file lies in, empty where it cannot be known."""
    return git.first_commit(path.parent.parent) if path.parent.name == OWN else ""


def note_root(db: Database, root: Path) -> None:
    """Note the first commit of the repository at `root`, once there is one; it stays what it is. In the open
    transaction."""
    if not known(db).root:
        db.execute("UPDATE ledger_repository SET root = ? WHERE root = ''", [git.first_commit(root)])


def head_at(db: Database, position: int) -> str | None:
    """The head of the chain after the record at a position; None where there is no such record."""
    row = db.execute("SELECT head FROM ledger WHERE position = ?", [position]).fetchone()
    return str(row[0]) if row else None


def begun_at(db: Database) -> str | None:
    """The time of the first record."""
    row = db.execute("SELECT at FROM ledger WHERE position = 1").fetchone()
    return str(row[0]) if row else None


class ReadFor(NamedTuple):
    """An older tree whose verdicts count for a later one: where the spec was read, and how many files differ."""

    commit: str
    tree: str
    changed: int


def read_for(db: Database, spec_name: str, tree: str) -> list[ReadFor]:
    """The older trees on which verdicts of a spec were read that count for this one, the last one first."""
    sql = (
        "SELECT json_extract(content, '$.body.read_commit'), json_extract(content, '$.body.read_tree'), "
        "json_extract(content, '$.body.changed') FROM ledger WHERE address = ? AND kind = 'fresh' AND tree = ? "
        "ORDER BY position DESC"
    )
    return [ReadFor(*row) for row in db.execute(sql, [spec_name, tree]).fetchall()]
