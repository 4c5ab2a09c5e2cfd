"""The parts of the environments that sessions judged in: each kind once, by the hash that sessions and records name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from agent_fox.store.values import insert, to_json

if TYPE_CHECKING:
    from sqlite_utils import Database

KIND = "environment"


def note_environment(db: Database, at: str, run_id: int, name: str, parts: Mapping[str, str]) -> None:
    """Keep what an environment is made of, before its first session is written. In the open transaction."""
    is_known = db.execute("SELECT 1 FROM sessions WHERE environment = ? LIMIT 1", [name]).fetchone()
    if is_known is None:
        insert(db, "events", {"at": at, "run_id": run_id, "kind": KIND, "data": to_json({"id": name, "parts": parts})})


def parts_of(db: Database, name: str) -> dict[str, str]:
    """What an environment was made of; empty where only its hash is known."""
    sql = "SELECT data FROM events WHERE kind = ? AND json_extract(data, '$.id') = ? ORDER BY id DESC LIMIT 1"
    row = db.execute(sql, [KIND, name]).fetchone()
    found: dict[str, str] = json.loads(row[0])["parts"] if row else {}
    return found


def in_which(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """What differs between two environments, as far as both tell it: `python was 3.11 and is 3.12`."""
    for part in sorted(was.keys() & now.keys()):
        if was[part] != now[part]:
            yield f"{part} was {was[part]} and is {now[part]}"


JUDGED_IN = (
    "SELECT DISTINCT s.environment FROM plan_parts AS p JOIN verification_results AS v ON v.spec_name = p.spec_name "
    "AND v.requirement_id = p.id AND v.superseded_by IS NULL AND v.verdict = 'PASS' "
    "JOIN sessions AS s ON s.id = v.session_id WHERE s.environment <> ''"
)


def judged_elsewhere(db: Database, now: Mapping[str, str]) -> tuple[str, ...]:
    """In what the environments that present PASSes were given in differ from this one, as far as `now` tells it."""
    names = [name for (name,) in db.execute(JUDGED_IN)]
    return tuple(dict.fromkeys(one for name in names for one in in_which(parts_of(db, name), now)))
