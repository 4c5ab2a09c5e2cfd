"""Whether the verdicts of a spec, read on an older tree, count for the tip: nothing that they rest on differs.

A verdict that stays fresh is not a reused result: what the final check reads is executed. Source of the rule:
`docs/freshness.md`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import Artifact
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.answer import scope_of
from agent_fox.core.verdicts.scope import Kind, Scope, TreeChange, joined, made_by_setup, touched, whole_tree
from agent_fox.core.verdicts.verdict import Word
from agent_fox.core.words import counted
from agent_fox.store import records
from agent_fox.store.ledger import evidence, ledger
from agent_fox.system import git

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import Settings
    from agent_fox.engine.account.account import Holds
    from agent_fox.engine.record.docket import Docket

_KINDS = {"A": Kind.ADDED, "D": Kind.GONE}

SHORT = 12
TOO_SMALL = "what it was seen to rest on is not all, so it is read again whenever the tree changes"
DIFFERED = "a reading that was drawn by chance came out otherwise, though nothing that it was to rest on had changed"


@dataclass(frozen=True, slots=True)
class Untouched:
    """What was read, and what it counts for. `why`: why it may come out otherwise there; empty where it cannot."""

    read: Artifact
    now: Artifact
    changed: int
    scope: Scope
    why: str


def looked_at(db: Database, repo: Path, spec_name: str, read: str, tip: str, setup: tuple[str, ...]) -> Untouched:
    """Compare the tree of commit `read` with that of `tip`. `setup`: the lines that prepare a workspace.

    Raises GitError where one of the two is not there.
    """
    change = change_between(repo, git.tree_of(repo, read), git.tree_of(repo, tip))
    scope = believed(db, spec_name, scope_of_spec(db, spec_name), setup)
    was, now = (Artifact(git.tree_of(repo, commit), commit) for commit in (read, tip))
    return Untouched(was, now, len(change.files), scope, touched(scope, change))


def believed(db: Database, spec_name: str, scope: Scope, setup: tuple[str, ...]) -> Scope:
    """The scope, or the whole tree where what was measured cannot be all of it."""
    if has_differed(db, spec_name):
        return whole_tree(DIFFERED)
    made = made_by_setup(setup)
    return whole_tree(made) if made and not scope.whole else scope


def untouched(db: Database, repo: Path, tip_tree: str | None, settings: Callable[[], Settings | None]) -> Holds:
    """Whether a PASS that was given on an older tree counts for `tip_tree`: nothing that it rests on differs.

    `settings` is asked where something was measured, and gives None where they cannot be read: then only the very tree
    counts.
    """
    known = lru_cache(maxsize=None)(lambda: settings())
    scopes = lru_cache(maxsize=None)(lambda name: {part: rests for part, _, rests in records.rests_on(db, name)})

    def holds(spec_name: str, part: str, tree: str) -> bool:
        scope = scope_of(scopes(spec_name).get(part))
        if tip_tree is None or scope is None or scope.whole:
            return False
        now = known()
        if now is None or now.evidence.freshness == "tree":
            return False
        try:
            change = change_between(repo, tree, tip_tree)
        except git.GitError:  # what was read is not there any more
            return False
        return not touched(believed(db, spec_name, scope, setup_lines(now)), change)

    return holds


def setup_lines(settings: Settings) -> tuple[str, ...]:
    """The lines that prepare a workspace."""
    return tuple(line if isinstance(line, str) else shlex.join(line) for line in settings.workspace.setup)


def scope_of_spec(db: Database, spec_name: str) -> Scope:
    """What the verdicts that hold rest on together; the whole tree where one is no PASS, or nothing was measured."""
    scopes = []
    for part, word, rests_on in records.rests_on(db, spec_name):
        scope = scope_of(rests_on) if word == Word.PASS else None
        scopes.append(scope or whole_tree(f"what {part} rests on was not measured"))
    return joined(scopes) if scopes else whole_tree("nothing was read")


def record(tx: Docket, spec_name: str, found: Untouched) -> None:
    body = {"changed": found.changed, "files": len(found.scope.files), "folders": len(found.scope.folders)}
    evidence.record_fresh(tx.db, tx.at, spec_name, tx.run_id, found.read, found.now, body)


def lines(db: Database, names: Iterable[str], tree: str) -> Iterator[str]:
    """A sentence for each of these specs that was not read again on this tree since nothing it rests on differs."""
    for name in names:
        for read in ledger.read_for(db, name, tree)[:1]:
            yield (
                f"{name} was not read again: of {counted(read.changed, 'file')} that changed since "
                f"{read.commit[:SHORT]} it rests on none"
            )


def warnings(db: Database, names: Iterable[str]) -> Iterator[str]:
    """How often readings drawn by chance came out otherwise than what nothing had touched."""
    checks = [check for check in records.scope_checks(db) if check.decision is not None]
    for name in names:
        own = [check for check in checks if check.spec_name == name]
        differed = sum(check.differed for check in own)
        if differed:
            read = counted(len(own), "reading")
            yield f"{name}: {differed} of {read} drawn by chance came out otherwise: {TOO_SMALL}"


def has_differed(db: Database, spec_name: str) -> bool:
    """Whether a reading by chance of a spec that was to be fresh came out otherwise: its scopes are not believed."""
    return any(check.differed for check in records.scope_checks(db) if check.spec_name == spec_name)


@lru_cache(maxsize=64)
def change_between(repo: Path, one: str, other: str) -> TreeChange:
    """How two trees differ, by their ids."""
    words = git.call(repo, "diff-tree", "-r", "-z", "--name-status", "--no-renames", one, other).text.split("\0")
    files = {path: _KINDS.get(kind, Kind.OTHER) for kind, path in zip(words[::2], words[1::2], strict=False)}
    has_names_changed = any(kind is not Kind.OTHER for kind in files.values())
    return TreeChange(files, _folders(repo, one) ^ _folders(repo, other) if has_names_changed else frozenset())


@lru_cache(maxsize=64)
def _folders(repo: Path, tree: str) -> frozenset[str]:
    listed = git.call(repo, "ls-tree", "-r", "-d", "-z", "--name-only", tree).text
    return frozenset(filter(None, listed.split("\0")))
