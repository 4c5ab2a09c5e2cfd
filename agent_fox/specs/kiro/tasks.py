"""tasks.md as values: states, optional and parallel tasks, and the fields below each: the requirements it names, the
tasks it waits for, the properties it tests. And design.md's correctness properties: which requirements each one
validates, and which tasks write its test.

Groups are built one after another, in the order of the file: that keeps to the `waves` of a task graph in it, unless
they sort whole groups otherwise. Then it is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, islice
from typing import NamedTuple

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from agent_fox.core.spec import Group, Problem, Subtask, TaskState, Trace
from agent_fox.specs.collected import ReadTasks, Remarks
from agent_fox.specs.common import task_lists
from agent_fox.specs.common.task_entries import read_groups
from agent_fox.specs.common.task_lists import Bullet, Draft, Numbers, mark_test_writers
from agent_fox.specs.document import Markdown
from agent_fox.specs.files import warning
from agent_fox.specs.kiro.ids import References
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_DASHES = str.maketrans({"–": "-", "—": "-", "～": "-", "〜": "-", "~": "-", "、": ",", "，": ","})
_MOST, _LONGEST = 200, 4000
_FENCES = ("```", "~~~")
_MOST_REPORTED, _LONGEST_NUMBER = 5, 40


_REQUIREMENTS, _WAITS, _PROPERTY, _OTHER = "requirements", "waits", "property", "other"


class TaskField(NamedTuple):
    """A field as written, with the line that it stands on. `sort` says what it is about; others than requirements,
    waits and properties (`_Boundary: ..._`) stand in the text alone."""

    sort: str
    key: str
    value: str
    line: int


_Tasks = list[str | int | float]


class _Wave(BaseModel, defer_build=True):
    tasks: _Tasks = Field(validation_alias=AliasChoices("tasks", "taskIds"))


class _Graph(BaseModel, defer_build=True):
    waves: list[_Tasks | _Wave]


def read_tasks(markdown: Markdown, references: References) -> ReadTasks:
    """The groups of a tasks file, in the order of the file."""
    drafts, problems = read_groups(markdown)
    reading = _Reading(markdown, references, drafts)
    groups = mark_test_writers(tuple(reading.group(draft) for draft in drafts))
    problems += task_lists.doubled_tasks(markdown, (task for draft in drafts for task in draft.tasks))
    problems += [*reading.problems, *_check_waves(markdown, reading.groups)]
    properties = {number: tuple(dict.fromkeys(tasks)) for number, tasks in reading.properties.items()}
    return ReadTasks(groups, tuple(problems), task_lists.places_of(markdown, drafts), properties=properties)


class _Reading(Remarks):
    """Turns drafts into values, and collects the problems and properties on the way."""

    def __init__(self, markdown: Markdown, references: References, drafts: list[Draft]) -> None:
        super().__init__(markdown)
        self.references = references
        tildes = (line.text for line in markdown.lines if "[~]" in line.text)
        self.tilde_is_skipped = any(map(_LIKE["tilde_is_skipped"].search, tildes))
        self.properties: dict[str, list[str]] = {}
        self.groups = {entry.number: draft.group for draft in drafts for entry in (draft, *draft.tasks)}
        self.known = Numbers({number: place for place, number in enumerate(self.groups)}, lambda name: name.count("."))
        self.order = {draft.group: place for place, draft in enumerate(drafts)}

    def group(self, draft: Draft) -> Group:
        subtasks = tuple(self._task(task, draft.group) for task in draft.tasks)
        own = self._task(draft, draft.group)
        group = task_lists.group_of(draft, replace(own, title=own.title or draft.wrapped), subtasks)
        is_checkpoint = _LIKE["checkpoint"].match(group.title) is not None and not subtasks and not group.requirements
        return replace(group, is_checkpoint=is_checkpoint)

    def _task(self, entry: Draft, group: int) -> Subtask:
        fields = self._fields(entry.bullets, entry.number or str(group))
        title, state = _without_fields(entry.wrapped), entry.state(self._box)
        named = tuple(dict.fromkeys(self._requirements(fields)))
        details = tuple(bullet.text for bullet in entry.bullets[1:] if not _is_field(bullet, fields))
        after = self._waits(fields, group)
        return Subtask(entry.number, title, state, entry.is_optional, named, details, entry.is_parallel, after)

    def _box(self, box: str) -> TaskState:
        """What a box says. Kiro writes `~` for a task that is queued, so it is open, unless a legend says skipped."""
        return TaskState.OPEN if box == "~" and not self.tilde_is_skipped else task_lists.state_of(box)

    def _fields(self, bullets: list[Bullet], name: str) -> list[TaskField]:
        """The fields of a task. The properties that it is about, `**Property 3: ...**`, may stand in its title too."""
        numbers: dict[str, None] = {}
        for text in (bullet.text[:_LONGEST] for bullet in bullets):
            if not text.isascii() or "rop" in text or "igenschaft" in text or "PROP" in text:
                numbers.update(dict.fromkeys(match["number"] for match in _LIKE["property"].finditer(text)))
        for number in numbers:
            self.properties.setdefault(number, []).append(name)
        return [field for bullet in bullets for field in _fields_of(bullet, self.references)]

    def _requirements(self, fields: Iterable[TaskField]) -> Iterator[str]:
        for read in fields:
            if read.sort != _REQUIREMENTS or not self.references.index.every:
                continue
            named = self.references.read(read.value)
            if named.unknown:
                what = f"names {', '.join(named.unknown)}: no such requirement in this spec. Correct the number"
                self.warn(read.line, what)
            if named.is_vague:
                written = f"{read.key}: {read.value}"[:80]
                self.warn(read.line, f"{written!r} names no requirement by its number. Write the numbers")
            yield from named.ids

    def _waits(self, fields: Iterable[TaskField], group: int) -> tuple[str, ...]:
        """The tasks that a task waits for; one that does not exist is reported, and so is one of a later group."""
        after: dict[str, None] = {}
        for read in (field for field in fields if field.sort == _WAITS):
            matches = islice(_LIKE["task_number"].finditer(read.value.translate(_DASHES)), _MOST)
            ranges = ((match[1], match[2] or match[1]) for match in matches)
            numbers = list(dict.fromkeys(name for ends in ranges for name in self.known.between(*ends)))
            own = self.order[group]
            after |= {number: None for number in numbers if number in self.known}
            if missing := [number for number in numbers if number not in self.known]:
                self.warn(read.line, f"waits for {', '.join(missing)}: no such task in this file. Correct the number")
            if late := [number for number in numbers if self.order.get(self.groups.get(number, 0), own) > own]:
                what = f"waits for {', '.join(late)}, which is built later: groups are built in the order of the file"
                self.warn(read.line, f"{what}. Move one of the two")
        return tuple(after)


def _fields_of(bullet: Bullet, references: References) -> Iterator[TaskField]:
    """The fields in a bullet: `_Requirements: 1.1_`, `**Validates: Requirements 1.4**`, `Depends: 2.1`."""
    text = bullet.text
    if not (":" in text or "：" in text):
        return
    marked = [*_LIKE["marked"].finditer(text)]
    for match in marked or filter(None, (_LIKE["plain"].match(text), _LIKE["in_brackets"].search(text))):
        key, value = match["key"].strip(), match["value"]
        # without the brackets that close around the whole field; those of an aside in it stay
        is_inside = sum(map(value.count, "(（")) < sum(map(value.count, ")）"))
        value = value.rstrip(" )）]").strip() if is_inside else value.strip(" ]")
        sort = _sort(key, value, references, is_marked=bool(marked))
        if sort == _REQUIREMENTS:  # without another field that follows: `1.2, 1.3 / steering: 7`
            others = (n for n in _LIKE["next_field"].finditer(value) if not _LIKE["requirement"].search(n["key"]))
            value = value[: next((other.start() for other in others), None)]
        if sort is not None:
            line = next((line.number for line in bullet.lines if key in line.text), bullet.lines[0].number)
            yield TaskField(sort, key, value, line)


def _is_field(bullet: Bullet, fields: Iterable[TaskField]) -> bool:
    """Whether a bullet is nothing but one of the fields."""
    text = bullet.text.lstrip("_*([（ ")
    keys = (field.key for field in fields if text.startswith(field.key))
    return any(text[len(key) :].lstrip("_* ").startswith((":", "：")) for key in keys)


def _without_fields(title: str) -> str:
    """A title without the fields that follow it on its line, and without marks for bold type, but for those in code."""
    match = _LIKE["marked"].search(title)
    parts = (title[: match.start()] if match and match.start() > 0 else title).split("`")
    head = "`".join(part if place % 2 else _LIKE["fields_bold"].sub("", part) for place, part in enumerate(parts))
    bracket = _LIKE["in_brackets"].search(head)
    if bracket is not None and _sort_of(bracket["key"]) in (_REQUIREMENTS, _WAITS):
        head = head[: bracket.start()]
    return head.strip().strip("*_ ").strip()


def _sort(key: str, value: str, references: References, *, is_marked: bool) -> str | None:
    """What a key says; if unknown, a marked list of own ids says it: `1.1, 2.3`. One number counts many things."""
    known = _sort_of(key)
    if known in (_PROPERTY, _WAITS):
        return known
    names_requirements = known is not None
    if known is None and _LIKE["traces"].match(key):
        # `Requirement 1.2`, `Requirements all` and nothing else beside it, or in marks a list of ids
        requirement = _LIKE["requirement"]
        is_numbered = requirement.match(value.strip()) is not None and any(c.isdigit() for c in value)
        is_all = len(value.split()) <= 2 and requirement.search(value) and _LIKE["all"].search(value)
        names_requirements = is_numbered or bool(is_all) or (is_marked and references.only_names(value))
    if names_requirements and (is_marked or len(key.split()) <= 3):
        return _REQUIREMENTS
    if not is_marked:
        return None
    is_list = "." in value and not _LIKE["counts"].search(key) and references.only_names(value)
    return _REQUIREMENTS if is_list else _OTHER


@lru_cache(maxsize=1024)
def _sort_of(key: str) -> str | None:
    """What a key says by itself. The same few stand below every task."""
    if _LIKE["property"].match(key):
        return _PROPERTY
    if _LIKE["waits"].search(key):
        return _WAITS
    return _REQUIREMENTS if _LIKE["requirement"].search(key) else None


def read_properties(
    markdown: Markdown, references: References, tasks: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[Trace, ...], list[Problem]]:
    """A trace for each part that a property validates: `Property 1` shows it, by the tasks that say so. A property goes
    on up to the next one, or to a heading of its rank."""
    remarks = Remarks(markdown)
    shown: dict[str, dict[str, None]] = {}
    number, level, section = "", 1, 1
    for line in markdown.words:
        text, heading = line.text.strip(), line.heading
        match = _LIKE["head"].match(heading.title if heading else text)
        sets_off = text.startswith(("**", "- **", "* **")) or ":" in line.text[:40] or "：" in line.text[:40]
        if match is not None and (heading is not None or sets_off):
            number, level = match["number"], heading.level if heading else section
            continue
        if heading is not None:
            number, section = "" if heading.level <= level else number, heading.level
        bullet = Bullet([line], None, text.removeprefix("- ").removeprefix("* "))
        for field in _fields_of(bullet, references) if number else ():
            named = references.read(field.value if field.sort == _REQUIREMENTS else "none")
            if named.unknown:
                what = f"Property {number} names {', '.join(named.unknown)}: no such requirement in this spec"
                remarks.warn(line.number, f"{what}. Correct the number")
            for part in named.ids:
                shown.setdefault(part, {})[number] = None
    traces = []
    for part in (part for part in references.index.every if part in shown):
        by = dict.fromkeys(task for number in shown[part] for task in tasks.get(number, ()))
        traces.append(Trace(part, tuple(f"Property {number}" for number in shown[part]), tuple(by)))
    return tuple(traces), remarks.problems if references.index.every else []


def _check_waves(markdown: Markdown, groups: Mapping[str, int]) -> Iterator[Problem]:
    """What a graph says that the plan does not do. `groups` has each task's group, in the order of the file."""
    if not any('"waves"' in line.text for line in markdown.lines if line.is_code):
        return
    fenced = groupby(markdown.lines, lambda line: line.is_code and not line.text.lstrip().startswith(_FENCES))
    for is_inside, lines in ((is_inside, [*block]) for is_inside, block in fenced):
        text = "\n".join(line.text for line in lines) if is_inside else ""
        if '"waves"' not in text:
            continue
        try:
            graph = _Graph.model_validate_json(text)
        except ValidationError:
            what = "this task graph can't be read as JSON with `waves`: its order is not known. Mend it"
            yield warning(markdown.at(lines[0].number), what)
            continue
        waves = [wave.tasks if isinstance(wave, _Wave) else wave for wave in graph.waves]
        placed = [(place, str(task)) for place, wave in enumerate(waves) for task in wave]
        yield from _against(markdown.at(lines[0].number), placed, groups)


def _against(where: str, placed: Iterable[tuple[int, str]], groups: Mapping[str, int]) -> Iterator[Problem]:
    """Tasks that are not there; and groups that wholly precede another, which stands above them in the file."""
    unknown: dict[str, None] = {}
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for place, task in placed:
        number = task[:_LONGEST_NUMBER].strip().rstrip(".*")
        while number and number not in groups:  # `1.2.1` is a part of `1.2`
            number = number.rpartition(".")[0]
        if number:
            first.setdefault(groups[number], place)
            last[groups[number]] = place
        else:
            unknown[task[:20]] = None
    if unknown:
        names = ", ".join(islice(unknown, _MOST_REPORTED))
        yield warning(where, f"the task graph names {names}: no such task in this file. Correct the number")
    swapped: list[str] = []
    above: int | None = None
    for group in (group for group in dict.fromkeys(groups.values()) if group in first):
        if above is not None and last[group] < first[above]:
            swapped.append(f"{group} before {above}")
        elif above is None or first[group] > first[above]:
            above = group
    if swapped:
        what = f"the task graph has group {'; '.join(swapped[:_MOST_REPORTED])}"
        yield warning(where, f"{what}: they are built in the order of the file. Move them, if it matters")
