"""Rules about numbers that commands and configuration ask for: least coverage, most warnings. Sides are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.rules.lines import TextChange, code_lines
from agent_fox.verifier.policy.values import PolicyFinding, Rule, Severity

_COMMANDS = (
    *("*.sh", "Makefile", "*.mk", "*.yml", "*.yaml", "tox.ini", "noxfile.py", "justfile", "package.json", "*.cfg"),
)
_RUNNERS = ("jest.config.*", "vitest.config.*", "vite.config.*", "karma.conf.*", ".nycrc*", ".c8rc*", "package.json")
_BUILDS = ("pom.xml", "*.gradle", "*.gradle.kts")


@dataclass(frozen=True, slots=True)
class _Threshold:
    """Where a number stands (its first group), and whether less of it is worse."""

    rule: Rule
    files: tuple[str, ...]
    pattern: re.Pattern[str]
    is_least: bool = True


_Named = dict[str, list[float]]
_Sides = dict[str, tuple[_Named, _Named]]

_THRESHOLDS = (
    _Threshold(
        Rule.COVERAGE_CONFIG,
        (*_COMMANDS, "*.toml"),
        regex(r"--(?:cov-)?fail-under(?:[= ]|\",\s*\")(\d+(?:\.\d+)?)"),
    ),
    _Threshold(
        *(Rule.COVERAGE_CONFIG, (*_COMMANDS, *_RUNNERS)),
        regex(r"--(?:check-coverage\s+)?(?:lines|branches|functions|statements)[= ](\d+(?:\.\d+)?)"),
    ),
    _Threshold(
        *(Rule.COVERAGE_CONFIG, _RUNNERS),
        regex(r"\b(?:lines|branches|functions|statements)[\"']?\s*:\s*(\d+(?:\.\d+)?)"),
    ),
    _Threshold(
        *(Rule.COVERAGE_CONFIG, _BUILDS),
        regex(r"(?:<minimum>|\bminimum(?:Coverage)?\s*=?\s*\(?[\"']?)\s*(\d+(?:\.\d+)?)"),
    ),
    _Threshold(
        *(Rule.LINT_CONFIG, (*_COMMANDS, *_BUILDS), regex(r"(?:--max-warnings[= ]|maxWarnings\s*=?\s*)(\d+)")),
        is_least=False,
    ),
)


def findings_about_thresholds(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    """Numbers that ask for less than before. One that left its file is looked for in the other files of the change."""
    known = tuple(changes)
    for threshold in _THRESHOLDS:
        files = [change for change in known if _fits(threshold, change.path)]
        sides = {
            change.path: (_numbers(threshold, change, False), _numbers(threshold, change, True)) for change in files
        }
        for change in files:
            worse = [name for name in sides[change.path][0] if _is_less(threshold, change.path, name, sides)]
            if not change.is_gone and worse:
                old, new = (side.get(worse[0], []) for side in sides[change.path])
                yield _finding(threshold, change, old, new)


def _is_less(threshold: _Threshold, path: str, name: str, sides: _Sides) -> bool:
    """Whether a number of this name asks for less, or is gone and came up nowhere else."""
    old, new = (side.get(name, []) for side in sides[path])
    moved = [
        number
        for other, (before, after) in sides.items()
        if other != path
        for number in after.get(name, [])[len(before.get(name, [])) :]
    ]
    return any(_is_worse(threshold, *pair) for pair in _pairs(old, [*new, *moved][: len(old)], threshold))


def _fits(threshold: _Threshold, path: str) -> bool:
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, glob) for glob in threshold.files)


def _numbers(threshold: _Threshold, change: TextChange, is_after: bool) -> _Named:
    """The numbers by what stands before them, in order."""
    text = change.after if is_after else change.before
    if not threshold.pattern.search(text):
        return {}
    named: _Named = {}
    for line in code_lines(change.path, text):
        for each in threshold.pattern.finditer(line.text):
            named.setdefault(re.sub(r"\W+", "", each[0][: each.start(1) - each.start()]), []).append(float(each[1]))
    return named


def _pairs(old: list[float], new: list[float], threshold: _Threshold) -> Iterator[tuple[float, float]]:
    """Numbers before and after, in order; one that is gone asks for nothing."""
    nothing = 0.0 if threshold.is_least else float("inf")
    yield from zip(old, [*new, *[nothing] * (len(old) - len(new))], strict=True)


def _is_worse(threshold: _Threshold, old: float, new: float) -> bool:
    return new < old if threshold.is_least else new > old


def _finding(threshold: _Threshold, change: TextChange, old: list[float], new: list[float]) -> PolicyFinding:
    number = next(
        (line.number for line in code_lines(change.path, change.after) if threshold.pattern.search(line.text)), None
    )
    what = "coverage asks for less" if threshold.rule is Rule.COVERAGE_CONFIG else "more warnings pass"
    texts = [", ".join(f"{each:g}" for each in numbers) for numbers in (old, new)]
    remedy = "Put the number back, or have this edit allowed by the task."
    return PolicyFinding(threshold.rule, Severity.BLOCK, change.path, number, None, what, texts[0], texts[1], remedy)
