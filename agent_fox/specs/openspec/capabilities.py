"""What a change asks of its capabilities, or a capability says of itself, as requirements with ids made from places;
and what a change names that its capability does not have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path

from agent_fox.core.spec import Criterion, Problem, Requirement, Severity
from agent_fox.core.values import dataclass
from agent_fox.core.words import nearest
from agent_fox.specs.collected import ReadRequirements
from agent_fox.specs.document import Markdown, markdown_at
from agent_fox.specs.files import place_of, warning
from agent_fox.specs.openspec.deltas import Delta, Draft, Operation, ids_in, is_unfilled, read_delta, same

_SHOWN, _SHOWN_LINES, _LONGEST = 3, 5, 200
_HINTS, _COMPARED = 20, 500
_STEP_WORDS = frozenset({"given", "when", "then", "and"})


@dataclass(frozen=True, slots=True)
class Capability:
    """One capability with what its file says. `is_baseline`: the file says what is there, and changes nothing."""

    name: str
    markdown: Markdown
    delta: Delta
    is_baseline: bool = False

    @property
    def expected(self) -> list[Draft]:
        """What is to be proven: what is added and modified, and what is renamed and written out once more."""
        drafts = self.delta.of(Operation.ADDED, Operation.MODIFIED, Operation.STATED, Operation.RENAMED)
        return [draft for draft in drafts if draft.operation is not Operation.RENAMED or draft.scenarios]

    @property
    def removed(self) -> list[Draft]:
        return self.delta.of(Operation.REMOVED)

    def warn(self, line: int, what: str) -> Problem:
        return warning(self.markdown.at(line), what)


@dataclass(slots=True)
class ReadCapabilities:
    """Which parts people mean: `names` by a requirement's title or id, `scenarios` by a scenario's title,
    `capabilities` by a capability's name. A title that stands in several places means the parts of each."""

    requirements: list[Requirement] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)
    scenarios: dict[str, list[str]] = field(default_factory=dict)
    capabilities: dict[str, list[str]] = field(default_factory=dict)

    @property
    def expected(self) -> ReadRequirements:
        """All ids are implied by their places."""
        implied = frozenset(self.places)
        return ReadRequirements(tuple(self.requirements), tuple(self.withdrawn), (), implied, self.places)

    def add(self, one: Capability, draft: Draft, is_named: bool) -> None:
        """A requirement, and by which names it is known. Its title is a part of what is asked for: many say there what
        SHALL be; and a scenario shows it: another SHALL makes it another thing to prove."""
        number = str(len(self.requirements) + 1)
        self.places[number] = one.markdown.at(draft.line)
        stated = "\n".join(filter(None, (draft.title, draft.text)))
        criteria = []
        for place, scenario in enumerate(draft.scenarios, 1):
            part = f"{number}.{place}"
            self.places[part] = one.markdown.at(scenario.line)
            heading = f"Scenario: {scenario.title}" if scenario.title else ""
            criteria.append(Criterion(part, "\n".join(filter(None, (stated, heading, scenario.text)))))
            if scenario.title:
                self.scenarios.setdefault(same(scenario.title), []).append(part)
        title = f"{one.name}: {draft.title}" if is_named else draft.title
        requirement = Requirement(number, title, draft.text if criteria else stated, tuple(criteria))
        self.requirements.append(requirement)
        ids = [part.id for part in requirement.parts]
        for name in sorted({one.name, one.name.rpartition("/")[2]}):
            self.capabilities.setdefault(same(name), []).extend(ids)
        for name in (draft.title, *ids_in(draft.title)):
            self.names.setdefault(same(name), []).extend(ids)


def capability(name: str, markdown: Markdown, *, is_baseline: bool = False) -> Capability:
    return Capability(name, markdown, read_delta(markdown.lines), is_baseline)


def read_capabilities(capabilities: Iterable[Capability]) -> ReadCapabilities:
    """Requirements are counted over all capabilities: `1`, with scenarios `1.1`; last what is taken back."""
    capabilities = tuple(capabilities)
    read = ReadCapabilities()
    is_named = len([each for each in capabilities if each.expected]) > 1
    for each in capabilities:
        for draft in each.expected:
            read.add(each, draft, is_named)
    removed = [each.markdown.at(draft.line) for each in capabilities for draft in each.removed]
    for number, place in enumerate(removed, len(read.requirements) + 1):
        read.places[str(number)] = place
        read.withdrawn.append(str(number))
    for each in capabilities:
        read.problems += (*each.markdown.problems, *_doubled(each), *(() if each.is_baseline else _odd(each)))
        for line in each.delta.struck:
            read.problems.append(each.warn(line, "this scenario is struck out: it is not expected"))
        for draft in each.delta.alone:
            what = "this scenario stands below no requirement: read as one. Write `### Requirement: TITLE` above it"
            read.problems.append(each.warn(draft.line, what))
        if not each.delta.drafts and not each.delta.renamed:
            what = "no requirement is here. Write `### Requirement: TITLE` below a section"
            read.problems.append(warning(each.markdown.where, what))
    return read


def _doubled(one: Capability) -> Iterator[Problem]:
    """Two requirements of one title can't be told apart, nor one that comes and goes at once."""
    severity = Severity.WARNING if one.is_baseline else Severity.ERROR
    seen: dict[str, Draft] = {}
    for draft in one.expected:
        first = seen.setdefault(same(draft.title), draft)
        if first is not draft:
            lines = f"in lines {first.line} and {draft.line}"
            what = f'requirement "{draft.title}" stands twice: {lines}. Make them one, or rename one'
            yield Problem(severity, one.markdown.at(draft.line), what)
    for draft in one.removed:
        if (other := seen.get(same(draft.title))) is not None:
            what = f'"{draft.title}" is taken back here and {other.operation} in line {other.line}. Keep one of them'
            yield one.warn(draft.line, what)


def _odd(one: Capability) -> Iterator[Problem]:
    """What a change leaves to be guessed."""
    expected, scenarios = one.expected, [scenario for draft in one.expected for scenario in draft.scenarios]
    unfilled = [draft.line for draft in expected if is_unfilled(draft.title)]
    for scenario in scenarios:  # one that says WHEN and THEN, and nothing of what
        words = re.findall(r"\w+", scenario.text[:_LONGEST].casefold())
        is_empty = bool(words) and _STEP_WORDS.issuperset(words)
        unfilled += [scenario.line] if is_empty or (scenario.title and is_unfilled(scenario.title)) else []
    yield from half_written(one.markdown, unfilled)
    if stated := [draft for draft in expected if draft.operation is Operation.STATED]:
        what = f"{_listed(stated)} outside of any section such as `## ADDED Requirements`: read as added"
        yield one.warn(stated[0].line, f"{what}. Write the section")
    for draft in one.delta.asides:
        what = f'"{draft.title}" stands among requirements, and is none: not read'
        yield one.warn(draft.line, f"{what}. Write `### Requirement:` if it is one")
    for draft in expected:
        if not draft.scenarios:
            what = f'requirement "{draft.title}" has no scenario: it is proven as a whole'
            yield one.warn(draft.line, f"{what}. Write `#### Scenario: TITLE`")
        for scenario in (scenario for scenario in draft.scenarios if not scenario.text):
            what = f'scenario "{scenario.title or draft.title}" has no steps'
            yield one.warn(scenario.line, f"{what}. Write what is done, and what must come of it")
    if one.removed:
        what = f"{_listed(one.removed)} taken back: nobody proves that what they asked for is gone"
        yield one.warn(one.removed[0].line, f"{what}. Add a requirement that says so where it matters")
    for line in one.delta.half_renamed:
        yield one.warn(line, "this renaming has only one of `FROM:` and `TO:`: not read. Write both, FROM first")
    written = {same(draft.title) for draft in expected}
    for renamed in (renamed for renamed in one.delta.renamed if same(renamed.new) not in written):
        what = f'"{renamed.old}" only gets another name: nothing of it is proven'
        yield one.warn(renamed.line, f"{what}. Write it as MODIFIED under the new one if it must be")


def _listed(drafts: list[Draft]) -> str:
    shown = ", ".join(f'"{draft.title}"' for draft in drafts[:_SHOWN])
    more = len(drafts) - _SHOWN
    return f"{shown} and {more} more are" if more > 0 else shown + (" are" if len(drafts) > 1 else " is")


def half_written(markdown: Markdown, lines: Iterable[int]) -> Iterator[Problem]:
    """One warning for all lines of a document that still say what its template says, or nothing."""
    if places := sorted(set(lines)):
        shown = ", ".join(map(str, places[:_SHOWN_LINES])) + (" and others" if len(places) > _SHOWN_LINES else "")
        what = f"half-written: no more than a template says, in {'line' if len(places) == 1 else 'lines'} {shown}"
        yield warning(markdown.at(places[0]), f"{what}. Fill it in")


def stale_references(one: Capability, baseline: Path, root: Path) -> Iterator[Problem]:
    """What the delta modifies, takes back or renames, and the baseline does not have. A name that the delta itself
    gives is its own.

    A baseline that can't be read says nothing here: it is a spec of its own, and its reader says so.
    """
    new = {same(renamed.new) for renamed in one.delta.renamed}
    modified = [draft for draft in one.delta.of(Operation.MODIFIED) if same(draft.title) not in new]
    named = [(draft.line, draft.title, "modifies") for draft in modified]
    named += [(draft.line, draft.title, "takes back") for draft in one.removed]
    named += [(renamed.line, renamed.old, "renames") for renamed in one.delta.renamed]
    markdown = markdown_at(baseline, root) if named else None
    if markdown is None:
        return
    there = {same(draft.title): draft.title for draft in read_delta(markdown.lines).drafts}
    stale = [row for row in named if same(row[1]) not in there]
    for place, (line, title, what_is_done) in enumerate(stale):
        near = nearest(same(title), list(there)[:_COMPARED]) if place < _HINTS else ""
        hint = f'Did you mean "{there[near]}"?' if near else "Correct the title, or write it as ADDED"
        yield one.warn(line, f'{what_is_done} "{title}", which {place_of(baseline, root)} does not have. {hint}')
