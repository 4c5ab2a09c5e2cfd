"""One capability's file cut into requirements and scenarios, as they are written. Ids are not made here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import NamedTuple

from agent_fox.core.values import dataclass
from agent_fox.specs.lines import Heading, Line, in_bold, is_rule, joined
from agent_fox.specs.openspec import words
from agent_fox.specs.openspec.words import Operation
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_SECTION_RANK = 2
_UNTITLED = "Scenario"


@dataclass(slots=True)
class Scenario:
    """A scenario while it is read. A heading without the word may be one, where none has it."""

    title: str
    line: int
    level: int
    has_word: bool
    lines: list[Line] = field(default_factory=list)

    @property
    def steps(self) -> str:
        return _text_of(self.lines)


@dataclass(slots=True)
class Draft:
    """A requirement while it is read: its statement, and what stands below its own headings."""

    title: str
    line: int
    level: int
    operation: Operation
    has_word: bool
    lines: list[Line] = field(default_factory=list)
    scenarios: list[Scenario] = field(default_factory=list)

    @property
    def statement(self) -> str:
        return _text_of(self.lines)


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
    by_id = {
        ids[0]: draft
        for draft in delta.drafts
        if _LIKE["has_id"].match(draft.title) and (ids := words.ids_in(draft.title))
    }
    apart, delta.alone = delta.alone, []
    for draft in apart:
        (scenario,) = draft.scenarios
        owner = next((by_id[name] for name in words.ids_in(scenario.steps) if name in by_id), None)
        if owner is None:
            delta.alone.append(draft)
        else:
            scenario.title = draft.title
            owner.scenarios.append(scenario)
    delta.drafts = sorted((*delta.drafts, *delta.alone), key=lambda draft: draft.line)
    for draft in delta.drafts:
        _settle_scenarios(draft)
    return delta


def _text_of(lines: Iterable[Line]) -> str:
    """The text of lines, without the rules between sections."""
    return joined(line for line in lines if line.is_code or not is_rule(line.text.strip()))


class _Cut:
    """Goes through a file, line by line. Knows only where it stands: in which section, requirement and scenario."""

    def __init__(self, everywhere: Operation | None = None) -> None:
        self.delta = Delta()
        self.section, self.section_level, self.is_fixed = everywhere, _SECTION_RANK, everywhere is not None
        self.draft: Draft | None = None
        self.scenario: Scenario | None = None
        self.old: tuple[str, int] | None = None

    def read(self, lines: Iterable[Line]) -> Delta:
        for line in lines:
            heading = line.heading or _bold_heading(line)
            if heading is not None:
                self._heading(line, heading)
            elif line.is_code or self.section is not Operation.RENAMED or not self._renames(line):
                self._text(line)
        self._end_rename()
        return self.delta

    def _heading(self, line: Line, heading: Heading) -> None:
        level, number = heading.level, line.number
        section = words.section_of(heading.title) if not self.is_fixed else None
        own = words.operated(heading.title) if section is not None else None
        inside = words.unstruck(heading.title)
        written = inside or heading.title
        if own is not None:
            self._begin(Draft(own[1], number, level, own[0], True))
        elif section is not None and (self.section is None or level <= self.section_level):
            self.delta.has_sections |= section is not Operation.STATED
            self._leave(section, level)
        elif (title := words.requirement_title(written)) is not None:
            bare = words.unstruck(title)
            operation = Operation.REMOVED if inside or bare else self.section or Operation.STATED
            self._begin(Draft(bare or title, number, level, operation, True))
        elif (title := words.scenario_title(written)) is not None:
            bare = words.unstruck(title)
            self._begin_scenario(Scenario(bare or title, number, level, True), bool(inside or bare))
        elif self.draft is not None and level > self.draft.level:
            self._begin_scenario(Scenario(heading.title, number, level, False))
        elif self.section is not None and level > self.section_level:
            self._begin(Draft(heading.title.strip("*_ "), number, level, self.section, False))
        elif self.is_fixed:
            self.draft = self.scenario = None
        else:
            self._leave(None, level)

    def _leave(self, section: Operation | None, level: int) -> None:
        """Leave a section, for another one or for none."""
        self._end_rename()
        self.section, self.section_level = section, level
        self.draft = self.scenario = None

    def _begin(self, draft: Draft) -> None:
        self.draft, self.scenario = draft, None
        self.delta.drafts.append(draft)

    def _begin_scenario(self, scenario: Scenario, is_struck: bool = False) -> None:
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
            self.scenario = Scenario("", scenario.line, scenario.level, True)
            alone = Draft(title, scenario.line, scenario.level, operation, True, scenarios=[self.scenario])
            self.delta.alone.append(alone)

    def _text(self, line: Line) -> None:
        """A line below a scenario or a requirement; or a requirement that is taken back in a list."""
        holder = self.scenario or self.draft
        if holder is not None:
            holder.lines.append(line)
        elif self.section is Operation.REMOVED and not line.is_code:
            match = _LIKE["bullet"].match(line.text)
            if match is not None and not _LIKE["nothing"].match(match["text"]):
                self.delta.drafts.append(Draft(_listed_name(match["text"]), line.number, 0, Operation.REMOVED, True))

    def _renames(self, line: Line) -> bool:
        match = _LIKE["from_to"].match(line.text)
        if match is None:
            return False
        name = words.bare_name(match["name"])
        if match["old"]:
            self._end_rename()
            self.old = name, line.number
        elif self.old is None:
            self.delta.half_renamed.append(line.number)
        else:
            self.delta.renamed.append(Renamed(self.old[0], name, self.old[1]))
            self.old = None
        return True

    def _end_rename(self) -> None:
        """A FROM that no TO follows."""
        if self.old is not None:
            self.delta.half_renamed.append(self.old[1])
        self.old = None


def _bold_heading(line: Line) -> Heading | None:
    """A section, a requirement, or the title of its criteria, as a line in bold and no heading."""
    title = in_bold(line)
    if not title:
        return None
    if words.requirement_title(title) is not None:
        return Heading(_SECTION_RANK + 1, title)
    if words.is_criteria(title):
        return Heading(_SECTION_RANK + 2, title)
    return Heading(_SECTION_RANK, title) if words.section_of(title) not in (None, Operation.STATED) else None


def _listed_name(text: str) -> str:
    named = _LIKE["named"].search(text)
    if named is not None and (named.start() == 0 or _LIKE["id_before"].match(text[: named.start()])):
        return words.bare_name(named["name"])
    return _LIKE["ends_name"].split(words.bare_name(text), maxsplit=1)[0].strip("`* ")


def _settle_scenarios(draft: Draft) -> None:
    """Scenarios are headings that say so, else all below, or listed criteria; else lines and fenced Gherkin."""
    if any(scenario.has_word for scenario in draft.scenarios):
        _fold(draft, lambda scenario: scenario.has_word)
    elif any(words.is_criteria(scenario.title) for scenario in draft.scenarios):
        _fold(draft, lambda scenario: words.is_criteria(scenario.title))
        draft.scenarios = [criterion for scenario in draft.scenarios for criterion in _criteria(draft, scenario)]
    elif draft.scenarios:
        top = min(scenario.level for scenario in draft.scenarios)
        _fold(draft, lambda scenario: scenario.level == top and not words.is_aside(scenario.title))
    for is_code in (False, True):
        lines = draft.lines if not draft.scenarios else ()
        draft.lines = [] if lines else draft.lines
        for line in lines:  # a line of its own begins a scenario
            title = words.scenario_in_line(line.text) if line.is_code == is_code else None
            if title is not None:
                draft.scenarios.append(Scenario(title, line.number, draft.level + 1, True))
            else:
                (draft.scenarios[-1] if draft.scenarios else draft).lines.append(line)


def _fold(draft: Draft, is_one: Callable[[Scenario], bool]) -> None:
    """What stands under other headings is text of the scenario it stands in, or of the requirement."""
    kept: list[Scenario] = []
    for scenario in draft.scenarios:
        if is_one(scenario):
            kept.append(scenario)
            continue
        inside = kept[-1] if kept and scenario.level > kept[-1].level else draft
        inside.lines += [Line(scenario.line, scenario.title, 0), *scenario.lines]
    draft.scenarios = kept


def _criteria(draft: Draft, scenario: Scenario) -> list[Scenario]:
    """The numbered items below *Acceptance Criteria*, each by itself; what stands before them is the requirement's."""
    scenarios: list[Scenario] = []
    before: list[Line] = []
    for line in scenario.lines:
        item = None if line.is_code else _LIKE["numbered"].match(line.text)
        if item is not None:
            scenarios.append(Scenario("", line.number, scenario.level, False, [line._replace(text=item["text"])]))
        else:
            (scenarios[-1].lines if scenarios else before).append(line)
    draft.lines += before if scenarios else []
    return scenarios or [scenario]
