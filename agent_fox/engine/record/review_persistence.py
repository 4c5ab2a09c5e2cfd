"""From what a verifier printed to verdicts that count, their rows, and the records of what lanes said. Deciding what
follows is not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.json_text import json_object
from agent_fox.core.late import adapter, late_module
from agent_fox.core.ledger.evidence import (
    Artifact,
    Evidence,
    Json,
    Kind,
    Outcome,
    RunContext,
    SpecRef,
    environment_hash,
)
from agent_fox.core.memory import DEFAULT_LIMITS
from agent_fox.core.retry.replay import Finding
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.answer import read_report
from agent_fox.core.verdicts.judgement import Judged, judge
from agent_fox.core.verdicts.known import word_of_pass
from agent_fox.core.verdicts.panel import Opinion, confer
from agent_fox.core.verdicts.verdict import Report, Verdict
from agent_fox.engine.record.convergence import landed_sessions
from agent_fox.evidence import remembering
from agent_fox.session.built_in.registry import CHECKS, LIBRARY, MEMORY, PARTIAL
from agent_fox.store.ledger import ledger
from agent_fox.store.ledger import memory as stored_memory
from agent_fox.store.ledger.memory import Origin
from agent_fox.store.records import VerdictOrigin, past_readings, store_verdicts
from agent_fox.verifier.lanes.order import lanes_in

if TYPE_CHECKING:
    import pydantic
    from sqlite_utils import Database

    from agent_fox.core.ids import Ticket
    from agent_fox.core.memory import ReadItem
    from agent_fox.engine.record.best_tree import WayBack
    from agent_fox.engine.record.docket import Docket, SpecFile
    from agent_fox.store.plan import PlannedNode
    from agent_fox.verifier.judging import memory_order
    from agent_fox.verifier.lanes.results import LaneResult
else:
    pydantic = late_module("pydantic")
    memory_order = late_module("agent_fox.verifier.judging.memory_order")


@dataclass(frozen=True, slots=True)
class Judge:
    """What one judge of a session left: its output, or why there is none. Only our own checks are trusted with more."""

    name: str
    output: str = ""
    failure: str = ""
    is_trusted: bool = False


@dataclass(frozen=True, slots=True)
class VerifierResult:
    """The end of one verifier session, as the engine or a host hands it in.

    `report` is given where the caller has read it already; else what the `judges` printed is read. `failure` says why
    there is no report at all: a crash, a time-out, changed sources; it is a spent reading. `way_back` is there where
    the best tree that was read is better, and whoever has the branch can go back to it.
    """

    ticket: Ticket
    commit: str | None
    tree: str | None
    judges: tuple[Judge, ...] = ()
    report: Report | None = None
    failure: str = ""
    session_id: int | None = None
    way_back: WayBack | None = None


def read_result(tx: Docket, planned: PlannedNode, result: VerifierResult) -> Report:
    """The report of a session: as given, as read from its output, or unreadable with the reason."""
    if result.failure:
        return Report(notes=(result.failure,), is_readable=False)
    if result.report is not None:
        return result.report
    return read_judges(result.judges, tx.file_of(planned.node.spec_name))


def read_judges(judges: tuple[Judge, ...], file: SpecFile) -> Report:
    """One report of what all judges printed. Needs no open transaction, however long the output is."""
    opinions = [
        Opinion(judge.name, read_judge(judge, file.index), is_partial=judge.name in PARTIAL) for judge in judges
    ]
    return confer(opinions, file.expected) if opinions else Report(notes=("nobody judged",), is_readable=False)


def read_judge(judge: Judge, index: Mapping[str, tuple[str, ...]]) -> Report:
    if judge.failure:
        return Report(notes=(judge.failure,), is_readable=False)
    return known_by(judge, read_report(judge.output, index, trusted=judge.is_trusted))


def known_by(judge: Judge, report: Report) -> Report:
    """The report in which each verdict has the word that a PASS of this judge counts under."""
    is_by_tests = judge.is_trusted and judge.name == CHECKS

    def known(verdict: Verdict) -> Verdict:
        return replace(verdict, how=word_of_pass(verdict.how, is_by_tests=is_by_tests, is_ours=judge.is_trusted))

    return replace(report, verdicts={part: known(verdict) for part, verdict in report.verdicts.items()})


def judge_result(tx: Docket, planned: PlannedNode, report: Report, result: VerifierResult) -> Judged:
    """Judge a report against what the spec expects, with what was read before on the same tree."""
    spec_name = planned.node.spec_name
    file = tx.file_of(spec_name)
    past = past_readings(tx.db, spec_name, result.tree, file.versions) if result.tree else {}
    return judge(
        report,
        file.expected,
        past=past,
        waived=tx.waived(spec_name),
        attempt=planned.standing.attempt,
        since=planned.standing.reading_base,
    )


def persist(tx: Docket, planned: PlannedNode, judged: Judged, result: VerifierResult, decision_id: int) -> None:
    """Store every verdict that counts, and what is learned from them, in the decision's transaction."""
    spec_name, versions = planned.node.spec_name, tx.file_of(planned.node.spec_name).versions
    before = remembering.before(tx.db, spec_name)
    origin = VerdictOrigin(
        spec_name, planned.node.uid, result.session_id, decision_id, result.ticket, result.commit,
        result.tree, tx.at,
    )  # fmt: skip
    store_verdicts(tx.db, origin, judged.counted, versions)
    learning = remembering.Learning(
        spec_name, before, judged, versions, items_read(result.judges),
        Origin(result.session_id, decision_id), result.commit or "",
        lambda: files_changed(tx, spec_name, result.session_id),
    )  # fmt: skip
    remembering.learn(tx.db, tx.at, tx.memory or DEFAULT_LIMITS, learning)


def files_changed(tx: Docket, spec_name: str, session: int | None) -> frozenset[str]:
    """What landed for the spec since the reading before this one: where a requirement was repaired or broken."""
    landings = landed_sessions(tx, spec_name)
    last = stored_memory.session_before(tx.db, spec_name, session)
    since = [row for row in landings if row.id > last] or landings[-1:]
    return frozenset(path for row in since for path in tx.touched(row.base or "", row.landed or ""))


@dataclass(frozen=True, slots=True)
class LaneRun:
    """Where lanes ran. `identity` names the event for ever, such as `session:12` or `decision:40`.

    `verifier` and `environment`: what the results count for, besides the files of `tree` and `commit`; without an
    environment, the tools and bounds of each lane are one.
    """

    spec_name: str
    identity: str
    at: str
    tree: str
    commit: str
    ticket: str = ""
    run: int | None = None
    session: int | None = None
    decision: int | None = None
    verifier: str = ""
    environment: str = ""


def lanes_said(judges: Iterable[Judge]) -> tuple[LaneResult, ...]:
    """What the judge `library` of a session said, if it was asked and ended well."""
    return tuple(result for output in said_by(LIBRARY, judges) for result in lanes_in(output))


def items_read(judges: Iterable[Judge]) -> tuple[ReadItem, ...]:
    """What the pre-reading of a session said of items of regression memory, if it was made and ended well."""
    return tuple(read for output in said_by(MEMORY, judges) for read in memory_order.read_in(output))


def said_by(name: str, judges: Iterable[Judge]) -> list[str]:
    """The outputs of one of our own judges, where it ended well."""
    return [judge.output for judge in judges if judge.name == name and judge.is_trusted and not judge.failure]


def record_lanes(db: Database, results: Sequence[LaneResult], where: LaneRun) -> None:
    """One record for each result, in the open transaction."""
    ledger.append(db, [record_of(result, where) for result in results], where.spec_name)


def record_of(result: LaneResult, where: LaneRun) -> Evidence:
    body: dict[str, Json] = {
        "is_proof": result.is_proof, "why": result.why, "requirements": list(result.requirements),
        "environment": dict(result.environment),
    }  # fmt: skip
    return Evidence(
        Kind.CHECK, f"check:{where.identity}:{result.address}", where.at,
        Outcome(result.status.value, counterexample=result.counterexample, log_ref=result.log_ref),
        SpecRef(result.kind.value, result.address, result.version),
        RunContext(
            result.command, where.environment or environment_hash(result.environment), where.verifier, where.ticket,
            where.run, where.session, where.decision,
        ),
        Artifact(where.tree, where.commit),
        limitation=result.limitation,
        body=body,
    )  # fmt: skip


_FINDINGS = adapter(lambda: pydantic.TypeAdapter(tuple[Finding, ...]))


def findings_in(judges: Iterable[Judge]) -> tuple[Finding, ...]:
    """What our own judge of tests found of where what fails began to fail; nothing where its answer is incomplete."""
    outputs = [judge.output for judge in judges if judge.name == CHECKS and judge.is_trusted and not judge.failure]
    try:
        return tuple(
            finding
            for output in outputs
            for finding in _FINDINGS.validate_python((json_object(output) or {}).get("onsets", ()))
        )
    except ValueError:
        return ()
