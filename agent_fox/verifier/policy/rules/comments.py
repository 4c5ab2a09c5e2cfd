"""Rules about comments that tell tools to look away: suppressions of linters, coverage, build tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.discovery import belongs_to_tests
from agent_fox.verifier.policy.rules.lines import LONGEST_LINE, TextChange, comment_columns
from agent_fox.verifier.policy.rules.tables import RuleRow, rule_rows
from agent_fox.verifier.policy.values import PolicyFinding, Rule, Severity

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
            yield from _new_ones(mark, change, budget)
    yield from _build_tags(known)


def _new_ones(mark: RuleRow, change: TextChange, budget: Counter[str]) -> Iterator[PolicyFinding]:
    for number, text, line in _marks_in(mark, change.after):
        if budget[text] > 0:
            budget[text] -= 1
            continue
        yield _finding(mark, change.path, number, line, _severity(change.path, text, line))


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
                yield (
                    number,
                    " ".join(each[0].split()),
                    f"{line.strip()} {above if above.startswith('#') else ''}".strip(),
                )


def _severity(path: str, mark: str, line: str) -> Severity:
    """A narrow suppression, which names what it silences, may stand with its reason; in tests a reason is enough."""
    is_narrow = bool(re.search(r"[:\[(=]\s*\S|-line\s+\S|ignore \S", mark))
    after = line.partition(mark)[2]
    if is_narrow and len(re.findall(r"[A-Za-z]{2,}", after)) >= FEWEST_WORDS:
        return Severity.NOTE
    return Severity.NEEDS_REASON if is_narrow and belongs_to_tests(path) else Severity.BLOCK


def _finding(mark: RuleRow, path: str, number: int, line: str, severity: Severity) -> PolicyFinding:
    remedy = "Repair what the tool shows; where it is wrong, silence one named rule and say why beside it."
    return PolicyFinding(mark.name, severity, path, number, None, mark.message, after=line[:200], remedy=remedy)


def _build_tags(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    for change in changes:
        if not change.path.endswith(".go") or change.is_new:
            continue
        tag = next((each for each in _BUILD_TAG.finditer(change.after) if each[0] not in change.before), None)
        if tag is not None:
            rule = Rule.TEST_HIDDEN if change.path.endswith("_test.go") else Rule.SOURCE_DROPPED
            line = change.after.count("\n", 0, tag.start()) + 1
            message = "a build tag takes the file out of the build"
            remedy = "Take the build tag away."
            yield PolicyFinding(rule, Severity.BLOCK, change.path, line, None, message, after=tag[0], remedy=remedy)
