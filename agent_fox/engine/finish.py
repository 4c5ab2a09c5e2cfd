"""The end of a run: what must be read again on the final tip, and what the run may claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from agent_fox.core.ids import Archetype
from agent_fox.core.standing import Status, Step
from agent_fox.engine.board import Board, Place
from agent_fox.engine.docket import Docket, Handled, Move
from agent_fox.engine.ending import RunExit, Stop
from agent_fox.store.plan import PlannedNode
from agent_fox.system import git

SHOWN = 5


def verifiers(board: Board) -> Iterator[Place]:
    return (place for place in board.places() if place.planned.node.archetype is Archetype.VERIFIER)


def reopen_stale(docket: Docket, repo: Path, tip: str, board: Board) -> list[Handled]:
    """Reopen every proven verifier whose spec was proven on another tree than the tip's: a recorded decision each."""
    tree = git.tree_of(repo, tip)
    stale = [place for place in verifiers(board) if place.standing.is_proven and not _holds(docket, repo, place, tree)]
    return [_reopen(docket, place, tip) for place in stale]


def _holds(docket: Docket, repo: Path, place: Place, tree: str) -> bool:
    sql = "SELECT verified_commit FROM plan_specs WHERE name = ?"
    (commit,) = docket.db.execute(sql, [place.planned.node.spec_name]).fetchone()
    return commit is not None and git.tree_of(repo, commit) == tree


def _reopen(docket: Docket, place: Place, tip: str) -> Handled:
    planned = PlannedNode(place.planned.node, place.standing, place.planned.position)
    number, moved = docket.record(
        planned, "Reopen", [Move(planned, Step.REOPEN)], commit=tip,
        note="the tree changed since this spec was verified; it is read again on the final tip",
    )  # fmt: skip
    return Handled(None, number, moved)


def claim(board: Board, broken: Iterable[str]) -> Stop:
    """What the run may claim now that nothing is left to do. `broken` names the specs that were left out."""
    waiting = stalled(board)
    if waiting:
        names = ", ".join(planned.node.id for planned in waiting[:SHOWN])
        return Stop(RunExit.CANNOT_GO_ON, f"stalled: nothing runs, but {len(waiting)} node(s) wait, such as {names}")
    open_specs = [*(planned.node.spec_name for planned in unproven(board)), *broken]
    if open_specs or not has_verifiers(board):
        return Stop(RunExit.NOT_PROVEN, f"not proven: {', '.join(open_specs) or 'nothing was verified'}")
    return Stop(RunExit.PROVEN, "everything in scope is proven")


def has_verifiers(board: Board) -> bool:
    """Whether anything in scope is verified at all: without a verifier nothing is ever proven."""
    return any(True for _ in verifiers(board))


def unproven(board: Board) -> list[PlannedNode]:
    """The verifiers in scope that are neither verified nor waived."""
    return [place.planned for place in verifiers(board) if not place.standing.is_proven]


def stalled(board: Board) -> list[PlannedNode]:
    """Nodes that are pending although nothing runs: nothing will ever make them ready."""
    return [place.planned for place in board.places() if place.standing.status is Status.PENDING]
