"""User stories of spec.md with their acceptance scenarios, and where each part of the file stands in them; and the
statements that have an id of their own, such as `FR-001`: which of several mentions declares it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from agent_fox.specs.collected import Remarks
from agent_fox.specs.lines import Heading, joined
from agent_fox.specs.spec_kit.identifiers import Declared, closing, declared
from agent_fox.specs.spec_kit.parts import AND, Item, Kind, Part, Story, items_of, kind_of, step_at_start, steps_in
from agent_fox.specs.unread import obliges
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_TITLE_MARKS = "-–—:：.)）] *_\t\u3000"
_WHOLE = frozenset({0, 1, 2})
_IN_STORY, _IN_CHAPTER = 5, 10
_EXPECTS = (Kind.REQUIREMENTS, Kind.SUCCESS, Kind.SCENARIOS)


@dataclass(slots=True)
class Scenario:
    """A statement to be shown: the line it begins on, its text, and the id that is written before it, if one is."""

    line: int
    text: str
    id: str = ""
    steps: frozenset[int] = frozenset()
    pieces: int = 1


def placed(parts: list[Part]) -> Iterator[tuple[Story, str]]:
    """Gives every part its place, and the stories in the order of the file, each with the number that is its own: as
    written, or the next free one where that is taken or missing."""
    headings = [heading for part in parts for _, heading in part.path[-1:] if not part.label]
    is_numbered = any(_story(heading, True) for heading in headings)
    stories: dict[int, Story] = {}
    for part in parts:
        titles = [part.label] if part.label else []
        for line, heading in reversed(part.path):
            own = declared(heading.title, is_item=True)
            head = None if heading.level == 1 or (own and own.is_known) else _story(heading, is_numbered)
            if head is not None:
                part.story = stories.setdefault(line, Story(*head, line))
                part.story.parts.append(part)
                break
            if own is not None:
                part.heading = part.heading or (line, own)
            elif heading.level > 1:
                titles.append(heading.title)
        kinds = [kind for kind in map(kind_of, titles) if kind is not None]
        part.titles, part.kind = tuple(titles), Kind.ASIDE if Kind.ASIDE in kinds else [*kinds, Kind.OTHER][0]
    taken = {story.number for story in stories.values()}
    free = (str(number) for number in count(1) if str(number) not in taken)
    used: set[str] = set()
    for story in stories.values():
        number = story.number if story.number and story.number not in used else next(free)
        used.add(number)
        yield story, number


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
    own = [part for part in story.parts if part.kind in (Kind.OTHER, Kind.ASIDE)]
    texts = [f"{part.label}: {joined(part.lines)}" if part.label else joined(part.lines) for part in own]
    return "\n".join(filter(None, (story.title, *texts)))


def scenarios_of(story: Story) -> list[Scenario]:
    """The scenarios of a story: those under the heading for them, else what is written as one: an item in steps, and
    those right after it that go on with Then or And."""
    named = [part for part in story.parts if part.kind is Kind.SCENARIOS or _is_scenario(part)]
    if scenarios := [scenario for part in named for scenario in scenarios_in(part)]:
        return scenarios
    others = [part for part in story.parts if part.kind is Kind.OTHER]
    steps: list[Item] = []
    for part in others:
        is_after_step = False
        for item in items_of(part.lines):
            is_after_step = _is_step(item) or (is_after_step and step_at_start(item.text) is not None)
            steps += [item] if is_after_step else []
    numbered = (item for part in others if part.label for item in items_of(part.lines) if item.mark.isdecimal())
    return _merged(steps or numbered)


def scenarios_in(part: Part) -> list[Scenario]:
    """The scenarios of a part that holds nothing else. A heading for one scenario makes all below it that one."""
    if _is_scenario(part):
        text = joined(part.lines)
        return [Scenario(part.line, f"{part.titles[0]}: {text}")] if text else []
    return _merged(chosen(items_of(part.lines)))


def chosen(items: list[Item]) -> list[Item]:
    """The items of a list without the words around it; paragraphs where they say it in steps, or are all there is."""
    return [item for item in items if item.is_listed or _is_step(item) or declared(item.text, is_item=False)]


def _is_scenario(part: Part) -> bool:
    title = part.titles[0] if part.titles else ""
    is_counted = any(mark.isdigit() or mark in ":：" for mark in title)
    return is_counted and kind_of(title) in (None, Kind.SCENARIOS) and _LIKE["scenario"].match(f"{title}:") is not None


def _is_step(item: Item) -> bool:
    is_begun = step_at_start(item.text) in (0, 1) or len(steps_in(item.text)) > 1
    return is_begun or _LIKE["scenario"].match(item.text_of_first) is not None


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


class Statement(NamedTuple):
    """One mention of an id that may declare it. `rank`: how sure that is; 0 stands where nothing is declared. `details`
    are the items without an id between this one and the next."""

    id: str
    text: str
    line: int
    rank: int
    part: Part
    is_known: bool
    is_withdrawn: bool = False
    details: tuple[Item, ...] = ()


class Mentions:
    """The mentions of ids in a file, part by part. `unnamed` are items without an id, by part; `beside` are lines of
    items without an id that stand above items that have one."""

    def __init__(self, parts: list[Part]) -> None:
        # the ids that lines begin with, where any line ends with one: only then they are asked for
        lines = [line.text for part in parts for line in part.lines]
        bare = (text.lstrip(" -*+|0123456789.)[]") for text in (lines if any(map(closing, lines)) else ()))
        begun = [declared(text, is_item=True) for text in bare]
        begun += [part.heading[1] for part in parts if part.heading is not None] if begun else []
        self.leading = frozenset(own.id for own in begun if own is not None and own.text)
        self.headings: dict[int, tuple[Part, Declared, list[str]]] = {}
        self.mentions: list[Statement] = []
        self.unnamed: list[tuple[Part, list[Item]]] = []
        self.beside: list[int] = []
        for part in parts:
            if part.heading is not None:  # all that stands below a heading with an id is what it says
                line, own = part.heading
                text = joined(part.lines)
                texts = self.headings.setdefault(line, (part, own, [own.text]))[2]
                texts.append(f"{part.label}: {text}" if part.label else text)
            if part.kind is not Kind.EDGES and not (part.kind is Kind.SCENARIOS and part.story):
                self._items(part)

    def _items(self, part: Part) -> None:
        owns = [(item, self._declared(item, part)) for item in items_of(part.lines, _begins_statement)]
        declaring = [(item, own) for item, own in owns if own is not None and own.text]
        unnamed = [item for item, own in owns if (own is None or not own.text) and item.is_listed]
        is_mixed = part.kind in (Kind.REQUIREMENTS, Kind.SUCCESS) and part.heading is None
        bare = [item for item in unnamed if not item.is_row] if is_mixed else []
        ends = [item.line for item, _ in declaring[1:]] + [sys.maxsize]
        for (item, own), end in zip(declaring, ends, strict=False):
            details = tuple(other for other in bare if item.line < other.line < end)
            self.mentions.append(_statement(own, part, item.line, own.text, 1 if item.is_row else 2, details))
        if declaring and is_mixed:
            self.beside += [item.line for item in bare if item.line < declaring[0][0].line]
        elif not declaring and unnamed and part.heading is None:
            self.unnamed.append((part, unnamed))

    def _declared(self, item: Item, part: Part) -> Declared | None:
        """The id that an item begins with; else the one that it ends with, where nothing else in the file has it."""
        own = declared(item.text, is_item=item.is_listed)
        if own is not None or not item.is_listed or item.is_row or part.kind not in _EXPECTS:
            return own
        last = closing(item.text)
        return last if last is not None and last.id not in self.leading else None

    def declared_once(self, remarks: Remarks) -> Iterator[Statement]:
        """The statement that counts of each id; an error where two of the same rank say different things."""
        headed = (
            _statement(own, part, line, "\n".join(filter(None, texts)), 3)
            for line, (part, own, texts) in self.headings.items()
        )
        mentions = [*self.mentions, *headed]
        known = {mention.part.section for mention in mentions if mention.is_known and mention.rank}
        by_id: dict[str, list[Statement]] = {}
        for mention in mentions:
            part = mention.part
            if mention.is_known or part.kind in _EXPECTS or (part.section in known and part.kind is Kind.OTHER):
                by_id.setdefault(mention.id, []).append(mention)
        for identifier, several in by_id.items():
            rank = max(mention.rank for mention in several)
            best = [mention for mention in several if mention.rank == rank]
            others = [mention for mention in best[1:] if mention.text.split() != best[0].text.split()]
            if rank == 0:
                what = f"{identifier} stands only where nothing is required: not expected"
                remarks.warn(best[0].line, f"{what}. Move it, if it is a requirement")
                continue
            if others and rank > _IN_STORY:
                lines = f"{best[0].line} and {others[0].line}"
                what = f"{identifier} is declared twice: in lines {lines}. Give one of them another id"
                remarks.refuse(others[0].line, what)
            yield best[0]


def _begins_statement(text: str) -> bool:
    own = declared(text, is_item=False)
    return own is not None and own.is_known and bool(own.text)


def _statement(own: Declared, part: Part, line: int, text: str, form: int, details: tuple[Item, ...] = ()) -> Statement:
    sure = 0 if part.kind not in _EXPECTS else _IN_STORY if part.story else _IN_CHAPTER
    is_asked = own.is_known and _names_a_part(part.titles) and obliges(text)
    rank = 0 if part.kind is Kind.ASIDE and not is_asked else form + sure
    is_withdrawn = own.is_struck or _LIKE["statements_taken_back"].match(text[:200]) is not None
    return Statement(own.id, text, line, rank, part, own.is_known, is_withdrawn, details)


def _names_a_part(titles: tuple[str, ...]) -> bool:
    """Whether a title such as *Notes* names what the app has: requirements are the chapter that it stands in.
    `titles`: the nearest first. *Out of scope* says the same wherever it stands."""
    kinds = [kind_of(title) for title in titles]
    asides = [title for title, kind in zip(titles, kinds, strict=True) if kind is Kind.ASIDE]
    return Kind.REQUIREMENTS in kinds and all(_LIKE["may_name_a_part"].match(title[:200]) for title in asides)
