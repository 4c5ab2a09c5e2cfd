"""Rules about comments that tell tools to look away, and about numbers that commands and configuration ask for: least
coverage, most warnings. Sides are compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.discovery import belongs_to_tests
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
                old, new = (side.get(worse[0], []) for side in sides[change.path])
                yield _asks_less(threshold, change, old, new)


def _is_less(threshold: RuleRow, path: str, name: str, sides: _Sides) -> bool:
    """Whether a number of this name asks for less, or is gone and came up nowhere else."""
    old, new = (side.get(name, []) for side in sides[path])
    moved = [
        number
        for other, (before, after) in sides.items()
        if other != path
        for number in after.get(name, [])[len(before.get(name, [])) :]
    ]
    return any(_is_worse(threshold, *pair) for pair in _pairs(old, [*new, *moved][: len(old)], threshold))


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


def _pairs(old: list[float], new: list[float], threshold: RuleRow) -> Iterator[tuple[float, float]]:
    """Numbers before and after, in order; one that is gone asks for nothing."""
    nothing = 0.0 if threshold.is_least else float("inf")
    yield from zip(old, [*new, *[nothing] * (len(old) - len(new))], strict=True)


def _is_worse(threshold: RuleRow, old: float, new: float) -> bool:
    return new < old if threshold.is_least else new > old


def _asks_less(threshold: RuleRow, change: TextChange, old: list[float], new: list[float]) -> PolicyFinding:
    number = next(
        (line.number for line in code_lines(change.path, change.after) if threshold.pattern.search(line.text)), None
    )
    texts = [", ".join(f"{each:g}" for each in numbers) for numbers in (old, new)]
    remedy = "Put the number back, or have this edit allowed by the task."
    return threshold.finding(change.path, number, before=texts[0], after=texts[1], remedy=remedy)


_REMEDY = "Repair what the tool shows; where it is wrong, silence one named rule and say why beside it."
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
        severity = _severity(change.path, text, line)
        yield mark.finding(change.path, number, after=line[:200], remedy=_REMEDY, severity=severity)


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


def _build_tags(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    for change in changes:
        if not change.path.endswith(".go") or change.is_new:
            continue
        tag = next((each for each in _BUILD_TAG.finditer(change.after) if each[0] not in change.before), None)
        if tag is not None:
            line = change.after.count("\n", 0, tag.start()) + 1
            name = "tests-not-built" if change.path.endswith("_test.go") else "source-not-built"
            yield finding(name, change.path, line, after=tag[0])
