"""The best tree of a spec by what is recorded, and what coming back to it means for the records. Touches no branch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from agent_fox.core.retry.best import ReadTree, best_of, is_worse, lost
from agent_fox.core.retry.standing import Step
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.judgement import Counted, Judged, Judgement, amount
from agent_fox.core.verdicts.verdict import Disposition, Signal, Unproven, Verdict, Word
from agent_fox.core.words import listed
from agent_fox.engine.record import promotion
from agent_fox.store import restored, sessions

if TYPE_CHECKING:
    from agent_fox.engine.record.docket import Docket
    from agent_fox.session.workspaces.landing import Landing
    from agent_fox.store.plan import PlannedNode
    from agent_fox.store.records import DecisionRow
    from agent_fox.store.restored import Stood
    from agent_fox.store.sessions import SessionRow

FACT = "best"
"""Under this name a decision's facts hold the best tree, where the report's own was worse."""

STAY = "Stay"
"""The kind of decision by which a way back that was recorded is not gone after all."""

BESIDE_OTHERS = "; with work of others that landed since, which may have its part in it"

READINGS = frozenset({"Recode", "Block"})


@dataclass(frozen=True, slots=True)
class Best:
    """The best tree: the decision about it, its attempt, the session that read it, its commit, and what holds of it."""

    decision: int
    attempt: int
    session: int
    commit: str
    judged: Judged


@dataclass(frozen=True, slots=True)
class Behind:
    """A report's tree is worse than the best one. `own`: the spec's sessions whose work landed since, newest first."""

    best: Best
    lost: tuple[str, ...]
    own: tuple[SessionRow, ...]


@dataclass(frozen=True, slots=True)
class WayBack:
    """How the branch comes back to the best tree, or what stands in the way (`obstacle`, and then no `landing`).

    `undone` are the sessions whose work the landing takes off the branch. `is_beside_others`: work of others has landed
    since, and stays.
    """

    best: Best
    lost: tuple[str, ...]
    undone: tuple[int, ...]
    landing: Landing | None = None
    obstacle: str = ""
    is_beside_others: bool = False

    @property
    def in_words(self) -> str:
        """In a sentence, for whoever asks why the work goes on from here."""
        count = sum(counted.word is Word.PASS for counted in self.best.judged.counted.values())
        what = f"the last attempt lost {len(self.lost)} of {count}"
        if self.landing is not None:
            beside = BESIDE_OTHERS if self.is_beside_others else ""
            return f"{what}; the branch stands at attempt {self.best.attempt} (lost: {listed(self.lost)}{beside})"
        where = f"the branch stays there, not at attempt {self.best.attempt}: {self.obstacle}"
        return f"{what}; {where} (lost: {listed(self.lost)})"


Size = Callable[[tuple["SessionRow", ...], str], int]
"""How many lines the work of these sessions, oldest first, has changed in the tree of a commit."""


def behind(tx: Docket, planned: PlannedNode, judged: Judged, past: list[DecisionRow], size: Size) -> Behind | None:
    """Where a failing report's tree is strictly worse than the best one that was read since the spec was last proven.

    None also where none of the spec's own work landed since: what was lost is another's then.
    """
    window = since_proven(past, planned.node.uid)
    readings = {d.id: d for d in window if is_reading(d, planned.node.uid)}
    if judged.judgement is not Judgement.FAULTY or not readings:
        return None
    before = proven_before(tx, planned, window)
    now = ReadTree(max(readings) + 1, {part: counted.word for part, counted in judged.counted.items()})
    trees = [ReadTree(number, words_after(tx, planned, number)) for number in readings]
    if not any(is_worse(now, tree, before) for tree in trees):
        return None
    own = own_work(tx, planned, past)
    best = best_of((sized(tree, readings[tree.order], own, size) for tree in trees), before)
    if best is None or not is_worse(now, best, before):
        return None
    target = best_at(tx, planned, readings[best.order])
    since = tuple(row for row in reversed(own) if row.id > target.session)
    if not since or not target.judged.failing:
        return None
    return Behind(target, lost(now, best), since)


def sized(tree: ReadTree, reading: DecisionRow, own: list[SessionRow], size: Size) -> ReadTree:
    """A tree with what the spec's own work has changed in it."""
    made = tuple(row for row in own if row.id < (reading.session_id or 0))
    return replace(tree, change=size(made, reading.commit or ""))


def since_proven(past: list[DecisionRow], verifier: str) -> list[DecisionRow]:
    """The decisions since the spec was last proven, or its verifier opened again: what is compared with what."""
    start = 0
    for place, decision in enumerate(past):
        reopened = any(step["uid"] == verifier and step["step"] == Step.REOPEN for step in decision.steps)
        if reopened or (decision.kind == "Accept" and decision.node_uid == verifier):
            start = place + 1
    return past[start:]


def is_reading(decision: DecisionRow, verifier: str) -> bool:
    """Whether a tree stands behind a decision: the verifier read it, something failed, and the branch kept it."""
    is_faulty = decision.facts.get("judgement") == Judgement.FAULTY and decision.session_id is not None
    is_about_it = decision.node_uid == verifier and decision.kind in READINGS
    return is_about_it and is_faulty and decision.commit is not None and not undone_by(decision)


def own_work(tx: Docket, planned: PlannedNode, past: list[DecisionRow]) -> list[SessionRow]:
    """The sessions of the spec whose work is on the branch, oldest first."""
    gone = undone(past)
    condition = "spec_name = ? AND archetype = 'coder' AND is_landed = 1 AND landed_commit <> base_commit"
    rows = sessions.sessions_where(tx.db, condition, [planned.node.spec_name])
    return [row for row in rows if row.id not in gone]


def proven_before(tx: Docket, planned: PlannedNode, window: list[DecisionRow]) -> frozenset[str]:
    """What passed when the spec's own work of this window began."""
    first = next((d.id for d in window if d.kind == "Land" and d.commit is not None), None)
    if first is None:
        return frozenset()
    words = words_after(tx, planned, first - 1)
    return frozenset(part for part, word in words.items() if word is Word.PASS)


def words_after(tx: Docket, planned: PlannedNode, decision: int) -> Mapping[str, Word]:
    """What counted of each expected requirement after a decision. What was read of another text is UNKNOWN."""
    spec_name = planned.node.spec_name
    stood = restored.stood_after(tx.db, spec_name, decision)
    versions = tx.file_of(spec_name).versions
    return {part: word_of(stood.get(part), version) for part, version in versions.items()}


def word_of(stood: Stood | None, version: str) -> Word:
    return stood.word if stood is not None and stood.version == version else Word.UNKNOWN


def best_at(tx: Docket, planned: PlannedNode, reading: DecisionRow) -> Best:
    """A recorded reading as it is gone back to. What is waived now needs nobody's work there either."""
    spec_name = planned.node.spec_name
    stood = restored.stood_after(tx.db, spec_name, reading.id)
    versions = tx.file_of(spec_name).versions
    counted = {part: counted_of(part, stood.get(part), version) for part, version in versions.items()}
    judged = amount(counted, tx.waived(spec_name))
    return Best(reading.id, reading.ticket.attempt, reading.session_id or 0, reading.commit or "", judged)


def counted_of(part: str, row: Stood | None, version: str) -> Counted:
    if row is None or row.version != version:
        return Counted(Verdict(part, Word.UNKNOWN), Word.UNKNOWN, Word.UNKNOWN, is_silent=True)
    signal = Signal(row.command, row.first_error) if row.command and row.first_error else None
    disposition = _DISPOSITIONS.get(row.disposition or "", Disposition.REPAIRABLE)
    verdict = Verdict(
        part, row.word, row.said, row.evidence, row.note, signal, row.failing_tests, disposition,
        command=row.command or "",
    )  # fmt: skip
    return Counted(verdict, row.read, row.word)


_DISPOSITIONS: Mapping[str, Disposition | Unproven] = {one.value: one for one in (*Disposition, *Unproven)}


def undone(past: Iterable[DecisionRow]) -> frozenset[int]:
    """The sessions whose work was taken off the branch again."""
    decisions: set[int] = set()
    for decision in past:
        if decision.kind == STAY:
            decisions.difference_update(numbers(decision.facts.get("undone")))
        decisions.update(undone_by(decision))
    return frozenset(decisions)


def undone_by(decision: DecisionRow) -> tuple[int, ...]:
    fact = decision.facts.get(FACT)
    return numbers(fact.get("undone")) if isinstance(fact, dict) and fact.get("is_back") else ()


def without_undone(past: list[DecisionRow], back: WayBack | None) -> list[DecisionRow]:
    """The decisions as blame sees them on the tree that the branch is left with: what was taken off did not land."""
    gone = undone(past).union(back.undone if back is not None and back.landing is not None else ())
    return [decision for decision in past if decision.kind != "Land" or decision.session_id not in gone]


def numbers(value: object) -> tuple[int, ...]:
    return tuple(item for item in value if isinstance(item, int)) if _is_list(value) else ()


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def left_with(judged: Judged, back: WayBack | None) -> Judged:
    """What holds of the tree that the branch is left with: the report's own, or the best one's."""
    return judged if back is None or back.landing is None else back.best.judged


def fact_of(back: WayBack | None, judged: Judged) -> dict[str, object]:
    """What the decision records of the best tree; nothing where its report's own was not worse."""
    if back is None:
        return {}
    best, landing = back.best, back.landing
    return {
        FACT: {
            "attempt": best.attempt, "commit": best.commit, "decision": best.decision, "is_back": landing is not None,
            "base": landing.base if landing else None, "lost": list(back.lost), "undone": list(back.undone),
            "failing": list(judged.failing), "told": back.in_words,
        }
    }  # fmt: skip


def go_back(tx: Docket, planned: PlannedNode, back: WayBack | None, decision_id: int, session: int | None) -> None:
    """Record the way back with the decision: the commit that the branch is moved to after the transaction, and the
    readings of the best tree, which count again.
    """
    if back is None or back.landing is None or session is None:
        return
    sessions.record_landing(tx.db, session, back.landing.base, back.landing.commit, tx.at)
    read_again(tx, planned, back.best.decision, decision_id)


def read_again(tx: Docket, planned: PlannedNode, former_decision: int, decision_id: int) -> None:
    """What stood after an earlier decision counts again, as far as its texts are the present ones."""
    spec_name = planned.node.spec_name
    versions = tx.file_of(spec_name).versions
    stood = restored.stood_after(tx.db, spec_name, former_decision)
    rows = [row for part, row in stood.items() if versions.get(part) == row.version]
    restored.restore(tx.db, spec_name, rows, decision_id, tx.at)


def stay(tx: Docket, planned: PlannedNode, decision: DecisionRow, decision_id: int) -> Judged:
    """The way back that `decision` recorded is not gone: the verdicts of its own report count again, as given back."""
    spec_name = planned.node.spec_name
    rows = restored.set_aside(tx.db, spec_name, decision.id)
    restored.restore(tx.db, spec_name, rows.values(), decision_id, tx.at)
    counted = {part: counted_of(part, row, row.version) for part, row in rows.items()}
    judged = amount(counted, tx.waived(spec_name))
    promotion.faulty(tx, spec_name, judged, decision.id, decision.commit or "", "")
    return judged
