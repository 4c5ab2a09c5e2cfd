"""spec.md as requirements: stories with scenarios, edge cases, success criteria, and the statements that have an id of
their own, such as `FR-001`, in file order. Which of several mentions of an id declares it is told here too."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from agent_fox.core.spec import BareCriteria, Criterion, Requirement, with_details
from agent_fox.specs.collected import Declarations, ReadRequirements
from agent_fox.specs.document import Markdown
from agent_fox.specs.lines import joined, listed
from agent_fox.specs.spec_kit.identifiers import Declared, closing, declared, stories_in_label, story_name
from agent_fox.specs.spec_kit.parts import Item, Kind, Part, Story, items_of, kind_of, parts_of, placed, step_at_start
from agent_fox.specs.unread import obliges
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_EDGES, _SUCCESS, _ACCEPTANCE = "EC", "SC", "AC"
_HOLDS = [_LIKE[f"holds_{step}"] for step in ("given", "when", "then")]
_AND = 3
_STEPPED, _WHOLE = frozenset({0, 2}), frozenset({0, 1, 2})
"""Given and Then: a statement that says both is a scenario, whatever it stands under. And with When, all steps."""
_IN_STORY, _IN_CHAPTER, _LONGEST_TITLE = 5, 10, 120
_EXPECTS = (Kind.REQUIREMENTS, Kind.SUCCESS, Kind.SCENARIOS)
_QUESTION_MARKS = "?？؟"
_SAYS, _ASKS, _OUT = "says", "asks", "out"
_ASIDE = {
    _ASKS: "questions, with nothing to prove: {}. Write what is to happen",
    _OUT: "said to be out of scope: {}. Not expected",
}


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


def read_requirements(markdown: Markdown, bare: BareCriteria = BareCriteria.DETAIL) -> ReadRequirements:
    """All of spec.md that is to be proven. `bare`: what becomes of items without an id below others that have one."""
    return _Collection(markdown, bare).value()


class _Collection(Declarations):
    """The requirements of one file in the making. `required` are items that are some by themselves. `unnamed` are items
    without an id outside of stories; `beside` are lines of those that stand above items that have one."""

    def __init__(self, markdown: Markdown, bare: BareCriteria) -> None:
        super().__init__(markdown)
        self.parts = parts_of(markdown.lines)
        self.stories = list(placed(self.parts))
        self.is_detail = bare is BareCriteria.DETAIL
        self.requirements: list[tuple[int, Requirement]] = []
        self.of_story: dict[str, tuple[str, ...]] = {}
        self.required: list[Item] = []
        self.unnamed: list[tuple[Item, Kind]] = []
        self.beside: list[int] = []

    def value(self) -> ReadRequirements:
        self._add_statements()
        for story, number in self.stories:
            self._add_story(story, number)
        edges = [part for part in self.parts if part.kind is Kind.EDGES and not part.story]
        if edge_cases := self._edge_cases(_EDGES, edges):
            self._add(edges[0].line, Requirement(_EDGES, "Edge cases", edge_cases=edge_cases))
        success = [item for item, kind in self.unnamed if kind is Kind.SUCCESS]
        if success and not any(identifier.startswith(_SUCCESS) for identifier in self.lines):
            self._add_as(_SUCCESS, "Success criteria", success)
        self.required += [item for item, kind in self.unnamed if kind is Kind.REQUIREMENTS and not item.is_row]
        self._add_accepted()
        for place, item in enumerate(sorted(self.required, key=lambda item: item.line), 1):
            self._add(item.line, Requirement(str(place), _titled(item.text), item.text))
        if self.beside:
            what = f"no id, among statements that have one: {listed(self.beside)}. Not expected; give ids to what is"
            self.warn(self.beside[0], what)
        ordered = sorted(self.requirements, key=lambda found: found[0])
        return replace(self.read(requirement for _, requirement in ordered), of_story=self.of_story)

    def _add(self, line: int, requirement: Requirement, *, is_implied: bool = True) -> None:
        self.requirements.append((line, requirement))
        self.lines.setdefault(requirement.id, line)
        self.implied |= {requirement.id} if is_implied else set()

    def _add_as(self, identifier: str, title: str, scenarios: list[Item]) -> None:
        """A requirement made of statements that have no other."""
        criteria = self._criteria(f"{identifier}.", scenarios)
        self._add(scenarios[0].line, Requirement(identifier, title, criteria=criteria))

    def _criteria(self, prefix: str, found: Iterable[Item]) -> tuple[Criterion, ...]:
        """Criteria `US1.1`, `EC.E1`...; one with an id of its own keeps that, where nothing else has it."""
        made: list[Criterion] = []
        for number, scenario in enumerate(found, 1):
            is_own = bool(scenario.id) and scenario.id not in self.lines
            identifier = scenario.id if is_own else f"{prefix}{number}"
            self.implied |= set() if is_own else {identifier}
            self.lines[identifier] = scenario.line
            made.append(Criterion(identifier, scenario.text))
        return tuple(made)

    def _edge_cases(self, identifier: str, parts: list[Part]) -> tuple[Criterion, ...]:
        """The edge cases that say what is to happen. Those that only ask, or are out of scope, are named, once."""
        items = [(item, _sort(item.text)) for part in parts for item in _edges(part)]
        for kind, what in _ASIDE.items():
            if lines := [item.line for item, sort in items if sort == kind]:
                self.warn(lines[0], what.format(listed(lines)))
        return self._criteria(f"{identifier}.E", [_scenario(item) for item, sort in items if sort == _SAYS])

    def _add_statements(self) -> None:
        """Each statement that declares an id, and the items below it that are required by themselves."""
        mentions = list(self._mentions())
        known = {mention.part.section for mention in mentions if mention.is_known and mention.rank}
        by_id: dict[str, list[Statement]] = {}
        for mention in mentions:
            part = mention.part
            if mention.is_known or part.kind in _EXPECTS or (part.section in known and part.kind is Kind.OTHER):
                by_id.setdefault(mention.id, []).append(mention)
        within: dict[int, list[str]] = {}
        numbered = {story_name(number): story.line for story, number in self.stories}
        for statement in filter(None, map(self._declaring, by_id.values())):
            details = tuple(item.text for item in statement.details if self.is_detail)
            self.required += statement.details[len(details) :]
            text = with_details(statement.text, statement.id, details)
            requirement = Requirement(statement.id, _titled(statement.text), text, details=details)
            self._add(statement.line, requirement, is_implied=False)
            lines = [statement.part.story.line] if statement.part.story is not None else []
            if not lines and (label := _LIKE["story_label"].match(statement.text)):  # `FR-001 [US1]: ...`
                lines = [numbered[story] for story in stories_in_label(label["label"]) if story in numbered]
            for line in lines:
                within.setdefault(line, []).append(statement.id)
        self.of_story = {f"US{number}": tuple(within.get(story.line, ())) for story, number in self.stories}

    def _mentions(self) -> Iterator[Statement]:
        """The mentions of ids, part by part; last those in headings, below which all is what the id says."""
        # the ids that lines begin with, where any line ends with one: only then they are asked for
        lines = [line.text for part in self.parts for line in part.lines]
        bare = (text.lstrip(" -*+|0123456789.)[]") for text in (lines if any(map(closing, lines)) else ()))
        begun = [declared(text, is_item=True) for text in bare]
        begun += [part.heading[1] for part in self.parts if part.heading is not None] if begun else []
        leading = frozenset(own.id for own in begun if own is not None and own.text)
        headings: dict[int, tuple[Part, Declared, list[str]]] = {}
        for part in self.parts:
            if part.heading is not None:
                line, own = part.heading
                headings.setdefault(line, (part, own, [own.text]))[2].append(part.words)
            if part.kind is not Kind.EDGES and not (part.kind is Kind.SCENARIOS and part.story):
                yield from self._in_items(part, leading)
        for line, (part, own, texts) in headings.items():
            yield _statement(own, part, line, "\n".join(filter(None, texts)), 3)

    def _in_items(self, part: Part, leading: frozenset[str]) -> Iterator[Statement]:
        """An item declares the id that it begins with; else the one that it ends with, with which none begins."""
        declaring: list[tuple[Item, Declared]] = []
        unnamed: list[Item] = []
        for item in items_of(part.lines, _begins_statement):
            own = declared(item.text, is_item=bool(item.mark))
            if own is None and item.mark and not item.is_row and part.kind in _EXPECTS:
                last = closing(item.text)
                own = last if last is not None and last.id not in leading else None
            declaring += [(item, own)] if own is not None and own.text else []
            unnamed += [item] if item.mark and (own is None or not own.text) else []
        is_mixed = part.kind in (Kind.REQUIREMENTS, Kind.SUCCESS) and part.heading is None
        bare = [item for item in unnamed if not item.is_row] if is_mixed else []
        ends = [item.line for item, _ in declaring[1:]] + [sys.maxsize]
        for (item, own), end in zip(declaring, ends, strict=False):
            details = tuple(other for other in bare if item.line < other.line < end)
            yield _statement(own, part, item.line, own.text, 1 if item.is_row else 2, details)
        if declaring and is_mixed:
            self.beside += [item.line for item in bare if item.line < declaring[0][0].line]
        elif not declaring and part.heading is None and not part.story:
            self.unnamed += [(item, part.kind) for item in unnamed]

    def _declaring(self, several: list[Statement]) -> Statement | None:
        """The mention of an id that counts; an error where two of the same rank say different things."""
        identifier, rank = several[0].id, max(mention.rank for mention in several)
        best = [mention for mention in several if mention.rank == rank]
        others = [mention for mention in best[1:] if mention.text.split() != best[0].text.split()]
        if rank == 0:
            what = f"{identifier} stands only where nothing is required: not expected"
            self.warn(best[0].line, f"{what}. Move it, if it is a requirement")
            return None
        if others and rank > _IN_STORY:
            self.say_doubled(identifier, best[0].line, others[0].line)
        if best[0].is_withdrawn:
            self.withdrawn.append(identifier)
            self.lines.setdefault(identifier, best[0].line)
            self.warn(best[0].line, f"{identifier} was taken back and is not expected")
            return None
        return best[0]

    def _add_story(self, story: Story, number: str) -> None:
        if story.number and number != story.number:
            what = f"user story {story.number} stands twice: this one is known as US{number} here. Renumber one"
            self.warn(story.line, what)
        identifier = f"US{number}"
        criteria = self._criteria(f"{identifier}.", _scenarios_of(story))
        edge_cases = self._edge_cases(identifier, [part for part in story.parts if part.kind is Kind.EDGES])
        # in its own words, without its scenarios and edge cases
        own = [part.words for part in story.parts if part.kind in (Kind.OTHER, Kind.ASIDE)]
        text = "\n".join(filter(None, (story.title, *own)))
        self._add(story.line, Requirement(identifier, story.title or identifier, text, criteria, edge_cases))

    def _add_accepted(self) -> None:
        """What stands under a heading about acceptance outside of stories, and elsewhere what goes from Given to Then.
        The older form has one story in words, whose scenarios these are. Without one, beside nothing that is required,
        each is required by itself."""
        taken = set(self.lines.values())
        accepted = [
            scenario
            for part in self.parts
            if not (part.story or part.heading) and part.kind in (Kind.SCENARIOS, Kind.OTHER)
            for scenario in _scenarios_in(part)
            if (part.kind is Kind.SCENARIOS or scenario.steps >= _STEPPED) and scenario.line not in taken
        ]
        story = next((part for part in self.parts if _LIKE["story"].search("".join(part.titles[:1])[:80])), None)
        if not self.stories and accepted and (story is not None or any(scenario.steps for scenario in accepted)):
            text = joined(story.lines) if story is not None else ""
            line = story.line if story is not None else accepted[0].line
            title, criteria = _titled(text) or "User story", self._criteria("US1.", accepted)
            self._add(line, Requirement("US1", title, text, criteria))
        elif accepted and self.requirements:
            self._add_as(_ACCEPTANCE, "Acceptance", accepted)
        else:
            self.required += accepted


def _titled(text: str) -> str:
    """The first line of a text, as a title."""
    first = text.split("\n", 1)[0].strip()
    return first if len(first) <= _LONGEST_TITLE else first[: _LONGEST_TITLE - 1].rstrip() + "…"


def _scenarios_of(story: Story) -> list[Item]:
    """The scenarios of a story: those under the heading for them, else what is written as one: an item in steps, and
    those right after it that go on with Then or And."""
    named = [part for part in story.parts if part.kind is Kind.SCENARIOS or _is_scenario(part)]
    if scenarios := [scenario for part in named for scenario in _scenarios_in(part)]:
        return scenarios
    others = [(part, items_of(part.lines)) for part in story.parts if part.kind is Kind.OTHER]
    steps: list[Item] = []
    for _, items in others:
        is_after_step = False
        for item in items:
            is_after_step = _is_step(item) or (is_after_step and step_at_start(item.text) is not None)
            steps += [item] if is_after_step else []
    return _merged(steps or [item for part, items in others if part.label for item in items if item.mark.isdecimal()])


def _scenarios_in(part: Part) -> list[Item]:
    """The scenarios of a part that holds nothing else. A heading for one scenario makes all below it that one."""
    if _is_scenario(part):
        text = joined(part.lines)
        return [Item(part.line, 0, "-", f"{part.titles[0]}: {text}")] if text else []
    return _merged(_chosen(items_of(part.lines)))


def _chosen(items: list[Item]) -> list[Item]:
    """The items of a list without the words around it; paragraphs where they say it in steps, or are all there is."""
    return [item for item in items if item.mark or _is_step(item) or declared(item.text, is_item=False)]


def _is_scenario(part: Part) -> bool:
    title = part.titles[0] if part.titles else ""
    is_counted = any(mark.isdigit() or mark in ":：" for mark in title)
    return is_counted and kind_of(title) in (None, Kind.SCENARIOS) and _LIKE["scenario"].match(f"{title}:") is not None


def _is_step(item: Item) -> bool:
    is_begun = step_at_start(item.text) in (0, 1) or len(_steps_in(item.text)) > 1
    return is_begun or _LIKE["scenario"].match(item.text) is not None


def _merged(items: Iterable[Item]) -> list[Item]:
    """Scenarios whose steps are items of their own are put together."""
    scenarios: list[Item] = []
    for item in items:
        step = step_at_start(item.text)
        steps = _steps_in(item.text) | ({step} if step is not None else frozenset())
        if scenarios and step is not None and _goes_on(scenarios[-1], step):
            scenarios[-1].text += f"\n{item.text}"
            scenarios[-1].steps |= steps
            scenarios[-1].pieces += 1
        else:
            scenarios.append(_scenario(item, steps))
    return scenarios


def _scenario(item: Item, steps: frozenset[int] = frozenset()) -> Item:
    """An item as it is to be shown, with the id that it begins with; one of the templates' letters is a statement's."""
    own = declared(item.text, is_item=True)
    if own is None or own.is_known or not own.text:
        return replace(item, steps=steps)
    return replace(item, text=own.text, id=own.id, steps=steps)


def _steps_in(text: str) -> frozenset[int]:
    """Which of Given, When, Then a text holds."""
    return frozenset(n for n, words in enumerate(_HOLDS) if words.search(text))


def _goes_on(before: Item, step: int) -> bool:
    """Whether a step belongs to the scenario before it."""
    if step == _AND:
        return bool(before.steps) and (before.pieces > 1 or not before.steps >= _WHOLE)
    if not before.steps:
        return bool(before.id) and step < _AND
    if step == 1:
        return before.steps == {0}
    return step > 1 and bool(before.steps & {0, 1}) and (before.pieces > 1 or step not in before.steps)


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
        item.text = f"{part.label}: {item.text}"
    in_list = [item for item in items if item.mark or item in named]
    return in_list or ([] if part.label else _chosen(items))


def _begins_statement(text: str) -> bool:
    own = declared(text, is_item=False)
    return own is not None and own.is_known and bool(own.text)


def _statement(own: Declared, part: Part, line: int, text: str, form: int, details: tuple[Item, ...] = ()) -> Statement:
    sure = 0 if part.kind not in _EXPECTS else _IN_STORY if part.story else _IN_CHAPTER
    # a title such as *Notes* may name what the app has, where requirements are the chapter that it stands in; *Out of
    # scope* says the same wherever it stands
    kinds = [kind_of(title) for title in part.titles]
    asides = [title for title, kind in zip(part.titles, kinds, strict=True) if kind is Kind.ASIDE]
    names_a_part = Kind.REQUIREMENTS in kinds and all(_LIKE["may_name_a_part"].match(each[:200]) for each in asides)
    rank = form + sure if part.kind is not Kind.ASIDE or (own.is_known and names_a_part and obliges(text)) else 0
    is_withdrawn = own.is_struck or _LIKE["statements_taken_back"].match(text[:200]) is not None
    return Statement(own.id, text, line, rank, part, own.is_known, is_withdrawn, details)
