"""Close-outs in the evidence ledger: every judgement is a record with all that it was made from, so that it can be made
again. The newest says what a report must say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ledger.close_out import Check, CloseOut, Finding, Severity, Verification, judge
from agent_fox.core.ledger.evidence import (
    Artifact,
    Evidence,
    Kind,
    Outcome,
    ReviewerDecision,
    RunContext,
    SpecRef,
    record_id,
)
from agent_fox.core.values import Json, to_document
from agent_fox.evidence.close_outs import Damaged, given_in, status_of
from agent_fox.review.close_out.report import Judged, document_of, file_name, read_report
from agent_fox.store.ledger import ledger

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.store.ledger.ledger import Kept

GATE = "close-out gate 1"
TASK = "task"
OURS = "kind = 'close-out' AND address = ?"
OF_A_SESSION = f"{OURS} AND session_id IS NOT NULL"


def identity_of(db: Database, task_id: str) -> str:
    """The name of the next judgement of a task: judgements are counted, none is ever taken for another."""
    made = sum(1 for _ in ledger.records(db, OURS, [task_id]))
    return f"close-out:{task_id}:{made + 1}"


def keep(db: Database, given: CloseOut, judged: Judged, context: RunContext) -> Judged:
    """Append a judgement to the ledger, in the open transaction. The same with the id of its record."""
    (link,) = ledger.append(db, [_evidence(db, given, judged, context)], _spec_of(given.task_id))
    return replace(judged, record=link.record_id)


def _spec_of(task_id: str) -> str | None:
    spec, colon, _ = task_id.partition(":")
    return spec if colon else None


def _evidence(db: Database, given: CloseOut, judged: Judged, context: RunContext) -> Evidence:
    verification = judged.verification
    counterexample = next((f"{finding.check}: {finding.detail}" for finding in verification.blocking), "")
    return Evidence(
        kind=Kind.CLOSE_OUT,
        identity=identity_of(db, verification.task_id),
        timestamp=judged.timestamp,
        outcome=Outcome(status_of(verification), counterexample=counterexample),
        about=SpecRef(TASK, verification.task_id),
        context=replace(context, verifier=GATE),
        artifact=Artifact(judged.tree, judged.commit),
        reviewer_decision=_decision(verification),
        limitation=judged.limitation,
        body={"report": document_of(judged), "given": to_document(given)},
    )


def _decision(found: Verification) -> ReviewerDecision:
    if not found.passed:
        return ReviewerDecision.REJECTED
    return ReviewerDecision.WAIVED if found.waivers else ReviewerDecision.ACCEPTED


def newest(db: Database, task_id: str) -> Kept | None:
    """The last judgement of a task, whoever asked for it: what its report must say."""
    entries = list(ledger.records(db, OURS, [task_id]))
    return entries[-1] if entries else None


def task_in(db: Database, name: str) -> Kept | None:
    """The last close-out of a session for a task (`SPEC:2@1`), or for the last attempt of a node (`SPEC:2`)."""
    exact = list(ledger.records(db, OF_A_SESSION, [name]))
    if exact or "@" in name:
        return exact[-1] if exact else None
    prefix = f"{name}@"
    condition = "kind = 'close-out' AND session_id IS NOT NULL AND substr(address, 1, ?) = ?"
    entries = list(ledger.records(db, condition, [len(prefix), prefix]))
    return entries[-1] if entries else None


def given_of(kept: Kept) -> CloseOut:
    """What a record was made from. Raises Damaged where it is not that, or does not come to what the record says."""
    body = kept.document["body"]
    try:
        given = given_in(body if isinstance(body, dict) else {})
    except Damaged as error:
        raise Damaged(f"record {kept.link.record_id} of the ledger {error}") from error
    if record_id(kept.content) != kept.link.record_id or given.task_id != kept.address:
        raise Damaged(f"record {kept.link.record_id} of the ledger was changed; see `agent-fox ledger verify`")
    findings = document_of(Judged(judge(given), kept.at))["findings"]
    if not isinstance(body, dict) or _unsigned(findings) != _unsigned(_report(body)["findings"]):
        raise Damaged(f"record {kept.link.record_id} of the ledger does not come to the findings it names")
    return given


def _report(body: Mapping[str, Json]) -> dict[str, Json]:
    report = body.get("report")
    return report if isinstance(report, dict) else {"findings": None}


def _unsigned(findings: Json) -> Json:
    """Findings without who signed for them, which may change."""
    rows = findings if isinstance(findings, list) else [findings]
    return [{**row, "waived_by": None} if isinstance(row, dict) else row for row in rows]


def report_of(kept: Kept) -> dict[str, Json]:
    """The report that a record is about."""
    body = kept.document["body"]
    return {**_report(body if isinstance(body, dict) else {}), "record": kept.link.record_id}


def edited(db: Database, folder: Path, task_id: str) -> tuple[Finding, ...]:
    """A warning where the report that lies there is not what the ledger says it was; nothing where none lies there."""
    report = read_report(folder / file_name(task_id))
    if report is None:
        return ()
    kept = next(ledger.records(db, f"{OURS} AND record_id = ?", [task_id, str(report.get("record"))]), None)
    if kept is not None and report_of(kept) == report:
        return ()
    name = str(report.get("record") or "none")[:64]
    reason = f"The report was changed by hand since it was written, or is no report of this ledger (record {name})"
    return (Finding(Check.REPORT_EDITED, Severity.WARN, reason),)
