"""The JSON form of a spec's documents, made into the same values as the Markdown form."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agent_fox.core.spec import Criterion, Dependency, Group, Problem, Requirement, Subtask, TaskState, Trace
from agent_fox.specs.commands import label_of
from agent_fox.specs.document import read_markdown
from agent_fox.specs.files import TextFile, error, warning
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
    JsonTrace,
)
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


def requirements_from_json(file: TextFile, number: str) -> ReadRequirements | Problem:
    """The requirements of a requirements.json, or why it can't be read."""
    read = _parsed(JsonRequirements, file)
    if isinstance(read, Problem):
        return read
    kept = tuple(_requirement(r) for r in read.requirements if r.status.lower() not in _TAKEN_BACK)
    gone = [_requirement(r) for r in read.requirements if r.status.lower() in _TAKEN_BACK]
    prefix = next((r.id.partition("-")[0] for r in kept if "-REQ-" in r.id), number)
    withdrawn = tuple(part.id for requirement in gone for part in requirement.parts)
    places = places_of(file, (name for one in kept for name in (one.id, *(part.id for part in one.parts))))
    return ReadRequirements(prefix, _once(kept), withdrawn, tuple(_doubled(file, kept)), places=places)


def tasks_from_json(file: TextFile, index: PartIndex) -> TasksPart | Problem:
    """The groups of a tasks.json with everything beside them, or why it can't be read."""
    read = _parsed(JsonTasks, file)
    if isinstance(read, Problem):
        return read
    problems = [p for group in read.task_groups for p in _dangling(file, group, index)]
    problems += _doubled_groups(file, read.task_groups)
    groups = {group.id: _group(group, index) for group in reversed(read.task_groups)}
    return TasksPart(
        mark_test_writers(tuple(groups[n] for n in dict.fromkeys(group.id for group in read.task_groups))),
        tuple(_dependency(file, d) for d in read.dependencies if d.depends_on_spec.strip()),
        tuple(_trace(trace) for trace in read.traceability if trace.requirement_id),
        {label_of(label): command for label, command in read.test_commands.items() if command},
        tuple(problems),
        _task_places(file, read.task_groups),
    )


def _parsed(model: type[Model], file: TextFile) -> Model | Problem:
    conflicts = [problem for problem in read_markdown(file).problems if "merge conflict" in problem.what]
    if conflicts:
        return conflicts[0]
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
        _story(read.user_story),
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
    fields = criterion.model_dump()
    conditions = [f"{word} {fields[name]}" for name, word in _CLAUSES if fields[name]]
    then = "THEN " if criterion.error_condition else ""
    effect = f"{then}{criterion.system} SHALL: {criterion.action}"
    returns = f" (returns: {criterion.return_contract})" if criterion.return_contract else ""
    return ", ".join([*conditions, effect]) + returns


def _group(read: JsonGroup, index: PartIndex) -> Group:
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
    if read.verification.checks:
        lines += [f"  - [ ] {read.verification.id or f'{read.id}.V'} Verify"]
        lines += [f"    - [ ] {check}" for check in read.verification.checks]
    return "\n".join(lines)


def _dependency(file: TextFile, read: JsonDependency) -> Dependency:
    from_group = None if read.sentinel else read.from_group or None
    return Dependency(
        read.depends_on_spec.strip(), from_group, read.to_group or None, _place(file, read.depends_on_spec)
    )


def _trace(read: JsonTrace) -> Trace:
    specified = (read.test_spec_id,) if read.test_spec_id else ()
    return Trace(read.requirement_id, specified, tasks_in(read.task_id), (read.test_path,) if read.test_path else ())


def _dangling(file: TextFile, group: JsonGroup, index: PartIndex) -> Iterable[Problem]:
    for subtask in group.subtasks if index.every else ():
        unknown = [name for reference in subtask.requirement_refs for name in index.expand(reference)[1]]
        if unknown:
            what = f"subtask {subtask.id} names {', '.join(unknown)}: this spec has no such requirement"
            yield warning(_place(file, unknown[0]), what)


def _doubled(file: TextFile, requirements: Iterable[Requirement]) -> Iterable[Problem]:
    seen: set[str] = set()
    ids = [i for r in requirements for i in (r.id, *(p.id for p in (*r.criteria, *r.edge_cases)))]
    for identifier in ids:
        if identifier in seen:
            lines = _lines_with(file, f'"{identifier}"')
            what = f"{identifier} is declared twice: in lines {' and '.join(map(str, lines[:2]))}"
            yield error(f"{file.where}:{lines[-1]}", what)
        seen.add(identifier)


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
    numbers = [group.id for group in groups]
    twice = sorted({number for number in numbers if numbers.count(number) > 1})
    return [error(file.where, f"group {number} stands twice. Give one of them another number") for number in twice]


def places_of(file: TextFile, names: Iterable[str]) -> dict[str, str]:
    """Where each name stands for the first time as a whole string of the document: `path:line`."""
    first: dict[str, int] = {}
    for number, line in enumerate(file.text.split("\n"), 1):
        for word in line.replace("\\\\", "").replace('\\"', "").split('"')[1::2]:
            first.setdefault(word, number)
    return {name: f"{file.where}:{first[name]}" for name in names if name in first}


def _task_places(file: TextFile, groups: list[JsonGroup]) -> dict[str, str]:
    """A group's own line can't be told from a number: it stands where its first subtask does."""
    lines = places_of(file, (subtask.id for group in groups for subtask in group.subtasks))
    found: dict[str, str] = {}
    for group in groups:
        own = {s.id: lines[s.id] for s in group.subtasks if s.id in lines}
        found |= {f"task {number}": place for number, place in own.items()}
        if own:
            found[f"group {group.id}"] = next(iter(own.values()))
    return found


def _place(file: TextFile, quoted: str) -> str:
    lines = _lines_with(file, f'"{quoted}"')
    return f"{file.where}:{lines[0]}" if lines else file.where


def _lines_with(file: TextFile, text: str) -> list[int]:
    return [number for number, line in enumerate(file.text.split("\n"), 1) if text in line]
