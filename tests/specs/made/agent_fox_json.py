"""A truth as the JSON form of the agent-fox dialect."""

from __future__ import annotations

import json

from agent_fox.core.spec import TaskState
from tests.specs.made.agent_fox import spec_of
from tests.specs.made.spelling import Spelling
from tests.specs.made.telling import Made
from tests.specs.made.truth import Need, Phase, Task, Truth

Json = dict[str, object]

STATES = {
    TaskState.OPEN: ("pending", "queued", "pending_reevaluation", None),
    TaskState.DONE: ("done", "completed", "DONE"),
    TaskState.IN_PROGRESS: ("in_progress",),
    TaskState.SKIPPED: ("dropped", "skipped"),
}


def made(truth: Truth, spelling: Spelling) -> Made:
    number = f"{truth.number:02}"
    name = f"{number}_{truth.word}"
    folder = f".agent-fox/specs/{name}"
    requirements: Json = {
        "requirements": [_need(need, f"{number}-REQ-{n}", spelling) for n, need in enumerate(truth.needs, 1)]
    }
    is_traced = bool(truth.phases) and spelling.chance(0.5)
    files = {
        f"{folder}/requirements.json": document(requirements, spelling),
        f"{folder}/tasks.json": document(_tasks(truth, number, spelling, is_traced), spelling),
        f"{folder}/prd.md": f"---\nspec_id: {number}\nstatus: active\n---\n\n# PRD: {truth.title}\n".encode(),
    }
    marks = {f"{number}-REQ-{tail}": f"{number}-REQ-{tail}" for tail in truth.tails}
    return Made("agent-fox", folder, files, spec_of(truth, name, folder, False, is_traced), marks)


def document(values: Json, spelling: Spelling) -> bytes:
    schema: Json = {"$schema": None} if spelling.chance(0.5) else {}
    text = json.dumps({**schema, **values}, indent=spelling.pick(None, 2, 4), ensure_ascii=spelling.chance(0.5))
    return spelling.document(text.split("\n"))


def _need(need: Need, identifier: str, spelling: Spelling) -> Json:
    return {
        "id": identifier,
        "title": need.title,
        "user_story": spelling.pick(need.story, {"role": "clerk", "goal": need.story, "benefit": None}),
        "acceptance_criteria": [_part(t, f"{identifier}.{n}", spelling) for n, t in enumerate(need.criteria, 1)],
        "edge_cases": [_part(t, f"{identifier}.E{n}", spelling) for n, t in enumerate(need.edges, 1)],
    }


def _part(text: str, identifier: str, spelling: Spelling) -> Json:
    fields: Json = {"ears_pattern": "event_driven", "trigger": "asked", "system": "THE depot", "action": text}
    return {"id": identifier, **spelling.pick({"text": text}, fields, {"text": None, **fields})}


def _tasks(truth: Truth, number: str, spelling: Spelling, is_traced: bool) -> Json:
    traces = [
        {
            "requirement_id": f"{number}-REQ-{n}.1",
            "test_spec_id": f"TS-{number}-{n}",
            "task_id": "1",
            "test_path": f"tests/a{n}.py::a|b",
        }
        for n in range(1, len(truth.needs) + 1)
    ]
    waits = [
        {"depends_on_spec": wait.spec, "from_group": wait.from_group or 0, "to_group": wait.to_group}
        for wait in truth.waits
    ]
    groups = [_group(phase, n, number, spelling) for n, phase in enumerate(truth.phases, 1)]
    values: Json = {"task_groups": groups, "dependencies": waits or spelling.pick([], None)}
    return {**values, "test_commands": truth.commands or None, "traceability": traces if is_traced else []}


def _group(phase: Phase, n: int, number: str, spelling: Spelling) -> Json:
    return {
        "id": spelling.pick(n, str(n)),
        "kind": "checkpoint" if phase.is_checkpoint else spelling.pick("standard", None, "wiring_verification"),
        "title": phase.title,
        "state": spelling.pick(*STATES[phase.state]) or "pending",
        "optional": phase.is_optional,
        "requirement_refs": [f"{number}-REQ-{tail}" for tail in phase.names],
        "subtasks": [_subtask(task, f"{n}.{m}", number, spelling) for m, task in enumerate(phase.tasks, 1)],
    }


def _subtask(task: Task, identifier: str, number: str, spelling: Spelling) -> Json:
    return {
        "id": identifier,
        "title": task.title,
        "details": list(task.details) or spelling.pick([], None),
        "requirement_refs": [f"{number}-REQ-{tail}" for tail in task.names],
        "state": spelling.pick(*STATES[task.state]),
        "optional": task.is_optional,
    }
