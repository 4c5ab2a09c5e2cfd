"""When an issue is over, or part of it: proven, repaired, waived, removed. Outbox rows, written with the decision."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.late import late_module
from agent_fox.core.markdown import cut, one_line
from agent_fox.core.retry.filing import Says
from agent_fox.core.values import to_document
from agent_fox.core.verdicts.known import grouped
from agent_fox.core.verdicts.verdict import Word
from agent_fox.core.words import counted
from agent_fox.store import outbox
from agent_fox.store.records import begun_at
from agent_fox.trackers.protocol import EffectKind, StateReason

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.verdicts.judgement import Judged
    from agent_fox.engine.account import account
    from agent_fox.engine.issues import heading
    from agent_fox.engine.record.docket import Docket
    from agent_fox.store.plan import PlannedNode
else:
    heading = late_module("agent_fox.engine.issues.heading")
    account = late_module("agent_fox.engine.account.account")

LONGEST_WAIVER = 2_400
LONGEST_SO_FAR = 20_000
"""Characters of one run's comment on what was repaired, the newest first."""

PROOFS_AFTER_FLAPPING = 2
"""Proving reports in a row that close an issue which failed again after it had been closed with proof."""
OPEN_STILL = "Part of this is settled, the rest is open. Needs you."
ALL_OF_IT = (
    " It has failed again after it was closed with proof: what passes of it counts when the spec as a whole is proven."
)


def repair(transaction: Docket, spec_name: str, judged: Judged) -> dict[str, tuple[str, ...]]:
    """Note which parts of open issues pass in this report, although the spec is not proven: by fingerprint."""
    passing = {part for part, counted in judged.counted.items() if counted.word is Word.PASS}
    passing -= {*judged.failing, *judged.unknown}
    repaired: dict[str, tuple[str, ...]] = {}
    for fingerprint in outbox.issues_of_spec(transaction.db, spec_name):
        members = outbox.open_members(transaction.db, fingerprint)
        parts = tuple(part for spec, part in members if spec == spec_name and part in passing)
        for part in parts:
            outbox.settle_member(transaction.db, fingerprint, spec_name, part)
        if parts:
            repaired[fingerprint] = parts
    return repaired


def settle_repaired(
    transaction: Docket, planned: PlannedNode, decision_id: int, commit: str | None,
    repaired: Mapping[str, tuple[str, ...]],
) -> tuple[str, ...]:  # fmt: skip
    """Issues that are not about what fails now: closed where all of them passes, else told what was repaired."""
    filed = []
    for fingerprint, parts in repaired.items():
        words = passed_words(planned.node.spec_name, commit, parts)
        filed.append(_settled(transaction, planned, decision_id, fingerprint, words, parts, commit=commit))
    return tuple(filed)


def settle_issues(
    transaction: Docket, planned: PlannedNode, decision_id: int, commit: str | None, proven: tuple[str, ...]
) -> tuple[str, ...]:
    """The spec is proven: issues about it alone are closed with the proof, others are told of their part.

    What a person has waived is told as that.
    """
    spec_name = planned.node.spec_name
    fingerprints = outbox.issues_of_spec(transaction.db, spec_name)
    if not fingerprints:
        return ()
    waived = transaction.waiver_lines(spec_name)
    words = closing_words(spec_name, commit, len(proven), waived, known_lines(transaction, spec_name))
    return tuple(
        _settled(
            transaction, planned, decision_id, fingerprint, words, proven, len(waived), is_whole=True, commit=commit
        )
        for fingerprint in fingerprints
    )


def withdraw_issues(transaction: Docket, planned: PlannedNode, decision_id: int) -> tuple[str, ...]:
    """The spec was removed from the plan: nothing of it is proven by that, and nobody asks for it any more."""
    spec_name = planned.node.spec_name
    words = f"{one_line(spec_name, 200)} was removed from the plan. That proves nothing: nobody asks for it any more."
    fingerprints = outbox.issues_of_spec(transaction.db, spec_name)
    return tuple(_removed(transaction, planned, decision_id, fingerprint, words) for fingerprint in fingerprints)


def withdraw_parts(
    transaction: Docket, planned: PlannedNode, decision_id: int, parts: Collection[str]
) -> tuple[str, ...]:
    """These requirements are gone from a spec that stays: an issue about nothing else is closed, others are told."""
    spec_name, filed = planned.node.spec_name, []
    for fingerprint in outbox.issues_of_spec(transaction.db, spec_name):
        members = outbox.open_members(transaction.db, fingerprint)
        gone = tuple(part for spec, part in members if spec == spec_name and part in parts)
        if gone:
            filed.append(_without(transaction, planned, decision_id, fingerprint, gone))
    return tuple(filed)


def _without(
    transaction: Docket, planned: PlannedNode, decision_id: int, fingerprint: str, gone: tuple[str, ...]
) -> str:
    spec_name = planned.node.spec_name
    for part in gone:
        outbox.settle_member(transaction.db, fingerprint, spec_name, part)
    listed = named((spec_name, part) for part in gone)
    title = f"{spec_name}: {listed} removed"
    words = f"Removed from {one_line(spec_name, 200)}: {listed}. That proves nothing: nobody asks for it any more."
    left = outbox.open_members(transaction.db, fingerprint)
    if not left:
        reason = StateReason.NOT_PLANNED
        return _close(transaction, planned, decision_id, fingerprint, title, words, gone, reason=reason)
    more = f"{words}\n\nStill open, {len(left)} part(s): {named(left)}."
    return _tell(transaction, planned, decision_id, fingerprint, title, more, gone)


def is_in_open_issue(db: Database, spec_name: str, part: str) -> bool:
    """Whether an open issue names this requirement as open."""
    fingerprints = outbox.issues_of_spec(db, spec_name)
    return any((spec_name, part) in outbox.open_members(db, fingerprint) for fingerprint in fingerprints)


def waive_part(transaction: Docket, planned: PlannedNode, decision_id: int, part: str, line: str) -> tuple[str, ...]:
    """A person signed for one part of open issues, while others are still open: they are told so."""
    spec_name = planned.node.spec_name
    title = f"{spec_name}: {part} is waived"
    words = f"Waived, which is no proof:\n\n- {one_line(line, LONGEST_WAIVER)}"
    about = [
        fingerprint
        for fingerprint in outbox.issues_of_spec(transaction.db, spec_name)
        if (spec_name, part) in outbox.open_members(transaction.db, fingerprint)
    ]
    return tuple(_tell(transaction, planned, decision_id, print_, title, words, (part,)) for print_ in about)


def _settled(
    transaction: Docket, planned: PlannedNode, decision_id: int, fingerprint: str, words: str, parts: tuple[str, ...],
    waived: int = 0, *, is_whole: bool = False, commit: str | None = None,
) -> str:  # fmt: skip
    """One issue after a report: closed, proven once (where it has flapped), or repaired in part.

    `is_whole`: the spec as a whole is proven, not some of its requirements.
    """
    spec_name = planned.node.spec_name
    is_kept = not is_whole and outbox.flaps_of(transaction.db, fingerprint) > 0
    if is_kept:
        outbox.open_parts(transaction.db, fingerprint, spec_name, parts)
    left = [
        member for member in outbox.open_members(transaction.db, fingerprint) if member[0] != spec_name or not is_whole
    ]
    if left:
        if is_whole:
            outbox.settle_members(transaction.db, fingerprint, spec_name)
        title = f"{spec_name}: part of this is {'proven' if is_whole else 'repaired'}"
        more = f"{words}\n\nStill open, {len(left)} part(s): {named(left)}.{ALL_OF_IT if is_kept else ''}"
        return _tell(transaction, planned, decision_id, fingerprint, title, more, parts, commit)
    proofs, flaps = outbox.note_proof(transaction.db, fingerprint)
    if flaps and proofs < PROOFS_AFTER_FLAPPING and not waived:
        title = f"{spec_name}: proven once"
        more = (
            f"{words}\n\nIt has failed again after it was closed with proof, {flaps} time(s). It is closed when one "
            "more report proves it; the run asks for that at its end, where `[policy] final_check` is on."
        )
        return _tell(transaction, planned, decision_id, fingerprint, title, more, parts, commit)
    verb = "passes" if len(parts) == 1 else "pass"
    about = named((spec_name, part) for part in parts)
    title = (
        f"{spec_name} is {'proven or waived' if waived else 'proven'}" if is_whole else f"{spec_name}: {about} {verb}"
    )
    return _close(transaction, planned, decision_id, fingerprint, title, words, parts, waived=waived, commit=commit)


def _close(
    transaction: Docket, planned: PlannedNode, decision_id: int, fingerprint: str, title: str, words: str,
    parts: tuple[str, ...], *, waived: int = 0, reason: StateReason = StateReason.COMPLETED, commit: str | None = None,
) -> str:  # fmt: skip
    outbox.settle_members(transaction.db, fingerprint, planned.node.spec_name)
    outbox.close_issue(transaction.db, fingerprint, transaction.at)
    if waived or reason is not StateReason.COMPLETED:
        outbox.forget_proofs(transaction.db, fingerprint)
    payload = {
        "title": title + (f", {waived} waived" if waived else ""), "body": f"{words}\n", "members": list(parts),
        "at": transaction.at, "state_reason": reason.value, "says": Says.PROOF.value,
        "status": to_document(heading.status_of(transaction, fingerprint, _headline(reason, waived), commit)),
    }  # fmt: skip
    spec_name = planned.node.spec_name
    return outbox.put(transaction.db, decision_id, EffectKind.CLOSE, fingerprint, spec_name, payload, transaction.at)


def slot_of(transaction: Docket, about: str) -> str:
    """Names the one comment of this run about something, also where the state was lost and runs are counted anew;
    empty outside of a run."""
    if not transaction.run_id:
        return ""
    begun = begun_at(transaction.db, transaction.run_id)
    return digest_of(about, str(transaction.run_id), begun, digits=24)


def _headline(reason: StateReason, waived: int) -> str:
    if reason is not StateReason.COMPLETED:
        return "Removed from the plan: nobody asks for it any more. That proves nothing."
    return (
        f"Closed: {waived} waived by a person's signature, the rest passes." if waived else "Proven: all of it passes."
    )


def _tell(
    transaction: Docket, planned: PlannedNode, decision_id: int, fingerprint: str, title: str, words: str,
    parts: tuple[str, ...], commit: str | None = None,
) -> str:  # fmt: skip
    slot = slot_of(transaction, "progress")
    before = outbox.last_payload(transaction.db, fingerprint, slot).get("so_far") if slot else None
    so_far = cut(f"{words}\n\n{before}", LONGEST_SO_FAR) if before else words
    payload = {
        "title": title, "body": f"{words}\n", "so_far": so_far, "members": list(parts), "at": transaction.at,
        "state_reason": None, "says": Says.PROGRESS.value, "slot": slot,
        "status": to_document(heading.status_of(transaction, fingerprint, OPEN_STILL, commit)),
    }  # fmt: skip
    spec_name = planned.node.spec_name
    return outbox.put(transaction.db, decision_id, EffectKind.COMMENT, fingerprint, spec_name, payload, transaction.at)


def _removed(transaction: Docket, planned: PlannedNode, decision_id: int, fingerprint: str, words: str) -> str:
    spec_name = planned.node.spec_name
    title = f"{spec_name} was removed"
    if outbox.settle_members(transaction.db, fingerprint, spec_name):
        return _tell(transaction, planned, decision_id, fingerprint, title, words, ())
    return _close(transaction, planned, decision_id, fingerprint, title, words, (), reason=StateReason.NOT_PLANNED)


def named(members: Iterable[tuple[str, str]], most: int = 10) -> str:
    """The parts of an issue in words, the first ten."""
    words = [one_line(part or f"{spec} as a whole", 200) for spec, part in members]
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def passed_words(spec_name: str, commit: str | None, parts: tuple[str, ...]) -> str:
    """What passes although the spec as a whole is not proven yet."""
    listed = named((spec_name, part) for part in parts)
    verb = "passes" if len(parts) == 1 else "pass"
    return f"Fixed: {listed} of {spec_name} {verb} on commit `{commit}`. The spec as a whole is not proven yet."


def known_lines(transaction: Docket, spec_name: str) -> tuple[str, ...]:
    """How the requirements of a spec are known, a line for each word: `4 red without: 01-REQ-1.1, ...`."""
    spec = account.read_spec(transaction.db, spec_name, transaction.waived(spec_name))
    known = grouped(spec.how) if spec else {}
    rows = ((word, named((spec_name, part) for part in ids), len(ids)) for word, ids in known.items())
    return tuple(f"{count} {one_line(word, 200)}: {ids}" for word, ids, count in rows)


def closing_words(
    spec_name: str, commit: str | None, count: int, waived: tuple[str, ...], known: tuple[str, ...] = ()
) -> str:
    """What passes on which commit, and how each of it is known; and what only a person's signature stands for, with
    all that was signed."""
    how = "\n".join(["\n\nHow each is known:\n", *(f"- {line}" for line in known)]) if known else ""
    if not waived:
        single, several = f"the only requirement of {spec_name} passes", f"all {count} requirements of {spec_name} pass"
        return f"Proven: {single if count == 1 else several} on commit `{commit}`.{how}"
    listed = "\n".join(f"- {one_line(line, LONGEST_WAIVER)}" for line in waived)
    passed = f"{count - len(waived)} of {counted(count, 'requirement')} of {spec_name} pass on commit `{commit}`"
    return f"Waived: {passed}; no evidence, but a person's signature, stands for the rest:\n\n{listed}{how}"
