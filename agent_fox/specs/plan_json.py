"""The plan as the document that `plan --json` prints. Its names are a contract; nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from agent_fox.core.plan.blame import ownership
from agent_fox.core.spec import Group, Requirement, Spec, Subtask, text_version

if TYPE_CHECKING:
    from agent_fox.core.graph import Node, Plan

Json: TypeAlias = "str | int | bool | list[Json] | dict[str, Json] | None"


def plan_document(plan: Plan) -> dict[str, Json]:
    """Specs, nodes, edges and problems, ready for `json.dumps`."""
    return {
        "specs": [_spec(spec) for spec in plan.specs],
        "nodes": [_node(node) for node in plan.nodes],
        "edges": [{"from": edge.source, "to": edge.target, "kind": edge.kind.value} for edge in plan.edges],
        "problems": [{"severity": p.severity.value, "where": p.where, "what": p.what} for p in plan.problems],
    }


def _spec(spec: Spec) -> Json:
    owned = ownership(spec)
    return {
        "name": spec.name,
        "dialect": spec.dialect,
        "path": spec.path,
        "title": spec.title,
        "is_withdrawn": spec.is_withdrawn,
        "is_baseline": spec.is_baseline,
        "requirements": [_requirement(requirement) for requirement in spec.requirements],
        "groups": [_group(group) for group in spec.groups],
        "dependencies": [
            {"spec": row.spec, "from_group": row.from_group, "to_group": row.to_group} for row in spec.dependencies
        ],
        "implied": [*sorted(spec.implied)],
        "withdrawn": list(spec.withdrawn),
        "owners": {part: list(groups) for part, groups in owned.owners.items()},
        "unowned": list(owned.unowned),
        "blamed_for_unowned": list(owned.fallback),
        "test_commands": dict(spec.test_commands),
    }


def _requirement(requirement: Requirement) -> Json:
    return {
        "id": requirement.id,
        "title": requirement.title,
        "text": requirement.text,
        "criteria": [criterion.id for criterion in requirement.criteria],
        "edge_cases": [edge_case.id for edge_case in requirement.edge_cases],
        "details": list(requirement.details),
        "parts": [{"id": part.id, "text": part.text, "version": text_version(part.text)} for part in requirement.parts],
    }


def _group(group: Group) -> Json:
    return {
        "number": group.number,
        "title": group.title,
        "state": group.state.value,
        "optional": group.optional,
        "parallel": group.parallel,
        "checkpoint": group.is_checkpoint,
        "subtasks": [subtask.number for subtask in group.subtasks],
        "requirements": list(group.requirements),
        "tasks": [_task(subtask) for subtask in group.subtasks],
    }


def _task(subtask: Subtask) -> Json:
    return {
        "number": subtask.number,
        "title": subtask.title,
        "state": subtask.state.value,
        "optional": subtask.optional,
        "parallel": subtask.parallel,
        "after": list(subtask.after),
        "requirements": list(subtask.requirements),
    }


def _node(node: Node) -> Json:
    return {
        "id": node.id,
        "spec_name": node.spec_name,
        "group": node.group,
        "archetype": node.archetype.value,
        "mode": node.mode.value if node.mode else None,
    }
