"""What a change asks of its capabilities, or a capability says of itself, as requirements with ids made from places;
and what a change names that its capability does not have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path

from agent_fox.core.spec import Criterion, Problem, Requirement
from agent_fox.core.values import dataclass
from agent_fox.core.words import nearest
from agent_fox.specs.collected import ReadRequirements, Remarks
from agent_fox.specs.document import Markdown, markdown_at
from agent_fox.specs.files import place_of, warning
from agent_fox.specs.openspec.deltas import Draft, Operation, ids_in, is_unfilled, read_delta, same

_SHOWN, _SHOWN_LINES, _LONGEST = 3, 5, 200
_HINTS, _COMPARED = 20, 500
_STEP_WORDS = frozenset({"given", "when", "then", "and"})


class Capability(Remarks):
    """One capability with what its file says: `expected` is what is added and modified, and what is renamed and written
    out once more. `is_baseline`: the file says what is there, and changes nothing."""

    def __init__(self, name: str, markdown: Markdown, *, is_baseline: bool = False) -> None:
        super().__init__(markdown)
        self.name, self.is_baseline, self.delta = name, is_baseline, read_delta(markdown.lines)
        self.removed = self.delta.of(Operation.REMOVED)
        others = (draft for draft in self.delta.drafts if draft.operation is not Operation.REMOVED)
        self.expected = [draft for draft in others if draft.operation is not Operation.RENAMED or draft.scenarios]

    def check(self) -> None:
        """What can't be told apart, what is left to be guessed, and what is not expected."""
        self._check_titles()
        if not self.is_baseline:
            self._check_forms()
        for line in self.delta.struck:
            self.warn(line, "this scenario is struck out: it is not expected")
        for draft in self.delta.alone:
            what = "this scenario stands below no requirement: read as one. Write `### Requirement: TITLE` above it"
            self.warn(draft.line, what)
        if not self.delta.drafts and not self.delta.renamed:
            what = "no requirement is here. Write `### Requirement: TITLE` below a section"
            self.problems.append(warning(self.markdown.where, what))

    def _check_titles(self) -> None:
        """Two requirements of one title can't be told apart, nor one that comes and goes at once."""
        seen: dict[str, Draft] = {}
        for draft in self.expected:
            first = seen.setdefault(same(draft.title), draft)
            if first is not draft:
                lines = f"in lines {first.line} and {draft.line}"
                what = f'requirement "{draft.title}" stands twice: {lines}. Make them one, or rename one'
                (self.warn if self.is_baseline else self.refuse)(draft.line, what)
        for draft in self.removed:
            if (other := seen.get(same(draft.title))) is not None:
                what = f'"{draft.title}" is taken back here and {other.operation} in line {other.line}'
                self.warn(draft.line, f"{what}. Keep one of them")

    def _check_forms(self) -> None:
        """What a change leaves to be guessed."""
        unfilled = [draft.line for draft in self.expected if is_unfilled(draft.title)]
        for scenario in (scenario for draft in self.expected for scenario in draft.scenarios):
            words = re.findall(r"\w+", scenario.text[:_LONGEST].casefold())
            is_empty = bool(words) and _STEP_WORDS.issuperset(words)  # it says WHEN and THEN, and nothing of what
            unfilled += [scenario.line] if is_empty or (scenario.title and is_unfilled(scenario.title)) else []
        self.problems += half_written(self.markdown, unfilled)
        if stated := [draft for draft in self.expected if draft.operation is Operation.STATED]:
            what = f"{_listed(stated)} outside of any section such as `## ADDED Requirements`: read as added"
            self.warn(stated[0].line, f"{what}. Write the section")
        for draft in self.delta.asides:
            what = f'"{draft.title}" stands among requirements, and is none: not read'
            self.warn(draft.line, f"{what}. Write `### Requirement:` if it is one")
        for draft in self.expected:
            if not draft.scenarios:
                what = f'requirement "{draft.title}" has no scenario: it is proven as a whole'
                self.warn(draft.line, f"{what}. Write `#### Scenario: TITLE`")
            for scenario in (scenario for scenario in draft.scenarios if not scenario.text):
                what = f'scenario "{scenario.title or draft.title}" has no steps'
                self.warn(scenario.line, f"{what}. Write what is done, and what must come of it")
        if self.removed:
            what = f"{_listed(self.removed)} taken back: nobody proves that what they asked for is gone"
            self.warn(self.removed[0].line, f"{what}. Add a requirement that says so where it matters")
        for line in self.delta.half_renamed:
            self.warn(line, "this renaming has only one of `FROM:` and `TO:`: not read. Write both, FROM first")
        written = {same(draft.title) for draft in self.expected}
        for renamed in (renamed for renamed in self.delta.renamed if same(renamed.new) not in written):
            what = f'"{renamed.old}" only gets another name: nothing of it is proven'
            self.warn(renamed.line, f"{what}. Write it as MODIFIED under the new one if it must be")

    def stale(self, baseline: Path, root: Path) -> Iterator[Problem]:
        """What the delta modifies, takes back or renames, and the baseline does not have. A name that the delta itself
        gives is its own.

        A baseline that can't be read says nothing here: it is a spec of its own, and its reader says so.
        """
        new = {same(renamed.new) for renamed in self.delta.renamed}
        modified = [draft for draft in self.delta.of(Operation.MODIFIED) if same(draft.title) not in new]
        named = [(draft.line, draft.title, "modifies") for draft in modified]
        named += [(draft.line, draft.title, "takes back") for draft in self.removed]
        named += [(renamed.line, renamed.old, "renames") for renamed in self.delta.renamed]
        markdown = markdown_at(baseline, root) if named else None
        if markdown is None:
            return
        there = {same(draft.title): draft.title for draft in read_delta(markdown.lines).drafts}
        stale = [row for row in named if same(row[1]) not in there]
        for place, (line, title, what_is_done) in enumerate(stale):
            near = nearest(same(title), list(there)[:_COMPARED]) if place < _HINTS else ""
            hint = f'Did you mean "{there[near]}"?' if near else "Correct the title, or write it as ADDED"
            what = f'{what_is_done} "{title}", which {place_of(baseline, root)} does not have'
            yield warning(self.markdown.at(line), f"{what}. {hint}")


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


def read_capabilities(capabilities: Iterable[Capability]) -> ReadCapabilities:
    """Requirements are counted over all capabilities: `1`, with scenarios `1.1`; last what is taken back."""
    capabilities = tuple(capabilities)
    read = ReadCapabilities()
    is_named = sum(bool(each.expected) for each in capabilities) > 1
    for each in capabilities:
        for draft in each.expected:
            read.add(each, draft, is_named)
    removed = [each.markdown.at(draft.line) for each in capabilities for draft in each.removed]
    for number, place in enumerate(removed, len(read.requirements) + 1):
        read.places[str(number)] = place
        read.withdrawn.append(str(number))
    for each in capabilities:
        each.check()
        read.problems += (*each.markdown.problems, *each.problems)
    return read


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
