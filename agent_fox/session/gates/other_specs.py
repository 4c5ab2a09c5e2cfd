"""Files that a coder changes although work for another spec made them: found by the trailers of landed commits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.system import git, git_objects
from agent_fox.system.git_objects import ABSENT

if TYPE_CHECKING:
    from agent_fox.session.order import LaunchOrder, Work

COMMITS_READ = 5000
"""How many commits back the maker of a file is looked for; older files are nobody's."""

NAMED = 5
FILES_READ = 1000
"""How many changed files are looked at; a command line has an end."""

_MARK = "\x01"
_NODE = "%x01%(trailers:key=Agent-Fox-Node,valueonly,separator=%x2C)"


def foreign_changes(order: LaunchOrder, work: Work) -> tuple[str, ...]:
    """A sentence for each other spec whose files the work changes or removes. Raises GitError.

    Files that were in conflict are left out: both sides had changed them.
    """
    known = order.unmerged.files if order.unmerged else ()
    changed = [path for path in _changed(order, work) if path not in known]
    owned: dict[str, list[str]] = {}
    for path, spec in _makers(order, changed):
        if spec != order.spec_name:
            owned.setdefault(spec, []).append(path)
    return tuple(f"changes files of {spec}: {_named(sorted(paths))}" for spec, paths in sorted(owned.items()))


def _changed(order: LaunchOrder, work: Work) -> list[str]:
    """Paths that were there before and are different now, or gone."""
    changes = git_objects.changes_between(order.repo, order.pinned, work.tree)
    return [change.path for change in changes if change.old.mode != ABSENT]


def _makers(order: LaunchOrder, paths: list[str]) -> Iterator[tuple[str, str]]:
    """Each path that an agent's landed work changed last, with the spec of that work."""
    node, seen = "", set[str]()
    for field in _history(order, paths[:FILES_READ]) if paths else ():
        if field.startswith(_MARK):
            node = field.removeprefix(_MARK)
        elif field not in seen:
            seen.add(field)
            if node:
                yield field, node.partition(":")[0]


def _history(order: LaunchOrder, paths: list[str]) -> Iterator[str]:
    """Newest commit first: its node after a mark (nothing where a person made it), then the paths it changed."""
    oldest = git.call(order.repo, "rev-list", f"--max-count={COMMITS_READ}", order.pinned).text.split()[-1]
    bounds = (order.pinned, *((f"^{oldest}",) if oldest != order.pinned else ()))
    options = ("log", f"--format={_NODE}", "--name-only", "--no-renames", "-z", "--no-merges", *bounds)
    records = git.call(order.repo, "--literal-pathspecs", *options, "--", *paths).records
    return (record.removeprefix("\n") for record in records)


def _named(paths: list[str]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return ", ".join(paths[:NAMED]) + more
