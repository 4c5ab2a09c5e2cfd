"""The plan as the scheduler sees it: what is ready, kept up to date node by node. Never scans the plan for a step."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.graph import EdgeKind
from agent_fox.core.ids import Archetype
from agent_fox.core.retry.standing import Outcome, Standing, Status
from agent_fox.store.plan import PlannedNode, StoredEdge

if TYPE_CHECKING:
    from agent_fox.core.graph import Node
    from agent_fox.engine.record.docket import Handled, Transition


def is_satisfied(source: Node, standing: Standing, spec_name: str, kind: EdgeKind, *, goes_on: bool) -> bool:
    """Whether a node of the spec `spec_name` need not wait any more for a source that stands so, by such an edge.

    `goes_on`: what depends on a spec that was escalated starts all the same (`[policy] on_escalation`).
    """
    if goes_on and source.spec_name != spec_name and standing.is_settled:
        return True
    if standing.status is not Status.COMPLETED:
        return False
    is_gate = kind is EdgeKind.GATE and source.archetype is Archetype.VERIFIER
    return standing.outcome is not Outcome.ESCALATED if is_gate else True


@dataclass(slots=True)
class Place:
    """One node on the board. `waiting` counts its unsatisfied edges, a retry's own among them."""

    planned: PlannedNode
    standing: Standing
    out: list[tuple[str, EdgeKind]] = field(default_factory=list)
    retry_out: list[str] = field(default_factory=list)
    waiting: int = 0


class Board:
    """Which nodes may be launched now, spec by spec in fair order.

    Cost of a step is in proportion to the edges of the nodes that moved, whatever the size of the plan.
    """

    def __init__(
        self,
        nodes: Iterable[PlannedNode],
        edges: Iterable[StoredEdge],
        retry_edges: Iterable[tuple[str, str]] = (),
        *,
        goes_on_after_escalation: bool = False,
        in_scope: Callable[[str], bool] = lambda spec_name: True,
    ) -> None:
        self._goes_on = goes_on_after_escalation
        self._places = {
            p.node.uid: Place(p, p.standing)
            for p in nodes
            if p.standing.status is not Status.WITHDRAWN and in_scope(p.node.spec_name)
        }
        self._queue = FairQueue()
        self._open = Counter(place.standing.status for place in self._places.values())
        for edge in edges:
            self._link(edge)
        for source, target in retry_edges:
            self._wait(source, target)
        for place in self._places.values():
            self._offer(place)

    def _link(self, edge: StoredEdge) -> None:
        source, target = self._places.get(edge.source), self._places.get(edge.target)
        if source is None or target is None:
            return
        source.out.append((edge.target, edge.kind))
        target.waiting += not self._is_satisfied(source, target, edge.kind)

    def _is_satisfied(self, source: Place, target: Place, kind: EdgeKind) -> bool:
        spec_name = target.planned.node.spec_name
        return is_satisfied(source.planned.node, source.standing, spec_name, kind, goes_on=self._goes_on)

    def _wait(self, source: str, target: str) -> None:
        if source in self._places and target in self._places:
            self._places[source].retry_out.append(target)
            self._places[target].waiting += 1

    def _offer(self, place: Place) -> None:
        if place.waiting == 0 and place.standing.status is Status.PENDING:
            self._queue.push(place.planned)

    def take(self, is_ready: Callable[[str], bool] = lambda uid: True) -> PlannedNode | None:
        """The next node to launch, from the spec that has waited longest; None if none is ready.

        `is_ready` may hold back a node for now (a backoff); it stays on the board.
        """
        held: list[PlannedNode] = []
        taken = None
        while (planned := self._queue.pop()) is not None:
            place = self._places[planned.node.uid]
            if place.waiting or place.standing.status is not Status.PENDING:
                continue
            if is_ready(planned.node.uid):
                taken = PlannedNode(planned.node, place.standing, planned.position)
                break
            held.append(planned)
        for planned in held:
            self._queue.push(planned)
        return taken

    def give_back(self, uid: str) -> None:
        """A node that was taken was not launched after all."""
        self._offer(self._places[uid])

    def apply(self, handled: Handled) -> None:
        """Follow a recorded decision."""
        for source, target in handled.waits:
            self._wait(source, target)
        for transition in handled.transitions:
            self.move(transition)

    def move(self, transition: Transition) -> None:
        place = self._places.get(transition.uid)
        if place is not None:
            self.stand(place.planned.node.uid, transition.standing)

    def stand(self, uid: str, standing: Standing) -> None:
        """A node stands elsewhere now: its edges are counted again, and whoever became ready is offered."""
        place = self._places[uid]
        before = [self._is_satisfied(place, self._places[target], kind) for target, kind in place.out]
        self._open[place.standing.status] -= 1
        place.standing = standing
        self._open[standing.status] += 1
        for (target, kind), was in zip(place.out, before, strict=True):
            now = self._is_satisfied(place, self._places[target], kind)
            self._count(self._places[target], was - now)
        if standing.status is Status.COMPLETED:
            self._end_round(place)
        self._offer(place)

    def _end_round(self, place: Place) -> None:
        targets, place.retry_out = place.retry_out, []
        for target in targets:
            self._count(self._places[target], -1)

    def _count(self, place: Place, change: int) -> None:
        place.waiting += change
        if change < 0:
            self._offer(place)

    def knows(self, uid: str) -> bool:
        """Whether the node is in scope."""
        return uid in self._places

    def standing(self, uid: str) -> Standing:
        return self._places[uid].standing

    def places(self) -> Iterable[Place]:
        return self._places.values()

    def count(self, status: Status) -> int:
        """How many nodes in scope stand so."""
        return self._open[status]

    def launched(self, planned: PlannedNode) -> None:
        """Note for fairness that the spec has had its turn."""
        self._queue.served(planned.node.spec_name)


class FairQueue:
    """Ready nodes, taken in turn from the specs that have some; in one spec in plan order. All steps O(log n)."""

    def __init__(self) -> None:
        self._ready: dict[str, list[tuple[int, str, PlannedNode]]] = {}
        self._turns: list[tuple[int, int, str]] = []
        self._served: dict[str, int] = {}
        self._clock = 0
        self._queued: set[str] = set()

    def push(self, planned: PlannedNode) -> None:
        node = planned.node
        if node.uid in self._queued:
            return
        self._queued.add(node.uid)
        ready = self._ready.setdefault(node.spec_name, [])
        heapq.heappush(ready, (planned.position, node.uid, planned))
        self._enter(node.spec_name, planned.position)

    def _enter(self, spec_name: str, position: int) -> None:
        heapq.heappush(self._turns, (self._served.get(spec_name, 0), position, spec_name))

    def pop(self) -> PlannedNode | None:
        while self._turns:
            turn, position, spec_name = heapq.heappop(self._turns)
            ready = self._ready.get(spec_name)
            if not ready:
                continue
            served = self._served.get(spec_name, 0)
            if turn != served:
                self._enter(spec_name, position)
                continue
            _, uid, planned = heapq.heappop(ready)
            self._queued.discard(uid)
            return planned
        return None

    def served(self, spec_name: str) -> None:
        """The spec has had a turn: the others go before it."""
        self._clock += 1
        self._served[spec_name] = self._clock
