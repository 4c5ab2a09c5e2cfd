"""Specs become a plan: nodes of each spec in their order, and the edges within and between specs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import pairwise
from typing import Literal

from agent_fox.core.graph import Edge, EdgeKind, Node, Plan
from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.spec import Dependency, Group, Problem, Severity, Spec, TaskState
from agent_fox.core.values import dataclass
from agent_fox.specs.cycles import without_cycles
from agent_fox.specs.files import warning
from agent_fox.specs.references import resolve

_TICKED = (TaskState.DONE, TaskState.SKIPPED)


@dataclass(frozen=True, slots=True)
class PlanShape:
    """Which reviewers and verifiers a plan has, and how specs wait for each other.

    `final_review`: what is verified is then read by a reviewer who did not build it. `gate`: a dependent spec starts
    when the other is verified, and reviewed where that is asked for (`spec`), or when the declared group is done, its
    own verifier waiting for the other's end (`group`). `overrides` sets `retry_predecessor` for a spec's
    name or a node's id. Without `optional_groups`, optional groups are planned as if they were ticked. `baseline`: what
    only says what is there has a verifier too.
    """

    pre_review: bool = True
    drift_review: bool = False
    audit_review: bool = True
    verifier: bool = True
    final_review: bool = False
    gate: Literal["spec", "group"] = "spec"
    retry_predecessor: bool = True
    overrides: Mapping[str, bool] = field(default_factory=dict)
    optional_groups: bool = True
    baseline: bool = False

    def plans(self, spec: Spec) -> bool:
        return not spec.is_withdrawn and (self.baseline or not spec.is_baseline)


def plan_of(specs: Iterable[Spec], problems: Iterable[Problem] = (), shape: PlanShape | None = None) -> Plan:
    """The plan of specs as they were read. Nothing is raised: what is wrong stands in the plan's problems."""
    shape = shape or PlanShape()
    all_problems = tuple(problems)
    read = tuple(specs)
    broken = frozenset(p.spec for p in all_problems if p.spec and p.severity is Severity.ERROR) - {
        spec.name for spec in read
    }
    resolved = resolve(read, broken)
    planned = {spec.name: _nodes(spec, shape) for spec in resolved.specs if shape.plans(spec)}
    edges = _edges(resolved.specs, planned, resolved.rows, shape)
    kept, cycles = without_cycles(edges, shape.gate)
    nodes = tuple(node for nodes in planned.values() for node in nodes)
    remarks = [problem for spec in resolved.specs if shape.plans(spec) for problem in _remarks(spec)]
    return Plan(resolved.specs, nodes, kept, (*all_problems, *resolved.problems, *remarks, *cycles))


def _nodes(spec: Spec, shape: PlanShape) -> list[Node]:
    """A spec's nodes in plan order: its reviewers, its groups with the reviewers of tests, the verifier, the review of
    the whole."""
    before = ((Mode.PRE_REVIEW, shape.pre_review), (Mode.DRIFT_REVIEW, shape.drift_review))
    nodes = [_reviewer(spec, 0, mode) for mode, is_wanted in before if is_wanted and not spec.is_baseline]
    for group in spec.groups:
        nodes.append(_worker(spec, group, shape))
        if shape.audit_review and group.writes_tests_only:
            nodes.append(_reviewer(spec, group.number, Mode.AUDIT_REVIEW))
    if shape.verifier:
        last = max((group.number for group in spec.groups), default=0) + 1
        nodes.append(Node(_closing(spec.name), f"{spec.name}:{last}", spec.name, last, Archetype.VERIFIER))
        if shape.final_review and not spec.is_baseline:
            nodes.append(_reviewer(spec, last, Mode.FINAL_REVIEW))
    usual, named = shape.retry_predecessor, shape.overrides
    return [replace(node, retry_predecessor=named.get(node.id, named.get(spec.name, usual))) for node in nodes]


def _closing(spec_name: str) -> str:
    return f"{spec_name}:{Archetype.VERIFIER}"


def _worker(spec: Spec, group: Group, shape: PlanShape) -> Node:
    """The node of a group: a coder, unless its title names another archetype."""
    known = [archetype for archetype in Archetype if archetype == group.archetype]
    archetype = known[0] if known else Archetype.CODER
    return Node(
        uid=f"{spec.name}:{archetype}:{group.number}",
        id=f"{spec.name}:{group.number}",
        spec_name=spec.name,
        group=group.number,
        archetype=archetype,
        title=group.title,
        is_ticked=group.state in _TICKED or (group.optional and not shape.optional_groups),
        is_optional=group.optional,
    )


def _reviewer(spec: Spec, group: int, mode: Mode) -> Node:
    name = f"{spec.name}:{group}:{Archetype.REVIEWER}:{mode}"
    uid = f"{spec.name}:{Archetype.REVIEWER}:{mode}" + (f":{group}" if mode is Mode.AUDIT_REVIEW else "")
    return Node(uid, name, spec.name, group, Archetype.REVIEWER, mode)


def _edges(
    specs: Iterable[Spec],
    planned: Mapping[str, list[Node]],
    rows: Mapping[str, tuple[Dependency, ...]],
    shape: PlanShape,
) -> dict[Edge, tuple[str, ...]]:
    """Every edge once, with the rows (file and line) that ask for it."""
    edges: dict[Edge, tuple[str, ...]] = {}
    for spec in specs:
        nodes = planned.get(spec.name, [])
        for before, after in pairwise(nodes):
            # A final review waits for a verdict, and never begins where there is none.
            kind = EdgeKind.GATE if after.mode is Mode.FINAL_REVIEW else EdgeKind.CHAIN
            edges[Edge(before.id, after.id, kind)] = ()
        for row in rows[spec.name]:
            for edge in _between(planned.get(row.spec, []), nodes, row, shape):
                edges[edge] = tuple(dict.fromkeys((*edges.get(edge, ()), row.where)))
    return edges


def _between(before: list[Node], after: list[Node], row: Dependency, shape: PlanShape) -> Iterator[Edge]:
    """The edges of one row: from group to group, and the gate between the specs."""
    if not before or not after:
        return
    source = _group_node(before, row.from_group, last=True)
    target = _group_node(after, row.to_group, last=False)
    if source is not None and target is not None:
        yield Edge(source.id, target.id, EdgeKind.DEPENDENCY)
    kind = EdgeKind.GATE if shape.verifier else EdgeKind.DEPENDENCY
    # Who must not speak before the specs it depends on are done: the verifier, where there is one.
    judge = next((node for node in after if node.uid == _closing(node.spec_name)), after[-1])
    yield Edge(before[-1].id, (after[0] if shape.gate == "spec" else judge).id, kind)


def _group_node(nodes: list[Node], group: int | None, last: bool) -> Node | None:
    """The node of a group; without a number the last or the first one. None where the spec has no groups."""
    workers = [
        node
        for node in nodes
        if node.id == f"{node.spec_name}:{node.group}"
        and node.uid != _closing(node.spec_name)
        and group in (None, node.group)
    ]
    return (workers[-1] if last else workers[0]) if workers else None


def _remarks(spec: Spec) -> Iterator[Problem]:
    """What a plan can't do anything about, but a person should know."""
    if not spec.expected:
        what = f"{spec.name} has no requirements: nothing to prove. Write down what must hold"
        yield warning(spec.path, what, spec=spec.name)
    if not spec.groups and not spec.is_baseline:
        yield warning(spec.path, f"{spec.name} has no task groups: nobody would build it", spec=spec.name)
    for group in spec.groups:
        if group.archetype is not None and group.archetype not in list(Archetype):
            what = f"group {group.number} asks for archetype {group.archetype!r}; known: {', '.join(Archetype)}"
            yield warning(spec.path, what, spec=spec.name)
