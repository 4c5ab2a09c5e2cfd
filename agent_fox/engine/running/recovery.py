"""After a crash: what ended unseen is harvested, what was lost is launched again, what was recorded is carried out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.engine.launching import candidates, conflicts, cut_offs, judges, launching, tip
from agent_fox.engine.record.watch import RunEvent, Watch
from agent_fox.engine.running import contests, results
from agent_fox.engine.running.results import DocketOf, Ended, Registry
from agent_fox.session.order import EndKind, SessionEnd
from agent_fox.session.workspaces.landing import move
from agent_fox.session.workspaces.workspace import launch_ref
from agent_fox.store import sessions
from agent_fox.store.account import is_under_way
from agent_fox.store.plan import PlannedNode, node_by_uid
from agent_fox.store.state import transaction
from agent_fox.system import clock, git, git_refs, own_folders
from agent_fox.system.files import remove_tree

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.retry.candidates import Candidate
    from agent_fox.core.retry.cut_off import CutOff
    from agent_fox.engine.launching.launching import Workshop
    from agent_fox.engine.planning.extensions import Runners
    from agent_fox.session.runners import Runner
    from agent_fox.store.sessions import LaunchRow, SessionRow


def recover(
    registry: Registry, docket_of: DocketOf, db: Database, workshop: Workshop, runners: Runners, watch: Watch
) -> None:
    """Settle every launch that was under way when the last orchestrator ended, but those that go on without one: the
    run takes them up again. Safe to repeat.
    """
    integration = workshop.integration
    moved = tip.after_a_crash(db, integration)
    if moved is not None:
        watch(RunEvent("note", text=moved.told))
    finish_landings(db, workshop.repo, integration.branch)
    commit = git.commit_of(workshop.repo, integration.ref)
    if commit is not None:
        sessions.note_tip(db, commit)
    for launch in sessions.open_launches(db):
        runner = runners.named(launch.runner)
        if not runner.outlives:
            settle(registry, docket_of, db, workshop, launch, runner, watch)
    sweep(db, workshop)
    conflicts.tend(db, workshop.repo, git_refs.references(workshop.repo))
    own_folders.sweep()


def finish_landings(db: Database, repo: Path, branch: str) -> None:
    """Move the branch to what was recorded before the crash."""
    for number, commit, base in sessions.open_landings(db):
        if not move(repo, branch, commit, base):
            raise git.GitError(
                f"{branch} was moved while agent-fox was not running, and work recorded as {commit[:12]} is not in it; "
                f"merge it (git merge {commit[:12]}) or move the branch back, then run again"
            )
        sessions.set_landed(db, number)


def settle(
    registry: Registry,
    docket_of: DocketOf,
    db: Database,
    workshop: Workshop,
    launch: LaunchRow,
    runner: Runner,
    watch: Watch,
) -> None:
    session = sessions.session_by_id(db, launch.session_id)
    planned = node_by_uid(db, session.ticket.node_uid)
    contest = candidates.contest_of(db, planned)
    candidate = contest.of_launch(launch.id) if contest is not None else None
    if candidate is not None:
        settle_reading(docket_of, db, workshop, planned, launch, candidate, runner, watch)
        return
    panel = workshop.panel(db, planned, session, launch)
    end = judges.harvest_all(panel, runner)
    if end is None or end.end.kind in judges.NO_RESULT:
        conflicts.forget(workshop.repo, launch.id)
        lost = end.end if end else judges.lost_end(panel)
        lose(db, planned, launch, lost, kept(workshop.repo, session, launch, lost, watch), watch)
    elif contest is not None:
        held = Ended(planned, session, launch, end.end)
        again, text = contests.hold(db, workshop.integration, held, contest)
        watch(RunEvent("note", again, text=text))
    else:
        cut_off = kept(workshop.repo, session, launch, end.end, watch)
        ended = Ended(planned, session, launch, end.end, end.judges, cut_off=cut_off)
        handled = results.take_result(registry, docket_of, db, workshop.integration, ended)
        results.land(docket_of, db, workshop.integration, ended, watch)
        watch(RunEvent("harvested", planned, session=session, handled=handled))
    judges.clean_up_all(panel, runner)


def settle_reading(
    docket_of: DocketOf, db: Database, workshop: Workshop, planned: PlannedNode, launch: LaunchRow,
    candidate: Candidate, runner: Runner, watch: Watch,
) -> None:  # fmt: skip
    """The reading of a candidate that was under way: harvested where it ended, else it is made again."""
    session = sessions.session_by_id(db, launch.session_id)
    panel = candidates.reading_of(workshop, db, session, launch, candidate)
    reading = judges.harvest_all(panel, runner)
    if reading is not None and reading.end.kind in judges.NO_RESULT:
        reading = None
    ended = Ended(planned, session, launch, reading.end if reading is not None else judges.lost_end(panel))
    again, read = contests.end_reading(docket_of, db, ended, candidate, reading, panel.first.assumed_usd)
    result = read.result if reading is not None else "its reading was lost, and is made again"
    watch(RunEvent("note", again, text=f"candidate {candidate.number}: {result}"))
    judges.clean_up_all(panel, runner)


def kept(repo: Path, session: SessionRow, launch: LaunchRow, end: SessionEnd, watch: Watch) -> CutOff | None:
    """What a session that was cut off unseen had done; told, too."""
    cut_off = cut_offs.keep(repo, session, launch, end, clock.now())
    if cut_off is not None:
        watch(RunEvent("note", text=f"{session.node_id}: {cut_off.in_words}"))
    return cut_off


def lose(
    db: Database, planned: PlannedNode, launch: LaunchRow, end: SessionEnd, cut_off: CutOff | None, watch: Watch
) -> None:
    status = "infrastructure" if end.kind is EndKind.INFRASTRUCTURE else "lost"
    with transaction(db):
        results.lose_launch(db, planned, launch, status, end, clock.now(), cut_off)
    watch(RunEvent("lost", launching.waiting(planned), text="the launch was lost; it is repeated free"))


def sweep(db: Database, workshop: Workshop) -> None:
    """Remove folders and references of launches that are settled: a crash may have left them."""
    if not workshop.launches.is_dir():
        return
    for folder in workshop.launches.iterdir():
        if not is_under_way(db, folder.name):
            for inner in folder.glob("judge-*"):
                git.delete_ref(workshop.repo, launch_ref(f"{folder.name}-{inner.name.removeprefix('judge-')}"))
            git.delete_ref(workshop.repo, launch_ref(folder.name))
            remove_tree(folder, ignore_errors=True)
