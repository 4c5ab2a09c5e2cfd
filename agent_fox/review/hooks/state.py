"""The state file as the stop hook reads it: tasks, and whether the ledger bears out what their rows say. Reads only.

Standard library only, for speed. The same rules as in `tasks`, which the rest of this package uses.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping

from agent_fox.review.hooks.transcripts import table

STATE = os.path.join(".agent-fox", "state.db")
PROJECT = "CLAUDE_PROJECT_DIR"
LOCKED_SECONDS = 5.0
EMPTY = "agent-fox evidence ledger 1"
"""What the head of an empty ledger is the hash of."""

WHY = {
    "registered": "not reviewed yet",
    "rejected": "the reviewer found something missing: read its feedback, repair that, and call again",
    "failed": "the reviewer could not answer: read why, and call again",
}


class Held(Exception):
    """The chat may not stop. Its text says why, and what to do."""


class Task:
    """A row of the state file, with the kind of its last event."""

    __slots__ = ("client", "description", "name", "repositories", "word")

    def __init__(self, name: str, description: str, repositories: str, client: str, word: str | None) -> None:
        self.name, self.description, self.repositories = name, description, repositories
        self.client, self.word = client, word or ""


class Event:
    """A row of the state file: something that happened to a task."""

    __slots__ = ("data", "number", "word")

    def __init__(self, number: int, word: str, data: str) -> None:
        self.number, self.word, self.data = number, word, data


REGISTERED, VERIFIED, CLEARED = "registered", "verified", "cleared"
TASKS = (
    "SELECT t.id, t.description, t.repositories, t.client, e.kind FROM review_tasks AS t LEFT JOIN review_events AS e "
    "ON e.id = (SELECT max(id) FROM review_events WHERE task_id = t.id)"
)
EVENTS = "SELECT id, kind, data FROM review_events WHERE task_id = ? ORDER BY id"
RECORD = "SELECT record_id, previous, head, kind, content, position FROM ledger WHERE identity = ?"


def find_state(environ: Mapping[str, str], folder_of_chat: str) -> str:
    """The state file of the project: upwards from where the client says that it is, else from where it works.

    Empty where there is none.
    """
    for start in (environ.get(PROJECT, ""), folder_of_chat):
        folder = os.path.abspath(start) if start else ""
        while folder:
            if os.path.lexists(os.path.join(folder, STATE)):
                return os.path.join(folder, STATE)
            above = os.path.dirname(folder)
            folder = above if above != folder else ""
    return ""


def open_state(file: str) -> sqlite3.Connection | None:
    """For reading only; None where there is no file."""
    if not file or not os.path.lexists(file):
        return None
    plain = os.path.abspath(file).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        return sqlite3.connect(f"file:{plain}?mode=ro", uri=True, timeout=LOCKED_SECONDS)
    except sqlite3.Error as error:
        raise unreadable(file, error) from error


def unreadable(file: str, error: sqlite3.Error) -> Held:
    return Held(
        f"the state file {file} cannot be read ({error}), so nothing shows that this chat's tasks were verified; "
        "`agent-fox doctor` says more: restore the file from a backup, or try again where another program holds it"
    )


def tasks_of(db: sqlite3.Connection | None) -> dict[str, Task]:
    """Every task that the state knows. A state from before there were tasks knows none."""
    if db is None or not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'review_tasks'").fetchone():
        return {}
    return {row[0]: Task(*row) for row in db.execute(TASKS)}


def is_open(task: Task) -> bool:
    return task.word not in (VERIFIED, CLEARED)


def why_not(db: sqlite3.Connection, task: Task) -> str:
    """Why a task does not let the chat stop; empty where it does. A row counts for nothing without its record."""
    if is_open(task):
        return WHY.get(task.word, "nothing is recorded about it")
    events = [Event(*row) for row in db.execute(EVENTS, [task.name])]
    is_whole = events[0].word == REGISTERED and all(is_recorded(db, task, event) for event in (events[0], events[-1]))
    return "" if is_whole else f"its row says {task.word}, and the ledger does not; `agent-fox ledger verify` says more"


def is_recorded(db: sqlite3.Connection, task: Task, event: Event) -> bool:
    """Whether the ledger has the record of an event: named by its hash, linked to the one before, and saying this."""
    row = db.execute(RECORD, [f"review:{task.name}:{event.number}"]).fetchone()
    if row is None:
        return False
    record, previous, head, kind, content, position = row
    before = db.execute("SELECT head FROM ledger WHERE position = ?", [position - 1]).fetchone()
    return (
        record == sha256(content)
        and previous == (before[0] if before else sha256(EMPTY))
        and head == sha256(f"{previous}:{record}")
        and kind == "review"
        and says(parsed(content), task, event)
    )


def says(document: dict[str, object], task: Task, event: Event) -> bool:
    """Whether a record is about this event of this task, as their rows have it."""
    about, body = table(document.get("spec_ref")), table(document.get("body"))
    repositories = json.loads(task.repositories) if event.word == REGISTERED else body.get("repositories")
    return (
        document.get("kind") == "review"
        and document.get("identity") == f"review:{task.name}:{event.number}"
        and table(document.get("result")).get("status") == event.word
        and about.get("address") == body.get("task") == task.name
        and about.get("version") == sha256(" ".join(task.description.split()))[:16]
        and body.get("event") == event.number
        and body.get("data") == parsed(event.data)
        and body.get("repositories") == repositories
    )


def sha256(text: str) -> str:
    import hashlib  # noqa: PLC0415 - two milliseconds, which a chat without a verified task need not wait

    return hashlib.sha256(text.encode()).hexdigest()


def parsed(text: str) -> dict[str, object]:
    try:
        return table(json.loads(text))
    except (ValueError, RecursionError):
        return {}
