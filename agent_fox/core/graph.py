"""The plan: nodes and edges, as values. Where a node stands and what happens next is not here."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core.ids import Archetype, Mode
    from agent_fox.core.spec import Problem, Spec


class EdgeKind(StrEnum):
    """`chain` orders the nodes of one spec; `dependency` is a row of a dependency table; `gate` waits for a verdict.

    A chain or dependency edge is satisfied when its source is completed. A gate edge starts at a verifier and is
    satisfied when that verifier is completed as verified or waived (or escalated, where the policy goes on).
    """

    CHAIN = "chain"
    DEPENDENCY = "dependency"
    GATE = "gate"


@dataclass(frozen=True, slots=True)
class Node:
    """One vertex of the plan. `uid` never changes; `id` is the node's name in the current plan.

    `is_ticked`: the spec says the group is done or skipped, so it is not launched at first.
    """

    uid: str
    id: str
    spec_name: str
    group: int
    archetype: Archetype
    mode: Mode | None = None
    title: str = ""
    is_ticked: bool = False
    is_optional: bool = False
    retry_predecessor: bool = True


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` and `target` are node ids; the target waits for the source."""

    source: str
    target: str
    kind: EdgeKind


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, and everything that was wrong with what was read. Nodes stand in plan order."""

    specs: tuple[Spec, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    problems: tuple[Problem, ...] = ()
