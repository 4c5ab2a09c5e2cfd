"""What changed in a repository since a task was registered, as a reviewer is shown it: names and a diff, masked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.values import dataclass
from agent_fox.core.words import counted
from agent_fox.review.looking import Look, TooMuch, look
from agent_fox.review.snapshot import Changed, Snapshot, changes, snapshot
from agent_fox.review.unshown import Unshown, Why, names_a_secret, names_code
from agent_fox.system import git
from agent_fox.system.git_objects import ABSENT
from agent_fox.system.redaction.masking import redact

if TYPE_CHECKING:
    from agent_fox.review.repositories import Registered

MOST_NAMES = 2000
IGNORES_CHANGED = "(the rules by which git ignores files beside .gitignore changed since the task was registered)"
_DIFF = ("diff-tree", "-p", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index")
_HEADER = b"diff --git "
_TYPE = 0o170000


@dataclass(frozen=True, slots=True)
class Sent:
    """One file of which something is sent: the bytes of its part of the diff, masked, and their SHA-256."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Limits:
    """new_file: bytes of a new file that is shown. diff: bytes that the diffs of all repositories have together."""

    new_file: int = 256 * 1024
    diff: int = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Change:
    """One repository's change. `too_large` says why it cannot be shown whole; then nothing of it is."""

    path: str
    fingerprint: str
    tree: str
    is_changed: bool
    names: tuple[str, ...] = ()
    diff: str = ""
    sent: tuple[Sent, ...] = ()
    too_large: str = ""
    unread: tuple[str, ...] = ()
    """Texts that cannot be shown, in words: new and too large, or code with a zero byte. Nobody can say OK to them."""


def change_of(repo: Registered, limits: Limits, values: Sequence[str] = ()) -> Change:
    """What changed since it was registered. `values`: secrets to be masked wherever they stand. Raises GitError."""
    root = Path(repo.path)
    if git.root_of(root) != root:
        raise git.GitError(f"{root}: it was a repository when the task was registered, and is none now")
    with look(root) as our_look:
        seen = snapshot(our_look, repo.base, limits.new_file, frozenset(repo.nested))
        is_changed = seen.fingerprint != repo.fingerprint and bool(seen.changed or seen.unshown)
        blank = Change(str(root), seen.fingerprint, seen.tree, is_changed)
        if not is_changed:
            return blank
        if len(seen.changed) > MOST_NAMES:
            return Change(*_facts(blank), too_large=f"{len(seen.changed):,} files are changed, at most {MOST_NAMES:,}")
        hidden = tuple(_hidden(our_look, seen, repo))
        try:
            diff = _diff(our_look, seen, {file.path for file in hidden}, limits.diff)
        except TooMuch:
            return Change(*_facts(blank), too_large=f"the diff is larger than {limits.diff:,} bytes")
        parts = _parts(our_look, seen, {file.path for file in hidden}, diff, values)
        contents = ((path, text, text.encode()) for path, text in parts)
        sent = tuple(Sent(shown(path), len(data), digest_of(text)) for path, text, data in contents)
        names = tuple(_names(our_look, seen, hidden, repo))
        unread = tuple(_unread(our_look, seen, {file.path for file in hidden}, repo))
        return Change(*_facts(blank), names=names, diff="".join(text for _, text in parts), sent=sent, unread=unread)


def fingerprint_of(repo: Registered, limits: Limits) -> str:
    """What the files hold now. Raises GitError."""
    with look(Path(repo.path)) as our_look:
        return snapshot(our_look, repo.base, limits.new_file, frozenset(repo.nested)).fingerprint


def _facts(change: Change) -> tuple[str, str, str, bool]:
    return change.path, change.fingerprint, change.tree, change.is_changed


def _hidden(look: Look, seen: Snapshot, repo: Registered) -> Iterator[Unshown]:
    """All that is named only: what the snapshot left out, tracked files with secret names, what was gone before."""
    yield from seen.unshown
    for file in seen.changed:
        if names_a_secret(file.path):
            yield Unshown(file.path, Why.SECRET, _size(look, file))
        elif file.new_mode == ABSENT and repo.dirty.get(file.path) == file.state:
            yield Unshown(file.path, Why.EARLIER, 0)
        elif file.path in seen.beside and repo.dirty.get(file.path) == file.state:
            yield Unshown(file.path, Why.PRIVATE, _size(look, file))


def _size(look: Look, one: Changed) -> int:
    return 0 if one.new_mode == ABSENT else int(look.line("cat-file", "-s", one.new_id))


def _diff(look: Look, seen: Snapshot, hidden: set[str], limit: int) -> bytes:
    """The diff of all that is shown: what is hidden is put back as the base has it."""
    return look.ask(*_DIFF, seen.base_tree, _shown_tree(look, seen, hidden), limit=limit)


def _shown_tree(look: Look, seen: Snapshot, hidden: set[str]) -> str:
    look.ask("read-tree", seen.tree)
    back = sorted((file for file in seen.changed if file.path in hidden), key=lambda file: file.old_mode != ABSENT)
    lines = "".join(f"{file.old_mode} {file.old_id}\t{file.path}\0" for file in back)
    look.ask("update-index", "-z", "--index-info", data=lines.encode("utf-8", "surrogateescape"))
    return look.line("write-tree")


def _parts(
    look: Look, seen: Snapshot, hidden: set[str], diff: bytes, values: Sequence[str]
) -> list[tuple[str, str]]:  # fmt: skip
    """The diff by file, masked. Raises GitError where the parts are not those of the files: nothing is guessed."""
    paths = [
        path for change in changes(look, seen.base_tree, _shown_tree(look, seen, hidden)) for path in _owners(change)
    ]
    texts = list(_sections(diff))
    if len(paths) != len(texts):
        raise git.GitError(f"{look.files}: the diff has {len(texts)} parts for {len(paths)} changes")
    return [
        (path, redact(text.decode("utf-8", "replace").replace("\0", "\\0"), values))
        for path, text in zip(paths, texts, strict=True)
    ]


def _owners(one: Changed) -> list[str]:
    """A file that became a link, or the other way round, is shown as one that went and one that came."""
    both = (int(one.old_mode, 8) & _TYPE, int(one.new_mode, 8) & _TYPE)
    return [one.path] * (2 if 0 not in both and both[0] != both[1] else 1)


def _sections(diff: bytes) -> Iterator[bytes]:
    """The parts of a diff: a line of content never begins like a header, since it has a mark before it."""
    start = 0 if diff.startswith(_HEADER) else None
    while start is not None:
        following = diff.find(b"\n" + _HEADER, start)
        end = len(diff) if following < 0 else following + 1
        yield diff[start:end]
        start = None if following < 0 else end


def _unread(look: Look, seen: Snapshot, hidden: set[str], repo: Registered) -> Iterator[str]:
    for left in seen.unshown:
        if left.is_text and repo.dirty.get(left.path) != left.state:
            yield f"{shown(left.path)} ({left.size:,} bytes)"
    binary = _binary(look, seen) - hidden
    for file in seen.changed:
        if file.path in binary and names_code(file.path) and repo.dirty.get(file.path) != file.state:
            yield f"{shown(file.path)} ({_size(look, file):,} bytes, with a zero byte in it)"


def _binary(look: Look, seen: Snapshot) -> set[str]:
    """Changed files that git shows no text of."""
    rows = look.fields("diff-tree", "-r", "-z", "--numstat", "--no-renames", seen.base_tree, seen.tree)
    return {path for added, _, path in (row.split("\t", 2) for row in rows) if added == "-"}


def _names(look: Look, seen: Snapshot, hidden: Sequence[Unshown], repo: Registered) -> Iterator[str]:
    """A line for each changed file: what became of it, and what the reader of the diff has to know."""
    aside, binary = {file.path: file for file in hidden}, _binary(look, seen)
    for file in seen.changed:
        notes = [f"not shown: {aside[file.path].why}"] if file.path in aside else []
        notes += [f"binary, not shown, {_size(look, file):,} bytes"] if file.path in binary - aside.keys() else []
        notes += ["hidden from git by rules that are not committed"] if file.path in seen.beside else []
        notes += ["unchanged since before the task was registered"] if repo.dirty.get(file.path) == file.state else []
        yield f"{_word(file)} {shown(file.path)}{''.join(f' ({note})' for note in notes)}"
    if repo.ignored != seen.ignored:
        yield IGNORES_CHANGED
    if seen.cached:
        yield f"({counted(seen.cached, 'file')} in caches of tools, hidden from git by rules that are not committed)"
    known = {file.path for file in seen.changed}
    for path, left in aside.items():
        if path not in known:
            yield f"added {shown(path)} (not shown: {left.why}, {left.size:,} bytes)"


def _word(one: Changed) -> str:
    if ABSENT not in (one.old_mode, one.new_mode):
        return "modified"
    return "added" if one.old_mode == ABSENT else "deleted"


def shown(path: str) -> str:
    """A path on one line."""
    return path if path.isprintable() else json.dumps(path)
