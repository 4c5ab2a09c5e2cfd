"""spec.md as requirements: stories with scenarios, statements with ids, edge cases, success criteria, in file order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.spec import BareCriteria, Criterion, Requirement, with_details
from agent_fox.specs.collected import Declarations, ReadRequirements
from agent_fox.specs.lines import joined, listed
from agent_fox.specs.spec_kit.identifiers import stories_in_label, story_name
from agent_fox.specs.spec_kit.parts import Item, Part, items_of, parts_of
from agent_fox.specs.spec_kit.statements import Mentions, Statement
from agent_fox.specs.spec_kit.stories import (
    Place,
    Scenario,
    Story,
    about_story,
    chosen,
    places_of,
    scenario_of,
    scenarios_in,
    scenarios_of,
    stories_counted,
)
from agent_fox.specs.spec_kit.words import Kind, kind_of, titled
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown

_LIKE = patterns_in(__file__)
_EDGES, _SUCCESS, _ACCEPTANCE = "EC", "SC", "AC"
_STEPPED = frozenset({0, 2})
"""A statement that says both Given and Then is a scenario, whatever it stands under."""
_QUESTION_MARKS = "?？؟"
_SAYS, _ASKS, _OUT = "says", "asks", "out"


class _Collection(Declarations):
    """The requirements of one file in the making."""

    def __init__(self, markdown: Markdown) -> None:
        super().__init__(markdown)
        self.requirements: list[tuple[int, Requirement]] = []
        self.of_story: dict[str, tuple[str, ...]] = {}

    def add(self, requirement: Requirement, line: int, *, is_implied: bool = True) -> None:
        self.requirements.append((line, requirement))
        self.lines.setdefault(requirement.id, line)
        self.implied |= {requirement.id} if is_implied else set()

    def criteria(self, prefix: str, found: Iterable[Scenario]) -> tuple[Criterion, ...]:
        """Criteria `US1.1`, `EC.E1`...; one with an id of its own keeps that, where nothing else has it."""
        made: list[Criterion] = []
        for number, scenario in enumerate(found, 1):
            is_own = bool(scenario.id) and scenario.id not in self.lines
            identifier = scenario.id if is_own else f"{prefix}{number}"
            self.implied |= set() if is_own else {identifier}
            self.lines[identifier] = scenario.line
            made.append(Criterion(identifier, scenario.text))
        return tuple(made)

    def value(self) -> ReadRequirements:
        ordered = sorted(self.requirements, key=lambda found: found[0])
        return replace(self.read(requirement for _, requirement in ordered), of_story=self.of_story)


def read_requirements(markdown: Markdown, bare: BareCriteria = BareCriteria.DETAIL) -> ReadRequirements:
    """All of spec.md that is to be proven. `bare`: what becomes of items without an id below others that have one."""
    places, stories = places_of(parts_of(markdown.lines))
    counted = list(stories_counted(stories))
    collection = _Collection(markdown)
    mentions = Mentions(places)
    required = _add_statements(collection, mentions.declared_once(collection), counted, bare)
    for story, number in counted:
        _add_story(collection, story, number)
    edges = [place for place in places if place.kind is Kind.EDGES and not place.story]
    if edge_cases := collection.criteria(f"{_EDGES}.E", _answered(collection, edges)):
        collection.add(Requirement(_EDGES, "Edge cases", edge_cases=edge_cases), edges[0].part.line)
    unnamed = [(place, items) for place, items in mentions.unnamed if not place.story]
    _add_unnamed(collection, places, unnamed, required, has_stories=bool(stories))
    if mentions.beside:
        lines = listed(mentions.beside)
        what = f"no id, among statements that have one: {lines}. Not expected; give ids to what is"
        collection.warn(mentions.beside[0], what)
    return collection.value()


def _add_statements(
    collection: _Collection, statements: Iterable[Statement], counted: list[tuple[Story, str]], bare: BareCriteria
) -> list[Item]:
    """Add each statement; the items below them that are required by themselves."""
    required: list[Item] = []
    within: dict[int, list[str]] = {}
    numbered = {story_name(number): story.line for story, number in counted}
    for statement in statements:
        if statement.is_withdrawn:
            collection.withdrawn.append(statement.id)
            collection.lines.setdefault(statement.id, statement.line)
            collection.warn(statement.line, f"{statement.id} was taken back and is not expected")
            continue
        details = tuple(item.text for item in statement.details if bare is BareCriteria.DETAIL)
        required += statement.details[len(details) :]
        text = with_details(statement.text, statement.id, details)
        requirement = Requirement(statement.id, titled(statement.text), text, details=details)
        collection.add(requirement, statement.line, is_implied=False)
        for line in _stories_of(statement, numbered):
            within.setdefault(line, []).append(statement.id)
    collection.of_story = {f"US{number}": tuple(within.get(story.line, ())) for story, number in counted}
    return required


def _stories_of(statement: Statement, numbered: dict[str, int]) -> Iterator[int]:
    """The lines of the stories that a statement stands in, or that a label names: `FR-001 [US1]: ...`."""
    label = _LIKE["story_label"].match(statement.text)
    if statement.story is not None:
        yield statement.story.line
    elif label is not None:
        yield from (numbered[story] for story in stories_in_label(label["label"]) if story in numbered)


def _add_story(collection: _Collection, story: Story, number: str) -> None:
    if story.number and number != story.number:
        what = f"user story {story.number} stands twice: this one is known as US{number} here. Renumber one"
        collection.warn(story.line, what)
    identifier = f"US{number}"
    criteria = collection.criteria(f"{identifier}.", scenarios_of(story))
    edges = [place for place in story.parts if place.kind is Kind.EDGES]
    edge_cases = collection.criteria(f"{identifier}.E", _answered(collection, edges))
    text = "\n".join(part for part in (story.title, about_story(story)) if part)
    collection.add(Requirement(identifier, story.title or identifier, text, criteria, edge_cases), story.line)


def _answered(collection: _Collection, places: list[Place]) -> list[Scenario]:
    """The edge cases that say what is to happen. Those that only ask, or are out of scope, are named, once."""
    items = [(item, _sort(item.text)) for place in places for item in _edges(place.part)]
    for kind, what in (
        (_ASKS, "questions, with nothing to prove: {}. Write what is to happen"),
        (_OUT, "said to be out of scope: {}. Not expected"),
    ):
        if lines := [item.line for item, sort in items if sort == kind]:
            collection.warn(lines[0], what.format(listed(lines)))
    return [scenario_of(item) for item, sort in items if sort == _SAYS]


def _edges(part: Part) -> list[Item]:
    """The items of a part about edge cases. Bold words with a colon, on a line of their own, name one too."""
    items = items_of(part.lines)
    named = [item for item in items[:1] if part.label and item.line == part.line and kind_of(part.label) is None]
    for item in named:
        item.text_of_first = f"{part.label}: {item.text_of_first}"
    in_list = [item for item in items if item.is_listed or item in named]
    return in_list or ([] if part.label else chosen(items))


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


def _add_unnamed(
    collection: _Collection,
    places: list[Place],
    unnamed: Iterable[tuple[Place, list[Item]]],
    required: Iterable[Item],
    *,
    has_stories: bool,
) -> None:
    """What is required without an id: it gets one, made from its place. The older form has one story in words, and its
    scenarios under a heading of their own."""
    success = [item for place, items in unnamed if place.kind is Kind.SUCCESS for item in items]
    if success and not any(identifier.startswith(_SUCCESS) for identifier in collection.lines):
        criteria = collection.criteria(f"{_SUCCESS}.", [Scenario(item.line, item.text) for item in success])
        collection.add(Requirement(_SUCCESS, "Success criteria", criteria=criteria), success[0].line)
    plain = [item for place, items in unnamed if place.kind is Kind.REQUIREMENTS for item in items if not item.is_row]
    plain += required
    accepted = _accepted(collection, places)
    story = next((place for place in places if _LIKE["story"].search("".join(place.titles[:1])[:80])), None)
    if not has_stories and accepted and (story is not None or any(scenario.steps for scenario in accepted)):
        text = joined(story.part.lines) if story is not None else ""
        line = story.part.line if story is not None else accepted[0].line
        criteria = collection.criteria("US1.", accepted)
        collection.add(Requirement("US1", titled(text) or "User story", text, criteria), line)
    elif accepted and collection.requirements:
        criteria = collection.criteria(f"{_ACCEPTANCE}.", accepted)
        collection.add(Requirement(_ACCEPTANCE, "Acceptance", criteria=criteria), accepted[0].line)
    else:
        plain += [Item(scenario.line, 0, "-", scenario.text) for scenario in accepted]
    for number, item in enumerate(sorted(plain, key=lambda item: item.line), 1):
        collection.add(Requirement(str(number), titled(item.text), item.text), item.line)


def _accepted(collection: _Collection, places: list[Place]) -> list[Scenario]:
    """Under a heading about acceptance, outside of stories; elsewhere, what goes from Given to Then."""
    taken = set(collection.lines.values())
    outside = (place for place in places if not (place.story or place.heading))
    scenarios = (
        scenario
        for place in outside
        if place.kind in (Kind.SCENARIOS, Kind.OTHER)
        for scenario in scenarios_in(place)
        if place.kind is Kind.SCENARIOS or scenario.steps >= _STEPPED
    )
    return [scenario for scenario in scenarios if scenario.line not in taken]
