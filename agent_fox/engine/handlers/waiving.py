"""What waivers do to the plan: a gate is waived, an escalated spec goes on, one whose waiver ended is unproven again.

Whether a waiver counts is asked of its signed envelope each time (`evidence.waivers`); nothing here decides that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.ledger import promotion as rules
from agent_fox.core.ledger.gates import TRANSITIONS, Gate, Role, is_enough, step
from agent_fox.core.ledger.waivers import CHANGED, HIDDEN, AboutRequirement, Statement, describe
from agent_fox.core.retry.decision import Accept, Block, Cause
from agent_fox.core.retry.standing import Outcome, Status, Step
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Word
from agent_fox.core.words import quote
from agent_fox.engine.account.account import WaiverNote
from agent_fox.engine.handlers import agreeing, final_review
from agent_fox.engine.handlers.final_review import review_again
from agent_fox.engine.issues.escalation import file_again
from agent_fox.engine.issues.settling import is_in_open_issue, settle_issues, waive_part
from agent_fox.engine.record import blocking_history, promotion
from agent_fox.engine.record.docket import Docket, Handled, Move
from agent_fox.evidence import granting, waivers
from agent_fox.evidence.granting import WaiverRefused
from agent_fox.store import waivers as stored
from agent_fox.store.gates import GateMove, GateRow, gates_of, record_moves
from agent_fox.store.plan import PlannedNode, StoredPart, load_parts, node_by_uid, nodes_that_ended, set_verified
from agent_fox.store.records import CurrentVerdict, record_event, verdicts_now
from agent_fox.store.sessions import Reading, last_reading
from agent_fox.system import clock

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.evidence.signing.keys import PublicKey
    from agent_fox.evidence.waivers import Grounds, Held


@dataclass(frozen=True, slots=True)
class Open:
    """What of a spec is neither proven nor waived. `passed` was read as PASS in its present version."""

    passed: tuple[str, ...]
    waived: tuple[str, ...]
    open: tuple[str, ...]


def look(db: Database, spec_name: str, waived: frozenset[str], tree: str | None = None) -> Open:
    """Sort the requirements of a spec by their current verdict, given on `tree` where one is named."""
    verdicts = verdicts_now(db, spec_name)
    parts = load_parts(db, spec_name)
    passed = tuple(part.id for part in parts if _passes(part, verdicts.get(part.id), tree))
    left = [part.id for part in parts if part.id not in passed]
    return Open(passed, tuple(p for p in left if p in waived), tuple(p for p in left if p not in waived))


def _passes(part: StoredPart, verdict: CurrentVerdict | None, tree: str | None) -> bool:
    if verdict is None or (verdict.word, verdict.version) != (Word.PASS, part.version):
        return False
    return tree is None or verdict.tree == tree


def settle(tx: Docket, grounds: Grounds) -> list[Handled]:
    """Bring the plan in line with the waivers as they are now, in the open transaction. Safe to repeat.

    What ended is over, and what rested on it is unproven; what a waiver completes goes on, without a session.
    """
    end_lapsed(tx, grounds)
    waived = nodes_that_ended(tx.db, Archetype.VERIFIER, Outcome.WAIVED)
    handled = [result for planned in waived for result in take_back(tx, grounds, planned)]
    handled += agreeing.take_back(tx, grounds)
    escalated = nodes_that_ended(tx.db, Archetype.VERIFIER, Outcome.ESCALATED)
    return [*handled, *(result for planned in escalated for result in go_on(tx, grounds, planned))]


def end_lapsed(tx: Docket, grounds: Grounds) -> None:
    """Note which waivers are over, and take back the gates that no waiver holds any more."""
    held = waivers.held(tx.db, grounds, tx.at, stored.waivers_of(tx.db))
    for waiver in held:
        if waiver.ending is not None:
            row, at = (
                stored.waiver_by_prefix(tx.db, waiver.waiver.id)[0],
                waivers.time_of(tx.db, tx.at, grounds),
            )
            granting.end(tx.db, at, row, waiver.ending.kind, waiver.ending.why)
    gates = [gate for gate in gates_of(tx.db) if rests_on_waiver(gate)]
    if gates and not grounds.why_unusable(tx.db):
        take_back_gates(tx, gates, {waiver.waiver.id: waiver for waiver in held})


def take_back_gates(tx: Docket, gates: Iterable[GateRow], held: Mapping[str, Held]) -> None:
    """Each gate that rests on a waiver, and has none that counts, goes back to `proposed`."""
    for gate in gates:
        waiver = gate.waiver_id or stored.waiver_behind(tx.db, gate.spec_name, gate.requirement_id)
        why = why_unheld(gate, held.get(waiver))
        if why:
            move = GateMove(gate.requirement_id, gate.version, gate.state, Gate.PROPOSED, Role.ENGINE, reason=why)
            record_moves(tx.db, tx.at, gate.spec_name, [move])
            data = {"requirement": gate.requirement_id, "waiver": waiver, "why": why}
            record_event(tx.db, tx.at, tx.run_id, "waiver ended", spec_name=gate.spec_name, data=data)


def rests_on_waiver(gate: GateRow) -> bool:
    """Whether a person's signature stands for it: only what was waived is ever accepted by the engine itself."""
    return gate.state is Gate.WAIVED or (gate.state is Gate.ACCEPTED and gate.role is Role.ENGINE)


def why_unheld(gate: GateRow, held: Held | None) -> str:
    if held is None:
        return "no waiver holds this gate"
    if held.why_not:
        return f"its waiver does not count: {held.why_not}"
    subject = held.statement.subject
    is_its_own = isinstance(subject, AboutRequirement) and subject.address == f"{gate.spec_name}/{gate.requirement_id}"
    return "" if is_its_own else "its waiver is about something else"


def take_back(tx: Docket, grounds: Grounds, planned: PlannedNode) -> tuple[Handled, ...]:
    """A spec that was completed with waivers which do not count any more is escalated again; nothing is re-run."""
    spec_name = planned.node.spec_name
    sorted_parts = look(tx.db, spec_name, waivers.waived_now(tx.db, grounds, tx.at, spec_name))
    if not sorted_parts.open:
        return ()
    reason = f"a waiver that it rests on does not count any more: {', '.join(sorted_parts.open)} not proven"
    moves = [Move(planned, Step.REOPEN), *review_again(tx, spec_name)]
    number, moved = tx.record(planned, "Reopen", moves, note=reason)
    again = node_by_uid(tx.db, planned.node.uid)
    facts: dict[str, object] = {
        "unknown": list(sorted_parts.open),
        "waived": list(sorted_parts.waived),
        "notes": [reason],
    }
    block, blocked = blocking_history.block(
        tx, again, Step.ESCALATE, Cause.NEEDS_PERSON, reason, session_id=None, commit=None, facts=facts,
        requirements=sorted_parts.open,
    )  # fmt: skip
    effects = file_again(tx, again, block, Cause.NEEDS_PERSON, reason, sorted_parts.open, blocked)
    return Handled(None, number, moved), Handled(Block(Cause.NEEDS_PERSON), block, blocked, effects)


def go_on(tx: Docket, grounds: Grounds, planned: PlannedNode) -> tuple[Handled, ...]:
    """An escalated spec whose last reading passed in all that no waiver covers, on one tree, is completed as waived."""
    spec_name = planned.node.spec_name
    read = last_reading(tx.db, planned.node.uid)
    waived = waivers.waived_now(tx.db, grounds, tx.at, spec_name)
    if read is None or not waived:
        return ()
    sorted_parts = look(tx.db, spec_name, waived, read.tree)
    if sorted_parts.open or not sorted_parts.waived:
        return ()
    return accept(tx, planned, read, sorted_parts)


def accept(tx: Docket, planned: PlannedNode, read: Reading, found: Open) -> tuple[Handled, Handled]:
    """Two recorded decisions: the verifier is opened again, with what it held back, and accepted as waived."""
    spec_name, note = planned.node.spec_name, f"waived by a person: {', '.join(found.waived)}"
    freed = blocking_history.freed_by(tx, [planned])
    number, moved = tx.record(planned, "Reopen", [Move(planned, Step.REOPEN), *freed], commit=read.commit, note=note)
    again = node_by_uid(tx.db, planned.node.uid)
    facts: dict[str, object] = {"judgement": "SOUND", "failing": [], "unknown": [], "waived": list(found.waived)}
    accepted, completed = tx.record(
        again, "Accept", [Move(again, Step.WAIVE)], commit=read.commit, facts=facts, note=note
    )
    set_verified(tx.db, spec_name, read.commit)
    promote(tx, spec_name, found.passed, accepted, read)
    note_use(tx, spec_name, found.waived, accepted)
    effects = close_issues(tx, again, accepted, read)
    return Handled(None, number, moved), Handled(Accept(is_waived=True), accepted, completed, effects)


def promote(tx: Docket, spec_name: str, passed: tuple[str, ...], decision_id: int, read: Reading) -> None:
    """What passed is tested. A gate that a person has waived stays so: nothing was read anew."""
    gates = promotion.gates(tx, spec_name)
    moves = rules.proven(gates, (part for part in passed if gates[part] is not Gate.WAIVED))
    promotion.write(tx, spec_name, moves, decision_id=decision_id, commit=read.commit, tree=read.tree)


def note_use(tx: Docket, spec_name: str, waived: Iterable[str], decision_id: int) -> None:
    """Keep which waivers an Accept rested on."""
    parts = frozenset(waived)
    for gate in gates_of(tx.db, spec_name) if parts else ():
        if gate.requirement_id in parts and gate.state is Gate.WAIVED and gate.waiver_id:
            subject = f"{spec_name}/{gate.requirement_id}"
            granting.note_use(tx.db, tx.at, gate.waiver_id, subject, decision_id)


def close_issues(tx: Docket, planned: PlannedNode, decision_id: int, read: Reading) -> tuple[str, ...]:
    """Its issues are closed as waived, unless a final review has still to say so."""
    spec_name = planned.node.spec_name
    review = final_review.review_of(tx.db, spec_name)
    if review is not None and review.standing.status is not Status.COMPLETED:
        return ()
    parts = tuple(part.id for part in load_parts(tx.db, spec_name))
    return settle_issues(tx, planned, decision_id, read.commit, parts)


def lines_in_force(db: Database, grounds: Grounds, at: str, spec_name: str | None = None) -> list[str]:
    """The waivers that count now, a line each: about what, who signed, until when, why."""
    return [describe(waiver.statement) for waiver in waivers.in_force(db, grounds, at, spec_name)]


def notes_in_force(db: Database, grounds: Grounds, at: str) -> tuple[WaiverNote, ...]:
    """Every waiver that counts now, as an account of the run lists them."""
    held = waivers.held(db, grounds, at, stored.waivers_of(db))
    return tuple(
        note_of(waiver)
        for waiver in held
        if not (waiver.why_not or waiver.waiver.columns.check_name in (CHANGED, HIDDEN))
    )


def note_of(one: Held) -> WaiverNote:
    columns = one.waiver.columns
    return WaiverNote(
        one.waiver.id, columns.spec_name, columns.address, columns.signer, columns.expires_at, columns.reason,
        describe(one.statement),
    )  # fmt: skip


def waivable(tx: Docket, grounds: Grounds, part: StoredPart) -> AboutRequirement:
    """The requirement as the subject of a waiver. Raises WaiverRefused where there is nothing to waive."""
    subject = AboutRequirement(part.spec_name, part.id, part.version)
    for waiver in waivers.in_force(tx.db, grounds, tx.at, part.spec_name):
        if waiver.statement.subject == subject:
            until, who = waiver.statement.expires_at, waiver.statement.signer
            raise WaiverRefused(
                f"{part.id} is waived until {until} by {who}; `--revoke {waiver.short_id}` ends that first"
            )
    refuse_proven(tx, part)
    return subject


def refuse_proven(tx: Docket, part: StoredPart) -> None:
    """Raises WaiverRefused for a requirement that needs no waiver."""
    required, passed = tx.policy.required_state, look(tx.db, part.spec_name, frozenset()).passed
    gate = next((row for row in gates_of(tx.db, part.spec_name) if row.requirement_id == part.id), None)
    is_reached = gate is not None and gate.version == part.version and gate.state is not Gate.WAIVED
    is_reached = is_reached and part.id in passed  # a later reading that gave no clear verdict leaves the gate
    if gate is not None and is_reached and is_enough(required, gate.state, was_proved=gate.was_proved):
        raise WaiverRefused(f"{part.id} is {gate.state}, on {gate.commit[:12] or 'record'}: there is nothing to waive")
    if gate is not None and (gate.state, Gate.WAIVED) not in {*TRANSITIONS, (Gate.WAIVED, Gate.WAIVED)}:
        raise WaiverRefused(
            f"{part.id}: a gate that is {gate.state} cannot be waived; have it read again first (reset)"
        )
    if required is Gate.TESTED and part.id in passed:
        raise WaiverRefused(
            f"{part.id} has passed: there is nothing to waive; `agent-fox explain {quote(part.spec_name)}`"
        )


def draft(tx: Docket, grounds: Grounds, address: str, reason: str, expires: str, key: PublicKey) -> Statement:
    """What the holder of a key would sign to accept `SPEC/REQ`. Raises WaiverRefused, KeyTrouble."""
    trouble = grounds.why_unusable(tx.db)
    if trouble:
        raise WaiverRefused(f"nothing can be waived here: {trouble}")
    part = next((part for part in load_parts(tx.db) if f"{part.spec_name}/{part.id}" == address), None)
    if part is None:
        raise WaiverRefused(f"{address}: there is no such requirement in the plan; name it SPEC/REQ")
    subject, now = waivable(tx, grounds, part), waivers.time_of(tx.db, tx.at, grounds)
    return Statement(
        clock.new_id(), grounds.repository, subject, granting.dependencies(tx.db, grounds, subject, ()),
        granting.reason_of(reason), now, granting.expiry(expires, now), granting.principal_of(grounds, key), key.id,
    )  # fmt: skip


def grant(tx: Docket, grounds: Grounds, envelope: str) -> tuple[Held, list[Handled]]:
    """Keep a signed waiver, move the gate it is about, and let go on what it completes.

    Raises WaiverRefused, and then the transaction must not be committed.
    """
    held = granting.keep(tx.db, grounds, waivers.time_of(tx.db, tx.at, grounds), envelope)
    subject = held.statement.subject
    if isinstance(subject, AboutRequirement):
        end_lapsed(tx, grounds)
        waive_gate(tx, held, subject)
    handled = settle(tx, grounds)
    if isinstance(subject, AboutRequirement):
        tell_issues(tx, subject, describe(held.statement))
    return held, handled


def tell_issues(tx: Docket, subject: AboutRequirement, line: str) -> None:
    """Issues that stay open for other parts are told, which is a decision without a move: nothing goes on by it."""
    planned = final_review.verifier_of(tx.db, subject.spec)
    if planned is None or not is_in_open_issue(tx.db, subject.spec, subject.requirement):
        return
    number, _ = tx.record(planned, "Waive", (), note=f"waived by a person: {subject.requirement}")
    waive_part(tx, planned, number, subject.requirement, line)


def waive_gate(tx: Docket, held: Held, subject: AboutRequirement) -> None:
    """The gate of the requirement goes to `waived`, by a person whose signature is in the state file."""
    state = promotion.gates(tx, subject.spec)[subject.requirement]
    step(state, Gate.WAIVED, Role.PERSON)
    move = GateMove(
        subject.requirement, subject.version, state, Gate.WAIVED, Role.PERSON, held.waiver.id,
        f"{held.statement.signer}: {held.statement.reason}",
    )  # fmt: skip
    record_moves(tx.db, tx.at, subject.spec, [move])


def revoke(tx: Docket, grounds: Grounds, name: str, reason: str) -> tuple[str, list[Handled]]:
    """End a waiver, and what rested on it; gives its id. Raises WaiverRefused.

    It needs no signature: it grants nothing.
    """
    row = granting.to_revoke(tx.db, name)
    granting.end(tx.db, waivers.time_of(tx.db, tx.at, grounds), row, "revoked", reason)
    return row.id, settle(tx, grounds)
