"""The JSON form of a spec's documents, made into the same values as the Markdown form."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from agent_fox.core.spec import Criterion, Dependency, Problem, Requirement, Severity, Trace
from agent_fox.specs.agent_fox import json_models as models
from agent_fox.specs.agent_fox.json_groups import (
    Strings,
    groups_of,
    ids_in,
    places_of,
    strings_of,
    troubles_of,
    unknown_in,
)
from agent_fox.specs.collected import ReadRequirements, ReadTasks
from agent_fox.specs.common.beside import label_of
from agent_fox.specs.common.rows import tasks_in
from agent_fox.specs.files import TextFile, error, left_by_a_merge, warning

if TYPE_CHECKING:
    from agent_fox.specs.common.id_ranges import PartIndex

Model = TypeVar("Model", bound=BaseModel)

_TAKEN_BACK = frozenset({"withdrawn", "superseded", "archived", "removed", "deprecated"})
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
    read = _parsed(models.JsonRequirements, file)
    if isinstance(read, Problem):
        return read
    kept = tuple(_requirement(r) for r in read.requirements if r.status.lower() not in _TAKEN_BACK)
    gone = [_requirement(r) for r in read.requirements if r.status.lower() in _TAKEN_BACK]
    prefix = next((r.id.partition("-")[0] for r in kept if "-REQ-" in r.id), number)
    withdrawn = tuple(part.id for requirement in gone for part in requirement.parts)
    strings = strings_of(file)
    places = strings.places(name for entry in kept for name in (entry.id, *(part.id for part in entry.parts)))
    doubled = tuple(_doubled(kept, strings))
    return ReadRequirements(_once(kept), withdrawn, doubled, places=places, prefix=prefix)


def tasks_from_json(file: TextFile, index: PartIndex, tests: TextFile | None = None) -> ReadTasks | Problem:
    """The groups of a tasks.json with everything beside them, or why it can't be read.

    `tests` is the spec's test_spec.json: in the second version it says what tasks.json said in the first, which
    requirement is shown by which test.
    """
    read = _parsed(models.JsonTasks, file)
    if isinstance(read, Problem):
        return read
    strings = strings_of(file)
    listed, troubles = _tests(tests, index)
    traces = [_trace(trace) for trace in read.traceability if trace.requirement_id]
    return ReadTasks(
        groups_of(read.task_groups, index),
        (*troubles_of(read.task_groups, index, strings), *troubles),
        places_of(read.task_groups, strings),
        tuple(_dependency(d, strings) for d in read.dependencies if d.depends_on_spec.strip()),
        tuple(traces or _traces_of_tests(listed, read.task_groups, index)),
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


def _requirement(read: models.JsonRequirement) -> Requirement:
    return Requirement(
        read.id,
        read.title,
        _story(read.user_story) or read.rationale,
        tuple(Criterion(criterion.id, ears(criterion)) for criterion in read.acceptance_criteria),
        tuple(Criterion(criterion.id, ears(criterion)) for criterion in read.edge_cases),
    )


def _story(story: models.JsonStory | str) -> str:
    if isinstance(story, str):
        return story
    return f"As a {story.role}, I want to {story.goal}, so that {story.benefit}." if story.goal else ""


def ears(criterion: models.JsonCriterion) -> str:
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


def _ears_of_pattern(criterion: models.JsonCriterion) -> str:
    """The sentence of the second version, where the pattern says with which word the condition begins."""
    word = _WORDS.get(criterion.pattern.lower(), "WHEN")
    when = f"{word} {criterion.condition}" if criterion.condition else ""
    guard = f"AND {criterion.guard}" if criterion.guard else ""
    then = "THEN " if word == "IF" and when else ""
    effect = f"{then}{criterion.system or 'the system'} SHALL: {criterion.action}"
    observed = f" (observed: {criterion.contract})" if criterion.contract else ""
    return ", ".join(filter(None, (when, guard, effect))) + observed


def _dependency(read: models.JsonDependency, strings: Strings) -> Dependency:
    from_group = None if read.sentinel else read.from_group or None
    where = strings.place(read.depends_on_spec)
    return Dependency(read.depends_on_spec.strip(), from_group, read.to_group or None, where)


def _trace(read: models.JsonTrace) -> Trace:
    specified = (read.test_spec_id,) if read.test_spec_id else ()
    return Trace(read.requirement_id, specified, tasks_in(read.task_id), (read.test_path,) if read.test_path else ())


def _tests(file: TextFile | None, index: PartIndex) -> tuple[list[models.JsonTest], list[Problem]]:
    """The tests of a test_spec.json, and what is wrong with them: a plan can do without, but not without a word."""
    if file is None or not file.where.endswith(".json"):
        return [], []
    read = _parsed(models.JsonTests, file)
    if isinstance(read, Problem):
        return [], [replace(read, severity=Severity.WARNING)]
    wrong = {test.id: unknown for test in read.tests if (unknown := unknown_in(test.verifies, index))}
    strings = strings_of(file) if wrong else Strings(file.where, {})
    texts = [(id, f"test {id} verifies {', '.join(names)}") for id, names in wrong.items()]
    return read.tests, [warning(strings.place(id), f"{what}: this spec has no such requirement") for id, what in texts]


def _traces_of_tests(
    tests: Iterable[models.JsonTest], groups: list[models.JsonGroup], index: PartIndex
) -> Iterable[Trace]:
    """What each test says that it verifies, with the groups that own the test."""
    owners: dict[str, list[str]] = {}
    for group in groups:
        for name in dict.fromkeys(group.tests):
            owners.setdefault(name, []).append(str(group.id))
    for test in tests:
        for identifier in dict.fromkeys(ids_in(test.verifies, index)):
            yield Trace(identifier, (test.id,), tuple(owners.get(test.id, ())))


def _doubled(requirements: Iterable[Requirement], strings: Strings) -> Iterable[Problem]:
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for identifier in (i for r in requirements for i in (r.id, *(p.id for p in (*r.criteria, *r.edge_cases)))):
        if identifier in seen:
            twice[identifier] = None
        seen.add(identifier)
    for identifier in twice:
        places = strings.lines.get(identifier, [])
        where = f"{strings.where}:{places[-1]}" if places else strings.where  # none: it is written with escapes
        in_lines = f": in lines {' and '.join(map(str, places[:2]))}" if places else ""
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
