"""The plan as the document that `plan --json` prints. Its names are a contract; nothing is decided here."""

from __future__ import annotations

from typing import TypeAlias

from agent_fox.core.graph import Node, Plan
from agent_fox.core.spec import Group, Requirement, Spec

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
    return {
        "name": spec.name,
        "dialect": spec.dialect,
        "requirements": [_requirement(requirement) for requirement in spec.requirements],
        "groups": [_group(group) for group in spec.groups],
        "dependencies": [
            {"spec": row.spec, "from_group": row.from_group, "to_group": row.to_group} for row in spec.dependencies
        ],
    }


def _requirement(requirement: Requirement) -> Json:
    return {
        "id": requirement.id,
        "criteria": [criterion.id for criterion in requirement.criteria],
        "edge_cases": [edge_case.id for edge_case in requirement.edge_cases],
    }


def _group(group: Group) -> Json:
    return {
        "number": group.number,
        "title": group.title,
        "state": group.state.value,
        "optional": group.optional,
        "subtasks": [subtask.number for subtask in group.subtasks],
        "requirements": list(group.requirements),
    }


def _node(node: Node) -> Json:
    return {
        "id": node.id,
        "spec_name": node.spec_name,
        "group": node.group,
        "archetype": node.archetype.value,
        "mode": node.mode.value if node.mode else None,
    }
