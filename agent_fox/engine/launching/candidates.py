"""Several tries of one attempt: what a try left is kept, the spec's verifier reads it, and the best one's end counts.

What is decided stands in `core.retry.candidates`; when each step is taken, in `engine.running`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.retry.candidates import Candidate, Contest
from agent_fox.core.verdicts.verdict import Report
from agent_fox.engine.launching.cut_offs import CANDIDATES
from agent_fox.engine.launching.judges import Panel, cost_of, panel_of
from agent_fox.engine.launching.launching import SEPARATOR
from agent_fox.engine.record import best_tree
from agent_fox.engine.record.review_persistence import VerifierResult, judge_result, read_judges
from agent_fox.session.order import EndKind, SessionEnd
from agent_fox.session.order_document import read_end
from agent_fox.store import sessions, traces
from agent_fox.store.plan import nodes_of_spec
from agent_fox.store.records import candidates_wanted, decisions_of_spec
from agent_fox.system import git
from agent_fox.system.git_diff import lines_between
from agent_fox.system.state_folders import file_name

if TYPE_CHECKING:
    from pathlib import Path

    from sqlite_utils import Database

    from agent_fox.engine.launching.judges import PanelEnd
    from agent_fox.engine.launching.launching import Workshop
    from agent_fox.engine.record.docket import Docket
    from agent_fox.store.plan import PlannedNode
    from agent_fox.store.sessions import LaunchRow, SessionRow


def contest_of(db: Database, planned: PlannedNode) -> Contest | None:
    """The tries of the attempt that a coder awaits; None where it has one, as ever."""
    if planned.node.archetype is not Archetype.CODER:
        return None
    wanted = candidates_wanted(db, planned.node.uid)
    if wanted < 2:
        return None
    session = sessions.session_by_ticket(db, planned.standing.ticket)
    return traces.contest_of(db, session.id, wanted) if session else Contest(wanted)


def end_of(db: Database, launch: LaunchRow) -> SessionEnd:
    """How a try ended, with all that it and its reading told that they cost."""
    end = read_end(traces.end_of_candidate(db, launch.id))
    return replace(end, cost_usd=sessions.launch_cost(db, launch.id))


def ref_of(session: SessionRow, launch: LaunchRow) -> str:
    return (
        f"{CANDIDATES}{file_name(session.ticket.node_uid).replace('~', '-')}/{session.ticket.attempt}.{launch.number}"
    )


def candidate_of(repo: Path, contest: Contest, session: SessionRow, launch: LaunchRow, end: SessionEnd) -> Candidate:
    """The try that ended, with its work kept under a reference; before its end is recorded. Repeatable. Raises
    GitError.
    """
    number, work = len(contest.made) + 1, end.work
    if end.kind is not EndKind.ENDED or work is None:
        failure, is_last = f"{end.kind}: {end.reason}", end.kind is EndKind.TOO_LONG
        return Candidate(number, launch.id, failure=failure, is_last=is_last)
    if work.is_unchanged:
        return Candidate(number, launch.id, work.commit, work.tree, is_unchanged=True, note="; ".join(end.notes))
    ref, changed = ref_of(session, launch), lines_between(repo, launch.pinned, work.commit)
    git.set_ref(repo, ref, work.commit)
    bare = Candidate(
        number, launch.id, work.commit, work.tree, ref, change=sum(file.added + file.removed for file in changed)
    )
    twin = contest.twin_of(work.tree)
    return replace(bare, same_as=twin.number, words=twin.words) if twin is not None and twin.words else bare


def verifier_of(db: Database, spec_name: str) -> PlannedNode:
    return next(node for node in nodes_of_spec(db, spec_name) if node.node.archetype is Archetype.VERIFIER)


def reading_of(workshop: Workshop, db: Database, session: SessionRow, launch: LaunchRow, candidate: Candidate) -> Panel:
    """The orders by which the spec's verifier reads a candidate: as it reads what landed, on the candidate's commit.

    The same rows give the same orders, so that a reading that ended unseen can be harvested.
    """
    verifier = verifier_of(db, session.spec_name)
    rung = verifier.standing.rung
    backends = workshop.judges(db, verifier, workshop.agent(verifier, rung))
    reader = replace(
        session, node_id=verifier.node.id, archetype=Archetype.VERIFIER, mode=None, ticket=verifier.standing.ticket,
        rung=rung, pinned=candidate.commit, tree=candidate.tree, backend=backends,
    )  # fmt: skip
    name = f"{launch.id}-read"
    place = replace(launch, id=name, pinned=candidate.commit, folder=str(workshop.launches / name))
    order = workshop.order(db, verifier, reader, place)
    ticket = f"{session.ticket.attempt}.{session.ticket.reading}.{launch.number}"
    log = workshop.logs / f"{file_name(session.node_id)}.{ticket}.read.log"
    return panel_of(
        replace(order, log=log, document=with_summary(order.document, db, launch)), backends.split(SEPARATOR)
    )


def with_summary(document: object, db: Database, launch: LaunchRow) -> dict[str, object]:
    """What a judge is told, with what the candidate says of its own work: there a changed test is given its reason."""
    assert isinstance(document, dict)
    if "stated" not in document:
        return document
    summary = end_of(db, launch).summary
    return {**document, "stated": "\n".join(filter(None, (str(document["stated"]), summary)))}


def as_read(tx: Docket, spec_name: str, candidate: Candidate, ended: PanelEnd) -> Candidate:
    """The candidate with what its reading says of each requirement that the spec expects. None of it is a verdict."""
    verifier, end = verifier_of(tx.db, spec_name), ended.end
    if end.kind is EndKind.ENDED:
        report = read_judges(ended.judges, tx.file_of(spec_name))
    else:
        report = Report(notes=(f"{end.kind}: {end.reason}",), is_readable=False)
    result = VerifierResult(verifier.standing.ticket, None, None, report=report)
    counted = judge_result(tx, verifier, report, result).counted
    note = "" if report.is_readable else f"not readable: {'; '.join(report.notes)}"
    return replace(candidate, words={part: each.word for part, each in counted.items()}, note=note)


def cost_with(before: float | None, assumed: float, reading: float | None, reading_assumed: float) -> float | None:
    """Dollars of a try and its reading: what both told, with what is assumed for one that told nothing; None where only
    the try is to be paid, and told nothing.
    """
    if not reading and not reading_assumed:
        return before
    known = cost_of([before, reading], [assumed, reading_assumed])
    return assumed + reading_assumed if known is None else known


def proven_before(tx: Docket, spec_name: str) -> frozenset[str]:
    """What passed when the spec's own work began, as the best tree has it."""
    verifier = verifier_of(tx.db, spec_name)
    window = best_tree.since_proven(decisions_of_spec(tx.db, spec_name), verifier.node.uid)
    return best_tree.proven_before(tx, verifier, window)
