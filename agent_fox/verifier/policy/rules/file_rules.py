"""Rules about whole files: golden files, data of tests, hooks that Python runs at its start, equality made up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.discovery import belongs_to_tests, language_of
from agent_fox.verifier.policy.rules.lines import TextChange, is_only_moved
from agent_fox.verifier.policy.rules.tables import finding, rule_rows

if TYPE_CHECKING:
    from agent_fox.verifier.policy.values import Change, FileChange, PolicyFinding

_GOLDEN_FOLDERS = frozenset(
    {"golden", "goldens", "__snapshots__", "snapshots", "snapshot", "expected", "approved", "cassettes"}
)
_GOLDEN_NAMES = regex(r".*\.(?:snap|golden|approved\.\w+|expected|ambr|stdout|stderr)$|.*\.expected\.\w+$")


def findings_about_files(change: Change, texts: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    for path, file in sorted(change.files.items()):
        if is_golden(path):
            yield from _golden(path, file, change)
        elif file.after is None and _is_data(path) and not is_only_moved(path, file, change):
            yield finding("data-deleted", path)
        if file.after is not None and file.before != file.after:  # what runs before the tests, or in place of a runner
            rules = (rule for rule in rule_rows("text_rules", "first") if rule.pattern.search(path))
            yield from (rule.finding(path) for rule in rules)
    for text in texts:
        yield from _forged(text)


def is_golden(path: str) -> bool:
    """Whether a file holds what tests expect, so that editing it edits the tests."""
    pure = PurePosixPath(path)
    if language_of(path, {}) is not None:
        return False
    return _GOLDEN_NAMES.match(pure.name) is not None or not _GOLDEN_FOLDERS.isdisjoint(pure.parts[:-1])


def _is_data(path: str) -> bool:
    return belongs_to_tests(path) and language_of(path, {}) is None and not path.endswith((".md", ".txt~", ".gitkeep"))


def _golden(path: str, file: FileChange, change: Change) -> Iterator[PolicyFinding]:
    if file.before is None or is_only_moved(path, file, change) or _only_grew(file):
        return
    yield finding("golden-gone" if file.after is None else "golden-changed", path)


def _only_grew(file: FileChange) -> bool:
    """Whether all lines are still there, in order: new snapshots beside the old ones."""
    left = iter((file.after or b"").splitlines())
    return all(any(line == other for other in left) for line in (file.before or b"").splitlines())


def _forged(text: TextChange) -> Iterator[PolicyFinding]:
    if language_of(text.path, {}) is None:
        return
    for rule in rule_rows("text_rules", "forged"):
        forged = next((each for each in rule.pattern.finditer(text.after) if each[0] not in text.before), None)
        if forged is not None:
            line = text.after.count("\n", 0, forged.start()) + 1
            remedy = "Compare what the objects hold."
            yield rule.finding(text.path, line, after=" ".join(forged[0].split()), remedy=remedy)
            return
