"""Rules about lines of configuration, build, CI and code: read from `data/line_rules.toml`, asked of each line that a
change adds or takes away, comments left out. And files as texts and lines, for all rules about text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.discovery import belongs_to_tests, language_of
from agent_fox.verifier.policy.tables import RuleRow, parts_of, rule_rows
from agent_fox.verifier.policy.values import PolicyFinding, Rule, without

if TYPE_CHECKING:
    from agent_fox.verifier.policy.values import Change

LARGEST_TEXT = 512 * 1024  # bytes; of a larger file the beginning is looked at, and the report says so
LONGEST_LINE = 2_000  # characters
LONGEST_SHOWN = 200

_HASH = regex(r"(?:^|(?<=\s))#(?![!\[]).*$")
_SLASHES = regex(r"(?:^|(?<=[\s;{}(),]))//.*$|^\s*/?\*.*$|/\*.*?\*/")
_MARKUP = regex(r"<!--.*?-->", re.DOTALL)
_SLASHED = regex(r"\.(?:[cm]?[jt]s|[jt]sx|java|go|rs|gradle|kts)")
_RUNS_ALL = regex(r"\b(?:tox|nox|(?:make|just|task|npm run|yarn|pnpm) (?:test|check|verify|ci))\b")
_NO_PRODUCT = regex(r"(?:\.config\.|(?:^|/)(?:noxfile|setup|conftest)\.py$)")


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
    """The commands that check something."""
    return regex(parts_of("line_rules")["runners"])


def findings_about_lines(changes: Iterable[TextChange]) -> Iterator[PolicyFinding]:
    """At most one finding of each rule for each file. `code` is neither tests nor the settings of a tool."""
    for change in changes:
        path, language = change.path, language_of(change.path, {})
        is_code = language is not None and not belongs_to_tests(path) and not _NO_PRODUCT.search(path)
        looking = ((rule, rule.fits(path) or rule.names.match(path)) for rule in rule_rows("line_rules"))
        if rules := [rule for rule, fits in looking if (is_code if rule.files == ("code",) else fits)]:
            old, new = code_lines(change.path, change.before), code_lines(change.path, change.after)
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
        word = (runners().search(line.text) or hit)[0].split()[0]  # a line that is gone may be written otherwise now
        if is_removed and any(word in other.text or _RUNS_ALL.search(other.text) for other in added):
            continue
        if not (change.path.endswith(".py") and line.number in _quoted_lines(text)):
            shown, severity = line.text[:LONGEST_SHOWN], rule.on_new if change.is_new else None
            yield rule.finding(change.path, line.number, *((shown, "") if is_removed else ("", shown)), severity)
            return


def _words_of(line: Line) -> str:
    """What a line says, whatever spaces it has and whether a comma ends it."""
    return "".join(line.text.split()).rstrip(",")


def _stood_before(rule: RuleRow, hit: re.Match[str], removed: list[Line]) -> bool:
    """Whether the setting that a rule finds stands with the same value in a line that is gone: a line may hold several,
    of which another was edited. A setting goes to the comma or bracket that ends it.
    """
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
    """Numbers of the lines that begin inside a longer string of Python, the source of another program, or prose; none
    where the text is not Python.
    """
    try:
        nodes = ast.walk(ast.parse(text))
        strings = [node for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr)]
        spans = [(node.lineno, node.end_lineno or node.lineno) for node in strings]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(line for first, last in spans for line in range(first + 1, last + 1))
