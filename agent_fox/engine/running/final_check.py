"""What must be read again before a run may end: what was proven for another tree, elsewhere, by another judge, or long
ago and drawn by chance. Each is a recorded decision. What the run may claim then is in `finish`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.chance import drawn
from agent_fox.core.ledger.evidence import Freshness, why_stale
from agent_fox.core.ledger.gates import Gate, is_enough
from agent_fox.core.retry.standing import Step
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.known import How
from agent_fox.engine.account import freshness
from agent_fox.engine.handlers.final_review import review_again
from agent_fox.engine.record.docket import Docket, Handled, Move
from agent_fox.engine.running.finish import verifiers
from agent_fox.store import outbox, sessions
from agent_fox.store.gates import gates_of
from agent_fox.store.known import none_waived, words_known
from agent_fox.store.plan import PlannedNode, verified_commit
from agent_fox.store.sessions import Origin, last_reading, origin_of
from agent_fox.system import git

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import EvidenceSettings
    from agent_fox.engine.record.board import Board, Place
    from agent_fox.engine.record.environment import Standpoint

AGAIN = "since this spec was verified; it is verified again as it stands at the end"
OLD = "no record shows what its verdict counts for"
TWICE = "an issue about it has flapped, and is closed by two proving reports: it is read once more"
CODE = "the code has changed"
UNTOUCHED = "nothing that it rests on has changed since it was read; drawn by chance, it is read again all the same"
CHANCE = "drawn by chance: its old evidence is made again"
REPROVE = "its tests passed, and nothing shows that they can fail: a person asked for it to be read again"


@dataclass(frozen=True, slots=True)
class Conditions:
    """What counts now; `tip` is empty where no tree is asked for. `standpoint` says where and by whom a verifier would
    judge, at a rung of its ladder; `setup` are the lines that prepare a workspace."""

    repo: Path
    tip: str
    evidence: EvidenceSettings
    setup: tuple[str, ...]
    standpoint: Callable[[PlannedNode, int], Standpoint]

    @property
    def tree(self) -> str:
        return git.tree_of(self.repo, self.tip)


@dataclass(frozen=True, slots=True)
class Again:
    """Why a proven verifier is read again, and what that was worked out from."""

    note: str
    facts: dict[str, object]


def reopen_stale(tx: Docket, board: Board, now: Conditions) -> list[Handled]:
    """Reopen every proven verifier whose evidence does not count any more, with the review of what it verified."""
    tree = now.tree
    places = [(place, why_again(tx, place, now, tree)) for place in proven(board)]
    return [reopen(tx, place, now.tip, again) for place, again in places if again is not None]


def proven(board: Board) -> list[Place]:
    return [place for place in verifiers(board) if place.standing.is_proven]


def why_again(tx: Docket, place: Place, now: Conditions, tree: str) -> Again | None:
    """Staleness first; then what was proven in an earlier run: is it on record, and is it drawn?"""
    origin = origin_of(tx.db, place.planned.node.uid)
    stale = stale_in(tx.db, place, now, tree, origin)
    if stale == (CODE,):
        again = by_scope(tx, place, now)
        if again is not None:
            return again
    elif stale:
        return Again(f"{' and '.join(stale)} {AGAIN}", {"stale": list(stale)})
    if outbox.awaits_second_proof(tx.db, place.planned.node.spec_name):
        return Again(TWICE, {"second_proof": True})
    if origin.run is None or origin.run == tx.run_id:
        return None
    if not origin.environment or not is_on_record(tx.db, place.planned.node.spec_name):
        return Again(f"{OLD}; it is verified again as it stands at the end", {})
    return by_chance(tx, place, now.evidence.rerun_fraction)


def by_scope(tx: Docket, place: Place, now: Conditions) -> Again | None:
    """The code has changed: what of it do the verdicts rest on? None, and a record, where it is nothing."""
    again: dict[str, object] = {"stale": [CODE]}
    name = place.planned.node.spec_name
    read = verified_commit(tx.db, name)
    if now.evidence.freshness == "tree" or read is None:
        return Again(f"{CODE} {AGAIN}", again)
    look = freshness.looked_at(tx.db, now.repo, name, read, now.tip, now.setup)
    if look.why:
        return Again(f"{CODE} {AGAIN}: {look.why}", {**again, "touched": look.why})
    seed = f"{seed_of(tx)} {now.tip}"
    number, fraction = drawn(seed, name), now.evidence.rerun_fraction
    if number < fraction:
        return Again(UNTOUCHED, {"rerun": {"fraction": fraction, "seed": seed, "drawn": number}, "untouched": True})
    freshness.record(tx, name, look)
    return None


def stale_in(db: Database, place: Place, point: Conditions, tree: str, origin: Origin) -> tuple[str, ...]:
    """In which respects the verdict is about something else than what stands now."""
    commit = verified_commit(db, place.planned.node.spec_name)
    read = git.tree_of(point.repo, commit) if commit else ""
    if point.evidence.environment == "show" or not origin.environment:
        return why_stale(Freshness(read, "", "", ""), Freshness(tree, "", "", ""))
    now = point.standpoint(place.planned, origin.rung)
    was = Freshness(read, "", origin.environment, origin.verifier)
    return why_stale(was, Freshness(tree, "", now.environment, now.verifier))


def is_on_record(db: Database, spec_name: str) -> bool:
    """Whether every gate of the spec shows what its standing says: that it was tested, or waived."""
    return all(is_enough(Gate.TESTED, row.state, was_proved=row.was_proved) for row in gates_of(db, spec_name))


def by_chance(tx: Docket, place: Place, fraction: float) -> Again | None:
    """Drawn once for a run, from where the ledger stood when it was opened."""
    seed, name = seed_of(tx), place.planned.node.spec_name
    number = drawn(seed, name)
    if number >= fraction:
        return None
    return Again(CHANCE, {"rerun": {"fraction": fraction, "seed": seed, "drawn": number}})


def seed_of(tx: Docket) -> str:
    return f"{sessions.ledger_at_start(tx.db, tx.run_id)} run {tx.run_id}"


def reopen(tx: Docket, place: Place, tip: str, again: Again) -> Handled:
    planned = PlannedNode(place.planned.node, place.standing, place.planned.position)
    moves = [Move(planned, Step.REOPEN), *review_again(tx, planned.node.spec_name)]
    number, moved = tx.record(planned, "Reopen", moves, commit=tip, facts=again.facts, note=again.note)
    return Handled(None, number, moved)


def reopen_read_elsewhere(tx: Docket, board: Board, commit: str, tree: str) -> list[Handled]:
    """Reopen every proven verifier whose last reading was of another tree than `tree`, that of `commit`.

    For hosts, where work need not be in a git repository of ours.
    """
    stale = [place for place in proven(board) if not is_read_on(tx.db, place.planned.node.uid, tree)]
    again = Again(f"the code has changed {AGAIN}", {"stale": ["the code has changed"]})
    return [reopen(tx, place, commit, again) for place in stale]


def is_read_on(db: Database, uid: str, tree: str) -> bool:
    """Whether the last report that counted about a spec was about this tree."""
    read = last_reading(db, uid)
    return read is not None and read.tree == tree


def reprove(tx: Docket, board: Board, now: Conditions) -> list[Handled]:
    """Reopen every proven verifier in scope of whose requirements some are known as *tests passed*, and no more."""
    known = words_known(tx.db, none_waived)
    places = ((place, tests_passed(known.get(place.planned.node.spec_name, {}))) for place in proven(board))
    return [reopen(tx, place, now.tip, Again(REPROVE, {"reprove": ids})) for place, ids in places if ids]


def tests_passed(words: Mapping[str, str]) -> list[str]:
    return [part for part, word in words.items() if word == How.TESTS_PASSED]


def shown(tx: Docket, board: Board, now: Conditions) -> list[str]:
    """Sentences about verdicts that were read on another tree, or elsewhere, and stand: and why they do."""
    names = [place.planned.node.spec_name for place in proven(board)]
    lines = [*freshness.lines(tx.db, names, now.tree), *freshness.warnings(tx.db, names)]
    if now.evidence.environment != "show":
        return lines
    places = ((place, origin_of(tx.db, place.planned.node.uid)) for place in proven(board))
    return lines + [
        f"{place.planned.node.spec_name}: {why}" for place, origin in places if (why := elsewhere(place, origin, now))
    ]


def elsewhere(place: Place, origin: Origin, point: Conditions) -> str:
    now = point.standpoint(place.planned, origin.rung)
    was = Freshness("", "", origin.environment, origin.verifier)
    stale = why_stale(was, Freshness("", "", now.environment, now.verifier))
    return (
        f'{" and ".join(stale)} since it was verified; [evidence] environment = "show" lets the verdict stand'
        if stale
        else ""
    )
