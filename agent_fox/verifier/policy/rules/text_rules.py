"""Rules about texts of both sides: comments that tell tools to look away, numbers that commands and configuration ask
for (least coverage, most warnings), equality made up, build tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.discovery import belongs_to_tests, language_of
from agent_fox.verifier.policy.rules.lines import LONGEST_LINE, TextChange, code_lines, comment_columns
from agent_fox.verifier.policy.rules.tables import RuleRow, finding, rule_rows
from agent_fox.verifier.policy.values import PolicyFinding, Severity

_Named = dict[str, list[float]]
_Sides = dict[str, tuple[_Named, _Named]]


def findings_about_thresholds(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    """Numbers that ask for less than before. One that left its file is looked for in the other files of the change."""
    known = tuple(changes)
    for threshold in rule_rows("text_rules", "thresholds"):
        files = [change for change in known if threshold.fits(change.path)]
        sides = {
            change.path: (_numbers(threshold, change, False), _numbers(threshold, change, True)) for change in files
        }
        for change in files:
            worse = [name for name in sides[change.path][0] if _is_less(threshold, change.path, name, sides)]
            if not change.is_gone and worse:
                lines = (line for line in code_lines(change.path, change.after) if threshold.pattern.search(line.text))
                numbers = (side.get(worse[0], []) for side in sides[change.path])
                old, new = (", ".join(f"{each:g}" for each in listed) for listed in numbers)
                yield threshold.finding(change.path, next((line.number for line in lines), None), old, new)


def _is_less(threshold: RuleRow, path: str, name: str, sides: _Sides) -> bool:
    """Whether a number of this name asks for less, or is gone, so that it asks nothing, and came up nowhere else."""
    old, new = (side.get(name, []) for side in sides[path])
    moved = [
        number
        for other, (before, after) in sides.items()
        if other != path
        for number in after.get(name, [])[len(before.get(name, [])) :]
    ]
    nothing = [0.0 if threshold.is_least else float("inf")] * len(old)
    pairs = zip(old, [*new, *moved, *nothing], strict=False)
    return any(now < was if threshold.is_least else now > was for was, now in pairs)


def _numbers(threshold: RuleRow, change: TextChange, is_after: bool) -> _Named:
    """The numbers by what stands before them, in order."""
    text = change.after if is_after else change.before
    if not threshold.pattern.search(text):
        return {}
    named: _Named = {}
    for line in code_lines(change.path, text):
        for each in threshold.pattern.finditer(line.text):
            named.setdefault(re.sub(r"\W+", "", each[0][: each.start(1) - each.start()]), []).append(float(each[1]))
    return named


FEWEST_WORDS = 2  # of a reason that stands beside a suppression


_BUILD_TAG = regex(
    r"^//\s*(?:go:build|\+build)\s+(?!(?:linux|windows|darwin|unix|!?cgo|amd64|arm64|go1)\b).*$", re.MULTILINE
)


def findings_about_comments(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    """Suppressions beyond those that the change takes away elsewhere: what only moved is nothing new."""
    known = tuple(changes)
    for mark in rule_rows("text_rules", "marks"):
        files = [change for change in known if mark.fits(change.path)]
        budget = Counter(text for change in files for _, text, _ in _marks_in(mark, change.before))
        for change in files:
            for number, text, line in _marks_in(mark, change.after):
                budget[text] -= 1
                if budget[text] < 0:
                    yield mark.finding(change.path, number, "", line[:200], _severity(change.path, text, line))


def findings_about_forgery(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    """Equality made up, and files of Go that a build tag takes out of the build."""
    for change in (change for change in changes if language_of(change.path, {}) is not None):
        for rule in rule_rows("text_rules", "forged"):
            if (forged := _fresh(rule.pattern, change)) is not None:
                yield rule.finding(change.path, _line_of(forged), after=" ".join(forged[0].split()))
                break
        if change.path.endswith(".go") and not change.is_new and (tag := _fresh(_BUILD_TAG, change)) is not None:
            name = "tests-not-built" if change.path.endswith("_test.go") else "source-not-built"
            yield finding(name, change.path, _line_of(tag), after=tag[0])


def _fresh(pattern: re.Pattern[str], change: TextChange) -> re.Match[str] | None:
    return next((each for each in pattern.finditer(change.after) if each[0] not in change.before), None)


def _line_of(match: re.Match[str]) -> int:
    return match.string.count("\n", 0, match.start()) + 1


def _marks_in(mark: RuleRow, text: str) -> Iterator[tuple[int, str, str]]:
    """Line number, the mark, and the line it stands in, with a comment that stands above it alone."""
    if not mark.pattern.search(text):
        return
    columns = comment_columns(text) if mark.fits("a.py") else None
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        for each in mark.pattern.finditer(line[:LONGEST_LINE]):
            is_comment = columns is None or each.start() >= columns.get(number, LONGEST_LINE)
            if is_comment or (each[0].startswith("@") and line.lstrip().startswith("@")):
                above = lines[number - 2].strip() if number > 1 and line.lstrip().startswith("#") else ""
                shown = f"{line.strip()} {above if above.startswith('#') else ''}".strip()
                yield number, " ".join(each[0].split()), shown


def _severity(path: str, mark: str, line: str) -> Severity:
    """A narrow suppression, which names what it silences, may stand with its reason; in tests a reason is enough."""
    is_narrow = bool(re.search(r"[:\[(=]\s*\S|-line\s+\S|ignore \S", mark))
    after = line.partition(mark)[2]
    if is_narrow and len(re.findall(r"[A-Za-z]{2,}", after)) >= FEWEST_WORDS:
        return Severity.NOTE
    return Severity.NEEDS_REASON if is_narrow and belongs_to_tests(path) else Severity.BLOCK
