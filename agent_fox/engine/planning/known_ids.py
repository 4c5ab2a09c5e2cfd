"""What the state file knows of the specs from before: the ids that their texts have been given. Only read here."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.plan.kept_ids import keep_ids
from agent_fox.core.plan.recognition import Former
from agent_fox.store import plan as stored
from agent_fox.store.state import StateError, read_any_format
from agent_fox.system.state_folders import STATE

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem, Spec


def with_kept_ids(specs: Iterable[Spec], root: Path) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """The specs under the ids that their texts had when they were planned last. Without a state nothing is known.

    A state that cannot be read is not told here: whoever goes on with the plan opens it, and is refused.
    """
    read = tuple(specs)
    known = earlier_readings([spec for spec in read if spec.implied], root)
    kept = [keep_ids(spec, known[spec.name]) if spec.name in known else (spec, ()) for spec in read]
    return tuple(spec for spec, _ in kept), tuple(problem for _, problems in kept for problem in problems)


def earlier_readings(specs: Iterable[Spec], root: Path) -> dict[str, Former]:
    """The last reading of each spec that had nodes.

    What lies in another folder is another spec of the same name, as long as the first folder is there.
    """
    wanted = {spec.name: spec for spec in specs}
    if not wanted or not (root / STATE).is_file():
        return {}
    try:
        with closing(read_any_format(root / STATE)) as db:
            snapshots = {name: stored.planned_snapshot(db, name) for name in wanted}
            return {
                name: Former(known, stored.texts_ever(db, name))
                for name, known in snapshots.items()
                if known is not None and (known.path == wanted[name].path or not (root / known.path).exists())
            }
    except (StateError, sqlite3.DatabaseError):
        return {}
