"""The files in `data/`: rules as rows, what words mean in tests, what nodes are to readers. Not what they mean."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import translate
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.reading import Strength
from agent_fox.verifier.policy.values import PolicyFinding, Rule, Severity

Becomes = Literal["lowered", "narrowed", "widened", "off", "on", "gone", "idle", "quieter"]
_NOTHING = regex(r"(?!)")


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule: where it looks for what, and what it says.

    files: globs, and names: all of them as one pattern. pattern, unless: what a line has, and has not. about: whether
    lines that are `added` or `removed` are looked at. key, becomes: of settings, their dotted path and what may not
    become of them. is_least: less is worse.
    """

    name: Rule
    message: str
    files: tuple[str, ...] = ()
    names: re.Pattern[str] = _NOTHING
    pattern: re.Pattern[str] = _NOTHING
    unless: re.Pattern[str] = _NOTHING
    key: re.Pattern[str] = _NOTHING
    becomes: Becomes = "lowered"
    about: str = "added"
    severity: Severity = Severity.BLOCK
    on_new: Severity | None = None
    remedy: str = ""
    is_least: bool = True

    def fits(self, path: str) -> bool:
        """Whether the path of a file, or its name, is of those that the rule looks into."""
        return any(map(self.names.match, (path, path.rpartition("/")[2])))

    def finding(
        self, path: str, line: int | None = None, before: str = "", after: str = "", severity: Severity | None = None
    ) -> PolicyFinding:
        severity = severity or self.severity
        return PolicyFinding(self.name, severity, path, line, None, self.message, before, after, self.remedy)


@cache
def document(file: str) -> Mapping[str, Any]:
    return tomllib.loads(files("agent_fox.verifier.policy").joinpath(f"data/{file}.toml").read_text("utf-8"))


def finding(
    key: str, path: str, line: int | None = None, test: str | None = None, old: str = "", new: str = "", of: object = ""
) -> PolicyFinding:
    """What `data/findings.toml` says by a key. of: what its message leaves open."""
    row = document("findings")[key]
    severity, message = Severity(row.get("severity", "block")), row["message"].format(of)
    made = PolicyFinding(Rule(row["rule"]), severity, path, line, test, message, old, new, row.get("remedy", ""))
    return replace(made, is_broken=key == "broken")


@cache
def parts_of(file: str) -> Mapping[str, str]:
    """The parts of patterns that a file names; a list is of alternatives."""
    parts: Mapping[str, str | list[str]] = document(file).get("parts", {})
    return {name: part if isinstance(part, str) else f"(?:{'|'.join(part)})" for name, part in parts.items()}


@cache
def rule_rows(file: str, section: str = "rule") -> tuple[RuleRow, ...]:
    """The rules of `data/FILE.toml`, each written as `[[SECTION.NAME."MESSAGE"]]`."""
    written = document(file)
    remedy = written.get("remedies", {}).get(section, written.get("remedy", ""))
    named = ((name, message, row) for name, of in written[section].items() for message in of for row in of[message])
    return tuple(_row(file, name, message, {"remedy": remedy, **row}) for name, message, row in named)


def _row(file: str, name: str, message: str, written: Mapping[str, Any]) -> RuleRow:
    known = {key: value for key, value in written.items() if key not in ("yes", "no", "files")}  # those are examples
    globs, sets = written.get("files", ()), document(file).get("files", {})
    for key in known.keys() & {"severity", "on_new"}:
        known[key] = Severity(known[key])
    for key in known.keys() & {"pattern", "unless", "key"}:
        pattern = known[key] if isinstance(known[key], str) else "|".join(known[key])
        for part, text in parts_of(file).items():
            pattern = pattern.replace(f"{{{part}}}", text)
        known[key] = regex(pattern)
    patterns = tuple(
        glob for each in ([globs] if isinstance(globs, str) else globs) for glob in sets.get(each, (each,))
    )
    names = re.compile("|".join(map(translate, patterns))) if patterns else _NOTHING
    return RuleRow(Rule(name), message, patterns, names, **known)


@cache
def demands(language: str, table: str) -> Mapping[str, tuple[str, Strength]]:
    """What assertions demand by their names: an operator and how much of it. The operator may be empty."""
    return {
        word: (operator, Strength[strength.upper()])
        for strength, operators in document("words")[language].get(table, {}).items()
        for operator, words in operators.items()
        for word in words.split()
    }


@cache
def words_of(language: str, kind: str) -> frozenset[str]:
    """Names of a kind, such as those of functions that make tests."""
    return frozenset(document("words")[language]["names"].get(kind, "").split())


def is_off(language: str, mark: str) -> bool:
    return re.search(document("words")[language].get("off", "(?!)"), mark, re.DOTALL) is not None


def says(language: str, kind: str, text: str) -> bool:
    """Whether one of the parts of texts that tell of `kind` stands in this text."""
    return any(part in text for part in document("words")[language].get("texts", {}).get(kind, ()))


@cache
def roles() -> Mapping[str, str]:
    return {kind: role for role, kinds in document("kinds")["roles"].items() for kind in kinds.split()}


@cache
def kinds(name: str) -> tuple[str, ...]:
    return tuple(document("kinds")["kinds"][name].split())
