"""One capability's file cut into requirements and scenarios, as they are written. Ids are not made here.

Structure counts first: the words of headings, in the languages they are written in, only tell what a heading is where
its place does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import field
from enum import StrEnum
from typing import NamedTuple

from agent_fox.core.values import dataclass
from agent_fox.specs.lines import Heading, Line, in_bold, is_rule, joined
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_SECTION_RANK = 2
_UNTITLED = "Scenario"
_LONGEST = 200


Operation = StrEnum("Operation", "RENAMED REMOVED MODIFIED ADDED STATED")
"""What a delta does with a requirement. `stated`: it stands outside of any delta section."""


@dataclass(slots=True)
class Draft:
    """A requirement or a scenario while it is read, with the lines of its own text. A heading without the word may be
    one, where none has it."""

    title: str
    line: int
    level: int
    has_word: bool
    operation: Operation = Operation.STATED
    lines: list[Line] = field(default_factory=list)
    scenarios: list[Draft] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Without the rules between sections."""
        return joined(line for line in self.lines if line.is_code or not is_rule(line.text.strip()))


class Renamed(NamedTuple):
    old: str
    new: str
    line: int


@dataclass(slots=True)
class Delta:
    """What one file says. `asides` are headings among requirements that are none; `alone` are scenarios that stand
    below no requirement and name none, each a draft of its own; `struck` are lines of scenarios that are struck out."""

    drafts: list[Draft] = field(default_factory=list)
    renamed: list[Renamed] = field(default_factory=list)
    half_renamed: list[int] = field(default_factory=list)
    asides: list[Draft] = field(default_factory=list)
    alone: list[Draft] = field(default_factory=list)
    struck: list[int] = field(default_factory=list)
    has_sections: bool = False

    def of(self, *operations: Operation) -> list[Draft]:
        return [draft for draft in self.drafts if draft.operation in operations]


def read_delta(lines: Iterable[Line]) -> Delta:
    """Cut a file. Where headings have the word, those without it are requirements only if they have an id or scenarios;
    where no heading says what it is, those of level 3 with others below them are."""
    lines = tuple(lines)
    delta = _Cut().read(lines)
    if any(draft.has_word for draft in delta.drafts):
        drafts, delta.drafts = delta.drafts, []
        for draft in drafts:
            is_one = draft.has_word or _LIKE["has_id"].match(draft.title) or any(s.has_word for s in draft.scenarios)
            (delta.drafts if is_one else delta.asides).append(draft)
    if not delta.drafts and not delta.has_sections:
        delta = _Cut(Operation.STATED).read(lines)
        delta.drafts = [draft for draft in delta.drafts if draft.scenarios]
    named = (draft for draft in delta.drafts if _LIKE["has_id"].match(draft.title))
    by_id = {ids[0]: draft for draft in named if (ids := ids_in(draft.title))}
    apart, delta.alone = delta.alone, []
    for draft in apart:
        (scenario,) = draft.scenarios
        owner = next((by_id[name] for name in ids_in(scenario.text) if name in by_id), None)
        if owner is None:
            delta.alone.append(draft)
        else:
            scenario.title = draft.title
            owner.scenarios.append(scenario)
    delta.drafts = sorted((*delta.drafts, *delta.alone), key=lambda draft: draft.line)
    for draft in delta.drafts:
        _settle_scenarios(draft)
    return delta


class _Cut:
    """Goes through a file, line by line. Knows only where it stands: in which section, requirement and scenario."""

    def __init__(self, everywhere: Operation | None = None) -> None:
        self.delta = Delta()
        self.section, self.section_level, self.is_fixed = everywhere, _SECTION_RANK, everywhere is not None
        self.draft: Draft | None = None
        self.scenario: Draft | None = None
        self.old: tuple[str, int] | None = None  # of a FROM that no TO follows so far

    def read(self, lines: Iterable[Line]) -> Delta:
        for line in lines:
            heading, bold = line.heading, in_bold(line)
            if bold:  # a requirement, the title of its criteria, or a section, as a line in bold and no heading
                is_section = section_of(bold) not in (None, Operation.STATED)
                is_named = requirement_title(bold) is not None
                rank = 1 if is_named else 2 if is_criteria(bold) else 0
                heading = Heading(_SECTION_RANK + rank, bold) if is_section or rank else None
            if heading is not None:
                self._heading(line.number, *heading)
            elif line.is_code or self.section is not Operation.RENAMED or not self._renames(line):
                self._text(line)
        return self.delta

    def _heading(self, number: int, level: int, title: str) -> None:
        section = section_of(title) if not self.is_fixed else None
        before, _, named = title.partition(" ")
        own = requirement_title(named.lstrip()) if section is not None and _LIKE["alone"].match(before) else None
        inside = unstruck(title)
        if section is not None and own:  # `MODIFIED Requirement: T`
            self._begin(Draft(own, number, level, True, section))
        elif section is not None and (self.section is None or level <= self.section_level):
            self.delta.has_sections |= section is not Operation.STATED
            self._leave(section, level)
        elif (written := requirement_title(inside or title)) is not None:
            bare = unstruck(written)
            operation = Operation.REMOVED if inside or bare else self.section or Operation.STATED
            self._begin(Draft(bare or written, number, level, True, operation))
        elif (written := scenario_title(inside or title)) is not None:
            bare = unstruck(written)
            self._begin_scenario(Draft(bare or written, number, level, True), bool(inside or bare))
        elif self.draft is not None and level > self.draft.level:
            self._begin_scenario(Draft(title, number, level, False))
        elif self.section is not None and level > self.section_level:
            self._begin(Draft(title.strip("*_ "), number, level, False, self.section))
        elif self.is_fixed:
            self.draft = self.scenario = None
        else:
            self._leave(None, level)

    def _leave(self, section: Operation | None, level: int) -> None:
        """Leave a section, for another one or for none."""
        self.section, self.section_level = section, level
        self.draft = self.scenario = self.old = None

    def _begin(self, draft: Draft) -> None:
        self.draft, self.scenario = draft, None
        self.delta.drafts.append(draft)

    def _begin_scenario(self, scenario: Draft, is_struck: bool = False) -> None:
        """A scenario in a chapter of its own may name its requirement; else it is one."""
        if self.draft is not None:
            self.scenario = scenario
            if is_struck:
                self.delta.struck.append(scenario.line)
            else:
                self.draft.scenarios.append(scenario)
        elif self.section is Operation.REMOVED:
            self.scenario = None
        else:
            operation, title = self.section or Operation.STATED, scenario.title or _UNTITLED
            self.scenario = Draft("", scenario.line, scenario.level, True)
            alone = Draft(title, scenario.line, scenario.level, True, operation, scenarios=[self.scenario])
            self.delta.alone.append(alone)

    def _text(self, line: Line) -> None:
        """A line below a scenario or a requirement; or a requirement that is taken back in a list."""
        holder = self.scenario or self.draft
        if holder is not None:
            holder.lines.append(line)
        elif self.section is Operation.REMOVED and not line.is_code:
            match = _LIKE["bullet"].match(line.text)
            if match is not None and not _LIKE["nothing"].match(match["text"]):
                text = match["text"]
                named = _LIKE["named"].search(text)
                if named and (named.start() == 0 or _LIKE["id_before"].match(text[: named.start()])):
                    name = bare_name(named["name"])
                else:
                    name = _LIKE["ends_name"].split(bare_name(text), maxsplit=1)[0].strip("`* ")
                self.delta.drafts.append(Draft(name, line.number, 0, True, Operation.REMOVED))

    def _renames(self, line: Line) -> bool:
        match = _LIKE["from_to"].match(line.text)
        if match is None:
            return False
        name = bare_name(match["name"])
        if self.old is not None and not match["old"]:
            self.delta.half_renamed.pop()
            self.delta.renamed.append(Renamed(self.old[0], name, self.old[1]))
            self.old = None
        else:
            self.delta.half_renamed.append(line.number)
            self.old = (name, line.number) if match["old"] else None
        return True


def _settle_scenarios(draft: Draft) -> None:
    """Scenarios are headings that say so, else all below, or listed criteria; else lines and fenced Gherkin."""
    if any(scenario.has_word for scenario in draft.scenarios):
        _fold(draft, lambda scenario: scenario.has_word)
    elif any(is_criteria(scenario.title) for scenario in draft.scenarios):
        _fold(draft, lambda scenario: is_criteria(scenario.title))
        draft.scenarios = [criterion for scenario in draft.scenarios for criterion in _criteria(draft, scenario)]
    elif draft.scenarios:
        top = min(scenario.level for scenario in draft.scenarios)
        _fold(draft, lambda scenario: scenario.level == top and not _LIKE["aside"].match(scenario.title.strip("*_ ")))
    for is_code in (False, True):
        lines = draft.lines if not draft.scenarios else ()
        draft.lines = [] if lines else draft.lines
        for line in lines:  # a line of its own begins a scenario
            title = scenario_in_line(line.text) if line.is_code == is_code else None
            if title is not None:
                draft.scenarios.append(Draft(title, line.number, draft.level + 1, True))
            else:
                (draft.scenarios[-1] if draft.scenarios else draft).lines.append(line)


def _fold(draft: Draft, is_one: Callable[[Draft], bool]) -> None:
    """What stands under other headings is text of the scenario it stands in, or of the requirement."""
    kept: list[Draft] = []
    for scenario in draft.scenarios:
        if is_one(scenario):
            kept.append(scenario)
            continue
        inside = kept[-1] if kept and scenario.level > kept[-1].level else draft
        inside.lines += [Line(scenario.line, scenario.title, 0), *scenario.lines]
    draft.scenarios = kept


def _criteria(draft: Draft, scenario: Draft) -> list[Draft]:
    """The numbered items below *Acceptance Criteria*, each by itself; what stands before them is the requirement's."""
    scenarios: list[Draft] = []
    before: list[Line] = []
    for line in scenario.lines:
        item = None if line.is_code else _LIKE["numbered"].match(line.text)
        if item is not None:
            own = [line._replace(text=item["text"])]
            scenarios.append(Draft("", line.number, scenario.level, False, lines=own))
        else:
            (scenarios[-1].lines if scenarios else before).append(line)
    draft.lines += before if scenarios else []
    return scenarios or [scenario]


def requirement_title(title: str) -> str | None:
    """The title after `Requirement:`, or all of one that begins with an id such as `REQ-AUTH-3`; else None."""
    match = _LIKE["is_requirement"].match(title[:_LONGEST])
    if match is None:
        return _clean(title) if _LIKE["is_named_requirement"].match(title[:_LONGEST]) else None
    return _clean(title[match.end() :]) or _clean(title)


def scenario_title(title: str) -> str | None:
    """The title after `Scenario:`; empty where it has none. None for a heading without the word."""
    if _LIKE["is_named_scenario"].match(title[:_LONGEST]):
        return _clean(title)
    match = _LIKE["is_scenario"].match(title[:_LONGEST])
    if match is None:
        return "" if _LIKE["bare_scenario"].match(title[:_LONGEST]) else None
    return _clean(title[match.end() :])


def scenario_in_line(text: str) -> str | None:
    """The title of a scenario that begins in a line that is no heading: `- **Scenario: T**`."""
    match = _LIKE["scenario_line"].match(text[:_LONGEST])
    return _clean(text[match.start("title") :]) if match else None


def section_of(title: str) -> Operation | None:
    """What a section does with the requirements below its heading. None for headings of other kinds."""
    head = title[:_LONGEST]
    says_what = _LIKE["noun"].search(head) or _LIKE["alone"].match(head.strip("*_ "))
    if requirement_title(head) is not None or not says_what:
        return None
    # without what stands in brackets, in quotes or after a dash: `ADDED Requirements (renamed from X)`
    bare = re.split(r"[(（:：]|\s[-–—]\s", _LIKE["words_quoted"].sub(" ", head).strip(), maxsplit=1)[0] or head
    stated = Operation.STATED if _LIKE["section_of_all"].match(head) else None
    return next((operation for operation in [*Operation][:-1] if _LIKE[operation.value].search(bare)), stated)


def ids_in(text: str) -> list[str]:
    return _LIKE["id"].findall(text)


def unstruck(text: str) -> str | None:
    """What stands in a text that is struck out as a whole, with a note in brackets behind it or none; else None."""
    match = _LIKE["struck"].match(text)
    return match["text"].strip() if match else None


def is_unfilled(title: str) -> bool:
    """Whether a title is none yet: only its number or kind, or a template's words in brackets."""
    return _LIKE["unfilled"].match(title.strip("*_`# ")) is not None


def is_criteria(title: str) -> bool:
    """Whether a heading below a requirement stands above a list of criteria."""
    return _LIKE["criteria"].match(title.strip("*_ ")) is not None


def same(title: str) -> str:
    """A title as it is compared: case, white space and marks do not count."""
    return " ".join(title.replace("`", "").replace("*", "").split()).casefold()


def bare_name(text: str) -> str:
    """A requirement's title as it is written in a list: without the heading's marks before it."""
    text = text.strip().strip("`*_ ").lstrip("# ")
    return (requirement_title(text) or _clean(text)).strip("`* ")


def _clean(title: str) -> str:
    text = title.strip().rstrip("#").strip(" -–—:\uff1a")
    is_all_bold = text.startswith("**") and text.endswith("**")
    return text.strip("*_ ") if is_all_bold or text.count("**") % 2 else text
