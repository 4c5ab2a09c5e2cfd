"""Rules about configuration, build, CI and code, read from `data/line_rules.toml` and `data/setting_rules.toml`: asked
of each line that a change adds or takes away, comments left out, and of settings, whose layout and order count nothing.
And files as texts and lines, for all rules about text."""

from __future__ import annotations

import ast
import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.discovery import belongs_to_tests, language_of
from agent_fox.verifier.policy.tables import Becomes, RuleRow, finding, parts_of, rule_rows, words_of
from agent_fox.verifier.policy.values import Change, PolicyFinding, Rule, without

LARGEST_TEXT = 512 * 1024  # bytes; of a larger file the beginning is looked at, and the report says so
LONGEST_LINE = 2_000  # characters
LONGEST_SHOWN = 200

_HASH = regex(r"(?:^|(?<=\s))#(?![!\[]).*$")
_SLASHES = regex(r"(?:^|(?<=[\s;{}(),]))//.*$|^\s*/?\*.*$|/\*.*?\*/")
_MARKUP = regex(r"<!--.*?-->", re.DOTALL)
_SLASHED = regex(r"\.(?:[cm]?[jt]s|[jt]sx|java|go|rs|gradle|kts)")
_RUNS_ALL = regex(r"\b(?:tox|nox|(?:make|just|task|npm run|yarn|pnpm) (?:test|check|verify|ci))\b")
_NO_PRODUCT = regex(r"(?:\.config\.|(?:^|/)(?:noxfile|setup|conftest)\.py$)")
_Values = tuple[str, ...]
Settings = Mapping[str, _Values]
"""Dotted path to its values: one for a scalar, all for a list."""

MOST_DEEP = 40


class Line(NamedTuple):
    number: int  # from 1
    text: str


class TextChange(NamedTuple):
    """One file as text on both sides; empty where it is not there."""

    path: str
    before: str
    after: str
    is_new: bool
    is_gone: bool


def text_changes(change: Change) -> Iterator[TextChange]:
    for path, file in sorted(change.files.items()):
        old, new = ((side or b"")[:LARGEST_TEXT].decode("utf-8", "replace") for side in (file.before, file.after))
        yield TextChange(path, old, new, file.before is None, file.after is None)


@cache
def runners() -> re.Pattern[str]:
    return regex(parts_of("line_rules")["runners"])


def line_findings(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    """At most one finding of each rule for each file. `code` is neither tests nor the settings of a tool."""
    for change in changes:
        path, language = change.path, language_of(change.path, {})
        is_code = language is not None and not belongs_to_tests(path) and not _NO_PRODUCT.search(path)
        known = rule_rows("line_rules")
        rules = [each for each in known if (is_code if each.files == ("code",) else each.fits(path))]
        if rules:
            old, new = code_lines(path, change.before), code_lines(path, change.after)
            added, removed = without(new, map(_words_of, old), _words_of), without(old, map(_words_of, new), _words_of)
            for rule in rules:
                yield from _of_rule(rule, change, added, removed)


def _of_rule(rule: RuleRow, change: TextChange, added: list[Line], removed: list[Line]) -> Iterator[PolicyFinding]:
    is_removed = rule.about == "removed"
    text = change.before if is_removed else change.after
    for line in removed if is_removed else added:
        hit = None if rule.unless.search(line.text) else rule.pattern.search(line.text)
        if hit is None or (not is_removed and _stood_before(rule, hit, removed)):
            continue
        words = (runners().search(line.text) or hit)[0].split()[:1] if is_removed else ()  # of a line written otherwise
        if any(word in other.text or _RUNS_ALL.search(other.text) for word in words for other in added):
            continue
        if not (change.path.endswith(".py") and line.number in _quoted_lines(text)):
            shown, severity = line.text[:LONGEST_SHOWN], rule.on_new if change.is_new else None
            yield rule.finding(change.path, line.number, *((shown, "") if is_removed else ("", shown)), severity)
            return


def _words_of(line: Line) -> str:
    """What a line says, whatever spaces it has and whether a comma ends it."""
    return "".join(line.text.split()).rstrip(",")


def _stood_before(rule: RuleRow, hit: re.Match[str], removed: list[Line]) -> bool:
    """Whether a setting that is found, up to the comma or bracket that ends it, stands in a line that is gone."""
    text, depth, end = hit.string, 0, len(hit.string)
    if rule.name not in (Rule.TEST_CONFIG, Rule.COVERAGE_CONFIG) or not removed:
        return False
    for place in range(hit.start(), len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth < 0 or (depth == 0 and text[place] == "," and place > hit.start()):
            end = place
            break
    setting = "".join(text[hit.start() : end].split())
    return bool(setting) and any(setting in "".join(other.text.split()) for other in removed)


def code_lines(path: str, text: str) -> list[Line]:
    """The lines of a file that hold more than a comment, stripped."""
    suffix = PurePosixPath(path).suffix
    if suffix in (".xml", ".html"):
        text = _MARKUP.sub(lambda found: "\n" * found[0].count("\n"), text)
    comment, marks = (_SLASHES, "/*") if _SLASHED.fullmatch(suffix) else (_HASH, "#")
    cut = (line[:LONGEST_LINE] for line in text.splitlines())
    bare = (comment.sub("", line) if any(mark in line for mark in marks) else line for line in cut)
    return [Line(number, line) for number, line in enumerate(map(str.strip, bare), 1) if line]


@lru_cache(maxsize=32)
def _quoted_lines(text: str) -> frozenset[int]:
    """Numbers of the lines that begin inside a longer string of Python; none where the text is not Python."""
    try:
        nodes = ast.walk(ast.parse(text))
        strings = [node for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr)]
        spans = [(node.lineno, node.end_lineno or node.lineno) for node in strings]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(line for first, last in spans for line in range(first + 1, last + 1))


class BadSettings(ValueError):
    """The file can't be parsed; the message names the format."""


def settings_of(path: str, text: str) -> Settings:
    """The settings of a TOML, JSON (comments allowed) or INI file; none for another kind. Raises BadSettings."""
    pure = PurePosixPath(path)
    try:
        if pure.suffix == ".toml":
            return dict(_flat(tomllib.loads(text), ()))
        if pure.suffix in (".json", ".jsonc") or pure.name in words_of("any", "json_files"):
            return dict(_flat(_json(text), ()))
        if pure.suffix in (".ini", ".cfg") or pure.name in words_of("any", "ini_files"):
            parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
            parser.read_string(text)
            named = ((section, *item) for section in parser.sections() for item in parser.items(section))
            return {f"{section}.{key}": tuple((value or "").split("\n")) for section, key, value in named}
    except (ValueError, configparser.Error, RecursionError) as error:
        raise BadSettings(f"{pure.name} can't be parsed") from error
    return {}


def _json(text: str) -> object:
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except ValueError:
        without = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "", text, flags=re.DOTALL)
        return json.loads(re.sub(r",(\s*[}\]])", r"\1", without))


def _flat(node: object, path: tuple[str, ...]) -> Iterator[tuple[str, _Values]]:
    if len(path) > MOST_DEEP:
        raise BadSettings("nested too deeply")
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _flat(value, (*path, str(key)))
    elif isinstance(node, list):
        yield ".".join(path), tuple(json.dumps(each, sort_keys=True, default=str).strip('"') for each in node)
    else:
        yield ".".join(path), (str(node).lower() if isinstance(node, bool) else str(node),)


def setting_findings(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    for change in changes:
        rules = [rule for rule in rule_rows("setting_rules") if rule.fits(change.path)]
        if rules and not change.is_new and not change.is_gone:
            yield from _findings(change, rules)


def _findings(change: TextChange, rules: list[RuleRow]) -> Iterator[PolicyFinding]:
    sides: list[Settings] = []
    for text, otherwise in ((change.before, "bad-settings"), (change.after, "broken")):
        try:
            sides.append(settings_of(change.path, text))
        except BadSettings as error:
            yield finding(otherwise, change.path, of=error)
            return
    before, after = sides
    changed = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    for rule in rules:
        for key in (key for key in changed if rule.key.fullmatch(key)):
            old, new = before.get(key), after.get(key)
            if _WORSE[rule.becomes](old, new) and not (rule.name is Rule.LINT_CONFIG and _is_adopted(key, *sides)):
                was, now = (f"{key} = {', '.join(values)}"[:LONGEST_SHOWN] if values else "" for values in (old, new))
                lines, word = (change.after if new else change.before).splitlines(), key.rpartition(".")[2]
                line = next((number for number, text in enumerate(lines, 1) if word in text), None)
                yield rule.finding(change.path, line, was, now)


def _is_adopted(key: str, before: Settings, after: Settings) -> bool:
    """Whether a linter is new here, or a set of rules was taken on that this setting is part of."""
    tool = ".".join(key.split(".")[:2])
    if key.startswith("tool.") and not any(other.startswith(f"{tool}.") for other in before):
        return True
    if after.get(f"{tool}.strict") == ("true",) and before.get(f"{tool}.strict") != ("true",):
        return not key.endswith(("ignore_errors", "exclude", "disable_error_code"))
    gained = set(after.get("extends", ())) - set(before.get("extends", ()))
    return key.startswith("rules.") and key not in after and bool(gained)


def _number(values: _Values | None) -> float:
    try:
        return float(values[0]) if values else 0.0
    except ValueError:
        return 0.0


def _fails(values: _Values | None) -> bool:
    return values is not None and values[:1] in (("error",), ("2",))


_WORSE: Mapping[Becomes, Callable[[_Values | None, _Values | None], bool]] = {
    "lowered": lambda old, new: old is not None and _number(new) < _number(old),
    "narrowed": lambda old, new: new is not None and (old is None or not set(old) <= set(new)),
    "widened": lambda old, new: not set(new or ()) <= set(old or ()),
    "off": lambda old, new: old == ("true",) and new != ("true",),
    "on": lambda _, new: new == ("true",),
    "gone": lambda old, new: new is None and _fails(old),
    "quieter": lambda old, new: _fails(old) and new is not None and not _fails(new),
    "idle": lambda old, new: [any(map(runners().search, values or ())) for values in (old, new)] == [True, False],
}
"""Whether a setting went the way that a rule forbids. None: it is not there."""
