"""A state file whose ledger grew as the engine grows it: decisions, verdicts and gates, with their rows beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from sqlite_utils import Database

from agent_fox.core.graph import Node
from agent_fox.core.ids import Ticket
from agent_fox.core.ledger.close_out import CloseOut, FeedbackRecord, judge
from agent_fox.core.ledger.evidence import RunContext
from agent_fox.core.ledger.gates import Gate, Role
from agent_fox.core.retry.standing import Step, evolve
from agent_fox.core.spec import Requirement, Spec, text_version
from agent_fox.core.verdicts.verdict import Word
from agent_fox.evidence.signing.keys import Signer
from agent_fox.evidence.verify import Checked, verify
from agent_fox.evidence.witness import Witness
from agent_fox.review.close_out import record as close_out_record
from agent_fox.review.close_out.report import Judged
from agent_fox.store import plan, records, sessions
from agent_fox.store.gates import GateMove, record_moves
from agent_fox.store.ledger import evidence
from agent_fox.store.plan import StoredPart
from agent_fox.store.records import NewDecision, StepRow, VerdictOrigin
from agent_fox.store.state import read_state, transaction
from tests.states import fresh_state
from tests.store.world import CODER, REVIEWER, SPEC, VERIFIER, add_nodes, add_session, counted

TEXT = "THE bell SHALL ring"
VERSION = text_version(TEXT)
PARTS = ("R1", "R2")
NOW = "2026-03-02T00:00:00.000Z"
BELL = Spec(SPEC, "agent-fox", f"specs/{SPEC}", requirements=tuple(Requirement(one, "Bell", TEXT) for one in PARTS))


def at(moment: int) -> str:
    """The time of the moment, in seconds of one day."""
    return f"2026-03-01T{moment // 3600:02}:{moment // 60 % 60:02}:{moment % 60:02}.000Z"


def tree(moment: int) -> str:
    return f"{moment:040x}"


def grown(folder: Path, moments: int) -> Path:
    """A state file with about three records for each moment, of one ended run."""
    path = folder / "state.db"
    with closing(fresh_state(path)) as db:
        with transaction(db):
            run = begin(db)
        for moment in range(1, moments + 1):
            with transaction(db):
                HAPPENINGS[moment % len(HAPPENINGS)](db, run, moment)
        with transaction(db):
            sessions.end_run(db, run, at(moments + 1), "ended", 0, "", tree(moments))
    return path


def begin(db: Database) -> int:
    add_nodes(db, REVIEWER, CODER, VERIFIER)
    plan.save_specs(db, [BELL], {})
    plan.save_parts(db, [StoredPart(SPEC, part, part, TEXT, VERSION) for part in PARTS])
    run = sessions.start_run(db, at(0), tree(0))
    evidence.record_plan(db, at(0), [BELL])
    return run


def land(db: Database, run: int, moment: int) -> None:
    """A coder's session landed; what was rejected is proposed again."""
    number = decided(db, run, moment, CODER, "Land", {CODER: Step.LAND})
    given = CloseOut(f"{CODER.id}@{moment}", (FeedbackRecord("make test", 0),))
    context = RunContext(command="make test", environment="e" * 16, run=run)
    close_out_record.keep(db, given, Judged(judge(given), at(moment), tree(moment), tree(moment)), context)
    if moment > len(HAPPENINGS):
        move(db, moment, number, Gate.REJECTED, Gate.PROPOSED, Role.BUILDER)


def prove(db: Database, run: int, moment: int) -> None:
    """Everything passes."""
    number = decided(db, run, moment, VERIFIER, "Accept", {VERIFIER: Step.ACCEPT}, Word.PASS)
    move(db, moment, number, Gate.PROPOSED, Gate.TESTED, Role.EVALUATOR)


def refute(db: Database, run: int, moment: int) -> None:
    """Everything fails."""
    steps = {VERIFIER: Step.RECODE, CODER: Step.RECODE}
    number = decided(db, run, moment, VERIFIER, "Recode", steps, Word.FAIL)
    move(db, moment, number, Gate.TESTED, Gate.REJECTED, Role.EVALUATOR)


HAPPENINGS: tuple[Callable[[Database, int, int], None], ...] = (refute, land, prove)


def decided(
    db: Database, run: int, moment: int, node: Node, kind: str, steps: Mapping[Node, Step], word: Word | None = None
) -> int:
    """A session ended, and what was decided; with the verdicts of a verifier. The decision's number."""
    session = add_session(db, run, node, attempt=moment)
    end = {"status": "completed", "end_kind": "ended", "tree": tree(moment), "ended_at": at(moment)}
    sessions.set_session(db, session, end)
    evidence.record_session(db, session, at(moment))
    ticket = Ticket(node.uid, moment, 1)
    rows: list[StepRow] = [{"uid": moved.uid, "step": step.value, "rung": None} for moved, step in steps.items()]
    new = NewDecision(node.uid, node.id, SPEC, kind, ticket, tuple(rows), session_id=session, facts={"round": moment})
    number = records.record_decision(db, at(moment), run, new)
    for moved, step in steps.items():
        plan.move_node(db, evolve(plan.node_by_uid(db, moved.uid).standing, step), number)
    if word:
        origin = VerdictOrigin(SPEC, node.uid, session, number, ticket, tree(moment), tree(moment), at(moment))
        versions = dict.fromkeys(PARTS, VERSION)
        records.store_verdicts(db, origin, {part: counted(part, word) for part in PARTS}, versions)
    return number


def move(db: Database, moment: int, number: int, start: Gate, finish: Gate, role: Role) -> None:
    moves = [GateMove(part, VERSION, start, finish, role, reason="as decided") for part in PARTS]
    record_moves(db, at(moment), SPEC, moves, decision_id=number, tree=tree(moment))


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    with closing(fresh_state(path)) as db:
        yield db


def check(path: Path, witness: Witness | None = None, signers: tuple[Signer, ...] = ()) -> Checked:
    """What `verify` finds in a state file; without a witness, it is not asked for one."""
    with closing(read_state(path)) as db:
        return verify(db, witness=witness, signers=signers, now=NOW, asks_witness=witness is not None)
