"""What a person is told of a block, and when it is over: outbox rows, written with the decision. Sends nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of, parse_node_name
from agent_fox.core.late import late_module
from agent_fox.core.markdown import cut_middle, one_line
from agent_fox.core.plan.blame import ownership
from agent_fox.core.plan.corrections import doubt
from agent_fox.core.regex import regex
from agent_fox.core.retry.clusters import Cluster, clusters, fingerprint_of, part_fingerprint
from agent_fox.core.retry.decision import Cause
from agent_fox.core.retry.filing import Says
from agent_fox.core.retry.standing import Status
from agent_fox.core.values import to_document
from agent_fox.core.verdicts.hidden import COMMAND as HIDDEN
from agent_fox.core.words import counted, listed
from agent_fox.engine.issues.heading import DIGEST, WHOLE_SPEC, status_of
from agent_fox.engine.issues.settling import known_lines, named, repair, settle_repaired, slot_of
from agent_fox.engine.record.best_tree import undone
from agent_fox.engine.record.convergence import own_failures
from agent_fox.evidence.about import read
from agent_fox.store import desk, outbox, sessions
from agent_fox.store.gates import gates_of
from agent_fox.store.ledger import ledger
from agent_fox.store.plan import planned_snapshot
from agent_fox.store.records import begun_at, current_verdicts, decisions_of_spec, failing_after
from agent_fox.trackers.facts import (
    AttemptRow,
    ChangedTest,
    Exhibit,
    IssueFacts,
    LedgerEnd,
    Unproven,
    places_in,
)
from agent_fox.trackers.protocol import EffectKind

if TYPE_CHECKING:
    from agent_fox.core.verdicts.expectations import Expectation
    from agent_fox.core.verdicts.judgement import Judged
    from agent_fox.core.verdicts.verdict import Word
    from agent_fox.engine.record.best_tree import WayBack
    from agent_fox.engine.record.docket import Docket, Transition
    from agent_fox.store.plan import PlannedNode
    from agent_fox.store.records import DecisionRow
    from agent_fox.store.sessions import SessionRow
    from agent_fox.trackers.text import pages
else:
    pages = late_module("agent_fox.trackers.text.pages")

LONGEST_TOLD = 40_000
"""Characters of evidence about one requirement that go to a tracker; all of it is in the state."""

_KEPT_LOG = regex(r"^log: (?P<address>artifact://\S+)(?:\n|\Z)", re.MULTILINE)
"""The line of evidence that names where a whole log is kept: an issue has the end of the log instead."""

TAKEN_BACK = " (taken off the branch again)"

LONGEST_LINE = 400
"""Characters about one requirement where many stand together."""


def file_issues(
    transaction: Docket, planned: PlannedNode, decision_id: int, cause: Cause, judged: Judged, commit: str | None,
    moved: Iterable[Transition], back: WayBack | None = None, last_judged: Judged | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """One issue per cause of an escalated verifier; an issue that is open already is commented, not doubled.

    `judged` is what holds of the branch; with a way `back`, the first issue also has what the last attempt, which
    `last_judged` judges, has lost.
    """
    spec_name = planned.node.spec_name
    failing = [judged.counted[part].verdict for part in judged.failing]
    causes = clusters(failing, spec_name) or (Cluster(fingerprint_of(None, spec_name), None, judged.unknown),)
    blocked = held_ids(planned, moved)
    repaired = repair(transaction, spec_name, judged)
    filed: list[str] = []
    for cluster in causes:
        facts = facts_of(transaction, planned, cause, judged, cluster, commit, blocked)
        facts = replace(facts, repaired=repaired.pop(cluster.fingerprint, ()), best=back.in_words if back else "")
        if back and back.landing and last_judged and not filed:
            facts = replace(
                facts, lost=tuple(unproven(transaction, spec_name, last_judged, part) for part in back.lost)
            )
        filed += _file(transaction, planned, decision_id, cluster, facts)
    return (*filed, *settle_repaired(transaction, planned, decision_id, commit, repaired))


def file_node_issue(
    transaction: Docket, planned: PlannedNode, decision_id: int, cause: Cause, reason: str, commit: str | None,
    moved: Iterable[Transition], changed: Iterable[tuple[str, Expectation]] = (),
) -> tuple[str, ...]:  # fmt: skip
    """The issue of a coder or reviewer that is blocked: one per spec, since nothing of it is judged yet."""
    spec_name = planned.node.spec_name
    facts = IssueFacts(
        title=f"{planned.node.id} stopped ({cause}): {planned.node.title}", spec=spec_name, node=planned.node.id,
        cause=cause.value, run=str(transaction.run_id or ""), commit=commit or "",
        attempts=attempt_rows(transaction, planned), blocked=held_ids(planned, moved), reason=reason,
        changed_tests=tuple(changed_test(part, change) for part, change in changed),
        before_waiving=transaction.before_waiving(),
    )  # fmt: skip
    return _file(transaction, planned, decision_id, Cluster(fingerprint_of(None, spec_name), None, ()), facts)


def file_again(
    transaction: Docket, planned: PlannedNode, decision_id: int, cause: Cause, reason: str, parts: tuple[str, ...],
    moved: Iterable[Transition],
) -> tuple[str, ...]:  # fmt: skip
    """What a waiver does not hold any more: the issues that these parts were in, else the one of the spec."""
    spec_name, blocked = planned.node.spec_name, held_ids(planned, moved)
    parts_of: dict[str, list[str]] = {}
    for part in parts:
        known = outbox.issues_about(transaction.db, spec_name, part)
        parts_of.setdefault(known[0] if known else fingerprint_of(None, spec_name), []).append(part)
    filed: list[str] = []
    for fingerprint, members in parts_of.items():
        cluster = Cluster(fingerprint, None, tuple(members))
        facts = IssueFacts(
            title=f"{spec_name}: {named((spec_name, part) for part in members)} not proven: no waiver counts any more",
            spec=spec_name, node=planned.node.id, cause=cause.value, run=str(transaction.run_id or ""),
            unknown=tuple(members), attempts=attempt_rows(transaction, planned), blocked=blocked, reason=reason,
            exhibits=exhibits(transaction, spec_name, members), ledger=ledger_end(transaction),
            waivers=transaction.waiver_lines(spec_name), known=known_lines(transaction, spec_name),
            before_waiving=transaction.before_waiving(),
        )  # fmt: skip
        filed += _file(transaction, planned, decision_id, cluster, facts)
    return tuple(filed)


def held_ids(root: PlannedNode, moved: Iterable[Transition]) -> tuple[str, ...]:
    return tuple(t.node_id for t in moved if t.standing.status is Status.BLOCKED and t.uid != root.node.uid)


def facts_of(
    transaction: Docket, planned: PlannedNode, cause: Cause, judged: Judged, cluster: Cluster, commit: str | None,
    blocked: tuple[str, ...],
) -> IssueFacts:  # fmt: skip
    spec_name = planned.node.spec_name
    members = cluster.members if judged.failing else ()
    failing = tuple(unproven(transaction, spec_name, judged, part) for part in members)
    return IssueFacts(
        title=title_of(transaction, spec_name, cause, judged),
        spec=spec_name,
        node=planned.node.id,
        cause=cause.value,
        run=str(transaction.run_id or ""),
        commit=commit or "",
        failing=failing,
        unknown=judged.unknown,
        attempts=attempt_rows(transaction, planned),
        blocked=blocked,
        reason="" if failing else unclear_words(transaction, spec_name, judged),
        exhibits=exhibits(transaction, spec_name, (*members, *judged.unknown)),
        ledger=ledger_end(transaction),
        waivers=transaction.waiver_lines(spec_name),
        places=places_in("\n".join(part.evidence for part in failing)),
        changed_tests=tuple(changed_tests(judged, (*members, *judged.unknown))),
        known=known_lines(transaction, spec_name),
        before_waiving=transaction.before_waiving(),
    )


def changed_tests(judged: Judged, parts: Iterable[str]) -> Iterator[ChangedTest]:
    """The committed tests that fail although the tests of the tree pass: a person may agree that they were changed."""
    for part in parts:
        expectation = judged.counted[part].verdict.expectation
        if expectation is not None:
            yield changed_test(part, expectation)


def changed_test(part: str, found: Expectation) -> ChangedTest:
    return ChangedTest(part, found.test, found.reason, found.before, found.after)


def unclear_words(transaction: Docket, spec_name: str, judged: Judged) -> str:
    """What each requirement without a clear verdict asks for, and what was said of it: an id tells nobody why."""
    texts = transaction.file_of(spec_name).texts
    pairs = ((f"{part}: {texts.get(part, '')}", judged.counted[part].verdict.evidence) for part in judged.unknown)
    lines = (
        f"{one_line(what, LONGEST_LINE)}\n    {one_line(evidence, LONGEST_LINE)}".rstrip() for what, evidence in pairs
    )
    return "\n".join(lines)


def exhibits(transaction: Docket, spec_name: str, parts: Iterable[str]) -> tuple[Exhibit, ...]:
    """The record of the current verdict on each of these, and its gate. Verdicts must have been written before."""
    gates = {row.requirement_id: row.state.value for row in gates_of(transaction.db, spec_name)}
    verdicts = current_verdicts(transaction.db, spec_name)
    known = [(part, *verdicts[part]) for part in parts if part in verdicts]
    return tuple(exhibit(transaction, part, number, word, gates.get(part, "")) for part, number, word in known)


def exhibit(transaction: Docket, part: str, number: int, word: Word, gate: str) -> Exhibit:
    """Without a record where the verdict is older than the ledger, or its record cannot be read."""
    records = read(ledger.records(transaction.db, "identity = ?", [f"verdict:{number}"]))
    if not records:
        return Exhibit(part, word, gate=gate)
    record, context = records[0].record, records[0].record.context
    return Exhibit(
        part, word, records[0].id, context.ticket, record.artifact.commit, context.environment, context.verifier, gate
    )


def ledger_end(transaction: Docket) -> LedgerEnd:
    tip = ledger.tip_of(transaction.db)
    return LedgerEnd(tip.head, tip.position)


def title_of(transaction: Docket, spec_name: str, cause: Cause, judged: Judged) -> str:
    """The title of an issue about requirements without a clear verdict; empty where some fail, which says enough."""
    if judged.failing:
        return ""
    persons = [part for part in judged.unknown if judged.counted[part].verdict.needs_person]
    texts = transaction.file_of(spec_name).texts
    if persons:
        kinds = sorted({str(judged.counted[part].verdict.disposition) for part in persons})
        return f"{spec_name}: {listed(persons)} needs a person ({', '.join(kinds)}): {texts.get(persons[0], '')}"
    return "" if judged.unknown else f"{spec_name}: {cause}"


def unproven(transaction: Docket, spec_name: str, judged: Judged, part: str) -> Unproven:
    verdict = judged.counted[part].verdict
    command = verdict.signal.command if verdict.signal and verdict.signal.command != HIDDEN else ""
    file = transaction.file_of(spec_name)
    guessed = doubt(file.spec, file.ownership.grounds.get(part))
    kept = _KEPT_LOG.search(verdict.evidence)
    evidence = cut_middle(_KEPT_LOG.sub("", verdict.evidence).strip("\n"), LONGEST_TOLD)
    log = transaction.log_end(kept["address"]) if kept else ""
    return Unproven(part, file.texts.get(part, ""), evidence, command, log, guessed)


def attempt_rows(transaction: Docket, planned: PlannedNode) -> tuple[AttemptRow, ...]:
    """Every coder session of the spec, oldest first, with what of its own work the report after it found failing."""
    spec_name = planned.node.spec_name
    rows = sessions.sessions_where(
        transaction.db, "spec_name = ? AND archetype = 'coder' AND status <> 'running'", [spec_name]
    )
    past = decisions_of_spec(transaction.db, spec_name)
    gone = undone(past)
    return tuple(
        AttemptRow(
            row.ticket.attempt, row.landed or row.pinned or "", row.cost_usd,
            row.reason or ", ".join(_own_failures(transaction, row, past)),
            f"{row.node_id}: {row.summary or 'no summary'}{TAKEN_BACK if row.id in gone else ''}",
        )
        for row in rows
    )  # fmt: skip


def _own_failures(transaction: Docket, row: SessionRow, past: list[DecisionRow]) -> tuple[str, ...]:
    failed = failing_after(transaction.db, row.spec_name, row.id)
    return own_failures(row.ticket.node_uid, failed, transaction.file_of(row.spec_name).ownership, past)


def headline_of(facts: IssueFacts, attempt: int) -> str:
    """Why a node stopped at this attempt, in words for a person."""
    match facts.cause:
        case Cause.ATTEMPTS_SPENT.value:
            return f"Stopped after {counted(attempt, 'attempt')}. Needs you."
        case Cause.NO_PROGRESS.value:
            return f"Stopped after {counted(attempt, 'attempt')} without progress. Needs you."
        case _:
            return f"Stopped: {facts.cause}. Needs you."


def place_of(transaction: Docket, cause: str) -> str:
    """The issue that a cause is told in: its own, or the digest of what one run has too much of."""
    if transaction.max_new is None or transaction.run_id is None or outbox.issue_state(transaction.db, cause):
        return cause
    known = desk.all_remembered(transaction.db, "", DIGEST)
    noted = next((digest for name, digest in known if name == cause), "")
    if noted and outbox.issue_state(transaction.db, noted) == "open":
        return noted
    if outbox.filed_in_run(transaction.db, transaction.run_id) < transaction.max_new:
        return cause
    lists = (digest for _, digest in known if outbox.can_be_told(transaction.db, digest))
    begun = begun_at(transaction.db, transaction.run_id)
    digest = next(lists, "") or digest_of("digest", begun, str(len(known)), digits=16)
    desk.remember(transaction.db, "", f"{DIGEST}{cause}", digest)
    return digest


def _file(
    transaction: Docket, planned: PlannedNode, decision_id: int, cluster: Cluster, facts: IssueFacts
) -> tuple[str, ...]:
    """The issue is noted as open in the same transaction, so that the next decision knows of it."""
    place = place_of(transaction, cluster.fingerprint)
    if place != cluster.fingerprint:
        return (_tell_in_digest(transaction, planned, decision_id, replace(cluster, fingerprint=place), facts),)
    kind = kind_of(transaction, place)
    slot = slot_of(transaction, "failing again") if kind is EffectKind.COMMENT else ""
    filed = _put(
        transaction, planned, decision_id, cluster, facts, kind, slot, headline_of(facts, planned.standing.attempt)
    )
    return (filed, *_parts(transaction, planned, decision_id, cluster, facts))


def _tell_in_digest(
    transaction: Docket, planned: PlannedNode, decision_id: int, cluster: Cluster, facts: IssueFacts
) -> str:
    """One more cause in the issue that lists what a run has too much of: its block is what lists them."""
    kind = kind_of(transaction, cluster.fingerprint)
    most = counted(transaction.max_new or 0, "new issue")
    headline = f"One run files {most}; this one lists what else stopped. Needs you."
    return _put(transaction, planned, decision_id, cluster, replace(facts, title=""), kind, "", headline)


def _put(
    transaction: Docket, planned: PlannedNode, decision_id: int, cluster: Cluster, facts: IssueFacts, kind: EffectKind,
    slot: str, headline: str,
) -> str:  # fmt: skip
    spec_name, members = planned.node.spec_name, cluster.members or (WHOLE_SPEC,)
    outbox.open_issue(transaction.db, cluster.fingerprint, facts.title, facts.cause, spec_name, members, transaction.at)
    status = status_of(transaction, cluster.fingerprint, headline, facts.commit, facts.title)
    title, body = pages.plain_issue([facts], status.title)
    payload = {
        "title": title, "body": body, "members": list(cluster.members), "cause": facts.cause, "at": transaction.at,
        "says": Says.FAILING.value, "slot": slot, "status": to_document(status),
        "work": list(work_of(transaction, spec_name, cluster.members)),
        "facts": [*told_before(transaction, cluster.fingerprint, slot, spec_name), to_document(facts)],
    }  # fmt: skip
    return outbox.put(transaction.db, decision_id, kind, cluster.fingerprint, spec_name, payload, transaction.at)


def work_of(transaction: Docket, spec_name: str, members: Iterable[str]) -> Iterator[str]:
    """The commits that came of the coders who own these requirements, or of all where none is named."""
    spec = planned_snapshot(transaction.db, spec_name)
    owned = ownership(spec) if spec else None
    groups = {group for part in members for group in owned.of(part)} if owned else set[int]()
    condition = "spec_name = ? AND archetype = 'coder' AND landed_commit IS NOT NULL"
    for row in sessions.sessions_where(transaction.db, condition, [spec_name]):
        if row.landed and (not groups or parse_node_name(row.node_id).group in groups):
            yield row.landed


def kind_of(transaction: Docket, fingerprint: str) -> EffectKind:
    """What failing means for the issue: filed, commented where it is open, opened again where it was closed."""
    known = outbox.issue_state(transaction.db, fingerprint)
    return {None: EffectKind.FILE, "open": EffectKind.COMMENT}.get(known, EffectKind.REOPEN)


def told_before(transaction: Docket, fingerprint: str, slot: str, spec_name: str) -> list[object]:
    """What other specs said in the same comment, and is so still: one comment a run holds all of it."""
    facts = outbox.last_payload(transaction.db, fingerprint, slot).get("facts") if slot else None
    rows = facts if isinstance(facts, list) else []
    others = {spec for spec, _ in outbox.open_members(transaction.db, fingerprint)} - {spec_name}
    return [row for row in rows if isinstance(row, dict) and row.get("spec") in others]


def _parts(
    transaction: Docket, planned: PlannedNode, decision_id: int, cluster: Cluster, facts: IssueFacts
) -> Iterator[str]:
    """An issue for each requirement, below the one of the cause, where the settings ask for it."""
    if not transaction.sub_issues:
        return
    for part in facts.failing:
        fingerprint = part_fingerprint(cluster.fingerprint, facts.spec, part.id)
        kind = kind_of(transaction, fingerprint)
        about = replace(facts, title="", failing=(part,), unknown=(), blocked=())
        alone = Cluster(fingerprint, None, (part.id,))
        if kind is not EffectKind.COMMENT:  # that it fails again is told above
            yield _put(
                transaction, planned, decision_id, alone, about, kind, "", headline_of(about, planned.standing.attempt)
            )
        else:
            outbox.open_issue(transaction.db, fingerprint, "", facts.cause, facts.spec, [part.id], transaction.at)
        outbox.set_parent(transaction.db, fingerprint, cluster.fingerprint)
