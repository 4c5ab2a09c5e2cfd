"""What reading and planning say already, under the ids of rules. Finding anything more is not here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from agent_fox.core.regex import regex
from agent_fox.core.spec import Problem, Severity
from agent_fox.specs.files import TextFile, read_text_file
from agent_fox.specs.lint.values import Edit, Finding, Found, Level, Rule, rules, split_place
from agent_fox.specs.lint.world import OPEN_QUESTION, World

_NAMED = regex(r"(?<![\w-])(\d{1,9})-REQ-")
_QUOTED = regex(r'"[^"]*"')
_OPENS = regex(r" ?(`{3,}|~{3,})[^`]*")
_IS_TEXT = regex(r"\s*(?:#{1,6}\s|[-*+]\s+\[.?\]|\||`{3}|~{3}|\d{1,3}[.)]\s|<!--)")
_UNCLOSED = "unclosed-block"
_LEVELS = {Severity.ERROR: Level.ERROR, Severity.WARNING: Level.WARNING}


def problem_findings(world: World) -> Iterator[Finding]:
    """The plan's problems as findings, with the severity that planning gives them."""
    for problem in dict.fromkeys(world.plan.problems):
        rule = rule_of(problem)
        is_note = problem.severity is Severity.WARNING and rule.is_note
        level = Level.NOTE if is_note else _LEVELS[problem.severity]
        edits = _closing_edit(world.root, problem.where) if rule.id == _UNCLOSED else ()
        yield rule.finding(Found(problem.where, problem.what, edits, level=level), problem.spec)


def rule_of(problem: Problem) -> Rule:
    """The rule that a problem's sentence belongs to. The words of a spec that it quotes do not count."""
    if problem.what.startswith(OPEN_QUESTION):
        return rules()["needs-clarification"]
    text = _QUOTED.sub('""', problem.what)
    by_sentence = next((rule for rule in rules().values() if rule.says and re.search(rule.says, text)), None)
    if by_sentence is None:
        return rules()["plan-error" if problem.severity is Severity.ERROR else "plan-warning"]
    return rules()["foreign-id"] if by_sentence.id == "dangling-reference" and _is_foreign(problem) else by_sentence


def _is_foreign(problem: Problem) -> bool:
    """Every id that is named has the number of another spec."""
    own = (problem.spec or "").partition("_")[0]
    named = _NAMED.findall(problem.what.partition(":")[0])
    return bool(named) and own.isdecimal() and all(int(number) != int(own) for number in named)


def _closing_edit(root: Path, where: str) -> tuple[Edit, ...]:
    """A closing fence at the end of the file, unless something below looks like text: then a person must look."""
    path, number = split_place(where)
    file = read_text_file(root / path, root)
    if not isinstance(file, TextFile) or not number:
        return ()
    lines = file.text.split("\n")
    opens = _OPENS.fullmatch(lines[number - 1]) if number <= len(lines) else None
    below = lines[number:]
    if opens is None or not any(line.strip() for line in below) or any(_IS_TEXT.match(line) for line in below):
        return ()
    last = lines[-1]
    new = f"{opens[1]}\n" if not last else f"{last}\n{opens[1]}"
    return (Edit(path, len(lines), last, new),)
