"""The run: launches what is ready, hears what ended, lets the handlers decide, carries out what they decided.

One thread owns the state and all decisions. Sessions are waited for by worker threads that know neither.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.ledger.gates import Gate
from agent_fox.core.retry.standing import Status
from agent_fox.engine.account import freshness
from agent_fox.engine.handlers import final_review
from agent_fox.engine.handlers.dockets import narrow_cost
from agent_fox.engine.issues.courier import INTERRUPTED_SECONDS, Courier
from agent_fox.engine.launching import candidates, cut_offs, judges, launching
from agent_fox.engine.launching.judges import Panel, PanelEnd
from agent_fox.engine.record.ending import RunExit, Stop
from agent_fox.engine.record.watch import RunEvent, Watch, moves_in_words
from agent_fox.engine.reports import spec_report
from agent_fox.engine.running import contests, final_check, finish, proving, results
from agent_fox.engine.running.final_check import Conditions
from agent_fox.engine.running.proving import Answer, Subject
from agent_fox.engine.running.results import Ended, Registry
from agent_fox.session.order import EndKind, SessionEnd, StopSignal
from agent_fox.session.runners import Runner, Unreachable
from agent_fox.store import sessions
from agent_fox.store.plan import node_by_uid
from agent_fox.store.sessions import LaunchRow, SessionRow, add_run_seconds
from agent_fox.store.state import checkpoint, transaction
from agent_fox.system import clock, git

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.retry.candidates import Candidate, Contest
    from agent_fox.core.retry.cut_off import CutOff
    from agent_fox.engine.account.spending import Spending
    from agent_fox.engine.launching.infrastructure import Backoff
    from agent_fox.engine.launching.launching import Workshop
    from agent_fox.engine.launching.repository_guard import RepositoryGuard
    from agent_fox.engine.planning.extensions import Runners
    from agent_fox.engine.record.board import Board
    from agent_fox.engine.record.docket import Docket, Handled
    from agent_fox.engine.running.commands import CarriedOut
    from agent_fox.engine.running.ledger_witness import LedgerWitness
    from agent_fox.store.ledger import journal
    from agent_fox.store.plan import PlannedNode
    from agent_fox.store.state import StateFile
else:
    journal = late_module("agent_fox.store.ledger.journal")

TICK_SECONDS = 1.0


@dataclass(slots=True)
class Orders:
    """What a person asks of a run while it goes on: first to launch nothing more, then to end what runs."""

    signal: StopSignal = field(default_factory=StopSignal)
    asked: int = 0

    def interrupt(self) -> None:
        self.asked += 1
        if self.asked > 1:
            self.signal.set()

    def terminate(self) -> None:
        self.asked = max(self.asked, 2)
        self.signal.set()

    def leave(self) -> None:
        """Nobody will hear what still runs: what ends with us is launched again, what does not is asked for again."""
        self.asked = max(self.asked, 2)
        self.signal.leave()


@dataclass(slots=True)
class Flight:
    """A launch under way. `assumed`: dollars that it counts for until it tells its cost; `reads`: the candidate that is
    read, where it is no session of its own.
    """

    planned: PlannedNode
    session: SessionRow
    launch: LaunchRow
    panel: Panel
    runner: Runner
    assumed: float = 0.0
    reads: Candidate | None = None


@dataclass
class Run:
    """One part of a run, from here to its end or its pause."""

    db: Database
    run_id: int
    workshop: Workshop
    docket_of: Callable[[Database, str], Docket]
    registry: Registry
    courier: Courier
    guard: RepositoryGuard
    parallel: int
    board: Board
    spending: Spending
    backoff: Backoff
    orders: Orders
    watch: Watch
    ledger_witness: LedgerWitness
    state_file: StateFile
    runners: Runners
    is_final_check: bool = True
    is_reproving: bool = False
    broken: tuple[str, ...] = ()
    settle_waivers: Callable[[Docket], list[Handled]] = lambda tx: []
    carry_out: Callable[[Database], Iterable[CarriedOut]] = lambda db: ()
    reading_seconds: float = 0.0
    """How long the end waits for comments to be read that may ask for something."""
    stop: Stop | None = None
    flights: dict[str, Flight] = field(default_factory=dict)
    ended: queue.SimpleQueue[tuple[str, PanelEnd | Unreachable]] = field(default_factory=queue.SimpleQueue)

    @property
    def repo(self) -> Path:
        return self.workshop.repo

    def go(self) -> Stop:
        """Work until nothing is left to do, or nothing more may be launched. Gives the reason and exit code."""
        if self.is_reproving:
            self.reopen(final_check.reprove)
        with self.pool() as submit:
            self.take_up(submit)
            while self.is_busy(submit):
                self.hear(TICK_SECONDS)
        self.runners.close()
        self.hear_runners()
        try:
            self.prove()
            return self.stop or self.claim()
        except git.GitError as error:
            return self.pause(error)

    def pause(self, error: git.GitError) -> Stop:
        """Where git cannot be used, nothing more is launched, and what runs is waited for; the run goes on later."""
        self.halt(RunExit.CANNOT_GO_ON, str(error))
        return Stop(RunExit.CANNOT_GO_ON, str(error))

    def is_proof_required(self) -> bool:
        return self.docket_of(self.db, clock.now()).policy.required_state is Gate.PROVED

    def warn(self) -> None:
        """Before anything is paid for: what can never be proved although that is required."""
        names = dict.fromkeys(place.planned.node.spec_name for place in self.board.places())
        for line in proving.warnings(self.db, self.workshop, names) if self.is_proof_required() else ():
            self.watch(RunEvent("note", text=line))

    def prove(self) -> None:
        """Where a proof is required: a session of the provers for each spec that is reviewed and not proved yet."""
        if not self.is_proof_required():
            return
        for subject in list(proving.due(self.db, self.workshop, finish.verified_specs(self.board))):
            over = self.spending.time_over()
            if over is not None and self.stop is None:
                self.halt(RunExit.CEILING, over)
            answer = self.ask_provers(subject) if self.stop is None else None
            if answer is None:
                return
            self.note_proof(subject, answer)

    def note_proof(self, subject: Subject, answer: Answer) -> None:
        verifier = self.workshop.standpoint(self.db, subject.planned, 0).verifier
        with transaction(self.db):
            handled = proving.record(self.docket_of(self.db, clock.now()), subject, answer, verifier)
        self.follow(handled, subject.planned)

    def ask_provers(self, subject: Subject) -> Answer | None:
        """None where a person asked to stop meanwhile, and could not wait."""
        if not subject.objects:
            return Answer()
        order = proving.order_of(self.db, self.workshop, subject, clock.new_id())
        with ThreadPoolExecutor(1, "prover") as pool:
            end = pool.submit(proving.run, order, self.orders.signal)
            while not wait([end], TICK_SECONDS).done:
                self.look_around()
                checkpoint(self.db)
        self.look_around()
        return proving.answer_of(end.result())

    def claim(self) -> Stop:
        """Nothing is left to do: what the run may say."""
        tx = self.docket_of(self.db, clock.now())
        required = tx.policy.required_state
        for line in final_check.shown(tx, self.board, self.conditions(self.guard.tip())):
            self.watch(RunEvent("note", text=line))
        short = finish.shortfalls(self.db, self.board, required, proving.reasons)
        stop = finish.claim(self.board, self.broken, short, required)
        why = journal.why_others(self.db, is_whole=True) if stop.exit is RunExit.PROVEN else ""
        return Stop(RunExit.CANNOT_GO_ON, why) if why else stop

    def conditions(self, tip: str) -> Conditions:
        settings = self.workshop.settings
        setup = freshness.setup_lines(settings)
        return Conditions(self.repo, tip, settings.evidence, setup, partial(self.workshop.standpoint, self.db))

    def is_busy(self, submit: Callable[[Flight], None]) -> bool:
        """Launch what may be launched; whether there is anything to wait for then."""
        while True:
            self.look_around()
            if self.stop is None:
                self.launch_ready(submit)
            elif self.stop.exit is RunExit.CEILING:
                self.use_what_there_is(self.stop.reason)
            if self.flights or self.waits_for_backoff():
                return True
            if self.stop is not None or not self.has_more():
                return False

    def has_more(self) -> bool:
        """Whether something is to be done again, now that nothing runs. False where that cannot be told: see `stop`."""
        try:
            self.courier.await_reading(self.reading_seconds, lambda: self.orders.asked > 0)
            return self.do_what_is_asked() or self.look_at_waivers() or self.check_the_tip()
        except git.GitError as error:
            self.pause(error)
            return False

    @contextmanager
    def pool(self) -> Iterator[Callable[[Flight], None]]:
        with ThreadPoolExecutor(self.parallel, thread_name_prefix="session") as pool:

            def submit(flight: Flight) -> None:
                pool.submit(self.attend, flight)

            try:
                yield submit
            except BaseException:
                self.orders.leave()
                raise

    def take_up(self, submit: Callable[[Flight], None]) -> None:
        """Wait again for launches that went on while no orchestrator was there."""
        for launch in sessions.open_launches(self.db):
            session = sessions.session_by_id(self.db, launch.session_id)
            planned = node_by_uid(self.db, session.ticket.node_uid)
            if not self.board.knows(planned.node.uid):
                self.watch(RunEvent("note", text=f"{planned.node.id} goes on at {launch.runner}, outside of this run"))
                continue
            flight = self.taken_up(planned, session, launch)
            self.flights[launch.id] = flight
            self.watch(RunEvent("launched", planned, session=session, text=f"taken up again at {launch.runner}"))
            submit(flight)

    def taken_up(self, planned: PlannedNode, session: SessionRow, launch: LaunchRow) -> Flight:
        contest = candidates.contest_of(self.db, planned)
        candidate = contest.of_launch(launch.id) if contest is not None else None
        if candidate is not None:
            assumed = self.assumed_of(candidates.verifier_of(self.db, session.spec_name))
            self.spending.launched(assumed, is_new_session=False)
            return self.reading(planned, session, launch, candidate, assumed)
        panel = self.workshop.panel(self.db, planned, session, launch).with_money(self.spending.left_usd)
        return Flight(planned, session, launch, panel, self.runners.named(launch.runner), session.assumed_cost_usd)

    def assumed_of(self, planned: PlannedNode) -> float:
        return self.workshop.agent(planned, planned.standing.rung).assumed_cost_usd

    def attend(self, flight: Flight) -> None:
        """Runs in a worker thread: waits for one session and reports its end, whatever it is."""
        try:
            end: PanelEnd | Unreachable = judges.attend(flight.panel, self.orders.signal, flight.runner)
        except Unreachable as unreachable:
            end = unreachable
        except BaseException as error:  # noqa: BLE001 - a plugin's or our own defect must not lose the launch
            end = PanelEnd(results.broken_session(flight.panel.first, error), ())
        self.ended.put((flight.launch.id, end))

    def look_around(self) -> None:
        """Has a person asked to stop, or is the time over? Raises StateGone."""
        self.state_file.refuse_gone()
        if self.stop is not None:
            return
        over = self.spending.time_over()
        if self.orders.asked:
            self.halt(RunExit.INTERRUPTED, "interrupted; running it again goes on from here")
        elif over is not None and (self.flights or self.board.count(Status.PENDING)):
            self.halt(RunExit.CEILING, over)

    def halt(self, exit_: RunExit, reason: str) -> None:
        self.stop = Stop(exit_, reason)
        self.watch(RunEvent("stopping", text=reason))

    def waits_for_backoff(self) -> bool:
        return self.stop is None and self.backoff.is_waiting

    def launch_ready(self, submit: Callable[[Flight], None]) -> None:
        while len(self.flights) < self.parallel and self.stop is None:
            planned = self.board.take(self.backoff.is_ready)
            if planned is None:
                return
            try:
                if not self.settle_without_session(planned):
                    self.launch(planned, submit)
            except git.GitError as error:
                self.board.give_back(planned.node.uid)
                self.pause(error)

    def settle_without_session(self, planned: PlannedNode) -> bool:
        """A verifier that nothing is expected of is settled by the table, without paying for a session; so is a coder
        whose candidates are all there."""
        contest = candidates.contest_of(self.db, planned)
        if contest is not None and contest.is_complete:
            self.choose(planned)
            return True
        expects = self.workshop.shelf.take(self.db, planned.node.spec_name).expected
        if planned.node.archetype is not Archetype.VERIFIER or expects:
            return False
        with transaction(self.db):
            handled = self.registry.nothing_to_prove(self.docket_of(self.db, clock.now()), planned)
        self.follow(handled, planned)
        return True

    def launch(self, planned: PlannedNode, submit: Callable[[Flight], None]) -> None:
        contest = candidates.contest_of(self.db, planned)
        candidate = contest.to_read if contest is not None else None
        reader = planned if candidate is None else candidates.verifier_of(self.db, planned.node.spec_name)
        assumed = self.assumed_of(reader)
        is_new = not results.was_launched(self.db, planned)
        passed = self.spending.passes(assumed, is_new_session=is_new)
        if self.has_enough(planned, contest, passed):
            return
        if passed is not None:
            self.board.give_back(planned.node.uid)
            self.halt(RunExit.CEILING, f"ceiling of the run: {passed}")
            return
        flight = (
            self.begin(planned, contest, assumed)
            if candidate is None
            else self.begin_reading(planned, candidate, assumed)
        )
        self.spending.launched(assumed, is_new_session=is_new)
        self.flights[flight.launch.id] = flight
        if contest is not None and candidate is None:
            text = f"candidate {len(contest.made) + 1} of {contest.wanted} from the same commit"
            self.watch(RunEvent("note", flight.planned, text=text))
        if candidate is None:
            self.watch(RunEvent("launched", flight.planned, session=flight.session))
        else:
            self.watch(
                RunEvent("note", flight.planned, text=f"candidate {candidate.number} is read by {reader.node.id}")
            )
        submit(flight)

    def has_enough(self, planned: PlannedNode, contest: Contest | None, passed: str | None) -> bool:
        """Whether a ceiling makes do with the candidates that there are: then one of them is chosen. `passed`: one of
        the run, which waits for a higher one where no candidate may land."""
        if contest is None or not contest.made:
            return False
        node = planned.node
        narrow = narrow_cost(self.db, self.run_id, self.workshop.settings.limits, node.spec_name, node.uid)
        if narrow is None and (passed is None or not contest.has_any):
            return False
        self.choose(planned, f"ceiling: {narrow or passed}")
        return True

    def use_what_there_is(self, why: str) -> None:
        """A ceiling ends the run's launches: attempts with a candidate that may land end with the best of them."""
        in_scope = {place.planned.node.uid: place for place in self.board.places()}
        waiting = {launch.session_id for launch in sessions.held_launches(self.db)}
        for session in (sessions.session_by_id(self.db, number) for number in sorted(waiting)):
            place = in_scope.get(session.ticket.node_uid)
            if place is None or place.standing.status is not Status.PENDING or place.standing.ticket != session.ticket:
                continue
            planned = replace(place.planned, standing=place.standing)
            contest = candidates.contest_of(self.db, planned)
            if contest is not None and contest.has_any:
                self.choose(planned, why)

    def choose(self, planned: PlannedNode, why: str = "") -> None:
        integration = self.workshop.integration
        for handled in contests.choose(
            self.registry, self.docket_of, self.db, integration, planned, why, self.watch
        ):  # fmt: skip
            self.follow(handled, planned)

    def begin_reading(self, planned: PlannedNode, candidate: Candidate, assumed: float) -> Flight:
        launch = sessions.launch_by_id(self.db, candidate.launch)
        session = sessions.session_by_id(self.db, launch.session_id)
        with transaction(self.db):
            under_way = contests.begin_reading(self.db, planned, session, launch)
        self.board.stand(planned.node.uid, under_way.standing)
        return self.reading(under_way, session, launch, candidate, assumed)

    def reading(
        self, planned: PlannedNode, session: SessionRow, launch: LaunchRow, candidate: Candidate, assumed: float
    ) -> Flight:
        panel = candidates.reading_of(self.workshop, self.db, session, launch, candidate)
        runner = self.runners.named(launch.runner)
        return Flight(planned, session, launch, panel.with_money(self.spending.left_usd), runner, assumed, candidate)

    def begin(self, planned: PlannedNode, contest: Contest | None, assumed: float) -> Flight:
        pinned = final_review.commit_to_read(self.db, planned, self.guard.tip())
        before = sessions.session_by_ticket(self.db, planned.standing.ticket)
        if contest is not None and contest.made and before is not None and before.pinned is not None:
            pinned = before.pinned
        with transaction(self.db):
            session, launch, _ = launching.begin(
                self.db, self.workshop, planned, self.run_id, pinned, clock.new_id(), clock.now()
            )
        under_way = launching.running(planned)
        self.board.stand(planned.node.uid, under_way.standing)
        self.board.launched(planned)
        panel = self.workshop.panel(self.db, under_way, session, launch).with_money(self.spending.left_usd)
        return Flight(under_way, session, launch, panel, self.runners.named(launch.runner), assumed)

    def hear(self, seconds: float) -> None:
        """Wait for the next end, and for those that came with it."""
        self.hear_courier()
        self.do_what_is_asked()
        try:
            launch, end = self.ended.get(timeout=self.backoff.shortest(seconds))
        except queue.Empty:
            checkpoint(self.db)
            return
        flight = self.flights.pop(launch)
        if isinstance(end, Unreachable):
            self.halt(RunExit.CANNOT_GO_ON, f"{flight.planned.node.id}: {end}")
        else:
            self.take(flight, end)

    def take(self, flight: Flight, ended: PanelEnd) -> None:
        """One session has ended: its result in one transaction, then what follows from it.

        Where git cannot be used (a lock that stays, a full disk), the next run harvests the launch or lands its work.
        """
        try:
            counted = self.record_end(flight, self.guard.after(flight.planned, ended))
        except git.GitError as error:
            self.halt(RunExit.CANNOT_GO_ON, f"{flight.planned.node.id}: {error}")
            return
        self.spending.ended(flight.assumed, counted)
        judges.clean_up_all(flight.panel, flight.runner)

    def record_end(self, flight: Flight, ended: PanelEnd) -> float:
        end = ended.end
        if flight.reads is not None:
            return self.end_reading(flight, ended, flight.reads)
        cut_off = cut_offs.keep(self.repo, flight.session, flight.launch, end, clock.now())
        if cut_off is not None:
            self.watch(RunEvent("note", flight.planned, text=cut_off.in_words))
        match end.kind:
            case EndKind.INTERRUPTED | EndKind.CEILING:
                return self.repeat_later(flight, end, "interrupted", cut_off)
            case EndKind.INFRASTRUCTURE:
                return self.infrastructure(flight, end)
            case _:
                contest = candidates.contest_of(self.db, flight.planned)
                if contest is not None:
                    self.hold(flight, ended, contest)
                else:
                    self.result(flight, ended, cut_off)
                return flight.session.assumed_cost_usd if end.cost_usd is None else end.cost_usd

    def hold(self, flight: Flight, end: PanelEnd, contest: Contest) -> None:
        """A candidate has ended: it waits to be compared, and its node to be launched again."""
        ended = Ended(flight.planned, flight.session, flight.launch, end.end)
        self.wait_again(*contests.hold(self.db, self.workshop.integration, ended, contest))

    def wait_again(self, planned: PlannedNode, text: str) -> None:
        self.board.stand(planned.node.uid, planned.standing)
        self.watch(RunEvent("note", planned, text=text))

    def end_reading(self, flight: Flight, end: PanelEnd, candidate: Candidate) -> float:
        """A candidate was read, or its reading was lost and is made again."""
        is_lost = end.end.kind in judges.NO_RESULT
        ended = Ended(flight.planned, flight.session, flight.launch, end.end, end.judges)
        planned, read = contests.end_reading(
            self.docket_of, self.db, ended, candidate, None if is_lost else end, flight.assumed
        )  # fmt: skip
        result = f"its reading was lost, and is made again: {end.end.reason}" if is_lost else read.result
        self.wait_again(planned, f"candidate {candidate.number}: {result}")
        if end.end.kind is EndKind.INFRASTRUCTURE:
            pause = self.backoff.lost(planned.node.uid, 1, end.end)
            if pause is not None and self.stop is None:
                self.halt(RunExit.CANNOT_GO_ON, f"{planned.node.id}: {pause}")
        is_free = is_lost and end.end.kind is EndKind.INFRASTRUCTURE
        return end.end.cost_usd if end.end.cost_usd is not None else 0.0 if is_free else flight.assumed

    def repeat_later(
        self, flight: Flight, end: SessionEnd, status: str, cut_off: CutOff | None = None, wait: float = 0.0
    ) -> float:
        """The launch does not count: the same ticket is awaited again, in `wait` seconds."""
        with transaction(self.db):
            now = clock.now()
            planned = results.lose_launch(self.db, flight.planned, flight.launch, status, end, now, cut_off)
            if wait:
                results.note_wait(self.db, flight.session.id, self.run_id, end, now, wait)
        self.board.stand(planned.node.uid, planned.standing)
        self.watch(RunEvent(status, planned, text=end.reason))
        if end.cost_usd is None and status == "interrupted":
            return flight.session.assumed_cost_usd
        return end.cost_usd or 0.0

    def infrastructure(self, flight: Flight, end: SessionEnd) -> float:
        uid, losses = flight.planned.node.uid, results.losses(self.db, flight.session, self.run_id) + 1
        pause = self.backoff.lost(uid, losses, end)
        cost = self.repeat_later(flight, end, "infrastructure", wait=self.backoff.left(uid))
        if pause is not None and self.stop is None:
            self.halt(RunExit.CANNOT_GO_ON, f"{flight.planned.node.id}: {pause}")
        return cost

    def result(self, flight: Flight, end: PanelEnd, cut_off: CutOff | None) -> None:
        ended = Ended(flight.planned, flight.session, flight.launch, end.end, end.judges, cut_off=cut_off)
        integration = self.workshop.integration
        handled = results.take_result(self.registry, self.docket_of, self.db, integration, ended)
        taken_back = results.land(self.docket_of, self.db, integration, ended, self.watch)
        for result in (handled, taken_back) if taken_back else (handled,):
            self.follow(result, flight.planned)

    def follow(self, handled: Handled, planned: PlannedNode) -> None:
        """After the commit: the board, the screen, the outside world."""
        self.board.apply(handled)
        self.watch(RunEvent("decided", planned, handled=handled))
        self.ledger_witness.note()
        self.courier.wake()
        spec_report.follow(self.docket_of(self.db, clock.now()), self.repo, planned)

    def do_what_is_asked(self) -> bool:
        """Carry out what people asked for in comments since the courier read them last. True if anything moved."""
        if not self.courier.asked.is_set():
            return False
        self.courier.asked.clear()
        is_moved = False
        for done in self.carry_out(self.db):
            for handled in done.handled:
                self.board.apply(handled)
            is_moved = is_moved or bool(done.handled)
            self.watch(RunEvent("note", text=done.line))
        self.ledger_witness.note()
        self.courier.wake()
        return is_moved

    def look_at_waivers(self) -> bool:
        """What a waiver completes goes on, and what rested on one that ended is unproven. True if anything moved."""
        with transaction(self.db):
            handled = self.settle_waivers(self.docket_of(self.db, clock.now()))
        for result in handled:
            self.board.apply(result)
        for line in moves_in_words(handled):
            self.watch(RunEvent("note", text=line))
        if handled:
            self.courier.wake()
        return bool(handled)

    def check_the_tip(self) -> bool:
        """Read again what was proven on another tree than the final tip's, elsewhere, or long ago. True if there is
        something to do."""
        return self.is_final_check and self.reopen(final_check.reopen_stale)

    def reopen(self, stale: Callable[[Docket, Board, Conditions], list[Handled]]) -> bool:
        """Reopen the verifiers that this finds on the tip. True if there are any."""
        current = self.conditions(self.guard.tip())
        with transaction(self.db):
            handled = stale(self.docket_of(self.db, clock.now()), self.board, current)
        for result in handled:
            self.board.apply(result)
            self.watch(RunEvent("reopened", handled=result))
        return bool(handled)

    def hear_courier(self) -> None:
        for event in self.courier.drain():
            self.watch(event)
        self.hear_runners()

    def hear_runners(self) -> None:
        while self.runners.told:
            self.watch(RunEvent("note", text=self.runners.told.popleft()))

    def finish_deliveries(self, seconds: float) -> None:
        """What can be delivered now is waited for, `seconds` at most; a person who interrupted waits less."""
        is_interrupted = self.stop is not None and self.stop.exit is RunExit.INTERRUPTED
        if is_interrupted:
            self.courier.finish(min(seconds, INTERRUPTED_SECONDS))
        else:
            self.courier.finish(seconds, lambda: self.orders.asked > 0)
        self.hear_courier()

    def note_time(self) -> None:
        """Keep the run's wall time: a continued run goes on counting."""
        with transaction(self.db):
            add_run_seconds(self.db, self.run_id, self.spending.clock() - self.spending.started)
