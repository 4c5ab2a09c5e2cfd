"""What a host's plan has come to, by the rule of a run's exit code 0. Reads only; how a host asks is in `hosting`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.retry.standing import Status
from agent_fox.core.values import dataclass
from agent_fox.engine.account.account import WAIVER_ENDED, SpecAccount, read_account
from agent_fox.engine.handlers import waiving
from agent_fox.engine.record.ending import RunExit
from agent_fox.engine.running import final_check, finish, proving
from agent_fox.engine.running.readiness import board_of
from agent_fox.store.ledger import journal

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.policy import Policy
    from agent_fox.engine.record.board import Board
    from agent_fox.evidence.waivers import Grounds


@dataclass(frozen=True, slots=True)
class Account:
    """What is proven and what is not. `why_not` says in sentences what is in the way, empty where all is proven."""

    specs: tuple[SpecAccount, ...]
    why_not: tuple[str, ...]

    @property
    def is_proven(self) -> bool:
        return not self.why_not


def read_hosted(db: Database, tree: str, policy: Policy, at: str, grounds: Grounds | None) -> Account:
    """The account of the plan on this tree. Without grounds no waiver counts."""
    board = board_of(db, policy)
    held = (lambda: waiving.notes_in_force(db, grounds, at)) if grounds is not None else (lambda: ())
    account = read_account(db, tip_tree=tree, in_force=held)
    disbelieved = account.disbelieved or journal.why_others(db, is_whole=True)
    if disbelieved:
        return Account(account.specs, (disbelieved,))
    return Account(account.specs, tuple(dict.fromkeys(reasons(db, board, tree, policy, account.specs))))


def reasons(db: Database, board: Board, tree: str, policy: Policy, specs: tuple[SpecAccount, ...]) -> Iterator[str]:
    """Why this is not what a run would end with 0 for: what a run may claim, and what it looks at before it does."""
    under_way = [place.planned.node.id for place in board.places() if place.standing.status is Status.RUNNING]
    if under_way:
        yield f"under way: {', '.join(under_way)}"
    short = finish.shortfalls(db, board, policy.required_state, proving.reasons)
    claimed = finish.claim(board, (), short, policy.required_state)
    if claimed.exit is not RunExit.PROVEN:
        yield claimed.reason
    for place in final_check.proven(board):
        if not final_check.is_read_on(db, place.planned.node.uid, tree):
            yield f"{place.planned.node.spec_name} was proven on another tree; `final_check` has it read again"
    for spec in specs:
        if spec.standing == WAIVER_ENDED:
            yield f"{spec.name}: a waiver that it rests on does not count any more: {', '.join(spec.open_ids)}"
