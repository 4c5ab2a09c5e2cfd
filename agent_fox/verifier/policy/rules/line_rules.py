"""Rules about lines of configuration, build, CI and code: read from `data/line_rules.toml`, asked of each line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.discovery import belongs_to_tests, language_of
from agent_fox.verifier.policy.rules.lines import Line, TextChange, added_and_removed, quoted_lines
from agent_fox.verifier.policy.values import PolicyFinding, Rule, Severity

LONGEST_SHOWN = 200  # characters of a line
_RUNS_ALL = regex(r"\b(?:tox|nox|(?:make|just|task|npm run|yarn|pnpm) (?:test|check|verify|ci))\b")
_NO_PRODUCT = regex(r"(?:\.config\.|(?:^|/)(?:noxfile|setup|conftest)\.py$)")


class _Written(BaseModel, defer_build=True):
    """One rule as it is written in the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Rule
    message: str
    files: str | tuple[str, ...]
    pattern: tuple[str, ...]
    severity: Severity = Severity.BLOCK
    on_new: Severity | None = None
    about: str = "added"
    unless: str = ""


class _Table(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="forbid", frozen=True)

    runners: tuple[str, ...]
    files: dict[str, tuple[str, ...]]
    rule: tuple[_Written, ...]


class LineRule:
    """One rule, ready to be asked."""

    def __init__(self, written: _Written, table: _Table) -> None:
        self.runner = re.compile(f"(?:{'|'.join(table.runners)})")
        self.written = written
        self.is_about_removed = written.about == "removed"
        self._globs = written.files if isinstance(written.files, tuple) else table.files.get(written.files, ())
        self._pattern = re.compile("|".join(written.pattern).replace("{runners}", self.runner.pattern))
        self._unless = re.compile(written.unless or r"(?!)")

    def fits(self, path: str) -> bool:
        if self.written.files == "code":
            return is_production(path)
        name = path.rpartition("/")[2]
        return any(fnmatchcase(path, glob) or fnmatchcase(name, glob) for glob in self._globs)

    def found_in(self, line: Line) -> re.Match[str] | None:
        return None if self._unless.search(line.text) else self._pattern.search(line.text)


def is_production(path: str) -> bool:
    """Whether a file holds code that is neither a test nor the configuration of a tool."""
    return language_of(path, {}) is not None and not belongs_to_tests(path) and not _NO_PRODUCT.search(path)


def written_table(file: str) -> dict[str, object]:
    """`data/FILE.toml`, in which a rule is `[[rule.NAME."MESSAGE"]]`, with its rules as rows."""
    table = tomllib.loads(files("agent_fox.verifier.policy").joinpath(f"data/{file}.toml").read_text("utf-8"))
    rules = [(name, message, rows) for name, messages in table["rule"].items() for message, rows in messages.items()]
    written = [{"name": name, "message": message, **row} for name, message, rows in rules for row in rows]
    return {**table, "rule": written}


@lru_cache(maxsize=1)
def line_rules() -> tuple[LineRule, ...]:
    """The table; raises pydantic's ValidationError where it contradicts itself."""
    table = _Table.model_validate(written_table("line_rules"))
    return tuple(LineRule(written, table) for written in table.rule)


def runners() -> re.Pattern[str]:
    """The commands that check something."""
    return line_rules()[0].runner


def findings_about_lines(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    """At most one finding of each rule for each file."""
    for change in changes:
        rules = [rule for rule in line_rules() if rule.fits(change.path)]
        if rules:
            yield from _findings(change, rules)


def _findings(change: TextChange, rules: list[LineRule]) -> Iterator[PolicyFinding]:
    added, removed = added_and_removed(change)
    for rule in rules:
        lines, others = (removed, added) if rule.is_about_removed else (added, removed)
        hits = (each for each in lines if rule.found_in(each) and not _is_kept(rule, each, added))
        hits = (each for each in hits if not _stood_before(rule, each, others))
        line = next((each for each in hits if not _is_quoted(change, rule, each)), None)
        if line is not None:
            yield _finding(change, rule, line)


def _stood_before(rule: LineRule, line: Line, others: tuple[Line, ...]) -> bool:
    """Whether the setting that a rule finds stands with the same value in a line of the other side: a line may hold
    several, of which another was edited.
    """
    if rule.written.name not in (Rule.TEST_CONFIG, Rule.COVERAGE_CONFIG) or rule.is_about_removed:
        return False
    match = rule.found_in(line)
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


def _is_quoted(change: TextChange, rule: LineRule, line: Line) -> bool:
    """Whether a line of Python stands inside a longer string: the source of another program, or prose."""
    if not change.path.endswith(".py"):
        return False
    return line.number in quoted_lines(change.before if rule.is_about_removed else change.after)


def _is_kept(rule: LineRule, line: Line, added: tuple[Line, ...]) -> bool:
    """Whether a line that is gone is only written otherwise: its command is new elsewhere, or one that runs all."""
    hit = rule.runner.search(line.text) or rule.found_in(line)
    if not rule.is_about_removed or hit is None:
        return False
    word = hit[0].split()[0]
    return any(word in other.text or _RUNS_ALL.search(other.text) for other in added)


def _finding(change: TextChange, rule: LineRule, line: Line) -> PolicyFinding:
    text = line.text[:LONGEST_SHOWN]
    before, after = (text, "") if rule.is_about_removed else ("", text)
    written = rule.written
    severity = written.on_new if change.is_new and written.on_new is not None else written.severity
    remedy = "Take this edit back, or have it allowed by the task."
    return PolicyFinding(
        *(written.name, severity, change.path, line.number, None, written.message, before, after, remedy)
    )
