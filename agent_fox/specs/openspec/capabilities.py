"""What a change asks of its capabilities, or a capability says of itself, as requirements with ids made from places;
and what a change names that its capability does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.spec import Criterion, Problem, Requirement, Severity
from agent_fox.core.values import dataclass
from agent_fox.core.words import nearest
from agent_fox.specs.collected import ReadRequirements
from agent_fox.specs.document import read_markdown
from agent_fox.specs.files import TextFile, place_of, read_text_file, warning
from agent_fox.specs.openspec.deltas import Delta, Draft, read_delta
from agent_fox.specs.openspec.words import Operation, has_only_steps, ids_in, is_unfilled, same

if TYPE_CHECKING:
    from pathlib import Path

    from agent_fox.specs.document import Markdown

_SHOWN, _SHOWN_LINES = 3, 5
_HINTS, _COMPARED = 20, 500


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


def capability(name: str, markdown: Markdown, *, is_baseline: bool = False) -> Capability:
    return Capability(name, markdown, read_delta(markdown.lines), is_baseline)


def read_capabilities(capabilities: Iterable[Capability]) -> ReadCapabilities:
    """Requirements are counted over all capabilities: `1`, with scenarios `1.1`; last what is taken back."""
    capabilities = tuple(capabilities)
    read = ReadCapabilities()
    is_named = len([each for each in capabilities if each.expected]) > 1
    for each in capabilities:
        for draft in each.expected:
            _add(read, each, draft, is_named)
    removed = [each.markdown.at(draft.line) for each in capabilities for draft in each.removed]
    for number, place in enumerate(removed, len(read.requirements) + 1):
        read.places[str(number)] = place
        read.withdrawn.append(str(number))
    for each in capabilities:
        read.problems += (*each.markdown.problems, *_problems(each))
    return read


def _add(read: ReadCapabilities, one: Capability, draft: Draft, is_named: bool) -> None:
    """A requirement, and by which names it is known. Its title is a part of what is asked for: many say there what
    SHALL be; and a scenario shows it: another SHALL makes it another thing to prove."""
    number = str(len(read.requirements) + 1)
    read.places[number] = one.markdown.at(draft.line)
    stated = "\n".join(text for text in (draft.title, draft.statement) if text)
    criteria = []
    for place, scenario in enumerate(draft.scenarios, 1):
        part = f"{number}.{place}"
        read.places[part] = one.markdown.at(scenario.line)
        heading = f"Scenario: {scenario.title}" if scenario.title else ""
        criteria.append(Criterion(part, "\n".join(text for text in (stated, heading, scenario.steps) if text)))
        if scenario.title:
            read.scenarios.setdefault(same(scenario.title), []).append(part)
    title = f"{one.name}: {draft.title}" if is_named else draft.title
    requirement = Requirement(number, title, draft.statement if criteria else stated, tuple(criteria))
    read.requirements.append(requirement)
    ids = [part.id for part in requirement.parts]
    for name in sorted({one.name, one.name.rpartition("/")[2]}):
        read.capabilities.setdefault(same(name), []).extend(ids)
    for name in (draft.title, *ids_in(draft.title)):
        read.names.setdefault(same(name), []).extend(ids)


def _problems(one: Capability) -> Iterator[Problem]:
    yield from _doubled(one)
    if not one.is_baseline:
        unfilled = [draft.line for draft in one.expected if is_unfilled(draft.title)]
        scenarios = [scenario for draft in one.expected for scenario in draft.scenarios]
        unfilled += [s.line for s in scenarios if has_only_steps(s.steps) or (s.title and is_unfilled(s.title))]
        yield from half_written(one.markdown, unfilled)
        yield from _odd_drafts(one)
        yield from _odd_renames(one)
    for line in one.delta.struck:
        yield one.warn(line, "this scenario is struck out: it is not expected")
    for draft in one.delta.alone:
        what = "this scenario stands below no requirement: read as one. Write `### Requirement: TITLE` above it"
        yield one.warn(draft.line, what)
    if not one.delta.drafts and not one.delta.renamed:
        yield warning(one.markdown.where, "no requirement is here. Write `### Requirement: TITLE` below a section")


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


def _odd_drafts(one: Capability) -> Iterator[Problem]:
    stated = [draft for draft in one.expected if draft.operation is Operation.STATED]
    if stated:
        what = f"{_listed(stated)} outside of any section such as `## ADDED Requirements`: read as added"
        yield one.warn(stated[0].line, f"{what}. Write the section")
    for draft in one.delta.asides:
        what = f'"{draft.title}" stands among requirements, and is none: not read'
        yield one.warn(draft.line, f"{what}. Write `### Requirement:` if it is one")
    for draft in one.expected:
        if not draft.scenarios:
            what = f'requirement "{draft.title}" has no scenario: it is proven as a whole'
            yield one.warn(draft.line, f"{what}. Write `#### Scenario: TITLE`")
        for scenario in (scenario for scenario in draft.scenarios if not scenario.steps):
            what = f'scenario "{scenario.title or draft.title}" has no steps'
            yield one.warn(scenario.line, f"{what}. Write what is done, and what must come of it")
    if one.removed:
        what = f"{_listed(one.removed)} taken back: nobody proves that what they asked for is gone"
        yield one.warn(one.removed[0].line, f"{what}. Add a requirement that says so where it matters")


def _odd_renames(one: Capability) -> Iterator[Problem]:
    for line in one.delta.half_renamed:
        yield one.warn(line, "this renaming has only one of `FROM:` and `TO:`: not read. Write both, FROM first")
    written = {same(draft.title) for draft in one.expected}
    for renamed in one.delta.renamed:
        if same(renamed.new) not in written:
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
    file = read_text_file(baseline, root) if named else None
    if not isinstance(file, TextFile):
        return
    there = {same(draft.title): draft.title for draft in read_delta(read_markdown(file).lines).drafts}
    stale = [row for row in named if same(row[1]) not in there]
    for place, (line, title, what_is_done) in enumerate(stale):
        near = nearest(same(title), list(there)[:_COMPARED]) if place < _HINTS else ""
        hint = f'Did you mean "{there[near]}"?' if near else "Correct the title, or write it as ADDED"
        yield one.warn(line, f'{what_is_done} "{title}", which {place_of(baseline, root)} does not have. {hint}')
