"""Rules about whole files: golden files, data of tests, hooks that Python runs at its start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.discovery import belongs_to_tests, language_of
from agent_fox.verifier.policy.rules.lines import is_only_moved
from agent_fox.verifier.policy.rules.tables import finding, rule_rows

if TYPE_CHECKING:
    from agent_fox.verifier.policy.values import Change, FileChange, PolicyFinding

_GOLDEN_FOLDERS = frozenset(
    {"golden", "goldens", "__snapshots__", "snapshots", "snapshot", "expected", "approved", "cassettes"}
)
_GOLDEN_NAMES = regex(r".*\.(?:snap|golden|approved\.\w+|expected|ambr|stdout|stderr)$|.*\.expected\.\w+$")


def findings_about_files(change: Change) -> Iterator[PolicyFinding]:
    for path, file in sorted(change.files.items()):
        if is_golden(path):
            if file.before is not None and not is_only_moved(path, file, change) and not _only_grew(file):
                yield finding("golden-gone" if file.after is None else "golden-changed", path)
        elif file.after is None and _is_data(path) and not is_only_moved(path, file, change):
            yield finding("data-deleted", path)
        if file.after is not None and file.before != file.after:  # what runs before the tests, or in place of a runner
            rules = (rule for rule in rule_rows("text_rules", "first") if rule.pattern.search(path))
            yield from (rule.finding(path) for rule in rules)


def is_golden(path: str) -> bool:
    """Whether a file holds what tests expect, so that editing it edits the tests."""
    pure = PurePosixPath(path)
    if language_of(path, {}) is not None:
        return False
    return _GOLDEN_NAMES.match(pure.name) is not None or not _GOLDEN_FOLDERS.isdisjoint(pure.parts[:-1])


def _is_data(path: str) -> bool:
    return belongs_to_tests(path) and language_of(path, {}) is None and not path.endswith((".md", ".txt~", ".gitkeep"))


def _only_grew(file: FileChange) -> bool:
    """Whether all lines are still there, in order: new snapshots beside the old ones."""
    left = iter((file.after or b"").splitlines())
    return all(any(line == other for other in left) for line in (file.before or b"").splitlines())
