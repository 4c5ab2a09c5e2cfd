"""Rules about whole files: golden files, data of tests, hooks that Python runs at its start, equality made up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.discovery import belongs_to_tests, language_of
from agent_fox.verifier.policy.rules.lines import TextChange, is_only_moved
from agent_fox.verifier.policy.values import Change, FileChange, PolicyFinding, Rule, Severity

_GOLDEN_FOLDERS = frozenset(
    {"golden", "goldens", "__snapshots__", "snapshots", "snapshot", "expected", "approved", "cassettes"}
)
_GOLDEN_NAMES = regex(r".*\.(?:snap|golden|approved\.\w+|expected|ambr|stdout|stderr)$|.*\.expected\.\w+$")
_STARTUP = regex(r"(?:^|/)(?:sitecustomize|usercustomize)\.py$|\.pth$")
_SHADOWING = regex(r"^(?:src/|tests?/)?(?:pytest|_pytest|unittest|pluggy)(?:\.py$|/)")
_PROGRAMS = regex(r"(?:^|/)(?:node_modules/\.bin|\.?venv/bin)/")
_WRAPPERS = regex(r"(?:^|/)(?:mvnw|gradlew)(?:\.cmd|\.bat)?$|(?:^|/)(?:\.mvn|gradle)/wrapper/")
_RUNS_FIRST = (
    (
        *(_STARTUP, Severity.BLOCK, "Python runs this file before everything else"),
        "Take the file away: nothing may run before the tests.",
    ),
    (_SHADOWING, Severity.BLOCK, "this module is found in place of the test runner's own", "Give it another name."),
    (_PROGRAMS, Severity.BLOCK, "a program that verification runs is replaced", "Take the file away, and install it."),
    (
        *(_WRAPPERS, Severity.NEEDS_REASON, "the script that starts the build is changed"),
        "Say in the summary why, such as the version it was updated to.",
    ),
)
_BUILT_IN = (
    r"(?:numbers\.)?(?:int|float|complex|str|bytes|bool|object|list|dict|tuple|set|Number|Real|Integral|Decimal)"
)
_ANY_OF_A_KIND = rf"isinstance\(\s*\w+\s*,\s*\(?[^()\n]*\b{_BUILT_IN}\b[^()\n]*\)?\s*\)"
_FORGED = (
    regex(
        r"def __eq__\([^)]*\)[^:]*:\s*(?:\"{3}.*?\"{3}\s*)?"
        rf"(?:return\s+\(?{_ANY_OF_A_KIND}\)?[ \t]*(?:#.*)?(?:\n|\Z)|if\s+{_ANY_OF_A_KIND}\s*:\s*return True\b)",
        re.DOTALL,
    ),
    regex(r"def __eq__\([^)]*\)[^:]*:\s*return\s+type\(\w+\)\s*(?:is|==|in)\s*\(?[\w., ]+\)?[ \t]*(?:\n|\Z)"),
    regex(
        r"boolean equals\s*\([^)]*\)\s*\{\s*return\s+\w+\s+instanceof\s+"
        r"(?:Number|Integer|Long|Double|Float|String|Object|Comparable)\s*;"
    ),
    regex(r"def __(?:eq|contains|bool|instancecheck)__\([^)]*\)[^:]*:\s*(?:\"{3}.*?\"{3}\s*)?return True\b", re.DOTALL),
    regex(
        r"def __eq__\([^)]*\)[^:]*:\s*(?:\"{3}.*?\"{3}\s*)?"
        r"return\s+(?:(?P<same>\w+)\s*(?:==|is)\s*(?P=same)|\w+\s+is\s+not\s+None|not\s+(?:None|False|0)|[1-9]\d*)"
        r"[ \t]*(?:#.*)?(?:\n|\Z)",
        re.DOTALL,
    ),
    regex(r"def __ne__\([^)]*\)[^:]*:\s*(?:\"{3}.*?\"{3}\s*)?return False\b", re.DOTALL),
    regex(r"boolean equals\s*\([^)]*\)\s*\{\s*return true\s*;"),
    regex(r"fn eq\s*\([^)]*\)\s*->\s*bool\s*\{\s*true\s*\}"),
    regex(r"\bequals\s*\([^)]*\)\s*\{\s*return true\s*;?\s*\}"),
)


def findings_about_files(change: Change, texts: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    for path, file in sorted(change.files.items()):
        if is_golden(path):
            yield from _golden(path, file, change)
        elif file.after is None and _is_data(path) and not is_only_moved(path, file, change):
            message = "data of tests is deleted"
            remedy = "Put the file back, or say in the summary why no test needs it any more."
            yield PolicyFinding(Rule.FIXTURE_DELETED, Severity.NEEDS_REASON, path, None, None, message, remedy=remedy)
        if file.after is not None and file.before != file.after:
            yield from _of_programs(path)
    for text in texts:
        yield from _forged(text)


def _of_programs(path: str) -> Iterator[PolicyFinding]:
    """Files that run before the tests, or in place of what runs them."""
    for rule, severity, message, remedy in _RUNS_FIRST:
        if rule.search(path):
            yield PolicyFinding(Rule.STARTUP_HOOK, severity, path, None, None, message, remedy=remedy)


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
    is_gone = file.after is None
    message = "what tests expect is deleted" if is_gone else "what tests expect is changed"
    remedy = "Say in the summary why the old content was wrong, or repair the code."
    yield PolicyFinding(Rule.GOLDEN_CHANGED, Severity.NEEDS_REASON, path, None, None, message, remedy=remedy)


def _only_grew(file: FileChange) -> bool:
    """Whether all lines are still there, in order: new snapshots beside the old ones."""
    left = iter((file.after or b"").splitlines())
    return all(any(line == other for other in left) for line in (file.before or b"").splitlines())


def _forged(text: TextChange) -> Iterator[PolicyFinding]:
    if language_of(text.path, {}) is None:
        return
    for pattern in _FORGED:
        forged = next((each for each in pattern.finditer(text.after) if each[0] not in text.before), None)
        if forged is not None:
            line = text.after.count("\n", 0, forged.start()) + 1
            shown = " ".join(forged[0].split())
            message = "an object that is equal to everything passes every assertion"
            remedy = "Compare what the objects hold."
            yield PolicyFinding(
                *(Rule.FORGED_EQUALITY, Severity.BLOCK, text.path, line, None, message), after=shown, remedy=remedy
            )
            return
