"""The JSON form of a spec's documents, made into the same values as the Markdown form."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agent_fox.core.spec import Criterion, Dependency, Group, Problem, Requirement, Subtask, TaskState, Trace
from agent_fox.specs.commands import label_of
from agent_fox.specs.files import TextFile, error, left_by_a_merge, warning
from agent_fox.specs.id_ranges import PartIndex
from agent_fox.specs.json_models import (
    JsonCriterion,
    JsonDependency,
    JsonGroup,
    JsonRequirement,
    JsonRequirements,
    JsonStory,
    JsonSubtask,
    JsonTasks,
    JsonTests,
    JsonTrace,
)
from agent_fox.specs.json_places import Strings, strings_of
from agent_fox.specs.markdown import TasksPart
from agent_fox.specs.requirements import ReadRequirements
from agent_fox.specs.tasks import rolled_up
from agent_fox.specs.test_writers import mark_test_writers
from agent_fox.specs.traceability import tasks_in

Model = TypeVar("Model", bound=BaseModel)

_WRITES_TESTS, _CHECKPOINT = "tests", "checkpoint"
_TAKEN_BACK = frozenset({"withdrawn", "superseded", "archived", "removed", "deprecated"})
_STATES = {
    "done": TaskState.DONE,
    "completed": TaskState.DONE,
    "in_progress": TaskState.IN_PROGRESS,
    "dropped": TaskState.SKIPPED,
    "skipped": TaskState.SKIPPED,
}
_CLAUSES = (
    ("feature", "WHERE"),
    ("state", "WHILE"),
    ("trigger", "WHEN"),
    ("condition", "AND"),
    ("error_condition", "IF"),
)


_WORDS = {
    "event_driven": "WHEN",
    "complex_event": "WHEN",
    "state_driven": "WHILE",
    "unwanted": "IF",
    "optional": "WHERE",
}


def requirements_from_json(file: TextFile, number: str) -> ReadRequirements | Problem:
    """The requirements of a requirements.json, or why it can't be read."""
    read = _parsed(JsonRequirements, file)
    if isinstance(read, Problem):
        return read
    kept = tuple(_requirement(r) for r in read.requirements if r.status.lower() not in _TAKEN_BACK)
    gone = [_requirement(r) for r in read.requirements if r.status.lower() in _TAKEN_BACK]
    prefix = next((r.id.partition("-")[0] for r in kept if "-REQ-" in r.id), number)
    withdrawn = tuple(part.id for requirement in gone for part in requirement.parts)
    strings = strings_of(file)
    places = strings.places(name for one in kept for name in (one.id, *(part.id for part in one.parts)))
    return ReadRequirements(prefix, _once(kept), withdrawn, tuple(_doubled(kept, strings)), places=places)


def tasks_from_json(file: TextFile, index: PartIndex, tests: TextFile | None = None) -> TasksPart | Problem:
    """The groups of a tasks.json with everything beside them, or why it can't be read.

    `tests` is the spec's test_spec.json: in the second version it says what tasks.json said in the first, which
    requirement is shown by which test.
    """
    read = _parsed(JsonTasks, file)
    if isinstance(read, Problem):
        return read
    strings = strings_of(file)
    problems = [p for group in read.task_groups for p in _dangling(group, index, strings)]
    problems += [*_doubled_groups(file, read.task_groups), *_waits_in_vain(read.task_groups, strings)]
    beside = _beside_the_one_before(read.task_groups)
    groups = {group.id: _group(group, index, group.id in beside) for group in reversed(read.task_groups)}
    traces = [_trace(trace) for trace in read.traceability if trace.requirement_id]
    return TasksPart(
        mark_test_writers(tuple(groups[n] for n in dict.fromkeys(group.id for group in read.task_groups))),
        tuple(_dependency(d, strings) for d in read.dependencies if d.depends_on_spec.strip()),
        tuple(traces or _traces_of_tests(tests, read.task_groups, index)),
        {label_of(label): command for label, command in read.test_commands.items() if command},
        tuple(problems),
        _task_places(read.task_groups, strings),
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


def _requirement(read: JsonRequirement) -> Requirement:
    return Requirement(
        read.id,
        read.title,
        _story(read.user_story) or read.rationale,
        tuple(Criterion(criterion.id, ears(criterion)) for criterion in read.acceptance_criteria),
        tuple(Criterion(criterion.id, ears(criterion)) for criterion in read.edge_cases),
    )


def _story(story: JsonStory | str) -> str:
    if isinstance(story, str):
        return story
    return f"As a {story.role}, I want to {story.goal}, so that {story.benefit}." if story.goal else ""


def ears(criterion: JsonCriterion) -> str:
    """The sentence that the fields of a criterion make."""
    if criterion.text:
        return criterion.text
    if criterion.pattern:
        return _ears_of_pattern(criterion)
    fields = criterion.model_dump()
    conditions = [f"{word} {fields[name]}" for name, word in _CLAUSES if fields[name]]
    then = "THEN " if criterion.error_condition else ""
    effect = f"{then}{criterion.system} SHALL: {criterion.action}"
    returns = f" (returns: {criterion.return_contract})" if criterion.return_contract else ""
    return ", ".join([*conditions, effect]) + returns


def _ears_of_pattern(criterion: JsonCriterion) -> str:
    """The sentence of the second version, where the pattern says with which word the condition begins."""
    word = _WORDS.get(criterion.pattern.lower(), "WHEN")
    when = f"{word} {criterion.condition}" if criterion.condition else ""
    guard = f"AND {criterion.guard}" if criterion.guard else ""
    then = "THEN " if word == "IF" and when else ""
    effect = f"{then}{criterion.system or 'the system'} SHALL: {criterion.action}"
    observed = f" (observed: {criterion.contract})" if criterion.contract else ""
    return ", ".join(filter(None, (when, guard, effect))) + observed


def _beside_the_one_before(groups: list[JsonGroup]) -> frozenset[int]:
    """The groups that say what they wait for, and do not wait for the one before them."""
    return frozenset(
        one.id
        for before, one in pairwise(groups)
        if one.depends_on is not None and str(before.id) not in one.depends_on
    )


def _group(read: JsonGroup, index: PartIndex, is_parallel: bool) -> Group:
    subtasks = tuple(_subtask(subtask, index) for subtask in read.subtasks)
    state = _state(read.state) if read.state else rolled_up([subtask.state for subtask in subtasks])
    if read.verification.id:
        subtasks += (Subtask(read.verification.id, "Verify", state, details=tuple(read.verification.checks)),)
    named = dict.fromkeys(_ids(read.requirement_refs, index))
    for subtask in subtasks:
        named.update(dict.fromkeys(subtask.requirements))
    return Group(
        number=read.id,
        title=read.title,
        state=state,
        optional=read.optional,
        writes_tests_only=read.kind.lower() == _WRITES_TESTS,
        archetype=read.archetype.lower() or None,
        subtasks=subtasks,
        requirements=tuple(named),
        text=_group_text(read),
        parallel=is_parallel,
        is_checkpoint=read.kind.lower() == _CHECKPOINT,
    )


def _subtask(read: JsonSubtask, index: PartIndex) -> Subtask:
    ids = tuple(dict.fromkeys(_ids(read.requirement_refs, index)))
    return Subtask(read.id, read.title, _state(read.state), read.optional, ids, tuple(read.details))


def _state(word: str) -> TaskState:
    return _STATES.get(word.lower(), TaskState.OPEN)


def _ids(references: Iterable[str], index: PartIndex) -> Iterable[str]:
    return (identifier for reference in references for identifier in index.expand(reference)[0])


def _group_text(read: JsonGroup) -> str:
    """The group as a person would write it in Markdown, for the coder's brief."""
    lines = [f"- [ ] {read.id}. {read.title}"]
    for subtask in read.subtasks:
        lines += [f"  - [ ] {subtask.id} {subtask.title}", *(f"    - {detail}" for detail in subtask.details)]
        if subtask.requirement_refs:
            lines.append(f"    - _Requirements: {', '.join(subtask.requirement_refs)}_")
    lines += [f"  - {step}" for step in read.steps]
    fields = {"Tests": read.tests, "Touches": read.touches, "Done when": read.done_when, "Waits for": read.depends_on}
    for name, said in fields.items():
        lines += [f"  - {name}: {'; '.join(said)}"] if said else []
    if read.requirement_refs:
        lines.append(f"  - _Requirements: {', '.join(read.requirement_refs)}_")
    if read.verification.checks:
        lines += [f"  - [ ] {read.verification.id or f'{read.id}.V'} Verify"]
        lines += [f"    - [ ] {check}" for check in read.verification.checks]
    return "\n".join(lines)


def _dependency(read: JsonDependency, strings: Strings) -> Dependency:
    from_group = None if read.sentinel else read.from_group or None
    where = strings.place(read.depends_on_spec)
    return Dependency(read.depends_on_spec.strip(), from_group, read.to_group or None, where)


def _trace(read: JsonTrace) -> Trace:
    specified = (read.test_spec_id,) if read.test_spec_id else ()
    return Trace(read.requirement_id, specified, tasks_in(read.task_id), (read.test_path,) if read.test_path else ())


def _traces_of_tests(file: TextFile | None, groups: list[JsonGroup], index: PartIndex) -> Iterable[Trace]:
    """What each test says that it verifies, with the groups that own the test."""
    read = _parsed(JsonTests, file) if file is not None and file.where.endswith(".json") else JsonTests()
    if isinstance(read, Problem):
        return
    owners: dict[str, list[str]] = {}
    for group in groups:
        for name in dict.fromkeys(group.tests):
            owners.setdefault(name, []).append(str(group.id))
    for test in read.tests:
        for identifier in dict.fromkeys(_ids(test.verifies, index)):
            yield Trace(identifier, (test.id,), tuple(owners.get(test.id, ())))


def _dangling(group: JsonGroup, index: PartIndex, strings: Strings) -> Iterable[Problem]:
    named = [
        (f"group {group.id}", group.requirement_refs),
        *((f"subtask {s.id}", s.requirement_refs) for s in group.subtasks),
    ]
    for who, references in named if index.every else ():
        unknown = [name for reference in references for name in index.expand(reference)[1]]
        if unknown:
            what = f"{who} names {', '.join(unknown)}: this spec has no such requirement"
            yield warning(strings.place(unknown[0]), what)


def _waits_in_vain(groups: list[JsonGroup], strings: Strings) -> Iterable[Problem]:
    """Groups run in the order of the file, so that one waits for nothing but what stands before it."""
    before: set[str] = set()
    for group in groups:
        late = [number for number in group.depends_on or () if number not in before]
        if late:
            what = (
                f"group {group.id} waits for {', '.join(late)}, which does not stand before it, and groups run in order"
            )
            yield warning(strings.place(group.title), f"{what}. Move it, or correct the number")
        before.add(str(group.id))


def _doubled(requirements: Iterable[Requirement], strings: Strings) -> Iterable[Problem]:
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for identifier in (i for r in requirements for i in (r.id, *(p.id for p in (*r.criteria, *r.edge_cases)))):
        if identifier in seen:
            twice[identifier] = None
        seen.add(identifier)
    for identifier in twice:
        found = strings.lines.get(identifier, [])
        where = f"{strings.where}:{found[-1]}" if found else strings.where  # none: it is written with escapes
        in_lines = f": in lines {' and '.join(map(str, found[:2]))}" if found else ""
        yield error(where, f"{identifier} is declared twice{in_lines}")


def _once(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """Each id once: the first counts."""
    seen: set[str] = set()
    kept: dict[str, Requirement] = {}
    for r in requirements:
        criteria, edges = _new(r.criteria, seen), _new(r.edge_cases, seen)
        kept.setdefault(r.id, Requirement(r.id, r.title, r.text, criteria, edges))
    return tuple(kept.values())


def _new(parts: Iterable[Criterion], seen: set[str]) -> tuple[Criterion, ...]:
    """Those whose ids were not seen before; notes them as seen."""
    kept: dict[str, Criterion] = {}
    for part in parts:
        if part.id not in seen:
            kept.setdefault(part.id, part)
    seen.update(kept)
    return tuple(kept.values())


def _doubled_groups(file: TextFile, groups: list[JsonGroup]) -> list[Problem]:
    twice = sorted(number for number, times in Counter(group.id for group in groups).items() if times > 1)
    return [error(file.where, f"group {number} stands twice. Give one of them another number") for number in twice]


def _task_places(groups: list[JsonGroup], strings: Strings) -> dict[str, str]:
    """A group's own line can't be told from a number: it stands where its first subtask or its title does."""
    found: dict[str, str] = {}
    for group in groups:
        own = strings.places(subtask.id for subtask in group.subtasks)
        found |= {f"task {number}": place for number, place in own.items()}
        if own or group.title in strings.lines:
            found[f"group {group.id}"] = next(iter(own.values()), strings.place(group.title))
    return found
