"""spec.md as requirements: stories with scenarios, statements with ids, edge cases, success criteria, in file order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agent_fox.core.spec import BareCriteria, Criterion, Requirement, with_details
from agent_fox.specs.collected import Declarations, ReadRequirements
from agent_fox.specs.document import Markdown
from agent_fox.specs.lines import joined, listed
from agent_fox.specs.spec_kit import stories as of_stories
from agent_fox.specs.spec_kit.identifiers import stories_in_label, story_name
from agent_fox.specs.spec_kit.parts import Item, Kind, Part, Story, items_of, kind_of, parts_of, titled
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_EDGES, _SUCCESS, _ACCEPTANCE = "EC", "SC", "AC"
_STEPPED = frozenset({0, 2})
"""A statement that says both Given and Then is a scenario, whatever it stands under."""
_QUESTION_MARKS = "?？؟"
_SAYS, _ASKS, _OUT = "says", "asks", "out"
_ASIDE = {
    _ASKS: "questions, with nothing to prove: {}. Write what is to happen",
    _OUT: "said to be out of scope: {}. Not expected",
}


def read_requirements(markdown: Markdown, bare: BareCriteria = BareCriteria.DETAIL) -> ReadRequirements:
    """All of spec.md that is to be proven. `bare`: what becomes of items without an id below others that have one."""
    parts = parts_of(markdown.lines)
    stories = list(of_stories.placed(parts))
    collection = _Collection(markdown)
    mentions = of_stories.Mentions(parts)
    required = collection.add_statements(mentions.declared_once(collection), stories, bare)
    for story, number in stories:
        collection.add_story(story, number)
    edges = [part for part in parts if part.kind is Kind.EDGES and not part.story]
    if edge_cases := collection.edge_cases(_EDGES, edges):
        collection.add(edges[0].line, Requirement(_EDGES, "Edge cases", edge_cases=edge_cases))
    unnamed = [(item, part.kind) for part, items in mentions.unnamed if not part.story for item in items]
    success = [of_stories.Scenario(item.line, item.text) for item, kind in unnamed if kind is Kind.SUCCESS]
    if success and not any(identifier.startswith(_SUCCESS) for identifier in collection.lines):
        collection.add_as(_SUCCESS, "Success criteria", success)
    required += [item for item, kind in unnamed if kind is Kind.REQUIREMENTS and not item.is_row]
    required += collection.add_accepted(parts, has_stories=bool(stories))
    for place, item in enumerate(sorted(required, key=lambda item: item.line), 1):
        collection.add(item.line, Requirement(str(place), titled(item.text), item.text))
    if mentions.beside:
        lines = listed(mentions.beside)
        what = f"no id, among statements that have one: {lines}. Not expected; give ids to what is"
        collection.warn(mentions.beside[0], what)
    return collection.value()


class _Collection(Declarations):
    """The requirements of one file in the making."""

    def __init__(self, markdown: Markdown) -> None:
        super().__init__(markdown)
        self.requirements: list[tuple[int, Requirement]] = []
        self.of_story: dict[str, tuple[str, ...]] = {}

    def value(self) -> ReadRequirements:
        ordered = sorted(self.requirements, key=lambda found: found[0])
        return replace(self.read(requirement for _, requirement in ordered), of_story=self.of_story)

    def add(self, line: int, requirement: Requirement, *, is_implied: bool = True) -> None:
        self.requirements.append((line, requirement))
        self.lines.setdefault(requirement.id, line)
        self.implied |= {requirement.id} if is_implied else set()

    def add_as(self, identifier: str, title: str, scenarios: list[of_stories.Scenario]) -> None:
        """A requirement made of statements that have no other."""
        criteria = self.criteria(f"{identifier}.", scenarios)
        self.add(scenarios[0].line, Requirement(identifier, title, criteria=criteria))

    def criteria(self, prefix: str, found: Iterable[of_stories.Scenario]) -> tuple[Criterion, ...]:
        """Criteria `US1.1`, `EC.E1`...; one with an id of its own keeps that, where nothing else has it."""
        made: list[Criterion] = []
        for number, scenario in enumerate(found, 1):
            is_own = bool(scenario.id) and scenario.id not in self.lines
            identifier = scenario.id if is_own else f"{prefix}{number}"
            self.implied |= set() if is_own else {identifier}
            self.lines[identifier] = scenario.line
            made.append(Criterion(identifier, scenario.text))
        return tuple(made)

    def edge_cases(self, identifier: str, parts: list[Part]) -> tuple[Criterion, ...]:
        """The edge cases that say what is to happen. Those that only ask, or are out of scope, are named, once."""
        items = [(item, _sort(item.text)) for part in parts for item in _edges(part)]
        for kind, what in _ASIDE.items():
            if lines := [item.line for item, sort in items if sort == kind]:
                self.warn(lines[0], what.format(listed(lines)))
        return self.criteria(f"{identifier}.E", [of_stories.scenario_of(item) for item, sort in items if sort == _SAYS])

    def add_statements(
        self, statements: Iterable[of_stories.Statement], stories: list[tuple[Story, str]], bare: BareCriteria
    ) -> list[Item]:
        """Add each statement; the items below them that are required by themselves."""
        required: list[Item] = []
        within: dict[int, list[str]] = {}
        numbered = {story_name(number): story.line for story, number in stories}
        for statement in statements:
            if statement.is_withdrawn:
                self.withdrawn.append(statement.id)
                self.lines.setdefault(statement.id, statement.line)
                self.warn(statement.line, f"{statement.id} was taken back and is not expected")
                continue
            details = tuple(item.text for item in statement.details if bare is BareCriteria.DETAIL)
            required += statement.details[len(details) :]
            text = with_details(statement.text, statement.id, details)
            requirement = Requirement(statement.id, titled(statement.text), text, details=details)
            self.add(statement.line, requirement, is_implied=False)
            lines = [statement.part.story.line] if statement.part.story is not None else []
            if not lines and (label := _LIKE["story_label"].match(statement.text)):  # `FR-001 [US1]: ...`
                lines = [numbered[story] for story in stories_in_label(label["label"]) if story in numbered]
            for line in lines:
                within.setdefault(line, []).append(statement.id)
        self.of_story = {f"US{number}": tuple(within.get(story.line, ())) for story, number in stories}
        return required

    def add_story(self, story: Story, number: str) -> None:
        if story.number and number != story.number:
            what = f"user story {story.number} stands twice: this one is known as US{number} here. Renumber one"
            self.warn(story.line, what)
        identifier = f"US{number}"
        criteria = self.criteria(f"{identifier}.", of_stories.scenarios_of(story))
        edge_cases = self.edge_cases(identifier, [part for part in story.parts if part.kind is Kind.EDGES])
        title = story.title or identifier
        self.add(story.line, Requirement(identifier, title, of_stories.about_story(story), criteria, edge_cases))

    def add_accepted(self, parts: list[Part], *, has_stories: bool) -> list[Item]:
        """What stands under a heading about acceptance outside of stories, and elsewhere what goes from Given to Then.
        The older form has one story in words, whose scenarios these are. Without one, beside nothing that is required,
        each is required by itself."""
        taken = set(self.lines.values())
        accepted = [
            scenario
            for part in parts
            if not (part.story or part.heading) and part.kind in (Kind.SCENARIOS, Kind.OTHER)
            for scenario in of_stories.scenarios_in(part)
            if (part.kind is Kind.SCENARIOS or scenario.steps >= _STEPPED) and scenario.line not in taken
        ]
        story = next((part for part in parts if _LIKE["story"].search("".join(part.titles[:1])[:80])), None)
        if not has_stories and accepted and (story is not None or any(scenario.steps for scenario in accepted)):
            text = joined(story.lines) if story is not None else ""
            line = story.line if story is not None else accepted[0].line
            title, criteria = titled(text) or "User story", self.criteria("US1.", accepted)
            self.add(line, Requirement("US1", title, text, criteria))
        elif accepted and self.requirements:
            self.add_as(_ACCEPTANCE, "Acceptance", accepted)
        else:
            return [Item(scenario.line, 0, "-", scenario.text) for scenario in accepted]
        return []


def _sort(text: str) -> str:
    """What an edge case does: it says what is to happen, only asks, or is declared out of scope. A question counts by
    its answer, whether that stands in brackets or not; another question, or words for none, is no answer."""
    answered = _LIKE["answered"].search(text)
    aside = _LIKE["in_brackets_at_end"].match(text)
    answer = answered["answer"] if answered else aside["said"] if aside else ""
    if _LIKE["out"].match(answer):
        return _OUT
    if answered is not None:
        return _ASKS if _last(answer) in _QUESTION_MARKS or _LIKE["open_answer"].match(answer) else _SAYS
    only_asks = _last(text) in _QUESTION_MARKS or (_LIKE["asks"].match(text) and not _LIKE["ends"].search(text))
    return _ASKS if only_asks else _SAYS


def _last(text: str) -> str:
    """The last letter or question mark of a text."""
    return next((letter for letter in reversed(text) if letter.isalnum() or letter in _QUESTION_MARKS), ".")


def _edges(part: Part) -> list[Item]:
    """The items of a part about edge cases. Bold words with a colon, on a line of their own, name one too."""
    items = items_of(part.lines)
    named = [item for item in items[:1] if part.label and item.line == part.line and kind_of(part.label) is None]
    for item in named:
        item.text_of_first = f"{part.label}: {item.text_of_first}"
    in_list = [item for item in items if item.is_listed or item in named]
    return in_list or ([] if part.label else of_stories.chosen(items))
