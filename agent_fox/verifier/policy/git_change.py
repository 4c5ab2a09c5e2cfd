"""A change as git has it: the files that differ between two commits or trees. Nothing is checked out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agent_fox.system.git_objects import ABSENT, GITLINK, Entry, Store, store
from agent_fox.system.git_objects import Change as Difference
from agent_fox.verifier.policy.values import Change, FileChange

LARGEST_FILE = 8 * 1024 * 1024  # bytes


def change_between(repo: Path, old: str, new: str) -> Change:
    """What differs from `old` to `new` (commits or trees of `repo`); a file that only moved is one renamed file.

    Raises GitError where either is not there. Submodules are left out.
    """
    with store(repo) as objects:
        return change_of(objects, objects.changes(old, new))


def change_of(objects: Store, differences: Iterable[Difference]) -> Change:
    """The contents on both sides of what differs; submodules are left out."""
    entries = [entry for entry in differences if GITLINK not in (entry.old.mode, entry.new.mode)]
    gone = {entry.old.id: entry.path for entry in entries if entry.new.mode == ABSENT}
    is_new = (entry for entry in entries if entry.old.mode == ABSENT)
    moved = {entry.path: gone.pop(entry.new.id) for entry in is_new if entry.new.id in gone}
    sources, files = set(moved.values()), {}
    for entry in (entry for entry in entries if entry.path not in sources):
        after, renamed_from = _content(objects, entry.new), moved.get(entry.path)
        before = after if renamed_from is not None else _content(objects, entry.old)
        files[entry.path] = FileChange(before, after, renamed_from)
    return Change(files)


def _content(objects: Store, entry: Entry) -> bytes | None:
    """What a file held; a very large one is taken as empty: it is no source that a rule could read."""
    if entry.mode == ABSENT:
        return None
    return objects.blob(entry.id) if objects.size(entry.id) <= LARGEST_FILE else b""
