"""Rules about files and texts of both sides: golden files, data of tests, hooks that Python runs at its start; comments
that tell tools to look away, numbers that commands ask for (least coverage, most warnings), equality made up, tags.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.configuration_rules import LONGEST_LINE, LONGEST_SHOWN, TextChange, code_lines
from agent_fox.verifier.policy.discovery import belongs_to_tests, language_of
from agent_fox.verifier.policy.tables import RuleRow, finding, rule_rows, words_of
from agent_fox.verifier.policy.values import Change, PolicyFinding, Severity, without

FEWEST_WORDS = 2  # of a reason that stands beside a suppression

_GOLDEN_NAMES = regex(r".*\.(?:snap|golden|approved\.\w+|expected|ambr|stdout|stderr)$|.*\.expected\.\w+$")
_BUILD_TAG = regex(
    r"^//\s*(?:go:build|\+build)\s+(?!(?:linux|windows|darwin|unix|!?cgo|amd64|arm64|go1)\b).*$", re.MULTILINE
)


def findings_about_files(change: Change, texts: tuple[TextChange, ...]) -> Iterator[PolicyFinding]:
    for threshold in rule_rows("text_rules", "thresholds"):
        yield from _lowered(threshold, [each for each in texts if threshold.fits(each.path)])
    for mark in rule_rows("text_rules", "marks"):
        files = [each for each in texts if mark.fits(each.path)]  # what only moved between them is nothing new
        known = [text for each in files for _, text, _ in _marks_in(mark, each.before)]
        marks = ((each.path, *marked) for each in files for marked in _marks_in(mark, each.after))
        for path, number, text, line in without(marks, known, lambda marked: marked[2]):
            yield mark.finding(path, number, "", line[:LONGEST_SHOWN], _severity(path, text, line))
    fresh = {file.after for file in change.files.values() if file.before is None}
    for path, file in sorted(change.files.items()):
        is_moved = file.after is None and file.before in fresh
        if is_golden(path) and file.before is not None and not is_moved:
            left = iter((file.after or b"").splitlines())
            if not all(any(line == other for other in left) for line in file.before.splitlines()):  # else it only grew
                yield finding("golden-gone" if file.after is None else "golden-changed", path)
        is_kept = language_of(path, {}) is not None or path.endswith((".md", ".txt~", ".gitkeep")) or is_golden(path)
        if file.after is None and not is_moved and not is_kept and belongs_to_tests(path):
            yield finding("data-deleted", path)
        if file.after is not None and file.before != file.after:  # what runs before the tests, or in place of a runner
            rules = (rule for rule in rule_rows("text_rules", "first") if rule.pattern.search(path))
            yield from (rule.finding(path) for rule in rules)
    for each in (each for each in texts if language_of(each.path, {}) is not None):
        yield from _forged(each)


def is_golden(path: str) -> bool:
    """Whether a file holds what tests expect, so that editing it edits the tests."""
    pure = PurePosixPath(path)
    is_within = not words_of("any", "golden_folders").isdisjoint(pure.parts[:-1])
    return (is_within or _GOLDEN_NAMES.match(pure.name) is not None) and language_of(path, {}) is None


def _lowered(threshold: RuleRow, changes: list[TextChange]) -> Iterator[PolicyFinding]:
    """Numbers that ask for less than before, or are gone, and in no other file of the change: they ask nothing."""
    old = {change.path: _numbers(threshold, change.path, change.before) for change in changes}
    new = {change.path: _numbers(threshold, change.path, change.after) for change in changes}
    for change in (each for each in changes if not each.is_gone):
        for name, numbers in old[change.path].items():
            kept, others = new[change.path].get(name, []), (path for path in old if path != change.path)
            moved = [each for path in others for each in new[path].get(name, [])[len(old[path].get(name, [])) :]]
            nothing = [0.0 if threshold.is_least else float("inf")] * len(numbers)
            pairs = zip(numbers, [*kept, *moved, *nothing], strict=False)
            if any(now < was if threshold.is_least else now > was for was, now in pairs):
                lines = (line for line in code_lines(change.path, change.after) if threshold.pattern.search(line.text))
                before, after = (", ".join(f"{each:g}" for each in side) for side in (numbers, kept))
                yield threshold.finding(change.path, next((line.number for line in lines), None), before, after)
                break


def _numbers(threshold: RuleRow, path: str, text: str) -> Mapping[str, list[float]]:
    """The numbers by what stands before them, in order."""
    named: dict[str, list[float]] = {}
    for line in code_lines(path, text) if threshold.pattern.search(text) else ():
        for each in threshold.pattern.finditer(line.text):
            named.setdefault(re.sub(r"\W+", "", each[0][: each.start(1) - each.start()]), []).append(float(each[1]))
    return named


def _marks_in(mark: RuleRow, text: str) -> Iterator[tuple[int, str, str]]:
    """Line number, the mark, and the line it stands in, with a comment that stands above it alone."""
    if not mark.pattern.search(text):
        return
    columns = _comment_columns(text) if mark.fits("a.py") else None
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        for each in mark.pattern.finditer(line[:LONGEST_LINE]):
            is_comment = columns is None or each.start() >= columns.get(number, LONGEST_LINE)
            if is_comment or (each[0].startswith("@") and line.lstrip().startswith("@")):
                above = lines[number - 2].strip() if number > 1 and line.lstrip().startswith("#") else ""
                shown = f"{line.strip()} {above if above.startswith('#') else ''}".strip()
                yield number, " ".join(each[0].split()), shown


@lru_cache(maxsize=32)
def _comment_columns(text: str) -> Mapping[int, int] | None:
    """Line number to the column where its comment begins; None where the text is not Python."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return {token.start[0]: token.start[1] for token in tokens if token.type == tokenize.COMMENT}


def _severity(path: str, mark: str, line: str) -> Severity:
    """A narrow suppression, which names what it silences, may stand with its reason; in tests a reason is enough."""
    is_narrow = bool(re.search(r"[:\[(=]\s*\S|-line\s+\S|ignore \S", mark))
    if is_narrow and len(re.findall(r"[A-Za-z]{2,}", line.partition(mark)[2])) >= FEWEST_WORDS:
        return Severity.NOTE
    return Severity.NEEDS_REASON if is_narrow and belongs_to_tests(path) else Severity.BLOCK


def _forged(change: TextChange) -> Iterator[PolicyFinding]:
    """Equality made up, and files of Go that a build tag takes out of the build."""
    for rule in rule_rows("text_rules", "forged"):
        if (forged := _fresh(rule.pattern, change)) is not None:
            yield rule.finding(change.path, _line_of(forged), after=" ".join(forged[0].split()))
            break
    if change.path.endswith(".go") and not change.is_new and (tag := _fresh(_BUILD_TAG, change)) is not None:
        name = "tests-not-built" if change.path.endswith("_test.go") else "source-not-built"
        yield finding(name, change.path, _line_of(tag), new=tag[0])


def _fresh(pattern: re.Pattern[str], change: TextChange) -> re.Match[str] | None:
    return next((each for each in pattern.finditer(change.after) if each[0] not in change.before), None)


def _line_of(match: re.Match[str]) -> int:
    return match.string.count("\n", 0, match.start()) + 1
