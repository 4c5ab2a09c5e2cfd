"""The formal lane at the end of a run: what is reviewed is proved where `[policy] required_state` asks for it.

The provers run as a session of their own, without a model, on the final tip; never in a transaction. What they said
becomes one recorded decision, `Prove`. How a contract is proved is in `verifier.lanes`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.ledger.gates import Gate, Role, is_enough
from agent_fox.core.ledger.promotion import Promotion, promote
from agent_fox.core.values import dataclass, to_document, to_object
from agent_fox.engine.handlers.final_review import verifier_of
from agent_fox.engine.record import promotion
from agent_fox.engine.record.docket import Docket, Handled
from agent_fox.engine.record.library import Shelf, formal, order_for
from agent_fox.engine.record.review_persistence import LaneRun, record_lanes
from agent_fox.session.built_in.library import KEY, LibraryBackend
from agent_fox.session.local_runner import unheeded
from agent_fox.session.order import Agent, EndKind, LaunchOrder, SessionEnd, StopSignal
from agent_fox.session.session_lifecycle import clean_up, run_session
from agent_fox.store.gates import GateRow, gates_of
from agent_fox.store.plan import verified_commit
from agent_fox.store.records import last_facts
from agent_fox.system import git
from agent_fox.system.state_folders import file_name
from agent_fox.verifier.lanes.binding import Proof, proofs, provable
from agent_fox.verifier.lanes.formal import version_of
from agent_fox.verifier.lanes.order import lanes_in

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.formal.specification import Specification
    from agent_fox.engine.launching.launching import Workshop
    from agent_fox.store.plan import PlannedNode
    from agent_fox.verifier.lanes.results import LaneResult

KIND = "Prove"
BACKEND = LibraryBackend()
PROVERS = ("crosshair-tool", "z3-solver")
REMEDY = "write one into specifications.toml of the spec, waive the requirement, or lower [policy] required_state"
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """One spec that is to be proved, on the files of `commit`. `key` is what a proof of it counts for."""

    planned: PlannedNode
    commit: str
    tree: str
    parts: tuple[str, ...]
    objects: tuple[Specification, ...]
    key: Mapping[str, object]

    @property
    def spec_name(self) -> str:
        return self.planned.node.spec_name


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of the provers' session. `failure` says why there is nothing of it: it proves nothing."""

    results: tuple[LaneResult, ...] = ()
    failure: str = ""


def due(db: Database, workshop: Workshop, specs: Iterable[str]) -> Iterator[Subject]:
    """The specs that are reviewed as a whole, and whose last proof is about something else."""
    for spec_name in specs:
        verifier, commit = verifier_of(db, spec_name), verified_commit(db, spec_name)
        if verifier is None or commit is None or not verifier.standing.is_proven:
            continue
        gates = gates_of(db, spec_name)
        subject = subject_of(db, workshop, verifier, commit, gates)
        if all(has_come_to(Gate.REVIEWED, row) for row in gates) and is_open(db, subject, gates):
            yield subject


def has_come_to(required: Gate, row: GateRow) -> bool:
    return is_enough(required, row.state, was_proved=row.was_proved)


def is_open(db: Database, subject: Subject, gates: Iterable[GateRow]) -> bool:
    """Whether nothing like this was tried before, or a gate has been moved back since."""
    facts = last_proof(db, subject.planned.node.uid)
    proved = {part for part, proof in proofs_in(facts).items() if proof["is_proved"]}
    is_back = any(row.requirement_id in proved and not has_come_to(Gate.PROVED, row) for row in gates)
    return is_back or facts.get("key") != subject.key


def subject_of(db: Database, workshop: Workshop, verifier: PlannedNode, commit: str, gates: list[GateRow]) -> Subject:
    objects = formal(adopted(db, workshop, verifier.node.spec_name))
    tree = git.tree_of(workshop.repo, commit)
    open_parts = tuple(row.requirement_id for row in gates if needs_proof(row))
    return Subject(verifier, commit, tree, open_parts, objects, key_of(db, workshop, verifier, tree, objects))


def adopted(db: Database, workshop: Workshop, spec_name: str) -> tuple[Specification, ...]:
    return Shelf(workshop.repo, workshop.settings, os.environ).adopted(db, spec_name)


def needs_proof(row: GateRow) -> bool:
    """What a person waived needs none."""
    return row.state is not Gate.WAIVED and not (row.state is Gate.ACCEPTED and row.role is Role.ENGINE)


def key_of(
    db: Database, workshop: Workshop, verifier: PlannedNode, tree: str, objects: Iterable[Specification]
) -> dict[str, object]:
    """What a proof counts for: the files, the texts, where and with what it was made."""
    verify = workshop.settings.verify
    return {
        "tree": tree,
        "requirements": {row.requirement_id: row.version for row in gates_of(db, verifier.node.spec_name)},
        "specifications": {item.address: item.version for item in objects},
        "environment": replace(workshop, is_here=True).standpoint(db, verifier, 0).environment,  # provers run here
        "provers": [version_of(name) for name in PROVERS],
        "bounds": [verify.timeout, verify.memory_mib],
    }


def last_proof(db: Database, uid: str) -> dict[str, object]:
    """The facts of the last decision `Prove` about a verifier; nothing where there is none."""
    facts: dict[str, object] = json.loads(last_facts(db, uid, KIND) or "{}")
    return facts


def proofs_in(facts: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """What a decision `Prove` says of each requirement: `is_proved` and `why`."""
    proofs = facts.get("proofs", {})
    assert isinstance(proofs, dict)
    return proofs


def order_of(db: Database, workshop: Workshop, subject: Subject, launch: str) -> LaunchOrder:
    """The provers' session: like a verifier's, with nobody to judge but the formal specifications."""
    node, settings = subject.planned.node, workshop.settings
    document = {
        key: value for key, value in workshop.document(subject.planned, db, subject.commit).items() if key != KEY
    }
    return LaunchOrder(
        launch=launch,
        node_id=node.id,
        node_uid=node.uid,
        spec_name=node.spec_name,
        archetype=node.archetype,
        mode=None,
        group=node.group,
        run="",
        attempt=subject.planned.standing.attempt,
        reading=subject.planned.standing.reading,
        pinned=subject.commit,
        repo=workshop.repo,
        state=workshop.launches / launch,
        log=workshop.logs / f"{file_name(node.id)}.prove.log",
        agent=Agent(backend=BACKEND.name, timeout=settings.verify.total_timeout),
        workspace=workshop.provisions(),
        document=document | {KEY: order_for(db, node.spec_name, subject.objects, workshop.repo)},
        artifacts=str(workshop.artifacts),
    )


def run(order: LaunchOrder, stop: StopSignal) -> SessionEnd:
    """One session of the provers; blocks, and knows no state."""
    try:
        return run_session(order, unheeded, stop, {BACKEND.name: BACKEND})
    finally:
        clean_up(order)


def answer_of(end: SessionEnd) -> Answer | None:
    """What the provers said; None where they were asked to stop."""
    match end.kind:
        case EndKind.INTERRUPTED:
            return None
        case EndKind.ENDED:
            results = lanes_in(end.output)
            return Answer(results) if results else Answer(failure="the provers' answer could not be read")
        case _:
            return Answer(failure=f"the provers could not be run: {end.kind}: {end.reason}")


def record(tx: Docket, subject: Subject, answer: Answer, verifier: str) -> Handled:
    """The decision `Prove`, what each lane said, and the gates, in the open transaction."""
    proved = proofs(subject.parts, subject.spec_name, subject.objects, answer.results)
    facts = facts_of(subject, answer, proved)
    number, moved = tx.record(subject.planned, KIND, (), commit=subject.commit, facts=facts, note=note_of(proved))
    where = LaneRun(
        subject.spec_name, f"decision:{number}", tx.at, subject.tree, subject.commit, run=tx.run_id,
        decision=number, verifier=verifier,
    )  # fmt: skip
    record_lanes(tx.db, answer.results, where)
    move_gates(tx, subject, number, proved)
    return Handled(None, number, moved)


def facts_of(subject: Subject, answer: Answer, found: Mapping[str, Proof]) -> dict[str, object]:
    """A proof that never was made has no key: it is tried again."""
    results = [to_object(result, only=("address", "status", "is_proof", "why")) for result in answer.results]
    facts: dict[str, object] = {"results": results, "proofs": to_document(found)}
    return facts | ({"failure": answer.failure} if answer.failure else {"key": dict(subject.key)})


def note_of(found: Mapping[str, Proof]) -> str:
    return f"{sum(proof.is_proved for proof in found.values())} of {len(found)} requirements are proved"


def move_gates(tx: Docket, subject: Subject, decision_id: int, found: Mapping[str, Proof]) -> None:
    proved = [part for part, proof in found.items() if proof.is_proved]
    lost = [part for part, proof in found.items() if not proof.is_proved]
    place = {"commit": subject.commit, "tree": subject.tree}
    moves = taken_back(promotion.gates(tx, subject.spec_name), lost)
    promotion.write(tx, subject.spec_name, moves, decision_id=decision_id, **place)
    promotion.proved(tx, subject.spec_name, proved, decision_id, **place, reason="by the formal lane")


def taken_back(gates: Mapping[str, Gate], lost: Iterable[str]) -> Iterator[Promotion]:
    """What was accepted without a proof, or whose proof does not hold any more, is only reviewed."""
    for part in lost:
        if gates[part] is Gate.ACCEPTED:
            yield promote(part, Gate.ACCEPTED, Gate.REVIEWED, Role.FORMAL, "a proof is required, and there is none")


def reasons(db: Database, spec_name: str) -> dict[str, str]:
    """Why requirements of a spec are not proved, by the last decision about that, each with what to do."""
    verifier = verifier_of(db, spec_name)
    facts = last_proof(db, verifier.node.uid) if verifier is not None else {}
    failure = str(facts.get("failure", ""))
    proofs = proofs_in(facts).items()
    return {part: failure or str(proof["why"]) for part, proof in proofs if not proof["is_proved"]}


def warnings(db: Database, workshop: Workshop, specs: Iterable[str]) -> Iterator[str]:
    """Before a run: requirements that no formal object is linked to can never be proved; a sentence for each spec."""
    for spec_name in specs:
        parts = [row.requirement_id for row in gates_of(db, spec_name) if needs_proof(row)]
        provable_parts = provable(parts, spec_name, adopted(db, workshop, spec_name))
        never = [part for part in parts if not provable_parts[part]]
        if never:
            more = f" and {len(never) - SHOWN} more" if len(never) > SHOWN else ""
            named = f"{', '.join(never[:SHOWN])}{more}"
            yield f"warning: {spec_name}: no contract or theorem is linked to {named}, so it cannot be proved; {REMEDY}"
