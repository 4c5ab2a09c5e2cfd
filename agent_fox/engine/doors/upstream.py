"""What should have happened: runs that another orchestrator recorded, held against our judge and decision table.

What upstream calls completed is read from its record; what would have been decided here is `replay` of its verdicts.
Nothing is known of what a coder would have done with a FAIL: only that it would have got it, and what a try cost there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from statistics import fmean
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.engine.doors.replay import RecordedOutput, Replayed, Stream, replay

if TYPE_CHECKING:
    from pydantic import JsonValue

    from agent_fox.config import Settings
    from agent_fox.store.upstream import UpstreamRecord, UpstreamRun, UpstreamSession, UpstreamVerdict

DONE = frozenset({"completed", "skipped"})
VERIFIER, CODER = "verifier", "coder"


@dataclass(frozen=True, slots=True)
class OpenFail:
    """A requirement whose last verdict of the run is no PASS. `closed_by`: the session on whose word alone, without a
    new verdict, upstream no longer counts it; empty where it still does.
    """

    requirement: str
    verdict: str
    evidence: str
    closed_by: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """What would have been decided about one reading: the decision's name, and why where it stops."""

    attempt: int
    reading: int
    decision: str
    cause: str | None


@dataclass(frozen=True, slots=True)
class SpecAccount:
    """One spec in one run. `state`: completed, not completed, or `went on`, in a later run.

    `decisions`: what would have been decided here about each reading. `try_usd`: what a coder and a verifier cost there
    on average, None where no cost is recorded; so often `attempts_left`.
    """

    spec: str
    state: str
    readings: int
    passed: int
    judged: int
    open_fails: tuple[OpenFail, ...]
    decisions: tuple[Decided, ...]
    end: str
    attempts_left: int
    try_usd: float | None

    @property
    def is_completed_with_fails(self) -> bool:
        return self.state == "completed" and bool(self.open_fails)

    @property
    def most_usd(self) -> float | None:
        """What repairing it could have cost at most; None where no cost is known, 0 where nothing was to be done."""
        return None if self.try_usd is None else self.try_usd * self.attempts_left


@dataclass(frozen=True, slots=True)
class RunAccount:
    run: UpstreamRun
    specs: tuple[SpecAccount, ...]


@dataclass(frozen=True, slots=True)
class UpstreamAccount:
    """All runs of a record. `unplaced`: verdicts that are older than every run, which are told nowhere else."""

    runs: tuple[RunAccount, ...]
    unplaced: int = 0
    unjudged: tuple[str, ...] = field(default=())
    """Specs whose nodes are all completed, of which no verdict is recorded at all."""


def account_of(record: UpstreamRecord, settings: Settings) -> UpstreamAccount:
    """Pure."""
    by_run: dict[str, list[UpstreamVerdict]] = {run.id: [] for run in record.runs}
    unplaced = 0
    for verdict in record.verdicts:
        run = run_at(verdict.at, record.runs)
        if run is None:
            unplaced += 1
        else:
            by_run[run.id].append(verdict)
    last = {verdict.spec: run for run, verdicts in by_run.items() for verdict in verdicts}
    accounts = tuple(
        RunAccount(run, tuple(specs_of(run, by_run[run.id], last, record, settings))) for run in record.runs
    )
    unjudged = tuple(
        spec for spec, nodes in sorted(record.nodes.items()) if spec not in last and DONE.issuperset(nodes)
    )
    return UpstreamAccount(accounts, unplaced, unjudged)


def run_at(at: str, runs: Sequence[UpstreamRun]) -> UpstreamRun | None:
    """The latest run that had begun; a verdict does not name its run."""
    begun = [run for run in runs if run.begun <= at]
    return begun[-1] if begun else None


def specs_of(
    run: UpstreamRun, verdicts: Iterable[UpstreamVerdict], last: Mapping[str, str], record: UpstreamRecord,
    settings: Settings,
) -> Iterator[SpecAccount]:  # fmt: skip
    by_spec: dict[str, list[UpstreamVerdict]] = {}
    for verdict in verdicts:
        by_spec.setdefault(verdict.spec, []).append(verdict)
    for spec, given in sorted(by_spec.items()):
        is_last = last[spec] == run.id
        is_done = DONE.issuperset(record.nodes.get(spec, ("unknown",)))
        state = ("completed" if is_done else "not completed") if is_last else "went on"
        sessions = [session for session in record.sessions if session.run == run.id and session.spec == spec]
        yield spec_account(spec, state, given, sessions, settings)


def spec_account(
    spec: str, state: str, verdicts: Sequence[UpstreamVerdict], sessions: Sequence[UpstreamSession], settings: Settings
) -> SpecAccount:
    latest = {verdict.requirement: verdict for verdict in verdicts}
    given = {verdict.session for verdict in verdicts}
    fails = tuple(
        OpenFail(verdict.requirement, verdict.verdict, verdict.evidence, closer(verdict, given))
        for _, verdict in sorted(latest.items()) if verdict.verdict.strip().upper() != "PASS"
    )  # fmt: skip
    outputs = readings(verdicts, sessions)
    replayed = replay(Stream(spec_name=spec, expected=sorted(latest), attempts=outputs), settings)
    decisions = tuple(Decided(made.attempt, made.reading, made.decision, made.cause) for made in replayed.decisions)
    return SpecAccount(
        spec, state, len(outputs), len(latest) - len(fails), len(latest), fails, decisions,
        replayed.end, attempts_left(replayed, settings), try_usd(sessions),
    )  # fmt: skip


def closer(verdict: UpstreamVerdict, verifiers: set[str]) -> str:
    """Who took it back without judging anew: upstream lets a coder's end do so."""
    by = verdict.superseded_by
    return by if by and by not in verifiers else ""


def readings(verdicts: Iterable[UpstreamVerdict], sessions: Sequence[UpstreamSession]) -> list[RecordedOutput]:
    """What each verifier's session gave, in their order. One after another coder's session is a new attempt."""
    by_session: dict[str, list[UpstreamVerdict]] = {}
    for verdict in verdicts:
        by_session.setdefault(verdict.session, []).append(verdict)
    outputs: list[RecordedOutput] = []
    before: str | None = None
    coded = [session.at for session in sessions if session.archetype == CODER]
    for given in by_session.values():
        is_new = before is not None and any(before < at <= given[0].at for at in coded)
        attempt = (outputs[-1].attempt if outputs else 1) + is_new
        outputs.append(
            RecordedOutput(attempt=attempt, verifier_output={"verdicts": [row_of(verdict) for verdict in given]})
        )
        before = given[-1].at
    return outputs


def row_of(verdict: UpstreamVerdict) -> dict[str, JsonValue]:
    return {"requirement_id": verdict.requirement, "verdict": verdict.verdict, "evidence": verdict.evidence}


def attempts_left(replayed: Replayed, settings: Settings) -> int:
    return settings.retry.attempts - replayed.attempts_used if replayed.end == "incomplete" else 0


def try_usd(sessions: Iterable[UpstreamSession]) -> float | None:
    """A coder's session and a verifier's, each by its mean in this run and spec."""
    costs: dict[str, list[float]] = {CODER: [], VERIFIER: []}
    for session in sessions:
        if session.archetype in costs and session.cost_usd is not None:
            costs[session.archetype].append(session.cost_usd)
    return sum(fmean(known) for known in costs.values()) if all(costs.values()) else None
