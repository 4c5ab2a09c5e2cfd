"""What coders' sessions came to, for those who learn from them: the work, and the verdicts that a reading gave on it.

A function of the state: nothing is asked of a clock, and the order is that of the sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from agent_fox.core.ledger.training import Subject
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.hidden import COMMAND
from agent_fox.core.verdicts.verdict import Disposition, Unproven, Word
from agent_fox.evidence.training import vendored
from agent_fox.store import records, sessions, traces
from agent_fox.store.plan import load_parts

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.store.sessions import SessionRow
    from agent_fox.store.traces import TraceRow

NO_REWARD: Mapping[str, str] = {
    Disposition.FLAKY: "flaky",
    Disposition.PRE_EXISTING: "it failed before the work",
    Disposition.INFRASTRUCTURE: "infrastructure",
    Disposition.ENVIRONMENT: "environment",
    Disposition.VERIFIER_FAULT: "a fault of the verifier",
    Disposition.SPEC_FAULT: "a fault of the spec",
    Unproven.VACUOUS_TEST: "its test is vacuous",
    Unproven.CHANGED_EXPECTATION: "a person has to agree to its test",
}
"""Dispositions that say nothing of the work: none of them is a reward, neither 1 nor 0."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One requirement after the session's work: `reward` is 1 or 0; None where it is none, and `why` not."""

    requirement: str
    word: str
    disposition: str
    how: str
    record: str
    reward: int | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Episode:
    """A coder's session. `record` is the id of its record in the ledger; `texts` are its spec's requirements, by id."""

    session: SessionRow
    record: str
    texts: Mapping[str, str]
    trace: TraceRow | None
    verdicts: tuple[Judged, ...]
    third_party: tuple[str, ...]

    @property
    def subject(self) -> Subject:
        row = self.session
        names = {f"spec:{row.spec_name}", f"node:{row.node_id}", f"run:{row.run_id}", f"session:{row.id}"}
        verdicts = {f"record:{each.record}" for each in self.verdicts}
        parts = {f"requirement:{row.spec_name}/{each.requirement}" for each in self.verdicts}
        own = frozenset({*names, f"record:{self.record}"})
        return Subject(own, frozenset(verdicts | parts), third_party=self.third_party)

    @property
    def rewards(self) -> dict[str, int]:
        return {each.requirement: each.reward for each in self.verdicts if each.reward is not None}

    @property
    def not_rewarded(self) -> dict[str, str]:
        return {each.requirement: each.why for each in self.verdicts if each.why}


def episodes(db: Database, files_of: Callable[[str], Iterable[str]]) -> Iterator[Episode]:
    """Every coder's session that ended and counts, in order. `files_of` names the files of a tree."""
    for row in sessions.sessions_where(db, "archetype = 'coder' AND status = 'completed'", []):
        texts = {part.id: part.text for part in load_parts(db, row.spec_name)}
        others = tuple(sorted(vendored(files_of(row.tree)))) if row.tree else ()
        yield Episode(
            row, records.session_record(db, row.id), texts, traces.trace_of(db, row.id), tuple(_judged(db, row)), others
        )


def _judged(db: Database, row: SessionRow) -> Iterator[Judged]:
    """By the first reading of the spec after the session, before its node worked again. UNKNOWN is absent."""
    for part, word, disposition, how, note, record, is_waived in records.judged_after(db, row):
        if word != Word.UNKNOWN and COMMAND not in note and how != "hidden":
            why = "waived" if is_waived else NO_REWARD.get(disposition, "")
            yield Judged(part, word, disposition, how, record, None if why else int(word == Word.PASS), why)
