"""What is ready: kept node by node, and always what a scan of the whole plan would say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.graph import EdgeKind, Node
from agent_fox.core.ids import Archetype
from agent_fox.core.retry.standing import Outcome, Standing, Status
from agent_fox.engine.record.board import Board, FairQueue
from agent_fox.engine.record.docket import Handled
from agent_fox.store.plan import PlannedNode, StoredEdge

LANDED = Outcome.LANDED


def planned(uid: str, position: int, archetype: Archetype = Archetype.CODER) -> PlannedNode:
    spec = uid.split(":")[0]
    return PlannedNode(Node(uid, uid, spec, position, archetype), Standing(uid), position)


def edge(source: str, target: str, kind: EdgeKind = EdgeKind.CHAIN) -> StoredEdge:
    return StoredEdge(source, target, kind)


def at(uid: str, status: Status, outcome: Outcome | None = None) -> Standing:
    return Standing(uid, status, outcome)


def taken(board: Board) -> str | None:
    found = board.take()
    return found.node.uid if found else None


def test_a_node_is_ready_when_all_it_waits_for_is_completed() -> None:
    board = Board([planned("a:1", 0), planned("a:2", 1), planned("a:3", 2)], [edge("a:1", "a:3"), edge("a:2", "a:3")])
    assert [taken(board), taken(board), taken(board)] == ["a:1", "a:2", None]
    board.stand("a:1", at("a:1", Status.COMPLETED, LANDED))
    assert taken(board) is None
    board.stand("a:2", at("a:2", Status.COMPLETED, LANDED))
    assert taken(board) == "a:3"


def test_a_gate_opens_for_a_proven_verifier_and_not_for_an_escalated_one() -> None:
    nodes = [planned("a:v", 0, Archetype.VERIFIER), planned("b:1", 1)]
    for outcome, opens in ((Outcome.VERIFIED, True), (Outcome.WAIVED, True), (Outcome.ESCALATED, False)):
        board = Board(nodes, [edge("a:v", "b:1", EdgeKind.GATE)])
        assert taken(board) == "a:v"
        board.stand("a:v", at("a:v", Status.COMPLETED, outcome))
        assert (taken(board) == "b:1") == opens


def test_where_the_policy_goes_on_an_escalated_or_blocked_source_holds_nobody_of_another_spec() -> None:
    nodes = [planned("a:v", 0, Archetype.VERIFIER), planned("b:1", 1)]
    for standing in (at("a:v", Status.COMPLETED, Outcome.ESCALATED), at("a:v", Status.BLOCKED)):
        board = Board(nodes, [edge("a:v", "b:1", EdgeKind.GATE)], goes_on_after_escalation=True)
        board.take()
        board.stand("a:v", standing)
        assert taken(board) == "b:1"


def test_a_reset_source_holds_what_has_not_run_again() -> None:
    board = Board([planned("a:1", 0), planned("a:2", 1)], [edge("a:1", "a:2")])
    board.take()
    board.stand("a:1", at("a:1", Status.COMPLETED, LANDED))
    board.stand("a:1", at("a:1", Status.PENDING))
    assert [taken(board), taken(board)] == ["a:1", None]


def test_the_edges_of_a_retry_hold_for_its_round_only() -> None:
    done = [
        PlannedNode(p.node, at(p.node.uid, Status.COMPLETED, LANDED), p.position)
        for p in (planned("a:1", 0), planned("a:2", 1))
    ]
    board = Board([*done, planned("a:v", 2, Archetype.VERIFIER)], [edge("a:2", "a:v")])
    board.apply(Handled(None, waits=(("a:1", "a:v"),)))
    board.stand("a:1", at("a:1", Status.PENDING))
    assert [taken(board), taken(board)] == ["a:1", None]
    board.stand("a:1", at("a:1", Status.COMPLETED, LANDED))
    assert taken(board) == "a:v"


def test_open_rounds_are_laid_again_after_a_restart() -> None:
    board = Board([planned("a:1", 0), planned("a:v", 1)], [], [("a:1", "a:v")])
    assert [taken(board), taken(board)] == ["a:1", None]


def test_a_node_that_is_held_back_stays_on_the_board() -> None:
    board = Board([planned("a:1", 0)], [])
    assert board.take(lambda uid: False) is None
    assert taken(board) == "a:1"


def test_a_node_given_back_is_offered_again() -> None:
    board = Board([planned("a:1", 0)], [])
    board.take()
    board.give_back("a:1")
    assert taken(board) == "a:1"


def test_specs_out_of_scope_and_withdrawn_nodes_are_not_on_the_board() -> None:
    gone = PlannedNode(planned("a:2", 1).node, at("a:2", Status.WITHDRAWN), 1)
    board = Board([planned("a:1", 0), gone, planned("b:1", 2)], [edge("a:2", "a:1")], in_scope=lambda name: name == "a")
    assert [taken(board), taken(board)] == ["a:1", None]


def test_specs_take_turns() -> None:
    board = Board([planned(f"{spec}:{n}", n) for spec in "ab" for n in range(3)], [])
    order = []
    while (found := board.take()) is not None:
        board.launched(found)
        order.append(found.node.uid)
    assert order == ["a:0", "b:0", "a:1", "b:1", "a:2", "b:2"]


def test_within_a_spec_the_plans_order_counts() -> None:
    queue = FairQueue()
    for position in (3, 1, 2):
        queue.push(planned(f"a:{position}", position))
    found = [queue.pop() for _ in range(4)]
    assert [p.node.uid if p else None for p in found] == ["a:1", "a:2", "a:3", None]


SIZE = 7
edges = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=14)
moves = st.lists(st.tuples(st.integers(0, SIZE - 1), st.sampled_from(["complete", "reset", "block"])), max_size=25)


@given(edges, moves)
def test_the_ready_set_is_what_a_scan_would_give(pairs: list[tuple[int, int]], acts: list[tuple[int, str]]) -> None:
    links = {(min(a, b), max(a, b)) for a, b in pairs if a != b}
    nodes = [planned(f"s{n % 2}:{n}", n) for n in range(SIZE)]
    uid = {n: node.node.uid for n, node in enumerate(nodes)}
    board = Board(nodes, [edge(uid[a], uid[b]) for a, b in links])
    status = dict.fromkeys(range(SIZE), Status.PENDING)
    for n, act in acts:
        to = {"complete": Status.COMPLETED, "reset": Status.PENDING, "block": Status.BLOCKED}[act]
        status[n] = to
        board.stand(uid[n], at(uid[n], to, LANDED if to is Status.COMPLETED else None))
    done = {n for n in status if status[n] is Status.COMPLETED}
    scan = {n for n in status if status[n] is Status.PENDING and all(a in done for a, b in links if b == n)}
    found = set()
    while (ready := taken(board)) is not None:
        found.add(ready)
    assert found == {uid[n] for n in scan}
    assert board.count(Status.PENDING) == sum(s is Status.PENDING for s in status.values())
