"""A truth as the second version of the JSON form: criteria in one list, tasks without subtasks, tests that verify."""

from __future__ import annotations

from dataclasses import replace

from agent_fox.core.spec import Criterion, Group, Requirement, Trace
from tests.specs.made.agent_fox import spec_of
from tests.specs.made.agent_fox_json import STATES, Json, document
from tests.specs.made.spelling import Spelling
from tests.specs.made.telling import Made
from tests.specs.made.truth import Need, Phase, Truth, Wait

_PATTERNS: tuple[dict[str, str | None], ...] = (
    {"pattern": "ubiquitous", "system": "the depot"},
    {"pattern": "ubiquitous", "system": None, "contract": "it is so"},
    {"pattern": "event_driven", "condition": "asked", "system": "the depot"},
    {"pattern": "state_driven", "condition": "open"},
    {"pattern": "complex_event", "condition": "asked", "guard": "open", "contract": None},
    {"pattern": "unwanted", "condition": "it rains", "contract": "a bell rings"},
    {"pattern": "optional", "condition": "there is a crane", "system": "the depot"},
)
_SAID = ("condition", "guard", "system", "action", "contract")
"""The fields of a criterion in the order of its sentence."""


def made(truth: Truth, spelling: Spelling) -> Made:
    truth = _without_edges(truth)
    number = f"{truth.number:02}"
    name = f"{number}_{truth.word}"
    folder = f".agent-fox/specs/{name}"
    waits = [_waits(n, spelling) for n in range(1, len(truth.phases) + 1)]
    has_tests = spelling.chance(0.5)
    requirements = [_need(need, f"{number}-REQ-{n}", spelling) for n, need in enumerate(truth.needs, 1)]
    groups = [
        _group(phase, n, number, wait, spelling)
        for n, (phase, wait) in enumerate(zip(truth.phases, waits, strict=True), 1)
    ]
    files = {
        f"{folder}/requirements.json": document(_requirements(requirements, number), spelling),
        f"{folder}/tasks.json": document(_tasks(truth, groups, spelling), spelling),
        f"{folder}/prd.md": f"---\nschema_version: 2\nstatus: active\n---\n\n# PRD: {truth.title}\n".encode(),
    }
    if has_tests:
        files[f"{folder}/test_spec.json"] = document(_tests(truth, number), spelling)
    spec = spec_of(truth, name, folder, False, False)
    spec = replace(
        spec,
        requirements=tuple(map(_with_sentences, spec.requirements, requirements)),
        groups=tuple(_read(group, wait) for group, wait in zip(spec.groups, waits, strict=True)),
        traceability=tuple(_trace(truth, number, n) for n in range(1, len(truth.needs) + 1)) if has_tests else (),
    )
    return Made("agent-fox", folder, files, spec, {i: i for i in (f"{number}-REQ-{tail}" for tail in truth.tails)})


def _without_edges(truth: Truth) -> Truth:
    """Edge cases are criteria like others, no group only checks, and what is waited for are whole specs."""
    needs = tuple(replace(need, criteria=(*need.criteria, *need.edges), edges=()) for need in truth.needs)
    names = dict(zip(truth.tails, replace(truth, needs=needs).tails, strict=True))
    waits = dict.fromkeys(Wait(wait.spec, None, None) for wait in truth.waits)
    phases = tuple(_with_names(phase, names) for phase in truth.phases)
    return replace(truth, needs=needs, phases=phases, waits=tuple(waits))


def _with_names(phase: Phase, names: dict[str, str]) -> Phase:
    """A phase with what its tasks name; they themselves are steps, which are words."""
    named = dict.fromkeys([*phase.names, *(name for task in phase.tasks for name in task.names)])
    tasks = tuple(replace(task, names=()) for task in phase.tasks)
    return replace(phase, names=tuple(names[name] for name in named), tasks=tasks, is_checkpoint=False)


def _waits(number: int, spelling: Spelling) -> list[int] | None:
    """Without a word it waits for the one before it."""
    earlier = range(1, number)
    return spelling.pick(None, [*earlier], [n for n in earlier if spelling.chance(0.5)])


def _read(group: Group, waits: list[int] | None) -> Group:
    is_parallel = waits is not None and group.number > 1 and group.number - 1 not in waits
    return replace(group, subtasks=(), parallel=is_parallel)


def _requirements(needs: list[Json], number: str) -> Json:
    steps = [{"actor": "clerk", "action": f"asks for {number}-REQ-1.1"}, {"actor": "depot", "action": "answers"}]
    paths = [{"id": f"{number}-PATH-1", "title": "A clerk asks", "steps": steps}]
    return {"schema_version": 2, "requirements": needs, "execution_paths": paths, "glossary": {}}


def _need(need: Need, identifier: str, spelling: Spelling) -> Json:
    texts = enumerate(need.criteria, 1)
    criteria = [{"id": f"{identifier}.{n}", **spelling.pick(*_PATTERNS), "action": text} for n, text in texts]
    return {"id": identifier, "title": need.title, "rationale": need.story, "criteria": criteria}


def _with_sentences(requirement: Requirement, written: Json) -> Requirement:
    """Nothing of a criterion's fields is lost."""
    fields = written["criteria"]
    assert isinstance(fields, list)
    sentences = ("\n".join(said for name in _SAID if (said := one.get(name))) for one in fields)
    criteria = tuple(Criterion(part.id, text) for part, text in zip(requirement.criteria, sentences, strict=True))
    return replace(requirement, criteria=criteria)


def _tasks(truth: Truth, groups: list[Json], spelling: Spelling) -> Json:
    waits = [{"spec": wait.spec, "reason": f"follows {truth.title}"} for wait in truth.waits]
    values: Json = {"schema_version": 2, "tasks": groups, "dependencies": waits or spelling.pick([], None)}
    return {**values, "test_commands": truth.commands or None}


def _group(phase: Phase, n: int, number: str, waits: list[int] | None, spelling: Spelling) -> Json:
    ids = [f"{number}-REQ-{tail}" for tail in phase.names]
    said: Json = {"depends_on": waits} if waits is not None or spelling.chance(0.2) else {}
    return {
        "id": n,
        "kind": spelling.pick("implement", "integration"),
        "title": phase.title,
        "criteria": ids or spelling.pick([], None),
        "tests": [f"TS-{number}-{n}"],
        "steps": [line for task in phase.tasks for line in (task.title, *task.details)] or ["Do it"],
        "touches": spelling.pick(["src/door.py"], [], None),
        "done_when": spelling.pick(["the clerk nods"], [], None),
        "state": spelling.pick(*STATES[phase.state]) or "pending",
        "optional": phase.is_optional,
        **said,
    }


def _tests(truth: Truth, number: str) -> Json:
    tests = [
        {"id": f"TS-{number}-{n}", "kind": "unit", "verifies": [f"{number}-REQ-{n}.1"], "title": "It holds"}
        for n in range(1, len(truth.needs) + 1)
    ]
    smoke = {"id": f"TS-{number}-99", "kind": "smoke", "verifies": [f"{number}-PATH-1"], "title": "A clerk asks"}
    return {"schema_version": 2, "tests": [*tests, smoke]}


def _trace(truth: Truth, number: str, n: int) -> Trace:
    """The group of a number owns the test of that number."""
    return Trace(f"{number}-REQ-{n}.1", (f"TS-{number}-{n}",), (str(n),) if n <= len(truth.phases) else ())
