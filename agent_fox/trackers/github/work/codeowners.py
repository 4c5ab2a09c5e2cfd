"""Who owns a file, by CODEOWNERS as GitHub reads it: the last rule that matches decides. Pure; asks nobody.

The rules: https://docs.github.com/articles/about-code-owners
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks, in this order: the first file that is there counts."""
LARGEST = 3 * 1024**2
"""A larger file counts for nothing."""

_WORD = regex(r"(?:\\.|[^\s\\])+")
_OWNER = regex(r"@[A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9._-]+)?|[^@\s]+@[^@\s]+\.[^@\s]+")
_UNSUPPORTED = regex(r"^!|^\\#|\[|\]")
"""Negation, an escaped number sign and ranges: GitHub leaves out a line that has one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The files that a line is about, and who owns them; nobody where it names nobody."""

    pattern: str
    owners: tuple[str, ...]
    regex: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Owners:
    """The rules of a file in their order; `left_out` counts lines that GitHub does not read."""

    rules: tuple[Rule, ...]
    left_out: int = 0

    def of(self, path: str) -> tuple[str, ...]:
        """The owners of a path below the root, as they are written; empty where it has none."""
        return next((rule.owners for rule in reversed(self.rules) if rule.regex.fullmatch(path)), ())


def read_owners(text: str) -> Owners:
    lines = [line for line in map(without_comment, text.splitlines()) if line]
    rules = [rule for line in lines for rule in rule_of(line)]
    return Owners(tuple(rules), len(lines) - len(rules))


def without_comment(line: str) -> str:
    """A number sign begins a comment at the start of a line or after a space."""
    return re.split(r"(?:^|(?<=\s))#", line, maxsplit=1)[0].strip()


def rule_of(line: str) -> Iterator[Rule]:
    pattern, *owners = _WORD.findall(line)
    is_readable = not _UNSUPPORTED.search(pattern) and all(_OWNER.fullmatch(owner) for owner in owners)
    if is_readable and pattern.strip("/"):
        yield Rule(pattern, tuple(owners), re.compile(regex_of(pattern)))


def regex_of(pattern: str) -> str:
    """The paths that a pattern matches, in full. A slash but at the end binds it to the root."""
    is_folder, is_bound = pattern.endswith("/"), "/" in pattern.rstrip("/")
    parts = re.sub(r"\\(.)", r"\1", pattern).strip("/").split("/")
    if parts == ["*"] and not is_folder:
        return ".*"
    start = "" if is_bound else "(?:.*/)?"
    middle = "".join(part_regex(part, is_last=place == len(parts)) for place, part in enumerate(parts, start=1))
    if parts[-1] == "**":
        return f"{start}{middle}"
    if is_folder:
        return f"{start}{middle}/.*"
    return f"{start}{middle}" if parts[-1] == "*" else f"{start}{middle}(?:/.*)?"


def part_regex(part: str, *, is_last: bool) -> str:
    """One name of a pattern with the slash behind it; two stars stand for any number of folders."""
    if part == "**":
        return ".*" if is_last else "(?:.*/)?"
    inner = "".join({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)) for char in part)
    name = "[^/]+" if part == "*" else inner
    return name if is_last else f"{name}/"


def ranked(owners: Owners, paths: Iterable[str]) -> tuple[str, ...]:
    """Every owner of these paths, each once: who owns most of them first, then in the order of the file."""
    counts: dict[str, int] = {}
    for path in paths:
        for owner in owners.of(path):
            counts[owner] = counts.get(owner, 0) + 1
    order = {owner: place for place, owner in enumerate(owner for rule in owners.rules for owner in rule.owners)}
    return tuple(sorted(counts, key=lambda owner: (-counts[owner], order[owner])))
