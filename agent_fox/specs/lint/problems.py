"""What reading and planning say already, under the ids of rules. Finding anything more is not here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_fox.core.regex import regex
from agent_fox.core.spec import Problem, Severity
from agent_fox.specs.lint.closing import closing_edit
from agent_fox.specs.lint.values import Finding, Found, Level, ProblemRule, Rule
from agent_fox.specs.lint.wording import NEEDS_CLARIFICATION
from agent_fox.specs.lint.world import OPEN_QUESTION, World

_E, _W, _N = Level.ERROR, Level.WARNING, Level.NOTE
_NAMED = regex(r"(?<![\w-])(\d{1,9})-REQ-")
_QUOTED = regex(r'"[^"]*"')
_UNCLOSED = "unclosed-block"
_NO_SUCH = "no such (?:requirement|criterion|story|scenario)"

PROBLEM_RULES = (
    ProblemRule("merge-conflict", _E, "A merge left its marks in a document.", "Resolve it.", says="merge conflict"),
    ProblemRule(
        "unreadable",
        _E,
        "A document can't be read: no permission, no text, too large, broken JSON or TOML.",
        "Make it a plain UTF-8 text that can be read.",
        says=r"can't be read|not a plain file|binary file|is not UTF-8|the limit is|is not JSON|is not TOML",
    ),
    ProblemRule(
        "two-dialects",
        _E,
        "One folder holds documents of two dialects.",
        "Give each dialect a folder of its own.",
        says=r"holds documents of",
    ),
    ProblemRule(
        "doubled-name",
        _E,
        "Two specs have one name: their nodes can't be told apart.",
        "Rename one of them.",
        says=r"is called .{1,300} too",
    ),
    ProblemRule(
        "doubled-task",
        _E,
        "Two groups or tasks have one number.",
        "Renumber one of them.",
        says=r"^(?:group|task|user story)\b.{0,200} twice",
    ),
    ProblemRule(
        "doubled-id",
        _E,
        "One id is declared twice, so that a verdict on it says nothing.",
        "Give one of them another id.",
        says=r"(?:declared|stands) twice",
    ),
    ProblemRule(
        "ambiguous-dependency",
        _E,
        "A row names a spec by a number that two specs have.",
        "Write the folder's name.",
        says=r"is ambiguous",
    ),
    ProblemRule(
        "dependency-cycle",
        _E,
        "Specs or groups wait for each other in a circle.",
        "Take one of the rows out.",
        says=r"a cycle\b|would wait for each other",
    ),
    ProblemRule(
        "dangling-dependency",
        _E,
        "A row names a spec or a group that is not there, or its own spec.",
        "Correct the row, or add what it names.",
        says=r"^depends on .{1,300}not there|^names group \d|depends on itself",
    ),
    ProblemRule(
        "foreign-id",
        _W,
        "A task or a row names a requirement of another spec: nobody answers for it here.",
        "Name this spec's own requirement, and declare a dependency on the other spec.",
        says=r"^\0",
    ),
    ProblemRule(
        "dangling-reference",
        _W,
        "A task or a row names a requirement that the spec does not have.",
        "Correct the id, or declare the requirement.",
        says=rf"{_NO_SUCH}|has no such",
    ),
    ProblemRule(
        _UNCLOSED,
        _W,
        "A code fence or a comment is opened and never closed: what follows is read as text.",
        "Close it.",
        is_fixable=True,
        says=r"is never closed",
    ),
    ProblemRule(
        "nothing-to-prove",
        _W,
        "The spec has no requirements, so nothing of it can ever be proven.",
        "Write its requirements.",
        says=r": nothing to prove",
    ),
    ProblemRule(
        "no-groups",
        _W,
        "The spec has no task groups, so nobody would build it.",
        "Write its tasks.",
        says=r"no task groups",
    ),
    ProblemRule(
        "unknown-archetype",
        _W,
        "A group asks for an archetype that does not exist: a coder would do it.",
        "Name one that exists, or none.",
        says=r"asks for archetype",
    ),
    ProblemRule(
        "not-a-spec",
        _W,
        "A folder is named as a spec and holds none.",
        "Write its tasks, or move it away.",
        says=r"neither requirements nor tasks",
    ),
    ProblemRule(
        "taken-back",
        _N,
        "A spec or a requirement was taken back: nothing of it is planned or expected.",
        "Nothing, if that is meant.",
        says=r"\btaken back\b|is superseded|is withdrawn|only gets another name",
        is_note=True,
    ),
    ProblemRule(
        "stale-requirement",
        _W,
        "A change modifies or removes a requirement that its capability does not have (OpenSpec).",
        "Correct the title, or add the requirement.",
        says=r"which .{1,300} does not have",
    ),
    ProblemRule(
        "no-scenario",
        _W,
        "A requirement has no scenario, or a scenario has no steps: nobody says how it is shown.",
        "Write one, with what is done and what must come of it.",
        says=r"has no scenario|has no steps",
    ),
    ProblemRule(
        "not-read",
        _W,
        "Something looks like a part of the spec and is passed over.",
        "Write it in the form that counts, or take it out.",
        says=r"not (?:read|planned|expected)\b|Not expected|no group\.|with nothing to prove",
    ),
    ProblemRule(
        "read-as",
        _N,
        "Something was read as what is probably meant.",
        "Write it plainly, or correct it where something else is meant.",
        says=r"read as|read from|counted as",
        is_note=True,
    ),
    ProblemRule(
        "moved-id",
        _N,
        "A requirement without an id of its own is known by another number than the file counts now.",
        "Nothing, if that is meant; write ids to have them stand still.",
        says=r"^not known by the number in the file",
        is_note=True,
    ),
    ProblemRule(
        "uncertain-id",
        _W,
        "It can't be told which requirement this is, after an edit, so it is to be proven again.",
        "Look which tests and waivers name it; write ids to have them stand still.",
        says=r"^taken for .{1,80}, rewritten|^counts as new, as",
    ),
    ProblemRule("plan-error", _E, "Any other error of reading or planning.", "Do what it says."),
    ProblemRule("plan-warning", _W, "Any other warning of reading or planning.", "Do what it says."),
)

_BY_ID = {rule.id: rule for rule in PROBLEM_RULES}
_LEVELS = {Severity.ERROR: Level.ERROR, Severity.WARNING: Level.WARNING}


def problem_findings(world: World) -> Iterator[Finding]:
    """The plan's problems as findings, with the severity that planning gives them."""
    for problem in dict.fromkeys(world.plan.problems):
        rule = rule_of(problem)
        is_note = problem.severity is Severity.WARNING and isinstance(rule, ProblemRule) and rule.is_note
        level = Level.NOTE if is_note else _LEVELS[problem.severity]
        edits = closing_edit(world.root, problem.where) if rule.id == _UNCLOSED else ()
        yield rule.finding(Found(problem.where, problem.what, edits, level=level), problem.spec)


def rule_of(problem: Problem) -> Rule:
    """The rule that a problem's sentence belongs to. The words of a spec that it quotes do not count."""
    if problem.what.startswith(OPEN_QUESTION):
        return NEEDS_CLARIFICATION
    text = _QUOTED.sub('""', problem.what)
    rule_found = next((rule for rule in PROBLEM_RULES if rule.says and re.search(rule.says, text)), None)
    if rule_found is None:
        return _BY_ID["plan-error" if problem.severity is Severity.ERROR else "plan-warning"]
    return _BY_ID["foreign-id"] if rule_found.id == "dangling-reference" and _is_foreign(problem) else rule_found


def _is_foreign(problem: Problem) -> bool:
    """Every id that is named has the number of another spec."""
    own = (problem.spec or "").partition("_")[0]
    named = _NAMED.findall(problem.what.partition(":")[0])
    return bool(named) and own.isdecimal() and all(int(number) != int(own) for number in named)
