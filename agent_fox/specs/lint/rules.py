"""How the rules of `rules.toml` are asked: which function looks for what, and what reading and planning say already.
The findings as `lint --json` prints them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.spec import Problem, Severity
from agent_fox.core.values import Json, dataclass, to_object
from agent_fox.specs.files import TextFile, read_text_file
from agent_fox.specs.lint import checks, texts
from agent_fox.specs.lint.values import Edit, Finding, Found, Level, Rule, rules, split_place
from agent_fox.specs.lint.world import OPEN_QUESTION, Case, World
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.core.spec import Spec

_LIKE = patterns_in(__file__)

_UNCLOSED = "unclosed-block"


def problem_findings(world: World) -> Iterator[Finding]:
    """The plan's problems as findings, with the severity that planning gives them."""
    for problem in dict.fromkeys(world.plan.problems):
        rule = rule_of(problem)
        is_note = problem.severity is Severity.WARNING and rule.is_note
        level = Level.NOTE if is_note else Level(problem.severity.value)
        edits = _closing_edit(world.root, problem.where) if rule.id == _UNCLOSED else ()
        yield rule.finding(Found(problem.where, problem.what, edits, level=level), problem.spec)


def rule_of(problem: Problem) -> Rule:
    """The rule that a problem's sentence belongs to. The words of a spec that it quotes do not count. Where every id
    that is named has the number of another spec, it is about an id of that one."""
    if problem.what.startswith(OPEN_QUESTION):
        return rules()["needs-clarification"]
    text = _LIKE["quoted"].sub('""', problem.what)
    last = rules()["plan-error" if problem.severity is Severity.ERROR else "plan-warning"]
    by_sentence = next((rule for rule in rules().values() if rule.says and re.search(rule.says, text)), last)
    own, named = (problem.spec or "").partition("_")[0], _LIKE["named"].findall(problem.what.partition(":")[0])
    is_foreign = bool(named) and own.isdecimal() and all(int(number) != int(own) for number in named)
    return rules()["foreign-id"] if is_foreign and by_sentence.id == "dangling-reference" else by_sentence


def _closing_edit(root: Path, where: str) -> tuple[Edit, ...]:
    """A closing fence at the end of the file, unless something below looks like text: then a person must look."""
    path, number = split_place(where)
    file = read_text_file(root / path, root)
    if not isinstance(file, TextFile) or not number:
        return ()
    lines = file.text.split("\n")
    opens = _LIKE["opens"].fullmatch(lines[number - 1]) if number <= len(lines) else None
    below = lines[number:]
    if opens is None or not any(line.strip() for line in below) or any(_LIKE["is_text"].match(line) for line in below):
        return ()
    last = lines[-1]
    new = f"{opens[1]}\n" if not last else f"{last}\n{opens[1]}"
    return (Edit(path, len(lines), last, new),)


def check_of(rule: Rule) -> Callable[[Case], Iterable[Found | tuple[str, str]]] | None:
    """The function that looks for it in one spec, which is called as the rule is; None for what reading and planning
    say. It gives places, or names of what the spec holds, with what is wrong there."""
    name = rule.id.replace("-", "_")
    return vars(checks).get(name) or vars(texts).get(name)


_NO_REPOSITORY = "the files of the repository are not here"


@dataclass(frozen=True, slots=True)
class Report:
    """All findings, in the order of files and lines. `not_checked`: rules that could not run, and why. `specs`: how
    many the findings are about."""

    findings: tuple[Finding, ...]
    not_checked: tuple[tuple[str, str], ...] = ()
    specs: int = 0

    def count(self, level: Level) -> int:
        return sum(finding.level is level for finding in self.findings)


def lint(world: World, asked: Iterable[Rule] | None = None) -> Report:
    """Ask every rule that is not switched off, or some. Nothing is raised for what files hold. A spec that was taken
    back is history: nothing of it is judged."""
    off = frozenset(world.settings.off)
    wanted = [rule for rule in (rules().values() if asked is None else asked) if rule.id not in off]
    able = [rule for rule in wanted if world.is_repository or not rule.needs_repository]
    names = {rule.id for rule in wanted}
    findings = [finding for finding in problem_findings(world) if finding.rule in names]
    seen: set[str] = set()
    for spec in world.plan.specs:
        case = Case(world, spec, spec.path not in seen)
        seen.add(spec.path)
        checks_of = ((rule, check_of(rule)) for rule in (able if not spec.is_withdrawn else ()))
        for rule, check in checks_of:
            for each in check(case) if check is not None else ():
                there = each if isinstance(each, Found) else Found(spec.place(each[0]), each[1])
                findings.append(rule.finding(there, spec.name))
    left = tuple((rule.id, _NO_REPOSITORY) for rule in wanted if rule not in able)
    ordered = sorted(dict.fromkeys(findings), key=lambda each: (each.path, each.line, each.rule, each.what))
    return Report(tuple(ordered), left, len(world.plan.specs))


def unknown_rules(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in rules())


def below(report: Report, paths: Iterable[str], specs: Iterable[Spec]) -> Report:
    """What is about the paths (relative to the root) and the specs that lie there; all of it for the root itself."""
    wanted, there = tuple(paths), tuple(specs)
    named = {spec.name for spec in there if _is_below(spec.path, wanted)}
    kept = [f for f in report.findings if f.spec in named or _is_below(f.path, wanted)]
    looked_at = [spec for spec in there if spec.name in named or any(_is_below(path, (spec.path,)) for path in wanted)]
    return Report(tuple(kept), report.not_checked, len(looked_at))


def _is_below(path: str, wanted: tuple[str, ...]) -> bool:
    return any(place in (".", path) or path.startswith(f"{place}/") for place in wanted)


def report_document(report: Report) -> dict[str, Json]:
    """Findings, what could not be checked, counts, and the number of specs, ready for `json.dumps`."""
    return {
        "findings": [finding_document(finding) for finding in report.findings],
        "not_checked": [{"rule": rule, "why": why} for rule, why in report.not_checked],
        "counts": {level.value: report.count(level) for level in Level},
        "specs": report.specs,
    }


def finding_document(finding: Finding) -> dict[str, Json]:
    return {
        "rule": finding.rule,
        "severity": finding.level.value,
        **to_object(finding, only=("spec", "where", "path")),
        "line": finding.line or None,
        **to_object(finding, only=("what", "remedy")),
        "fixable": bool(finding.edits),
        "edits": [to_object(edit, only=("path", "line", "old", "new")) for edit in finding.edits],
        "fingerprint": finding.fingerprint,
    }
