"""User stories of spec.md with their acceptance scenarios, and where each part of the file stands in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from agent_fox.specs.lines import Heading, joined
from agent_fox.specs.spec_kit.identifiers import Declared, declared
from agent_fox.specs.spec_kit.parts import Item, Part, items_of
from agent_fox.specs.spec_kit.words import AND, Kind, kind_of, step_at_start, steps_in
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_TITLE_MARKS = "-–—:：.)）] *_\t\u3000"
_WHOLE = frozenset({0, 1, 2})


@dataclass(slots=True)
class Story:
    """A user story while it is read; `number` as written, `1` or `1a`, nothing where it has none."""

    number: str
    title: str
    line: int
    parts: list[Place] = field(default_factory=list)


@dataclass(slots=True)
class Place:
    """A part with what it holds, the story it stands in, and the id that a heading above it declares.

    `titles` are its label and the headings above it, the nearest first, up to the story's.
    """

    part: Part
    titles: tuple[str, ...]
    kind: Kind
    story: Story | None
    heading: tuple[int, Declared] | None

    @property
    def section(self) -> int:
        """The line of the chapter it stands in."""
        return next((number for number, heading in self.part.path if heading.level > 1), 0)


@dataclass(slots=True)
class Scenario:
    """A statement to be shown: the line it begins on, its text, and the id that is written before it, if one is."""

    line: int
    text: str
    id: str = ""
    steps: frozenset[int] = frozenset()
    pieces: int = 1


def places_of(parts: Iterable[Part]) -> tuple[list[Place], list[Story]]:
    """Every part with its place, and the stories in the order of the file."""
    parts = list(parts)
    headings = [heading for part in parts for _, heading in part.path[-1:] if not part.label]
    is_numbered = any(_story(heading, True) for heading in headings)
    stories: dict[int, Story] = {}
    return [_place(part, stories, is_numbered) for part in parts], list(stories.values())


def _place(part: Part, stories: dict[int, Story], is_numbered: bool) -> Place:
    titles = [part.label] if part.label else []
    declaring: tuple[int, Declared] | None = None
    story: Story | None = None
    for line, heading in reversed(part.path):
        own = declared(heading.title, is_item=True)
        head = None if heading.level == 1 or (own and own.is_known) else _story(heading, is_numbered)
        if head is not None:
            story = stories.setdefault(line, Story(head[0], head[1], line))
            break
        if own is not None:
            declaring = declaring or (line, own)
        elif heading.level > 1:
            titles.append(heading.title)
    kinds = [kind for kind in map(kind_of, titles) if kind is not None]
    kind = Kind.ASIDE if Kind.ASIDE in kinds else kinds[0] if kinds else Kind.OTHER
    place = Place(part, tuple(titles), kind, story, declaring)
    if story is not None:
        story.parts.append(place)
    return place


def _story(heading: Heading, is_numbered: bool) -> tuple[str, str] | None:
    """The number and the title of a story's heading. A heading with a number and a priority is one in any language;
    a number such as `8.1` counts within something else."""
    title = heading.title
    match = _LIKE["numbered_story"].match(title)
    if match is None and _LIKE["priority"].search(title[:300]) and not _LIKE["phase"].match(title):
        match = _LIKE["any_numbered"].match(title)
    dotted = _LIKE["dotted"].match(match["rest"]) if match is not None else None
    number = match["number"].lstrip("0") if match is not None and not dotted else ""
    match = match or (None if is_numbered else _LIKE["named_story"].match(title))
    if match is None:
        return None
    rest = match["rest"][dotted.end() if dotted else 0 :]
    return number, _LIKE["priority_at_end"].sub("", rest).strip(_TITLE_MARKS).strip()


def about_story(story: Story) -> str:
    """A story in its own words, without its scenarios and edge cases."""
    own = [place.part for place in story.parts if place.kind in (Kind.OTHER, Kind.ASIDE)]
    texts = [f"{part.label}: {joined(part.lines)}" if part.label else joined(part.lines) for part in own]
    return "\n".join(text for text in texts if text)


def scenarios_of(story: Story) -> list[Scenario]:
    """The scenarios of a story: those under the heading for them, else what is written as one."""
    named = [place for place in story.parts if place.kind is Kind.SCENARIOS or _is_scenario(place)]
    scenarios = [scenario for place in named for scenario in scenarios_in(place)]
    if scenarios:
        return scenarios
    others = [place.part for place in story.parts if place.kind is Kind.OTHER]
    steps = [item for part in others for item in _steps(items_of(part.lines))]
    numbered = [item for part in others if part.label for item in items_of(part.lines) if item.mark.isdecimal()]
    return _merged(steps or numbered)


def scenarios_in(place: Place) -> list[Scenario]:
    """The scenarios of a part that holds nothing else. A heading for one scenario makes all below it that one."""
    if _is_scenario(place):
        text = joined(place.part.lines)
        return [Scenario(place.part.line, f"{place.titles[0]}: {text}")] if text else []
    return _merged(chosen(items_of(place.part.lines)))


def chosen(items: list[Item]) -> list[Item]:
    """The items of a list without the words around it; paragraphs where they say it in steps, or are all there is."""
    return [item for item in items if item.is_listed or _is_step(item) or declared(item.text, is_item=False)]


def _is_scenario(place: Place) -> bool:
    title = place.titles[0] if place.titles else ""
    is_counted = any(mark.isdigit() or mark in ":：" for mark in title)
    return is_counted and kind_of(title) in (None, Kind.SCENARIOS) and _LIKE["scenario"].match(f"{title}:") is not None


def _is_step(item: Item) -> bool:
    is_begun = step_at_start(item.text) in (0, 1) or len(steps_in(item.text)) > 1
    return is_begun or _LIKE["scenario"].match(item.text_of_first) is not None


def _steps(items: Iterable[Item]) -> Iterator[Item]:
    """The items that are scenarios, or that go on with the one right before them: Then, And."""
    is_after_step = False
    for item in items:
        is_after_step = _is_step(item) or (is_after_step and step_at_start(item.text) is not None)
        if is_after_step:
            yield item


def _merged(items: Iterable[Item]) -> list[Scenario]:
    """Scenarios whose steps are items of their own are put together."""
    scenarios: list[Scenario] = []
    for item in items:
        step = step_at_start(item.text)
        steps = steps_in(item.text) | ({step} if step is not None else frozenset())
        if scenarios and step is not None and _goes_on(scenarios[-1], step):
            scenarios[-1].text += f"\n{item.text}"
            scenarios[-1].steps |= steps
            scenarios[-1].pieces += 1
        else:
            scenarios.append(scenario_of(item, steps))
    return scenarios


def scenario_of(item: Item, steps: frozenset[int] = frozenset()) -> Scenario:
    """An item as it is to be shown, with the id that it begins with; one of the templates' letters is a statement's."""
    own = declared(item.text, is_item=True)
    if own is None or own.is_known or not own.text:
        return Scenario(item.line, item.text, "", steps)
    return Scenario(item.line, own.text, own.id, steps)


def _goes_on(before: Scenario, step: int) -> bool:
    """Whether a step belongs to the scenario before it."""
    if step == AND:
        return bool(before.steps) and (before.pieces > 1 or not before.steps >= _WHOLE)
    if not before.steps:
        return bool(before.id) and step < AND
    if step == 1:
        return before.steps == {0}
    return step > 1 and bool(before.steps & {0, 1}) and (before.pieces > 1 or step not in before.steps)


def stories_counted(stories: list[Story]) -> Iterator[tuple[Story, str]]:
    """Each story with the number that is its own: as written, or the next free one where that is taken or missing."""
    taken = {story.number for story in stories}
    free = (str(number) for number in count(1) if str(number) not in taken)
    used: set[str] = set()
    for story in stories:
        number = story.number if story.number and story.number not in used else next(free)
        used.add(number)
        yield story, number
