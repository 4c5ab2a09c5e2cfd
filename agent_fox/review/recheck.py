"""Whether files are still those that a reviewer said OK to: an OK counts for those files and no others.

As a program: `python -m agent_fox.review.recheck STATE TASK...` prints a JSON object from task to changed repositories.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from agent_fox.core.values import to_document
from agent_fox.review.changes import Limits, fingerprint_of
from agent_fox.review.repositories import read_registered
from agent_fox.review.tasks import standing
from agent_fox.store.reviews import task_row
from agent_fox.store.state import read_state


def changed_since(state: Path, task_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each task the repositories that hold something else than when it was last reviewed.

    A task that never was reviewed to the end has all of its repositories there. Raises GitError, StateError and OSError
    where it cannot be told: then nothing is verified.
    """
    db = read_state(state)
    try:
        asked = {task: (task_row(db, task), standing(db, task)) for task in task_ids}
    finally:
        db.close()
    changes: dict[tuple[str, str], str] = {}
    names: dict[str, tuple[str, ...]] = {}
    for task_id, (row, stands) in asked.items():
        trees, new_file = stands.data.get("trees"), stands.data.get("new_file")
        reviewed = trees if isinstance(trees, dict) else {}
        limits = Limits(new_file=new_file) if isinstance(new_file, int) else Limits()
        changed = []
        for repo in read_registered(row.repositories) if row else ():
            key = (json.dumps(to_document(repo), sort_keys=True), str(limits))
            if key not in changes:
                changes[key] = fingerprint_of(repo, limits)
            if reviewed.get(repo.path) != changes[key]:
                changed.append(repo.path)
        names[task_id] = tuple(changed)
    return names


if __name__ == "__main__":
    json.dump(changed_since(Path(sys.argv[1]), sys.argv[2:]), sys.stdout)
