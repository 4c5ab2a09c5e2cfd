"""The JSON form of a spec's documents, made into the same values as the Markdown form."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from agent_fox.core.spec import Dependency, Problem, Severity, Trace
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
from agent_fox.specs.collected import ReadRequirements, ReadTasks, RequirementDraft
from agent_fox.specs.common.beside import label_of
from agent_fox.specs.common.rows import tasks_in
from agent_fox.specs.files import TextFile, error, left_by_a_merge, warning

if TYPE_CHECKING:
    from agent_fox.specs.common.id_ranges import PartIndex


Model = TypeVar("Model", bound=BaseModel)

_TAKEN_BACK = frozenset({"withdrawn", "superseded", "archived", "removed", "deprecated"})
_PATTERN_WORDS = {"state_driven": "WHILE", "unwanted": "IF", "optional": "WHERE"}
_CLAUSES = {"feature": "WHERE", "state": "WHILE", "trigger": "WHEN", "condition": "AND", "error_condition": "IF"}


def requirements_from_json(file: TextFile, number: str) -> ReadRequirements | Problem:
    """The requirements of a requirements.json, or why it can't be read. Of two with one id the first counts."""
    read = _parsed(models.JsonRequirements, file)
    if isinstance(read, Problem):
        return read
    strings = strings_of(file)
    kept, twice = _drafts(r for r in read.requirements if r.status.lower() not in _TAKEN_BACK)
    gone, _ = _drafts(r for r in read.requirements if r.status.lower() in _TAKEN_BACK)
    requirements, withdrawn = (tuple(draft.value() for draft in drafts) for drafts in (kept, gone))
    return ReadRequirements(
        requirements,
        tuple(part.id for requirement in withdrawn for part in requirement.parts),
        tuple(_doubled(identifier, strings) for identifier in twice),
        places=strings.places(name for r in requirements for name in (r.id, *(part.id for part in r.parts))),
        prefix=next((r.id.partition("-")[0] for r in requirements if "-REQ-" in r.id), number),
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


def _doubled(identifier: str, strings: Strings) -> Problem:
    places = strings.lines.get(identifier, [])
    where = f"{strings.where}:{places[-1]}" if places else strings.where  # none: it is written with escapes
    in_lines = f": in lines {' and '.join(map(str, places[:2]))}" if places else ""
    return error(where, f"{identifier} is declared twice{in_lines}")


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


def ears(criterion: models.JsonCriterion) -> str:
    """The sentence that a criterion's fields make. In the second version its pattern says how the condition begins."""
    if criterion.text:
        return criterion.text
    if criterion.pattern:
        word = _PATTERN_WORDS.get(criterion.pattern.lower(), "WHEN")
        clauses = [f"{word} {criterion.condition}"] if criterion.condition else []
        clauses += [f"AND {criterion.guard}"] if criterion.guard else []
        then = "THEN " if word == "IF" and criterion.condition else ""
        system, end = (
            criterion.system or "the system",
            f" (observed: {criterion.contract})" if criterion.contract else "",
        )
    else:
        clauses = [f"{word} {text}" for name, word in _CLAUSES.items() if (text := getattr(criterion, name))]
        then = "THEN " if criterion.error_condition else ""
        system, returns = criterion.system, criterion.return_contract
        end = f" (returns: {returns})" if returns else ""
    return ", ".join([*clauses, f"{then}{system} SHALL: {criterion.action}"]) + end


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
