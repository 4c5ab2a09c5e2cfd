"""Rules about settings, read from `data/setting_rules.toml`: a threshold lowered, a list of tests narrowed.
Configuration files are taken as settings: layout and order count for nothing."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from agent_fox.verifier.policy.rules.line_rules import LONGEST_SHOWN, TextChange, runners
from agent_fox.verifier.policy.tables import Becomes, RuleRow, finding, rule_rows
from agent_fox.verifier.policy.values import PolicyFinding, Rule

_Values = tuple[str, ...]
Settings = Mapping[str, _Values]
"""Dotted path to its values: one for a scalar, all for a list."""

MOST_DEEP = 40

_INI_NAMES = (".coveragerc", ".flake8", ".pylintrc", "pylintrc")
_JSON_NAMES = (".eslintrc", ".nycrc", ".mocharc")


class BadSettings(ValueError):
    """The file can't be parsed; the message names the format."""


def settings_of(path: str, text: str) -> Settings:
    """The settings of a TOML, JSON (comments allowed) or INI file; none for another kind. Raises BadSettings."""
    pure = PurePosixPath(path)
    try:
        if pure.suffix == ".toml":
            return dict(_flat(tomllib.loads(text), ()))
        if pure.suffix in (".json", ".jsonc") or pure.name in _JSON_NAMES:
            return dict(_flat(_json(text), ()))
        if pure.suffix in (".ini", ".cfg") or pure.name in _INI_NAMES:
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


def findings_about_settings(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
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
            yield finding(otherwise, change.path, about=error)
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


def _runs(values: _Values) -> bool:
    return any(map(runners().search, values))


_WORSE: Mapping[Becomes, Callable[[_Values | None, _Values | None], bool]] = {
    "lowered": lambda old, new: old is not None and _number(new) < _number(old),
    "narrowed": lambda old, new: new is not None and (old is None or not set(old) <= set(new)),
    "widened": lambda old, new: not set(new or ()) <= set(old or ()),
    "off": lambda old, new: old == ("true",) and new != ("true",),
    "on": lambda _, new: new == ("true",),
    "gone": lambda old, new: new is None and _fails(old),
    "quieter": lambda old, new: _fails(old) and new is not None and not _fails(new),
    "idle": lambda old, new: old is not None and _runs(old) and not _runs(new or ()),
}
"""Whether a setting went the way that a rule forbids. None: it is not there."""
