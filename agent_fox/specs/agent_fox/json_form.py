"""The JSON form of a spec's documents, made into the same values as the Markdown form; and the strings of a document
with their lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agent_fox.core.spec import Dependency, Group, Problem, Severity, Subtask, TaskState, Trace
from agent_fox.core.values import dataclass
from agent_fox.specs.agent_fox import json_models as models
from agent_fox.specs.collected import ReadRequirements, ReadTasks, RequirementDraft
from agent_fox.specs.common.beside import label_of, tasks_in
from agent_fox.specs.common.id_ranges import PartIndex
from agent_fox.specs.common.task_lists import known_as, mark_test_writers, named_by, numbers_apart, rolled_up
from agent_fox.specs.files import TextFile, error, left_by_a_merge, warning

Model = TypeVar("Model", bound=BaseModel)

_TAKEN_BACK = frozenset({"withdrawn", "superseded", "archived", "removed", "deprecated"})
_PATTERN_WORDS = {"state_driven": "WHILE", "unwanted": "IF", "optional": "WHERE"}
_CLAUSES = {"feature": "WHERE", "state": "WHILE", "trigger": "WHEN", "condition": "AND", "error_condition": "IF"}
_STATES = {"done": TaskState.DONE, "completed": TaskState.DONE, "in_progress": TaskState.IN_PROGRESS}
_STATES |= dict.fromkeys(("dropped", "skipped"), TaskState.SKIPPED)


@dataclass(frozen=True, slots=True)
class Strings:
    """The whole strings of a document, as they are written, each with all lines it stands in."""

    where: str
    lines: dict[str, list[int]]

    def place(self, text: str) -> str:
        """`path:line` of the first one; the path alone where it is not found, such as where it has escapes."""
        return f"{self.where}:{self.lines[text][0]}" if text in self.lines else self.where

    def places(self, texts: Iterable[str]) -> dict[str, str]:
        """Those that are found, each with its place."""
        return {text: self.place(text) for text in texts if text in self.lines}


def strings_of(file: TextFile) -> Strings:
    """One look at the document, however many strings are asked for then."""
    lines: dict[str, list[int]] = {}
    number, between = 1, True
    bare = file.text.replace("\\\\", "").replace('\\"', "") if "\\" in file.text else file.text
    for text in bare.split('"'):
        if between:  # strings have no line ends
            number += text.count("\n")
        else:
            lines.setdefault(text, []).append(number)
        between = not between
    return Strings(file.where, lines)


def unescaped(written: str) -> str:
    """A string as it is meant; as it is written where it is cut from one with escapes of its own."""
    try:
        return str(json.loads(f'"{written}"'))
    except ValueError:
        return written


def requirements_from_json(file: TextFile, number: str) -> ReadRequirements | Problem:
    """The requirements of a requirements.json, or why it can't be read. Of two with one id the first counts."""
    read = _parsed(models.JsonRequirements, file)
    if isinstance(read, Problem):
        return read
    strings = strings_of(file)
    kept, twice = _drafts(r for r in read.requirements if r.status.lower() not in _TAKEN_BACK)
    gone, _ = _drafts(r for r in read.requirements if r.status.lower() in _TAKEN_BACK)
    requirements, withdrawn = (tuple(draft.value() for draft in drafts) for drafts in (kept, gone))
    problems = []
    for identifier in twice:
        places = strings.lines.get(identifier, [])  # none: it is written with escapes
        in_lines = f": in lines {' and '.join(map(str, places[:2]))}" if places else ""
        where = f"{file.where}:{places[-1]}" if places else file.where
        problems.append(error(where, f"{identifier} is declared twice{in_lines}"))
    return ReadRequirements(
        requirements,
        tuple(part.id for requirement in withdrawn for part in requirement.parts),
        tuple(problems),
        places=strings.places(name for r in requirements for name in (r.id, *(part.id for part in r.parts))),
        prefix=next((r.id.partition("-")[0] for r in read.requirements if "-REQ-" in r.id), number),
    )


def _drafts(requirements: Iterable[models.JsonRequirement]) -> tuple[Iterable[RequirementDraft], Iterable[str]]:
    """Each id once, and those that stand twice."""
    drafts: dict[str, RequirementDraft] = {}
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for read in requirements:
        story = read.user_story
        if not isinstance(story, str):
            story = f"As a {story.role}, I want to {story.goal}, so that {story.benefit}." if story.goal else ""
        draft = RequirementDraft(read.id, read.title, story or read.rationale)
        twice |= {read.id: None} if read.id in seen else {}
        seen.add(drafts.setdefault(read.id, draft).id)
        for is_edge, parts in ((False, read.acceptance_criteria), (True, read.edge_cases)):
            for part in parts:
                if part.id in seen:
                    twice[part.id] = None
                else:
                    draft.add(part.id, ears(part), is_edge=is_edge)
                seen.add(part.id)
    return drafts.values(), twice


def ears(criterion: models.JsonCriterion) -> str:
    """The sentence that a criterion's fields make. In the second version its pattern says how the condition begins."""
    if criterion.text:
        return criterion.text
    if criterion.pattern:
        word = _PATTERN_WORDS.get(criterion.pattern.lower(), "WHEN")
        clauses = [(word, criterion.condition), ("AND", criterion.guard)]
        is_if, system = word == "IF" and bool(criterion.condition), criterion.system or "the system"
        end, result = "observed", criterion.contract
    else:
        clauses = [(word, getattr(criterion, name)) for name, word in _CLAUSES.items()]
        is_if, system = bool(criterion.error_condition), criterion.system
        end, result = "returns", criterion.return_contract
    texts = [f"{word} {text}" for word, text in clauses if text]
    demand = f"{'THEN ' if is_if else ''}{system} SHALL: {criterion.action}"
    return ", ".join([*texts, demand]) + (f" ({end}: {result})" if result else "")


def tasks_from_json(file: TextFile, index: PartIndex, tests: TextFile | None = None) -> ReadTasks | Problem:
    """The groups of a tasks.json with everything beside them, or why it can't be read.

    `tests` is the spec's test_spec.json: in the second version it says what tasks.json said in the first, which
    requirement is shown by which test.
    """
    read = _parsed(models.JsonTasks, file)
    if isinstance(read, Problem):
        return read
    strings, groups = strings_of(file), read.task_groups
    shown, troubles = _traces_of_tests(tests, groups, index)
    traces: list[Trace] = []
    for each in (each for each in read.traceability if each.requirement_id):
        specified, tests_there = (tuple(filter(None, [name])) for name in (each.test_spec_id, each.test_path))
        traces.append(Trace(each.requirement_id, specified, tasks_in(each.task_id), tests_there))
    dependencies: list[Dependency] = []
    for row in (row for row in read.dependencies if row.depends_on_spec.strip()):
        from_group = None if row.sentinel else row.from_group or None
        where = strings.place(row.depends_on_spec)
        dependencies.append(Dependency(row.depends_on_spec.strip(), from_group, row.to_group or None, where))
    # one that waits, but not for the one before it, stands beside that
    beside = {
        group.id
        for before, group in pairwise(groups)
        if group.depends_on is not None and str(before.id) not in group.depends_on
    }
    numbered = zip(groups, numbers_apart(group.id for group in groups), strict=True)
    return ReadTasks(
        mark_test_writers(tuple(_group(group, number, index, group.id in beside) for group, number in numbered)),
        (*_troubles_of(groups, index, strings), *troubles),
        _places_of(groups, strings),
        tuple(dependencies),
        tuple(traces or shown),
        {label_of(label): command for label, command in read.test_commands.items() if command},
    )


def _parsed(model: type[Model], file: TextFile) -> Model | Problem:
    conflict = left_by_a_merge(file)
    if conflict is not None:
        return conflict
    try:
        return model.model_validate(json.loads(file.text))
    except json.JSONDecodeError as wrong:
        return error(f"{file.where}:{wrong.lineno}", f"is not JSON: {wrong.msg}")
    except ValidationError as wrong:
        first = wrong.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        return error(file.where, f"{place}: {first['msg']}")
    except (RecursionError, ValueError) as wrong:
        return error(file.where, f"can't be read as JSON: {wrong}")


def _traces_of_tests(
    file: TextFile | None, groups: list[models.JsonGroup], index: PartIndex
) -> tuple[list[Trace], list[Problem]]:
    """What each test of a test_spec.json says that it verifies, with the groups that own the test; and what is wrong
    with that: a plan can do without, but not without a word."""
    if file is None or not file.where.endswith(".json"):
        return [], []
    read = _parsed(models.JsonTests, file)
    if isinstance(read, Problem):
        return [], [replace(read, severity=Severity.WARNING)]
    wrong = {test.id: unknown for test in read.tests if (unknown := _unknown_in(test.verifies, index))}
    strings = strings_of(file)
    what = "test {} verifies {}: this spec has no such requirement"
    problems = [warning(strings.place(name), what.format(name, ", ".join(ids))) for name, ids in wrong.items()]
    owners: dict[str, list[str]] = {}
    for name, number in ((name, str(group.id)) for group in groups for name in dict.fromkeys(group.tests)):
        owners.setdefault(name, []).append(number)
    parts = ((test.id, part) for test in read.tests for part in dict.fromkeys(_ids_in(test.verifies, index)))
    return [Trace(part, (name,), tuple(owners.get(name, ()))) for name, part in parts], problems


def _ids_in(references: Iterable[str], index: PartIndex) -> Iterable[str]:
    return (identifier for reference in references for identifier in index.expand(reference)[0])


def _unknown_in(references: Iterable[str], index: PartIndex) -> list[str]:
    """What is named and not there; nothing where the spec has no requirements at all."""
    return [name for reference in references for name in index.expand(reference)[1]] if index.every else []


def _group(read: models.JsonGroup, number: int, index: PartIndex, is_parallel: bool) -> Group:
    subtasks: tuple[Subtask, ...] = ()
    for each in read.subtasks:
        ids = tuple(dict.fromkeys(_ids_in(each.requirement_refs, index)))
        subtasks += (Subtask(each.id, each.title, _state(each.state), each.optional, ids, tuple(each.details)),)
    state = _state(read.state) if read.state else rolled_up([subtask.state for subtask in subtasks])
    if read.verification.id:
        subtasks += (Subtask(read.verification.id, "Verify", state, details=tuple(read.verification.checks)),)
    return Group(
        number=number,
        title=read.title,
        state=state,
        optional=read.optional,
        writes_tests_only=read.kind.lower() == "tests",
        archetype=read.archetype.lower() or None,
        subtasks=subtasks,
        requirements=named_by(_ids_in(read.requirement_refs, index), subtasks),
        text=_group_text(read),
        parallel=is_parallel,
        is_checkpoint=read.kind.lower() == "checkpoint",
    )


def _state(word: str) -> TaskState:
    return _STATES.get(word.lower(), TaskState.OPEN)


def _group_text(read: models.JsonGroup) -> str:
    """The group as a person would write it in Markdown, for the coder's brief."""
    lines = [f"- [ ] {read.id}. {read.title}"]
    for subtask in read.subtasks:
        lines += [f"  - [ ] {subtask.id} {subtask.title}", *(f"    - {detail}" for detail in subtask.details)]
        if subtask.requirement_refs:
            lines.append(f"    - _Requirements: {', '.join(subtask.requirement_refs)}_")
    lines += [f"  - {step}" for step in read.steps]
    fields = {"Tests": read.tests, "Touches": read.touches, "Done when": read.done_when, "Waits for": read.depends_on}
    lines += [f"  - {name}: {'; '.join(text)}" for name, text in fields.items() if text]
    if read.requirement_refs:
        lines.append(f"  - _Requirements: {', '.join(read.requirement_refs)}_")
    if read.verification.checks:
        lines += [f"  - [ ] {read.verification.id or f'{read.id}.V'} Verify"]
        lines += [f"    - [ ] {check}" for check in read.verification.checks]
    return "\n".join(lines)


def _troubles_of(read: list[models.JsonGroup], index: PartIndex, strings: Strings) -> Iterator[Problem]:
    """References to what is not there, numbers that stand twice, and what is waited for in vain."""
    for group in read:
        subtasks = ((f"subtask {s.id}", s.requirement_refs) for s in group.subtasks)
        for who, references in ((f"group {group.id}", group.requirement_refs), *subtasks):
            if unknown := _unknown_in(references, index):
                what = f"{who} names {', '.join(unknown)}: this spec has no such requirement"
                yield warning(strings.place(unknown[0]), what)
    for group, number in zip(read, numbers_apart(group.id for group in read), strict=True):
        if number != group.id:
            yield warning(strings.place(group.title), known_as(group.id, None, number))
    before: set[str] = set()
    for group in read:
        if late := [number for number in group.depends_on or () if number not in before]:
            what = f"group {group.id} waits for {', '.join(late)}, which does not stand before it"
            remedy = "groups run in the order of the file. Move it, or correct the number"
            yield warning(strings.place(group.title), f"{what}: {remedy}")
        before.add(str(group.id))


def _places_of(groups: list[models.JsonGroup], strings: Strings) -> dict[str, str]:
    """A group's own line can't be told from a number: it stands where its first subtask or its title does."""
    places: dict[str, str] = {}
    for group in groups:
        own = strings.places(subtask.id for subtask in group.subtasks)
        places |= {f"task {number}": place for number, place in own.items()}
        if own or group.title in strings.lines:
            places[f"group {group.id}"] = next(iter(own.values()), strings.place(group.title))
    return places
