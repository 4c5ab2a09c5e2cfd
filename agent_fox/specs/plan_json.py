"""The plan as the document that `plan --json` prints. Its names are a contract; nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.plan.blame import ownership
from agent_fox.core.spec import Spec, text_version
from agent_fox.core.values import Json, to_document, to_object

if TYPE_CHECKING:
    from agent_fox.core.graph import Plan
    from agent_fox.core.plan.blame import Owned


def plan_document(plan: Plan) -> dict[str, Json]:
    """Specs, nodes, edges and problems, ready for `json.dumps`."""
    return {
        "specs": [_spec(spec) for spec in plan.specs],
        "nodes": [to_object(node, only=("id", "spec_name", "group", "archetype", "mode")) for node in plan.nodes],
        "edges": [{"from": edge.source, "to": edge.target, "kind": edge.kind.value} for edge in plan.edges],
        "problems": [to_object(problem, only=("severity", "where", "what")) for problem in plan.problems],
    }


def _spec(spec: Spec) -> Json:
    owned = ownership(spec)
    names = ("number", "title", "state", "optional", "parallel", "after", "requirements")
    return {
        **to_object(spec, only=("name", "dialect", "path", "title", "is_withdrawn", "is_baseline")),
        "requirements": [
            {
                **to_object(requirement, only=("id", "title", "text")),
                "criteria": [criterion.id for criterion in requirement.criteria],
                "edge_cases": [edge_case.id for edge_case in requirement.edge_cases],
                "details": to_document(requirement.details),
                "parts": [
                    {"id": part.id, "text": part.text, "version": text_version(part.text)} for part in requirement.parts
                ],
            }
            for requirement in spec.requirements
        ],
        "groups": [
            {
                **to_object(group, only=("number", "title", "state", "optional", "parallel")),
                "checkpoint": group.is_checkpoint,
                "subtasks": [subtask.number for subtask in group.subtasks],
                "requirements": to_document(group.requirements),
                "tasks": [to_object(subtask, only=names) for subtask in group.subtasks],
            }
            for group in spec.groups
        ],
        "dependencies": [to_object(row, only=("spec", "from_group", "to_group")) for row in spec.dependencies],
        **to_object(spec, only=("implied", "withdrawn")),
        "owners": to_document(owned.owners),
        "unowned": to_document(owned.unowned),
        "blamed_for_unowned": to_document(owned.fallback),
        "grounds": {part: ground_document(owner) for part, owner in owned.grounds.items()},
        "test_commands": to_document(dict(spec.test_commands)),
    }


def ground_document(owned: Owned) -> Json:
    """By what it is known whose work a requirement is; of a guess, which group comes next, or None."""
    guess = owned.guess
    return {
        "ground": owned.ground.value,
        "guess": owned.is_guess,
        "why": owned.why,
        "score": guess.score if guess else None,
        "runner_up": guess.runner_up if guess else None,
    }
