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
    files = [entry for entry in differences if GITLINK not in (entry.old.mode, entry.new.mode)]
    moved = _moved(files)
    sources = set(moved.values())
    return Change(
        {entry.path: _file(objects, entry, moved.get(entry.path)) for entry in files if entry.path not in sources}
    )


def _moved(differences: list[Difference]) -> dict[str, str]:
    """New path to old path, for files of which nothing but the path changed."""
    gone = {difference.old.id: difference.path for difference in differences if difference.new.mode == ABSENT}
    moved: dict[str, str] = {}
    for difference in differences:
        if difference.old.mode == ABSENT and difference.new.id in gone:
            moved[difference.path] = gone.pop(difference.new.id)
    return moved


def _file(objects: Store, one: Difference, renamed_from: str | None) -> FileChange:
    after = _content(objects, one.new)
    if renamed_from is not None:
        return FileChange(after, after, renamed_from)
    return FileChange(_content(objects, one.old), after)


def _content(objects: Store, entry: Entry) -> bytes | None:
    """What a file held; a very large one is taken as empty: it is no source that a rule could read."""
    if entry.mode == ABSENT:
        return None
    return objects.blob(entry.id) if objects.size(entry.id) <= LARGEST_FILE else b""
