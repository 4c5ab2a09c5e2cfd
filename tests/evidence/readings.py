"""A spec of two requirements with real sessions, read as a test says: what the chain of evidence is asked about."""

from __future__ import annotations

from dataclasses import replace

from sqlite_utils import Database

from agent_fox.core.graph import Node
from agent_fox.core.ids import Archetype, Mode, Ticket
from agent_fox.core.ledger.evidence import Artifact, Evidence, Kind, Outcome, RunContext, SpecRef
from agent_fox.core.ledger.gates import Gate, Role
from agent_fox.core.spec import Spec
from agent_fox.core.verdicts.verdict import Verdict, Word
from agent_fox.store import plan, records, sessions
from agent_fox.store.gates import GateMove, record_moves
from agent_fox.store.ledger import evidence, ledger
from agent_fox.store.plan import StoredPart
from agent_fox.store.records import VerdictOrigin
from tests.store.world import AT, CODER, SPEC, VERIFIER, add_nodes, add_session, counted, decide

FINAL = Node("bell:final", f"{SPEC}:3:reviewer:final-review", SPEC, 3, Archetype.REVIEWER, Mode.FINAL_REVIEW)
TREE, COMMIT = "a" * 40, "c" * 40
STANDPOINT = {"environment": "5794cc24d85d5f13", "verifier": "1 checks"}
BOTH = {"R1": Word.PASS, "R2": Word.PASS}


def begin(db: Database, *more: Node) -> None:
    """The plan, and a run."""
    add_nodes(db, CODER, VERIFIER, *more)
    plan.save_specs(db, [Spec(SPEC, "agent-fox", f"specs/{SPEC}")], {})
    texts(db, R1="v1", R2="v1")
    sessions.start_run(db, AT, COMMIT)


def texts(db: Database, **versions: str) -> None:
    """The requirements of the plan, each in a version of its text."""
    plan.save_parts(
        db, [StoredPart(SPEC, part, "R", f"{part} in {version}", version) for part, version in versions.items()]
    )


def session(db: Database, node: Node = VERIFIER, tree: str = TREE, attempt: int = 1, rung: int = 0) -> int:
    """A session of the node that ended."""
    number = add_session(db, 1, node, attempt)
    agents = '[{"backend": "checks", "model": "rules-1"}]'
    end = {"status": "completed", "end_kind": "ended", "backend": "checks", "agents": agents, "ended_at": AT}
    sessions.set_session(db, number, {**end, **STANDPOINT, "tree": tree, "pinned_commit": COMMIT, "rung": rung})
    evidence.record_session(db, number, AT)
    return number


def read(
    db: Database, words: dict[str, Word], *, tree: str = TREE, attempt: int = 1, rung: int = 0,
    versions: dict[str, str] | None = None,
) -> int:  # fmt: skip
    """A session's report on a tree, with a decision of its own. Gives the decision."""
    number, decision = session(db, tree=tree, attempt=attempt, rung=rung), decide(db, VERIFIER, "Recode")
    origin = VerdictOrigin(SPEC, VERIFIER.uid, number, decision, Ticket(VERIFIER.uid, attempt, 1), COMMIT, tree, AT)
    said = {part: counted(part, word) for part, word in words.items()}
    shown = {part: replace(one, verdict=with_command(one.verdict)) for part, one in said.items()}
    records.store_verdicts(db, origin, shown, versions or dict.fromkeys(words, "v1"))
    return decision


def with_command(verdict: Verdict) -> Verdict:
    return replace(verdict, command=f"pytest -k {verdict.requirement_id}")


def accept(db: Database, *parts: str) -> None:
    """The verifier's report is accepted: these are tested."""
    move(db, decide(db, VERIFIER, "Accept"), *parts, start=Gate.PROPOSED, finish=Gate.TESTED, role=Role.EVALUATOR)


def move(db: Database, decision: int, *parts: str, start: Gate, finish: Gate, role: Role) -> None:
    moves = [GateMove(part, "v1", start, finish, role, reason="as decided") for part in parts]
    record_moves(db, AT, SPEC, moves, decision_id=decision, tree=TREE, commit=COMMIT)


def check(db: Database, kind: str, address: str, version: str, status: Word, number: int = 1) -> None:
    """A lane checked something that is bound to a requirement."""
    record = Evidence(
        Kind.CHECK, f"check:{address}:{number}", AT, Outcome(status.value), SpecRef(kind, address, version),
        RunContext("crosshair check"), Artifact(TREE, COMMIT),
    )  # fmt: skip
    ledger.append(db, [record], SPEC)
