"""Rules about numbers that commands and configuration ask for: least coverage, most warnings. Sides are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent_fox.verifier.policy.rules.lines import TextChange, code_lines
from agent_fox.verifier.policy.rules.tables import RuleRow, rule_rows
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
                yield _finding(threshold, change, old, new)


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


def _finding(threshold: RuleRow, change: TextChange, old: list[float], new: list[float]) -> PolicyFinding:
    number = next(
        (line.number for line in code_lines(change.path, change.after) if threshold.pattern.search(line.text)), None
    )
    texts = [", ".join(f"{each:g}" for each in numbers) for numbers in (old, new)]
    remedy = "Put the number back, or have this edit allowed by the task."
    return PolicyFinding(
        threshold.name, Severity.BLOCK, change.path, number, None, threshold.message, texts[0], texts[1], remedy
    )
