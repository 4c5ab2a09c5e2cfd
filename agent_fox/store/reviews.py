"""Review tasks and what happened to them, in the state file. What a task's standing is worth is decided in `review`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.store.ledger.ledger import Kept, records
from agent_fox.store.values import insert, to_json

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.ledger.evidence import Json


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A registered task. `repositories` is JSON text: a list of objects with `path`, `base` and what was changed."""

    id: str
    at: str
    description: str
    repositories: str
    client: str = ""


@dataclass(frozen=True, slots=True)
class EventRow:
    """One thing that happened to a task. `id` counts the events of all tasks."""

    id: int
    at: str
    task_id: str
    kind: str
    data: Mapping[str, Json]

    @property
    def identity(self) -> str:
        """The name of its record in the ledger."""
        return f"review:{self.task_id}:{self.id}"


def add_task(db: Database, row: TaskRow) -> None:
    """Keep a task, in the open transaction. Raises sqlite3.IntegrityError where the id is there already."""
    columns = {"id": row.id, "at": row.at, "description": row.description, "repositories": row.repositories}
    insert(db, "review_tasks", {**columns, "client": row.client})


def next_event(db: Database) -> int:
    """The number of the event that is written next, to be read in the transaction that writes it."""
    row = db.execute("SELECT coalesce(max(id), 0) + 1 FROM review_events").fetchone()
    return int(row[0])


def add_event(db: Database, row: EventRow) -> None:
    insert(
        db,
        "review_events",
        {"id": row.id, "at": row.at, "task_id": row.task_id, "kind": row.kind, "data": to_json(dict(row.data))},
    )


TASKS = "SELECT id, at, description, repositories, client FROM review_tasks"
EVENTS = "SELECT id, at, task_id, kind, data FROM review_events"


def task_row(db: Database, task_id: str) -> TaskRow | None:
    row = db.execute(f"{TASKS} WHERE id = ?", [task_id]).fetchone()
    return TaskRow(*row) if row else None


def task_rows(db: Database) -> list[TaskRow]:
    """Every task, the oldest first."""
    return [TaskRow(*row) for row in db.execute(f"{TASKS} ORDER BY at, id")]


def events_of(db: Database, task_id: str) -> list[EventRow]:
    """What happened to a task, in order."""
    rows = db.execute(f"{EVENTS} WHERE task_id = ? ORDER BY id", [task_id])
    return [EventRow(number, at, task, kind, json.loads(data)) for number, at, task, kind, data in rows]


def record_of(db: Database, event: EventRow) -> Kept | None:
    """The ledger's record of an event."""
    return next(records(db, "identity = ?", [event.identity]), None)
