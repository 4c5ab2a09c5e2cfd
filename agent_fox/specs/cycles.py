"""Cycles in a plan: found, named by specs and rows, and told apart from those that only whole specs make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Literal

from agent_fox.core.graph import Edge, EdgeKind
from agent_fox.specs.files import error, warning

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem

MOST_REPORTED = 20
_FAULT = "a cycle: {specs}, by the rows {rows}. Take one of them out"
_BETWEEN_SPECS = (
    "a cycle that arises only between whole specs: {specs}, by the rows {rows}. "
    'Set gate = "group" in [policy], or take a row out'
)
_DROPPED = "the verifiers of {specs} would wait for each other (rows {rows}): they do not"


_Cycle = tuple[Sequence[Edge], Sequence[str]]
"""The edges of one cycle that come from rows, in order, and those rows. Chain edges are no row's fault."""


def without_cycles(
    edges: Mapping[Edge, tuple[str, ...]], gate: Literal["spec", "group"]
) -> tuple[tuple[Edge, ...], tuple[Problem, ...]]:
    """All edges, and an error for every cycle found among them.

    With gates between whole specs, a cycle that the rows alone do not make says so. With gates between
    verifiers, such a cycle is no fault of the rows: its gates are left out, with a warning.
    """
    plain = {edge for edge in edges if edge.kind is not EdgeKind.GATE}
    faults = list(islice(_cycles(plain, edges), MOST_REPORTED))
    if faults:
        return tuple(edges), tuple(_problem(cycle, error, _FAULT) for cycle in faults)
    left = set(edges)
    gated = list(_cycles(left, edges)) if len(left) > len(plain) else []
    if gate == "spec":
        return tuple(edges), tuple(_problem(cycle, error, _BETWEEN_SPECS) for cycle in gated)
    return tuple(edge for edge in edges if edge in left), tuple(_problem(cycle, warning, _DROPPED) for cycle in gated)


def _cycles(left: set[Edge], rows: Mapping[Edge, tuple[str, ...]]) -> Iterator[_Cycle]:
    """One cycle after the other. What makes it is taken out of `left` before the next is sought.

    That is every gate between its specs, or its own edges where it has no gate.
    """
    while path := _first_cycle(left):
        steps = set(pairwise(path))
        on_it = [edge for edge in left if (edge.source, edge.target) in steps]
        places = {name: place for place, name in enumerate(path[:-1])}
        between = sorted((e for e in on_it if e.kind is not EdgeKind.CHAIN), key=lambda e: places[e.source])
        specs = {_spec(edge.source) for edge in between}
        gates = {e for e in left if e.kind is EdgeKind.GATE and {_spec(e.source), _spec(e.target)} <= specs}
        left -= gates or set(between or on_it)
        yield between, list(dict.fromkeys(row for edge in between for row in rows[edge]))


def _first_cycle(edges: Iterable[Edge]) -> list[str]:
    """The nodes of a cycle in the order of its edges, the first again at the end; empty without one."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for edge in sorted(edges, key=lambda e: (e.source, e.target)):
        sorter.add(edge.target, edge.source)
    try:
        sorter.prepare()
    except CycleError as cycle:
        return list(cycle.args[1])
    return []


def _problem(cycle: _Cycle, make: Callable[[str, str], Problem], what: str) -> Problem:
    edges, rows = cycle
    names = [_spec(edge.source) for edge in edges]
    first = names[0] if names else ""
    specs = " → ".join((*dict.fromkeys(names), first))
    return replace(make(rows[0] if rows else specs, what.format(specs=specs, rows=", ".join(rows))), spec=first)


def _spec(node_id: str) -> str:
    return node_id.partition(":")[0]
