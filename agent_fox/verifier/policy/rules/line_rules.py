"""Rules about lines of configuration, build, CI and code: read from `data/line_rules.toml`, asked of each line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.discovery import belongs_to_tests, language_of
from agent_fox.verifier.policy.rules.lines import Line, Lines, TextChange, added_and_removed, quoted_lines
from agent_fox.verifier.policy.rules.tables import RuleRow, parts_of, rule_rows
from agent_fox.verifier.policy.values import PolicyFinding, Rule

LONGEST_SHOWN = 200  # characters of a line
_RUNS_ALL = regex(r"\b(?:tox|nox|(?:make|just|task|npm run|yarn|pnpm) (?:test|check|verify|ci))\b")
_NO_PRODUCT = regex(r"(?:\.config\.|(?:^|/)(?:noxfile|setup|conftest)\.py$)")


@cache
def runners() -> re.Pattern[str]:
    """The commands that check something."""
    return regex(parts_of("line_rules")["runners"])


def findings_about_lines(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    """At most one finding of each rule for each file."""
    for change in changes:
        rules = [rule for rule in rule_rows("line_rules") if _fits(rule, change.path)]
        added, removed = added_and_removed(change) if rules else ((), ())
        for rule in rules:
            is_removed = rule.about == "removed"
            hits = [each for each in (removed if is_removed else added) if _found_in(rule, each)]
            hits = [
                each for each in hits if not (_is_kept if is_removed else _stood_before)(rule, each, added, removed)
            ]
            line = next((each for each in hits if not _is_quoted(change, each, is_removed)), None)
            if line is not None:
                text, severity = line.text[:LONGEST_SHOWN], rule.on_new if change.is_new else None
                yield rule.finding(change.path, line.number, *((text, "") if is_removed else ("", text)), severity)


def _fits(rule: RuleRow, path: str) -> bool:
    """Whether a rule looks into a file, by its path or its name. `code` is neither tests nor the settings of a tool."""
    if rule.files == ("code",):
        return language_of(path, {}) is not None and not belongs_to_tests(path) and not _NO_PRODUCT.search(path)
    return rule.fits(path) or rule.fits(path, by_path=True)


def _found_in(rule: RuleRow, line: Line) -> re.Match[str] | None:
    return None if rule.unless.search(line.text) else rule.pattern.search(line.text)


def _stood_before(rule: RuleRow, line: Line, _: Lines, removed: Lines) -> bool:
    """Whether the setting that a rule finds stands with the same value in a line that is gone: a line may hold several,
    of which another was edited.
    """
    match = _found_in(rule, line) if rule.name in (Rule.TEST_CONFIG, Rule.COVERAGE_CONFIG) else None
    setting = _setting_at(line.text, match.start()) if match else ""
    return bool(setting) and any(setting in "".join(other.text.split()) for other in removed)


def _setting_at(text: str, start: int) -> str:
    """A setting with its value, without spaces: to the comma or bracket that ends it."""
    depth, end = 0, len(text)
    for place in range(start, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth < 0 or (depth == 0 and text[place] == "," and place > start):
            end = place
            break
    return "".join(text[start:end].split())


def _is_quoted(change: TextChange, line: Line, is_removed: bool) -> bool:
    """Whether a line of Python stands inside a longer string: the source of another program, or prose."""
    text = change.before if is_removed else change.after
    return change.path.endswith(".py") and line.number in quoted_lines(text)


def _is_kept(rule: RuleRow, line: Line, added: Lines, _: Lines) -> bool:
    """Whether a line that is gone is only written otherwise: its command is new elsewhere, or one that runs all."""
    hit = runners().search(line.text) or _found_in(rule, line)
    word = hit[0].split()[0] if hit is not None else ""
    return hit is not None and any(word in other.text or _RUNS_ALL.search(other.text) for other in added)
