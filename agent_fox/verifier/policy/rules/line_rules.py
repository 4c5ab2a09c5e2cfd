"""Rules about lines of configuration, build, CI and code: read from `data/line_rules.toml`, asked of each line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.discovery import belongs_to_tests, language_of
from agent_fox.verifier.policy.rules.lines import Line, TextChange, added_and_removed, quoted_lines
from agent_fox.verifier.policy.rules.tables import RuleRow, parts_of, rule_rows
from agent_fox.verifier.policy.values import PolicyFinding, Rule

LONGEST_SHOWN = 200  # characters of a line
_RUNS_ALL = regex(r"\b(?:tox|nox|(?:make|just|task|npm run|yarn|pnpm) (?:test|check|verify|ci))\b")
_NO_PRODUCT = regex(r"(?:\.config\.|(?:^|/)(?:noxfile|setup|conftest)\.py$)")


def is_production(path: str) -> bool:
    """Whether a file holds code that is neither a test nor the configuration of a tool."""
    return language_of(path, {}) is not None and not belongs_to_tests(path) and not _NO_PRODUCT.search(path)


@cache
def runners() -> re.Pattern[str]:
    """The commands that check something."""
    return regex(parts_of("line_rules")["runners"])


def fits(rule: RuleRow, path: str) -> bool:
    """Whether a rule looks into a file, by its path or its name. `code` is production code."""
    if rule.files == ("code",):
        return is_production(path)
    return rule.fits(path) or any(fnmatchcase(path, glob) for glob in rule.files)


def is_about_removed(rule: RuleRow) -> bool:
    return rule.about == "removed"


def found_in(rule: RuleRow, line: Line) -> re.Match[str] | None:
    return None if rule.unless.search(line.text) else rule.pattern.search(line.text)


def findings_about_lines(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    """At most one finding of each rule for each file."""
    for change in changes:
        rules = [rule for rule in rule_rows("line_rules") if fits(rule, change.path)]
        if rules:
            yield from _findings(change, rules)


def _findings(change: TextChange, rules: list[RuleRow]) -> Iterator[PolicyFinding]:
    added, removed = added_and_removed(change)
    for rule in rules:
        lines, others = (removed, added) if is_about_removed(rule) else (added, removed)
        hits = (each for each in lines if found_in(rule, each) and not _is_kept(rule, each, added))
        hits = (each for each in hits if not _stood_before(rule, each, others))
        line = next((each for each in hits if not _is_quoted(change, rule, each)), None)
        if line is not None:
            yield _finding(change, rule, line)


def _stood_before(rule: RuleRow, line: Line, others: tuple[Line, ...]) -> bool:
    """Whether the setting that a rule finds stands with the same value in a line of the other side: a line may hold
    several, of which another was edited.
    """
    if rule.name not in (Rule.TEST_CONFIG, Rule.COVERAGE_CONFIG) or is_about_removed(rule):
        return False
    match = found_in(rule, line)
    setting = _setting_at(line.text, match.start()) if match else ""
    return bool(setting) and any(setting in "".join(other.text.split()) for other in others)


def _setting_at(text: str, start: int) -> str:
    """A setting with its value, without spaces: to the comma or bracket that ends it."""
    depth = 0
    for place in range(start, len(text)):
        depth += text[place] in "([{"
        depth -= text[place] in ")]}"
        if depth < 0 or (depth == 0 and text[place] == "," and place > start):
            return "".join(text[start:place].split())
    return "".join(text[start:].split())


def _is_quoted(change: TextChange, rule: RuleRow, line: Line) -> bool:
    """Whether a line of Python stands inside a longer string: the source of another program, or prose."""
    if not change.path.endswith(".py"):
        return False
    return line.number in quoted_lines(change.before if is_about_removed(rule) else change.after)


def _is_kept(rule: RuleRow, line: Line, added: tuple[Line, ...]) -> bool:
    """Whether a line that is gone is only written otherwise: its command is new elsewhere, or one that runs all."""
    hit = runners().search(line.text) or found_in(rule, line)
    if not is_about_removed(rule) or hit is None:
        return False
    word = hit[0].split()[0]
    return any(word in other.text or _RUNS_ALL.search(other.text) for other in added)


def _finding(change: TextChange, rule: RuleRow, line: Line) -> PolicyFinding:
    text = line.text[:LONGEST_SHOWN]
    before, after = (text, "") if is_about_removed(rule) else ("", text)
    severity = rule.on_new if change.is_new and rule.on_new is not None else rule.severity
    remedy = "Take this edit back, or have it allowed by the task."
    return rule.finding(change.path, line.number, before=before, after=after, remedy=remedy, severity=severity)
