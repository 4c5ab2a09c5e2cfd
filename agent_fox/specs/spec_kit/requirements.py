"""spec.md as requirements: stories with scenarios, statements with ids, edge cases, success criteria, in file order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from agent_fox.core.spec import BareCriteria, Criterion, Problem, Requirement, with_details
from agent_fox.specs.collected import Declarations, ReadRequirements
from agent_fox.specs.lines import joined, listed
from agent_fox.specs.spec_kit.identifiers import declared, stories_in_label, story_name
from agent_fox.specs.spec_kit.parts import Item, Part, items_of, parts_of
from agent_fox.specs.spec_kit.statements import Mentions, Statement, declared_once, titled
from agent_fox.specs.spec_kit.stories import (
    Place,
    Scenario,
    Story,
    about_story,
    chosen,
    places_of,
    scenarios_in,
    scenarios_of,
    stories_counted,
)
from agent_fox.specs.spec_kit.words import Kind, kind_of
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown

_LIKE = patterns_in(__file__)
_EDGES, _SUCCESS, _ACCEPTANCE = "EC", "SC", "AC"
_STEPPED = frozenset({0, 2})
"""A statement that says both Given and Then is a scenario, whatever it stands under."""
_QUESTION_MARKS = "?？؟"


class _Collection(Declarations):
    """The requirements of one file in the making."""

    def __init__(self, markdown: Markdown) -> None:
        super().__init__(markdown)
        self.requirements: list[tuple[int, Requirement]] = []
        self.of_story: dict[str, tuple[str, ...]] = {}

    def add(self, requirement: Requirement, line: int, *, is_implied: bool = True) -> None:
        self.requirements.append((line, requirement))
        self.lines.setdefault(requirement.id, line)
        if is_implied:
            self.implied.add(requirement.id)

    def criteria(self, prefix: str, found: Iterable[Scenario]) -> tuple[Criterion, ...]:
        """Criteria `US1.1`, `EC.E1`...; one with an id of its own keeps that, where nothing else has it."""
        made: list[Criterion] = []
        for number, scenario in enumerate(found, 1):
            is_own = bool(scenario.id) and scenario.id not in self.lines
            identifier = scenario.id if is_own else f"{prefix}{number}"
            if not is_own:
                self.implied.add(identifier)
            self.lines[identifier] = scenario.line
            made.append(Criterion(identifier, scenario.text))
        return tuple(made)

    def value(self) -> ReadRequirements:
        ordered = sorted(self.requirements, key=lambda found: found[0])
        return replace(self.read(requirement for _, requirement in ordered), of_story=self.of_story)


def read_requirements(markdown: Markdown, bare: BareCriteria = BareCriteria.DETAIL) -> ReadRequirements:
    """Everything in spec.md that is to be proven. `bare` says what becomes of items without an id below others that
    have one."""
    places, stories = places_of(parts_of(markdown.lines))
    collection = _Collection(markdown)
    mentions = Mentions(places)
    details = _add_statements(collection, mentions.statements(), stories, bare)
    _add_stories(collection, stories)
    _add_edge_cases(collection, [place for place in places if place.kind is Kind.EDGES and not place.story])
    _add_unnamed(collection, places, stories, mentions.unnamed, details)
    if mentions.beside:
        lines = listed(mentions.beside)
        what = f"no id, among statements that have one: {lines}. Not expected; give ids to what is"
        collection.warn(mentions.beside[0], what)
    return collection.value()


def _add_statements(
    collection: _Collection, statements: Iterable[Statement], stories: list[Story], bare: BareCriteria
) -> list[Item]:
    """Add each statement once; the items below them that are required by themselves."""
    required: list[Item] = []
    within: dict[int, list[str]] = {}
    numbered = {story_name(number): story.line for story, number in stories_counted(stories)}
    for statement in declared_once(statements, collection.markdown):
        if isinstance(statement, Problem):
            collection.problems.append(statement)
        elif statement.is_withdrawn:
            collection.withdrawn.append(statement.id)
            collection.lines.setdefault(statement.id, statement.line)
            collection.warn(statement.line, f"{statement.id} was taken back and is not expected")
        else:
            details = tuple(item.text for item in statement.details if bare is BareCriteria.DETAIL)
            required += statement.details[len(details) :]
            text = with_details(statement.text, statement.id, details)
            requirement = Requirement(statement.id, statement.title, text, details=details)
            collection.add(requirement, statement.line, is_implied=False)
            for line in _stories_of(statement, numbered):
                within.setdefault(line, []).append(statement.id)
    for story, number in stories_counted(stories):
        collection.of_story[f"US{number}"] = tuple(within.get(story.line, ()))
    return required


def _stories_of(statement: Statement, numbered: dict[str, int]) -> Iterator[int]:
    """The lines of the stories that a statement stands in, or that a label names: `FR-001 [US1]: ...`."""
    if statement.story is not None:
        yield statement.story.line
    label = _LIKE["story_label"].match(statement.text)
    named = stories_in_label(label["label"]) if label else ()
    yield from (numbered[story] for story in named if story in numbered and statement.story is None)


def _add_stories(collection: _Collection, stories: list[Story]) -> None:
    for story, number in stories_counted(stories):
        if story.number and number != story.number:
            what = f"user story {story.number} stands twice: this one is known as US{number} here. Renumber one"
            collection.warn(story.line, what)
        identifier = f"US{number}"
        criteria = collection.criteria(f"{identifier}.", scenarios_of(story))
        edges = [place for place in story.parts if place.kind is Kind.EDGES]
        edge_cases = collection.criteria(f"{identifier}.E", _answered(collection, edges))
        text = "\n".join(part for part in (story.title, about_story(story)) if part)
        collection.add(Requirement(identifier, story.title or identifier, text, criteria, edge_cases), story.line)


def _add_edge_cases(collection: _Collection, places: list[Place]) -> None:
    edge_cases = collection.criteria(f"{_EDGES}.E", _answered(collection, places))
    if edge_cases:
        collection.add(Requirement(_EDGES, "Edge cases", edge_cases=edge_cases), places[0].part.line)


def _answered(collection: _Collection, places: list[Place]) -> list[Scenario]:
    """The edge cases that say what is to happen. Those that only ask are named, once."""
    items = [item for place in places for item in _edges(place.part)]
    sorts = [(item, _sort(item.text)) for item in items]
    asked = [item.line for item, sort in sorts if sort == "asks"]
    if asked:
        what = f"questions, with nothing to prove: {listed(asked)}. Write what is to happen"
        collection.warn(asked[0], what)
    out = [item.line for item, sort in sorts if sort == "out"]
    if out:
        what = f"said to be out of scope: {listed(out)}. Not expected"
        collection.warn(out[0], what)
    return [_edge(item) for item, sort in sorts if sort == "says"]


def _edges(part: Part) -> list[Item]:
    """The items of a part about edge cases. Bold words with a colon, on a line of their own, name one too."""
    items = items_of(part.lines)
    named = [item for item in items[:1] if part.label and item.line == part.line and kind_of(part.label) is None]
    for item in named:
        item.text_of_first = f"{part.label}: {item.text_of_first}"
    listed = [item for item in items if item.is_listed or item in named]
    return listed or ([] if part.label else chosen(items))


def _edge(item: Item) -> Scenario:
    own = declared(item.text, is_item=True)
    return (
        Scenario(item.line, own.text, own.id)
        if own and own.text and not own.is_known
        else Scenario(item.line, item.text)
    )


def _sort(text: str) -> Literal["says", "asks", "out"]:
    """What an edge case does: it says what is to happen, only asks, or is declared out of scope. A question counts by
    its answer, whether that stands in brackets or not."""
    answered = _LIKE["answered"].search(text)
    aside = _LIKE["in_brackets_at_end"].match(text)
    answer = answered["answer"] if answered else aside["said"] if aside else ""
    if _LIKE["out"].match(answer):
        return "out"
    if answered is not None and _asks_again(answer):
        return "asks"
    return "asks" if answered is None and _only_asks(text) else "says"


def _asks_again(answer: str) -> bool:
    """Whether what follows a question is no answer: another question, or words for none."""
    return _last(answer) in _QUESTION_MARKS or _LIKE["open_answer"].match(answer) is not None


def _only_asks(text: str) -> bool:
    return _last(text) in _QUESTION_MARKS or (_LIKE["asks"].match(text) is not None and not _LIKE["ends"].search(text))


def _last(text: str) -> str:
    """The last letter or question mark of a text."""
    return next((letter for letter in reversed(text) if letter.isalnum() or letter in _QUESTION_MARKS), ".")


def _add_unnamed(
    collection: _Collection,
    places: list[Place],
    stories: list[Story],
    unnamed: Iterable[tuple[Place, list[Item]]],
    bare: Iterable[Item],
) -> None:
    """What is required without an id: it gets one, made from its place."""
    unnamed = [(place, items) for place, items in unnamed if not place.story]
    success = [item for place, items in unnamed if place.kind is Kind.SUCCESS for item in items]
    if success and not any(identifier.startswith(_SUCCESS) for identifier in collection.lines):
        criteria = collection.criteria(f"{_SUCCESS}.", [Scenario(item.line, item.text) for item in success])
        collection.add(Requirement(_SUCCESS, "Success criteria", criteria=criteria), success[0].line)
    plain = [item for place, items in unnamed if place.kind is Kind.REQUIREMENTS for item in items if not item.is_row]
    plain += bare
    accepted = _accepted(collection, places)
    if _is_one_story(places, stories, accepted):
        _add_only_story(collection, places, accepted)
    elif accepted and collection.requirements:
        criteria = collection.criteria(f"{_ACCEPTANCE}.", accepted)
        collection.add(Requirement(_ACCEPTANCE, "Acceptance", criteria=criteria), accepted[0].line)
    else:
        plain += [Item(scenario.line, 0, "-", scenario.text) for scenario in accepted]
    for number, item in enumerate(sorted(plain, key=lambda item: item.line), 1):
        collection.add(Requirement(str(number), titled(item.text), item.text), item.line)


def _accepted(collection: _Collection, places: list[Place]) -> list[Scenario]:
    """What stands under a heading about acceptance, outside of all stories; under one that says nothing, what is told
    from Given to Then."""
    taken = set(collection.lines.values())
    outside = [place for place in places if not (place.story or place.heading)]
    scenarios = (
        scenario
        for place in outside
        if place.kind in (Kind.SCENARIOS, Kind.OTHER)
        for scenario in scenarios_in(place)
        if place.kind is Kind.SCENARIOS or scenario.steps >= _STEPPED
    )
    return [scenario for scenario in scenarios if scenario.line not in taken]


def _is_one_story(places: list[Place], stories: list[Story], accepted: list[Scenario]) -> bool:
    """The older form: one story in words, and its scenarios under a heading of their own."""
    is_stepped = any(scenario.steps for scenario in accepted)
    return not stories and bool(accepted) and (is_stepped or _only_story(places) is not None)


def _only_story(places: list[Place]) -> Place | None:
    return next((place for place in places if _LIKE["story"].search(next(iter(place.titles), "")[:80])), None)


def _add_only_story(collection: _Collection, places: list[Place], accepted: list[Scenario]) -> None:
    place = _only_story(places)
    text = joined(place.part.lines) if place is not None else ""
    criteria = collection.criteria("US1.", accepted)
    line = place.part.line if place is not None else accepted[0].line
    collection.add(Requirement("US1", titled(text) or "User story", text, criteria), line)
