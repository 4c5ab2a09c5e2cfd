"""What a person is told of a block, and when it is over: outbox rows, written with the decision. Sends nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.ids import parse_node_name
from agent_fox.core.markdown import cut_middle, one_line
from agent_fox.core.plan.blame import ownership
from agent_fox.core.retry.clusters import Cluster, clusters, fingerprint_of, part_fingerprint
from agent_fox.core.retry.filing import Says
from agent_fox.core.retry.standing import Status
from agent_fox.core.values import to_document
from agent_fox.core.verdicts.hidden import COMMAND as HIDDEN
from agent_fox.core.words import counted, listed
from agent_fox.engine.issues.settling import WHOLE_SPEC, known_lines, named, repair, settle_repaired, slot_of
from agent_fox.engine.record.best_tree import undone
from agent_fox.evidence.about import read
from agent_fox.store import outbox, sessions
from agent_fox.store.gates import gates_of
from agent_fox.store.ledger import ledger
from agent_fox.store.plan import planned_snapshot
from agent_fox.store.records import current_verdicts, decisions_of_spec, failing_after
from agent_fox.trackers.protocol import EffectKind
from agent_fox.trackers.text import (
    AttemptRow,
    ChangedTest,
    Exhibit,
    IssueFacts,
    LedgerEnd,
    Unproven,
    issue_text,
    places_in,
)

if TYPE_CHECKING:
    from agent_fox.core.retry.decision import Cause
    from agent_fox.core.verdicts.expectations import Expectation
    from agent_fox.core.verdicts.judgement import Judged
    from agent_fox.core.verdicts.verdict import Word
    from agent_fox.engine.record.best_tree import WayBack
    from agent_fox.engine.record.docket import Docket, Transition
    from agent_fox.store.plan import PlannedNode

LONGEST_TOLD = 40_000
"""Characters of evidence about one requirement that go to a tracker; all of it is in the state."""

TAKEN_BACK = " (taken off the branch again)"

LONGEST_LINE = 400
"""Characters about one requirement where many stand together."""


def file_issues(
    docket: Docket, planned: PlannedNode, decision_id: int, cause: Cause, judged: Judged, commit: str | None,
    moved: Iterable[Transition], back: WayBack | None = None, said: Judged | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """One issue per cause of an escalated verifier; an issue that is open already is commented, not doubled.

    `judged` is what holds of the branch; with a way `back`, the first issue also has what the last attempt, which
    `said` judges, has lost.
    """
    spec_name = planned.node.spec_name
    failing = [judged.counted[part].verdict for part in judged.failing]
    found = clusters(failing, spec_name) or (Cluster(fingerprint_of(None, spec_name), None, judged.unknown),)
    blocked = held_ids(planned, moved)
    repaired = repair(docket, spec_name, judged)
    filed: list[str] = []
    for cluster in found:
        facts = facts_of(docket, planned, cause, judged, cluster, commit, blocked)
        facts = replace(facts, repaired=repaired.pop(cluster.fingerprint, ()), best=back.told if back else "")
        if back and back.landing and said and not filed:
            facts = replace(facts, lost=tuple(unproven(docket, spec_name, said, part) for part in back.lost))
        filed += _file(docket, planned, decision_id, cluster, facts)
    return (*filed, *settle_repaired(docket, planned, decision_id, commit, repaired))


def file_node_issue(
    docket: Docket, planned: PlannedNode, decision_id: int, cause: Cause, reason: str, commit: str | None,
    moved: Iterable[Transition], changed: Iterable[tuple[str, Expectation]] = (),
) -> tuple[str, ...]:  # fmt: skip
    """The issue of a coder or reviewer that is blocked: one per spec, since nothing of it is judged yet."""
    spec_name = planned.node.spec_name
    facts = IssueFacts(
        title=f"{planned.node.id} is blocked: {cause}", spec=spec_name, node=planned.node.id, cause=cause.value,
        run=str(docket.run_id or ""), commit=commit or "", attempts=attempt_rows(docket, planned),
        blocked=held_ids(planned, moved), reason=reason,
        changed_tests=tuple(changed_test(part, one) for part, one in changed),
        before_waiving=docket.before_waiving(),
    )  # fmt: skip
    return _file(docket, planned, decision_id, Cluster(fingerprint_of(None, spec_name), None, ()), facts)


def file_again(
    docket: Docket, planned: PlannedNode, decision_id: int, cause: Cause, reason: str, parts: tuple[str, ...],
    moved: Iterable[Transition],
) -> tuple[str, ...]:  # fmt: skip
    """What a waiver does not hold any more: the issues that these parts were in, else the one of the spec."""
    spec_name, blocked = planned.node.spec_name, held_ids(planned, moved)
    found: dict[str, list[str]] = {}
    for part in parts:
        known = outbox.issues_about(docket.db, spec_name, part)
        found.setdefault(known[0] if known else fingerprint_of(None, spec_name), []).append(part)
    filed: list[str] = []
    for fingerprint, members in found.items():
        cluster = Cluster(fingerprint, None, tuple(members))
        facts = IssueFacts(
            title=f"{spec_name}: {named((spec_name, part) for part in members)} not proven: no waiver counts",
            spec=spec_name, node=planned.node.id, cause=cause.value, run=str(docket.run_id or ""),
            unknown=tuple(members), attempts=attempt_rows(docket, planned), blocked=blocked, reason=reason,
            exhibits=exhibits(docket, spec_name, members), ledger=ledger_end(docket),
            waivers=docket.waiver_lines(spec_name), known=known_lines(docket, spec_name),
            before_waiving=docket.before_waiving(),
        )  # fmt: skip
        filed += _file(docket, planned, decision_id, cluster, facts)
    return tuple(filed)


def held_ids(root: PlannedNode, moved: Iterable[Transition]) -> tuple[str, ...]:
    return tuple(t.node_id for t in moved if t.standing.status is Status.BLOCKED and t.uid != root.node.uid)


def facts_of(
    docket: Docket, planned: PlannedNode, cause: Cause, judged: Judged, cluster: Cluster, commit: str | None,
    blocked: tuple[str, ...],
) -> IssueFacts:  # fmt: skip
    spec_name = planned.node.spec_name
    members = cluster.members if judged.failing else ()
    failing = tuple(unproven(docket, spec_name, judged, part) for part in members)
    return IssueFacts(
        title=title_of(spec_name, cause, judged, cluster),
        spec=spec_name,
        node=planned.node.id,
        cause=cause.value,
        run=str(docket.run_id or ""),
        commit=commit or "",
        failing=failing,
        unknown=judged.unknown,
        attempts=attempt_rows(docket, planned),
        blocked=blocked,
        reason="" if failing else unclear_words(docket, spec_name, judged),
        exhibits=exhibits(docket, spec_name, (*members, *judged.unknown)),
        ledger=ledger_end(docket),
        waivers=docket.waiver_lines(spec_name),
        places=places_in("\n".join(part.evidence for part in failing)),
        changed_tests=tuple(changed_tests(judged, (*members, *judged.unknown))),
        known=known_lines(docket, spec_name),
        before_waiving=docket.before_waiving(),
    )


def changed_tests(judged: Judged, parts: Iterable[str]) -> Iterator[ChangedTest]:
    """The committed tests that fail although the tests of the tree pass: a person may agree that they were changed."""
    for part in parts:
        found = judged.counted[part].verdict.expectation
        if found is not None:
            yield changed_test(part, found)


def changed_test(part: str, found: Expectation) -> ChangedTest:
    return ChangedTest(part, found.test, found.reason, found.before, found.after)


def unclear_words(docket: Docket, spec_name: str, judged: Judged) -> str:
    """What each requirement without a clear verdict asks for, and what was said of it: an id tells nobody why."""
    texts = docket.file_of(spec_name).texts
    pairs = ((f"{part}: {texts.get(part, '')}", judged.counted[part].verdict.evidence) for part in judged.unknown)
    lines = (f"{one_line(what, LONGEST_LINE)}\n    {one_line(said, LONGEST_LINE)}".rstrip() for what, said in pairs)
    return "\n".join(lines)


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
        persons = [part for part in judged.unknown if judged.counted[part].verdict.needs_person]
        if persons:
            kinds = sorted({str(judged.counted[part].verdict.disposition) for part in persons})
            return f"{spec_name}: {listed(persons)} needs a person: {', '.join(kinds)}"
        unclear = f"{counted(len(judged.unknown), 'requirement')} without a clear verdict"
        return f"{spec_name}: {unclear if judged.unknown else 'nothing to prove'}"
    members = ", ".join(cluster.members[:3]) + (" and more" if len(cluster.members) > 3 else "")
    verb = "is" if len(cluster.members) == 1 else "are"
    return f"{spec_name}: {members} {verb} not met ({cause})"


def unproven(docket: Docket, spec_name: str, judged: Judged, part: str) -> Unproven:
    verdict = judged.counted[part].verdict
    command = verdict.signal.command if verdict.signal and verdict.signal.command != HIDDEN else ""
    text = docket.file_of(spec_name).texts.get(part, "")
    return Unproven(part, text, cut_middle(verdict.evidence, LONGEST_TOLD), command)


def attempt_rows(docket: Docket, planned: PlannedNode) -> tuple[AttemptRow, ...]:
    """Every coder session of the spec, oldest first, with what the report after it found failing."""
    spec_name = planned.node.spec_name
    rows = sessions.sessions_where(
        docket.db, "spec_name = ? AND archetype = 'coder' AND status <> 'running'", [spec_name]
    )
    gone = undone(decisions_of_spec(docket.db, spec_name))
    return tuple(
        AttemptRow(
            row.ticket.attempt, row.landed or row.pinned or "", row.cost_usd,
            row.reason or ", ".join(failing_after(docket.db, spec_name, row.id)),
            f"{row.node_id}: {row.summary or 'no summary'}{TAKEN_BACK if row.id in gone else ''}",
        )
        for row in rows
    )  # fmt: skip


def _file(
    docket: Docket, planned: PlannedNode, decision_id: int, cluster: Cluster, facts: IssueFacts
) -> tuple[str, ...]:
    """The issue is noted as open in the same transaction, so that the next decision knows of it."""
    kind = kind_of(docket, cluster.fingerprint)
    members = cluster.members or (WHOLE_SPEC,)
    spec_name = planned.node.spec_name
    title, body = issue_text(facts)
    outbox.open_issue(docket.db, cluster.fingerprint, title, facts.cause, spec_name, members, docket.at)
    slot = slot_of(docket, "failing again") if kind is EffectKind.COMMENT else ""
    payload = {
        "title": title, "body": body, "members": list(cluster.members), "cause": facts.cause, "at": docket.at,
        "says": Says.FAILING.value, "slot": slot, "work": list(work_of(docket, spec_name, cluster.members)),
        "facts": [*told_before(docket, cluster.fingerprint, slot, spec_name), to_document(facts)],
    }  # fmt: skip
    filed = outbox.put(docket.db, decision_id, kind, cluster.fingerprint, spec_name, payload, docket.at)
    return (filed, *_parts(docket, planned, decision_id, cluster, facts))


def work_of(docket: Docket, spec_name: str, members: Iterable[str]) -> Iterator[str]:
    """The commits that came of the coders who own these requirements, or of all where none is named."""
    spec = planned_snapshot(docket.db, spec_name)
    owned = ownership(spec) if spec else None
    groups = {group for part in members for group in owned.of(part)} if owned else set[int]()
    condition = "spec_name = ? AND archetype = 'coder' AND landed_commit IS NOT NULL"
    for row in sessions.sessions_where(docket.db, condition, [spec_name]):
        if row.landed and (not groups or parse_node_name(row.node_id).group in groups):
            yield row.landed


def kind_of(docket: Docket, fingerprint: str) -> EffectKind:
    """What failing means for the issue: filed, commented where it is open, opened again where it was closed."""
    known = outbox.issue_state(docket.db, fingerprint)
    return {None: EffectKind.FILE, "open": EffectKind.COMMENT}.get(known, EffectKind.REOPEN)


def told_before(docket: Docket, fingerprint: str, slot: str, spec_name: str) -> list[object]:
    """What other specs said in the same comment, and is so still: one comment a run holds all of it."""
    facts = outbox.last_payload(docket.db, fingerprint, slot).get("facts") if slot else None
    rows = facts if isinstance(facts, list) else []
    others = {spec for spec, _ in outbox.open_members(docket.db, fingerprint)} - {spec_name}
    return [row for row in rows if isinstance(row, dict) and row.get("spec") in others]


def _parts(
    docket: Docket, planned: PlannedNode, decision_id: int, cluster: Cluster, facts: IssueFacts
) -> Iterator[str]:
    """An issue for each requirement, below the one of the cause, where the settings ask for it."""
    if not docket.sub_issues:
        return
    for part in facts.failing:
        fingerprint = part_fingerprint(cluster.fingerprint, facts.spec, part.id)
        kind = kind_of(docket, fingerprint)
        about = replace(facts, title=f"{facts.spec}: {part.id} is not met", failing=(part,), unknown=(), blocked=())
        title, body = issue_text(about)
        outbox.open_issue(docket.db, fingerprint, title, facts.cause, facts.spec, [part.id], docket.at)
        outbox.set_parent(docket.db, fingerprint, cluster.fingerprint)
        payload = {
            "title": title, "body": body, "members": [part.id], "cause": facts.cause, "at": docket.at,
            "says": Says.FAILING.value, "facts": [to_document(about)],
        }  # fmt: skip
        if kind is not EffectKind.COMMENT:  # that it fails again is told above
            yield outbox.put(docket.db, decision_id, kind, fingerprint, planned.node.spec_name, payload, docket.at)
