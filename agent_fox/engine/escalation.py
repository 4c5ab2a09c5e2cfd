"""What a person is told of a block, and when it is over: outbox rows, written with the decision. Sends nothing."""

from __future__ import annotations

from collections.abc import Iterable

from agent_fox.core.clusters import Cluster, clusters, fingerprint_of
from agent_fox.core.decision import Cause
from agent_fox.core.judgement import Judged
from agent_fox.core.markdown import one_line
from agent_fox.core.standing import Status
from agent_fox.core.verdict import Word
from agent_fox.engine.docket import Docket, Transition
from agent_fox.evidence.about import read
from agent_fox.store import ledger, outbox, sessions
from agent_fox.store.gates import gates_of
from agent_fox.store.plan import PlannedNode
from agent_fox.store.records import current_verdicts, failing_after
from agent_fox.trackers.protocol import EffectKind, StateReason
from agent_fox.trackers.text import AttemptRow, Exhibit, IssueFacts, LedgerEnd, Unproven, issue_text

WHOLE_SPEC = ""
LONGEST_WAIVER = 2_400


def file_issues(
    docket: Docket, planned: PlannedNode, decision_id: int, cause: Cause, judged: Judged, commit: str | None,
    moved: Iterable[Transition],
) -> tuple[str, ...]:  # fmt: skip
    """One issue per cause of an escalated verifier; an issue that is open already is commented, not doubled."""
    spec_name = planned.node.spec_name
    failing = [judged.counted[part].verdict for part in judged.failing]
    found = clusters(failing, spec_name) or (Cluster(fingerprint_of(None, spec_name), None, judged.unknown),)
    blocked = held_ids(planned, moved)
    return tuple(
        _file(
            docket,
            planned,
            decision_id,
            cluster,
            facts_of(docket, planned, cause, judged, cluster, commit, blocked),
        )
        for cluster in found
    )


def file_node_issue(
    docket: Docket, planned: PlannedNode, decision_id: int, cause: Cause, reason: str, commit: str | None,
    moved: Iterable[Transition],
) -> tuple[str, ...]:  # fmt: skip
    """The issue of a coder or reviewer that is blocked: one per spec, since nothing of it is judged yet."""
    spec_name = planned.node.spec_name
    facts = IssueFacts(
        title=f"{planned.node.id} is blocked: {cause}", spec=spec_name, node=planned.node.id, cause=cause.value,
        run=str(docket.run_id or ""), commit=commit or "", attempts=attempt_rows(docket, planned),
        blocked=held_ids(planned, moved), reason=reason,
    )  # fmt: skip
    return (_file(docket, planned, decision_id, Cluster(fingerprint_of(None, spec_name), None, ()), facts),)


def held_ids(root: PlannedNode, moved: Iterable[Transition]) -> tuple[str, ...]:
    return tuple(t.node_id for t in moved if t.standing.status is Status.BLOCKED and t.uid != root.node.uid)


def facts_of(
    docket: Docket, planned: PlannedNode, cause: Cause, judged: Judged, cluster: Cluster, commit: str | None,
    blocked: tuple[str, ...],
) -> IssueFacts:  # fmt: skip
    spec_name = planned.node.spec_name
    members = cluster.members if judged.failing else ()
    return IssueFacts(
        title=title_of(spec_name, cause, judged, cluster),
        spec=spec_name,
        node=planned.node.id,
        cause=cause.value,
        run=str(docket.run_id or ""),
        commit=commit or "",
        failing=tuple(unproven(docket, spec_name, judged, part) for part in members),
        unknown=judged.unknown,
        attempts=attempt_rows(docket, planned),
        blocked=blocked,
        exhibits=exhibits(docket, spec_name, (*members, *judged.unknown)),
        ledger=ledger_end(docket),
        waivers=docket.waiver_lines(spec_name),
    )


def exhibits(docket: Docket, spec_name: str, parts: Iterable[str]) -> tuple[Exhibit, ...]:
    """The record of the current verdict on each of these, and its gate. Verdicts must have been written before."""
    gates = {row.requirement_id: row.state.value for row in gates_of(docket.db, spec_name)}
    found = current_verdicts(docket.db, spec_name)
    known = [(part, *found[part]) for part in parts if part in found]
    return tuple(exhibit(docket, part, number, word, gates.get(part, "")) for part, number, word in known)


def exhibit(docket: Docket, part: str, number: int, word: Word, gate: str) -> Exhibit:
    """Without a record where the verdict is older than the ledger, or its record cannot be read."""
    found = read(ledger.records(docket.db, "identity = ?", [f"verdict:{number}"]))
    if not found:
        return Exhibit(part, word, gate=gate)
    record, context = found[0].record, found[0].record.context
    return Exhibit(
        part, word, found[0].id, context.ticket, record.artifact.commit, context.environment, context.verifier, gate
    )


def ledger_end(docket: Docket) -> LedgerEnd:
    tip = ledger.tip_of(docket.db)
    return LedgerEnd(tip.head, tip.position)


def title_of(spec_name: str, cause: Cause, judged: Judged, cluster: Cluster) -> str:
    if not judged.failing:
        what = f"{len(judged.unknown)} requirement(s) without a clear verdict" if judged.unknown else "nothing to prove"
        return f"{spec_name}: {what}"
    named = ", ".join(cluster.members[:3]) + (" and more" if len(cluster.members) > 3 else "")
    verb = "is" if len(cluster.members) == 1 else "are"
    return f"{spec_name}: {named} {verb} not met ({cause})"


def unproven(docket: Docket, spec_name: str, judged: Judged, part: str) -> Unproven:
    verdict = judged.counted[part].verdict
    command = verdict.signal.command if verdict.signal else ""
    return Unproven(part, docket.file_of(spec_name).texts.get(part, ""), verdict.evidence, command)


def attempt_rows(docket: Docket, planned: PlannedNode) -> tuple[AttemptRow, ...]:
    """Every coder session of the spec, oldest first, with what the report after it found failing."""
    spec_name = planned.node.spec_name
    rows = sessions.sessions_where(
        docket.db, "spec_name = ? AND archetype = 'coder' AND status <> 'running'", [spec_name]
    )
    return tuple(
        AttemptRow(
            row.ticket.attempt, row.landed or row.pinned or "", row.cost_usd,
            row.reason or ", ".join(failing_after(docket.db, spec_name, row.id)),
            f"{row.node_id}: {row.summary or 'no summary'}",
        )
        for row in rows
    )  # fmt: skip


def _file(docket: Docket, planned: PlannedNode, decision_id: int, cluster: Cluster, facts: IssueFacts) -> str:
    """The issue is noted as open in the same transaction, so that the next decision knows of it."""
    title, body = issue_text(facts)
    known = outbox.issue_state(docket.db, cluster.fingerprint)
    kind = {None: EffectKind.FILE, "open": EffectKind.COMMENT}.get(known, EffectKind.REOPEN)
    members = cluster.members or (WHOLE_SPEC,)
    spec_name = planned.node.spec_name
    outbox.open_issue(docket.db, cluster.fingerprint, title, facts.cause, spec_name, members, docket.at)
    payload = {
        "title": title, "body": body, "members": list(cluster.members), "cause": facts.cause, "at": docket.at,
    }  # fmt: skip
    return outbox.put(docket.db, decision_id, kind, cluster.fingerprint, spec_name, payload, docket.at)


def settle_issues(
    docket: Docket, planned: PlannedNode, decision_id: int, commit: str | None, proven: tuple[str, ...]
) -> tuple[str, ...]:
    """The spec is proven: issues about it alone are closed with the proof, others are told of their part.

    What a person has waived is told as that.
    """
    spec_name = planned.node.spec_name
    waived = docket.waiver_lines(spec_name)
    return tuple(
        _settle(docket, spec_name, fingerprint, decision_id, commit, proven, waived)
        for fingerprint in outbox.issues_of_spec(docket.db, spec_name)
    )


def _settle(
    docket: Docket,
    spec_name: str,
    fingerprint: str,
    decision_id: int,
    commit: str | None,
    proven: tuple[str, ...],
    waived: tuple[str, ...] = (),
) -> str:
    still_open = outbox.settle_members(docket.db, fingerprint, spec_name)
    kind = EffectKind.COMMENT if still_open else EffectKind.CLOSE
    if not still_open:
        outbox.close_issue(docket.db, fingerprint, docket.at)
    rest = f"\n\n{still_open} part(s) of this issue are still open." if still_open else ""
    body = f"{closing_words(spec_name, commit, len(proven), waived)}{rest}\n"
    title = f"{spec_name} is proven" + (f", {len(waived)} waived" if waived else "")
    payload = {
        "title": title, "body": body, "members": list(proven), "at": docket.at,
        "state_reason": None if still_open else StateReason.COMPLETED.value,
    }  # fmt: skip
    return outbox.put(docket.db, decision_id, kind, fingerprint, spec_name, payload, docket.at)


def closing_words(spec_name: str, commit: str | None, count: int, waived: tuple[str, ...]) -> str:
    """What passes on which commit; and what only a person's signature stands for, with all that was signed."""
    if not waived:
        return f"Proven: all {count} requirement(s) of {spec_name} pass on commit `{commit}`."
    listed = "\n".join(f"- {one_line(line, LONGEST_WAIVER)}" for line in waived)
    passed = f"{count - len(waived)} of {count} requirement(s) of {spec_name} pass on commit `{commit}`"
    return f"Waived: {passed}; no evidence, but a person's signature, stands for the rest:\n\n{listed}"
