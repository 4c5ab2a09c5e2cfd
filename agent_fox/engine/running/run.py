"""A whole run, from the settings to its end: checks, lock, state, recovery, plan, board, and the account of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.words import listed
from agent_fox.engine.account.spending import read_spending
from agent_fox.engine.handlers import waiving
from agent_fox.engine.handlers.dockets import DocketFactory
from agent_fox.engine.issues.courier import INTERRUPTED_SECONDS, Courier
from agent_fox.engine.launching import cut_offs
from agent_fox.engine.launching.infrastructure import Backoff
from agent_fox.engine.launching.launching import Workshop
from agent_fox.engine.launching.pushing import push
from agent_fox.engine.launching.repository_guard import RepositoryGuard
from agent_fox.engine.planning import preflight
from agent_fox.engine.planning.from_settings import RunStuck, by_worth_of, policy_of
from agent_fox.engine.planning.planning import sync_plan
from agent_fox.engine.planning.workplace import RunOptions, Workplace
from agent_fox.engine.record import library
from agent_fox.engine.record.docket import SpecShelf
from agent_fox.engine.record.ending import RunExit, Stop
from agent_fox.engine.record.watch import RunEvent, moves_in_words
from agent_fox.engine.reports import spec_report
from agent_fox.engine.reports.on_github import findings_now, tell_github
from agent_fox.engine.reports.source_comment import comment_sources, place_of
from agent_fox.engine.running import commands, contests
from agent_fox.engine.running.ledger_witness import LedgerWitness
from agent_fox.engine.running.recovery import recover
from agent_fox.engine.running.results import Registry
from agent_fox.engine.running.scheduler import Orders, Run
from agent_fox.evidence import waivers, witness
from agent_fox.store import sessions
from agent_fox.store.ledger import ledger
from agent_fox.store.state import (
    StateError,
    StateFile,
    checkpoint,
    is_begun,
    open_state,
    single_writer,
    told_of,
    transaction,
)
from agent_fox.system import clock, git
from agent_fox.system.state_folders import LOCK, LOGS, STATE, artifacts_in
from agent_fox.verifier.artifacts.index import ArtifactError
from agent_fox.verifier.artifacts.retention import prune

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.engine.planning.scope import Scope
    from agent_fox.evidence.waivers import Grounds
    from agent_fox.store.ledger import audit as ledger_audit
    from agent_fox.store.ledger import journal
    from agent_fox.verifier.artifacts import store as artifacts
else:
    artifacts = late_module("agent_fox.verifier.artifacts.store")
    journal = late_module("agent_fox.store.ledger.journal")
    ledger_audit = late_module("agent_fox.store.ledger.audit")


LONGEST_LOG_END = 4_000


class Engine(Workplace):
    """One repository with its settings, opened for a run."""

    def run(self, options: RunOptions, orders: Orders) -> Stop:
        """Run until the end or a pause. Raises RunRefused, GitError, SpecsMissing, LockHeld, StateError beforehand."""
        head, scope = self.check(options)
        with single_writer(self.root / LOCK):
            had_state = is_begun(self.root / STATE)
            with told_of(self.root / STATE), self.state() as db, git.serving(self.root):
                try:
                    self.ledger_witness(db).begin(had_state=had_state)
                    return self.run_locked(db, head, scope, options, orders)
                finally:
                    self.leave_no_folder()

    def leave_no_folder(self) -> None:
        """Remove this repository's state folder while no launch lies in it."""
        with suppress(OSError):
            self.launches().rmdir()
            self.launches().parent.rmdir()

    @contextmanager
    def state(self) -> Iterator[Database]:
        db = open_state(self.root / STATE)
        try:
            yield db
        finally:
            checkpoint(db)
            db.close()

    def run_locked(self, db: Database, head: str, scope: Scope, options: RunOptions, orders: Orders) -> Stop:
        refuse_other_rows(db)
        run_id, ledger_witness = self.account(db, head, options), self.ledger_witness(db)
        ledger_witness.note()
        registry, tracker = Registry(self.handlers()), self.tracker()
        branch = self.settings.git.integration_branch
        runners = self.runners()
        recover(registry, self.docket_of(SpecShelf(), run_id), db, self.workshop(SpecShelf()), runners, self.watch)
        pruned = cut_offs.prune(db, self.root, clock.now())
        if pruned:
            self.watch(RunEvent("note", text=pruned))
        sessions.note_tip(db, preflight.bring_in_head(self.root, branch, head))
        shelf = SpecShelf()
        workshop = self.workshop(shelf, runners.named(self.settings.cluster.engine).name)
        docket_of = self.docket_of(shelf, run_id)
        asked = library.read_files(scope.plan.specs, self.root)
        with transaction(db):
            lines = sync_plan(docket_of(db, clock.now()), scope, redo=options.redo)
            for line in (*lines, *library.sync_library(docket_of(db, clock.now()), asked)):
                self.watch(RunEvent("note", text=line))
            for line in moves_in_words(waiving.settle(docket_of(db, clock.now()), self.grounds())):
                self.watch(RunEvent("note", text=line))
        contests.leave(db)
        courier = Courier(self.root / STATE, tracker, self.settings.tracker)
        run = Run(
            db=db,
            run_id=run_id,
            workshop=workshop,
            docket_of=docket_of,
            registry=registry,
            courier=courier,
            guard=RepositoryGuard.begin(db, workshop.integration, self.watch),
            parallel=options.parallel or self.settings.run.parallel,
            board=self.board(db, scope, options),
            spending=read_spending(db, run_id, self.settings.limits, clock.monotonic),
            backoff=Backoff(self.settings.infrastructure, clock.monotonic),
            orders=orders,
            watch=self.watch,
            is_final_check=self.settings.policy.final_check,
            is_reproving=options.reprove,
            runners=runners,
            broken=tuple(scope.broken),
            settle_waivers=lambda tx: waiving.settle(tx, self.grounds()),
            reading_seconds=self.settings.tracker.finish_seconds if self.settings.github.commands != "off" else 0.0,
            carry_out=lambda db: commands.carry_out(
                db, place_of(tracker), lambda db: docket_of(db, clock.now()), self.grounds
            ),
            ledger_witness=ledger_witness,
            state_file=StateFile.at(self.root / STATE),
        )
        self.watch(RunEvent("started", text=str(run_id)))
        run.warn()
        spec_report.publish_all(docket_of(db, clock.now()), self.root)
        return self.go(db, run)

    def go(self, db: Database, run: Run) -> Stop:
        try:
            return self.to_the_end(db, run)
        except StateError:
            run.state_file.refuse_gone()  # whoever looked at it first says only what it missed
            raise

    def to_the_end(self, db: Database, run: Run) -> Stop:
        run.courier.start()
        try:
            stop = run.go()
        except BaseException:
            run.courier.finish(INTERRUPTED_SECONDS)
            raise
        finally:
            run.note_time()
        stop = self.pushed(run, run.ledger_witness.believed(stop))
        self.report(db, run, stop)
        run.finish_deliveries(self.settings.tracker.finish_seconds)
        run.state_file.refuse_gone()
        self.close_account(db, run.run_id, stop)
        run.ledger_witness.note()
        self.tidy()
        return stop

    def report(self, db: Database, run: Run, stop: Stop) -> None:
        """What people are told of the whole: a report of each spec, a comment on the issue that it came from, and what
        GitHub shows beside issues."""
        spec_report.publish_all(run.docket_of(db, clock.now()), self.root)
        if self.settings.tracker.kind == "github":
            with transaction(db):
                tx = run.docket_of(db, clock.now())
                find = findings_now(tx, self.settings, self.root, self.grounds)
                comment_sources(tx, place_of(run.courier.tracker), find)
                if stop.exit is not RunExit.INTERRUPTED:  # what was not pushed is not there to be spoken of
                    tell_github(tx, self.settings, self.root, self.grounds, stop)

    def pushed(self, run: Run, stop: Stop) -> Stop:
        """A last look at the branch, and its push where the settings name a remote. A failure is told with the reason.

        A person who interrupted the run does not wait for a remote.
        """
        try:
            commit = run.guard.last()
        except git.GitError as error:
            return Stop(RunExit.CANNOT_GO_ON, str(error))
        if stop.exit is RunExit.INTERRUPTED:
            return stop
        pushed = push(self.root, self.settings.git, commit, tuple(dict.fromkeys(run.guard.strange)))
        if pushed is None:
            return stop
        self.watch(RunEvent("note", text=pushed.told))
        return Stop(stop.exit, f"{stop.reason}; {pushed.told}") if pushed.has_failed else stop

    def account(self, db: Database, head: str, options: RunOptions) -> int:
        """The run that goes on, or a new one: spending belongs to it."""
        with transaction(db):
            ledger.note_root(db, self.root)
            before = None if options.new_run else sessions.open_run(db)
            number = sessions.start_run(db, clock.now(), head) if before is None else before
            sessions.resume_run(db, number, self.settings.policy.required_state, clock.now())
            return number

    def close_account(self, db: Database, run_id: int, stop: Stop) -> None:
        status = {
            RunExit.PROVEN: "ended",
            RunExit.NOT_PROVEN: "ended",
            RunExit.CEILING: "paused",
            RunExit.CANNOT_GO_ON: "paused",
            RunExit.INTERRUPTED: "interrupted",
        }[stop.exit]
        with transaction(db):
            sessions.end_run(db, run_id, clock.now(), status, stop.exit, stop.reason, sessions.recorded_tip(db))

    def tidy(self) -> None:
        """Remove logs that are past keeping. What goes wrong here has no part in how the run ended."""
        verify = self.settings.verify
        with suppress(OSError, ArtifactError):
            folder = artifacts_in(self.launches().parent)
            prune(folder, verify.keep_days, verify.keep_mib * 1024**2, run_days=verify.keep_days)

    def workshop(self, shelf: SpecShelf, engine: str = "") -> Workshop:
        return Workshop(self.settings, self.root, self.launches(), self.root / LOGS, shelf, engine)

    def docket_of(self, shelf: SpecShelf, run_id: int) -> DocketFactory:
        return DocketFactory(
            policy_of(self.settings),
            shelf,
            run_id,
            self.settings,
            self.grounds,
            self.log_end,
            by_worth_of(self.settings),
        )

    def log_end(self, address: str) -> str:
        """The end of a log that a judge kept, masked as it is; empty where it is gone."""
        with suppress(OSError, ArtifactError):
            return artifacts.ArtifactStore(artifacts_in(self.launches().parent), "", 0).end_of(address, LONGEST_LOG_END)
        return ""

    def grounds(self) -> Grounds:
        """What waivers are held against, looked up anew for each use."""
        return waivers.grounds_of(self.root, self.settings, self.environ)

    def ledger_witness(self, db: Database) -> LedgerWitness:
        return LedgerWitness(db, witness.path_of(self.environ, self.root), self.watch)


def refuse_other_rows(db: Database) -> None:
    """Nothing is built on a plan that is not the recorded one, or that others change with us. Raises RunStuck."""
    why = journal.why_others(db)
    foreign = ledger_audit.foreign_triggers(db)
    if foreign:
        why = f"triggers of the state file are not ours ({listed(foreign)}): {journal.LOOK}"
    if why:
        raise RunStuck(why)
