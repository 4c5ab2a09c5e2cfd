"""The program that runs an agent's program: `python -m agent_fox.session.agents.runner.main TASK.json`, under the shim.

It serves what the session needs, starts the program, hears its events, ends it when a ceiling is reached or nothing is
heard, asks once more for an answer that nobody can read, and writes the report. The answer goes to standard output, the
session as it went to standard error. Exit 0: the session ended by itself and well, as far as can be seen from here.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.markdown import one_line
from agent_fox.session.agents.credentials import Credentials, find, secret_names
from agent_fox.session.agents.prices import read_prices
from agent_fox.session.agents.registry import command_line
from agent_fox.session.agents.report import AgentReport, CostSource, Ending, write_report
from agent_fox.session.agents.runner.attending import Attendance, Inbox, Lines, Orders
from agent_fox.session.agents.runner.child import Child
from agent_fox.session.agents.runner.enclosure import enclosed
from agent_fox.session.agents.runner.listening import FromProxy, Hearing, log
from agent_fox.session.agents.runner.outcome import Outcome, answer_of, outcome_of, why_unreadable
from agent_fox.session.agents.runner.services import NotServed, Services, serving
from agent_fox.session.agents.task import TASK, AgentTask, Role
from agent_fox.session.agents.versions import probe
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.system.redaction.masking import redact
from agent_fox.system.sandbox.bubblewrap import SandboxMissing, in_words, mode_of

if TYPE_CHECKING:
    from agent_fox.session.agents.command_line import CommandLine, Start
    from agent_fox.session.agents.runner.watchdog import Stop

DRAINING = 2.0
WRITE_EVERY = 1.0
"""Seconds between two reports of a session under way: one that is killed has cost what the last one says."""

LONGEST_SUMMARY = 2000
LONGEST_LAST = 120
PR_SET_DUMPABLE = 4


@dataclass(slots=True)
class Conversation:
    """One session of one program, from its first process to its report."""

    task: AgentTask
    cli: CommandLine
    hearing: Hearing
    orders: Orders
    inbox: Inbox = field(default_factory=Inbox)
    stop: Stop | None = None
    exit_status: int | None = None
    is_asked_again: bool = False
    notes: list[str] = field(default_factory=list)
    ports: tuple[int, ...] = ()
    """What it is served on loopback, where it has no network beside that."""
    began: float = field(default_factory=time.monotonic)
    written: float = 0.0

    def hold(self, credentials: Credentials) -> AgentReport:
        """Have the session; its report. Nothing of it runs any more afterwards."""
        try:
            log(f"{self.task.cli}, sandbox: {in_words(mode_of(self.task.sandbox), True)}")
            hear = self.inbox.put
            with serving(
                self.task, credentials, lambda event: hear(FromProxy(event)), self.note, self.why_no_request
            ) as services:
                self.hearing.gate, self.ports = services.gate, services.ports
                self.cli.prepare(self.task, services.door)
                self.run(self.cli.start(self.task, services.door))
                self.ask_again(services)
        except (NotServed, SandboxMissing, OSError, ValueError) as error:
            is_absent = isinstance(error, FileNotFoundError)
            kind = Infrastructure.MISSING_BINARY if is_absent else Infrastructure.WORKSPACE
            self.settle()
            return self.report(Outcome(Ending.INFRASTRUCTURE, str(error), kind))
        self.settle()  # a request may have been counted to its end after the program had its answer and was gone
        hearing, has_asked = self.hearing, self.hearing.has_asked(is_proxied=credentials.is_held)
        complaints = "\n".join(hearing.complaints if has_asked else (*hearing.unread, *hearing.complaints))
        return self.report(outcome_of(hearing.tally, self.stop, self.exit_status, complaints, has_asked=has_asked))

    def settle(self) -> None:
        """What still waits when a process is over: the proxy's counts are taken, the lines are dropped."""
        while not self.inbox.empty():  # nobody else takes from it
            if isinstance(item := self.inbox.get_nowait(), FromProxy):
                self.hearing.take_from_proxy(item.event)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def why_no_request(self) -> str | None:
        """Why the model may not be asked once more, for the proxy, which asks from its threads before each request."""
        self.hearing.was_asked = True
        limits, spent = self.task.limits, self.hearing.most_usd
        ceilings = [ceiling for ceiling in (limits.cost_usd, limits.left_usd) if ceiling is not None]
        if ceilings and spent is not None and spent >= min(ceilings):
            return f"the session has cost ${spent:.2f}, its ceiling is ${min(ceilings):.2f}"
        return None

    def run(self, start: Start) -> None:
        """Run a process to its end, or to ours; and a second one, where it died and its session can be taken up: not
        where it ended well or was ended, or where the model's side or the machine was in trouble.
        """
        self.run_once(start)
        if start.dialogue is None or self.stop is not None or self.exit_status is None:
            return
        outcome = outcome_of(self.hearing.tally, None, self.exit_status, "\n".join(self.hearing.complaints))
        successor = start.dialogue.successor() if outcome.ending is Ending.FAILED else None
        if successor is not None:
            self.note(f"its program died (exit {self.exit_status}); a second one took up the session")
            self.run_once(replace(start, dialogue=successor))

    def run_once(self, start: Start) -> None:
        environment = {**self.task.environment, **start.environment}
        reader, self.hearing.tally.finished = start.dialogue or self.cli.reader(self.task), None
        lines = Lines(self.inbox)
        with enclosed(self.task, start, environment, self.ports) as wrapped:
            child = Child(
                wrapped.argv, environment, self.task.workspace, start.stdin, lines.put, wrapped.descriptors,
                is_spoken_with=start.dialogue is not None,
            )  # fmt: skip
            attendance = Attendance(child, reader, self.hearing, self.inbox, self.orders, self.write_along)
            try:
                self.stop = attendance.go()
                child.wait(DRAINING)
            finally:
                lines.is_closed = True
                child.kill()
                self.exit_status = child.wait(DRAINING)
        self.settle()
        dialogue = start.dialogue
        if dialogue is not None and dialogue.is_over:  # it was spoken with to the last word, however it went then
            self.exit_status = 0
        if dialogue is not None and dialogue.asked_again:
            self.note_asked_again(dialogue.asked_again)
        last = reader.end(self.exit_status)
        if last is not None:
            self.hearing.take(last)

    def note_asked_again(self, why: str) -> None:
        self.is_asked_again = True
        self.notes.append(f"asked again for its answer: {why}")
        log(self.notes[-1])

    def ask_again(self, services: Services) -> None:
        """One more question, for the form of the answer only, where nobody could read it."""
        task, tally = self.task, self.hearing.tally
        has_ended = self.exit_status == 0 and self.stop is None and tally.finished is not None
        facts = self.cli.facts
        can_ask = facts.asks_anew or (facts.can_resume and bool(tally.session))
        if not (has_ended and task.ask_again and can_ask):
            return
        answer = answer_of(tally)
        unreadable = why_unreadable(task.role, answer)
        if unreadable:
            self.note_asked_again(unreadable)
            self.run(self.cli.again(task, services.door, answer if facts.asks_anew else tally.session))

    def write_along(self) -> None:
        now = time.monotonic()
        if now - self.written >= WRITE_EVERY:
            self.written = now
            write_report(self.task.report, self.report(Outcome(Ending.RUNNING, "")))

    def report(self, outcome: Outcome) -> AgentReport:
        tally, spent, gate = self.hearing.tally, self.hearing.spent, self.hearing.gate
        asks_version = bool(self.cli.facts.least) and not self.task.is_contained
        return AgentReport(
            cli=self.task.cli, version=tally.version or (probe(self.task.program).version if asks_version else ""),
            model=tally.model or self.task.model, session=tally.session, ending=outcome.ending, reason=outcome.reason,
            infrastructure=outcome.infrastructure,
            retry_after=tally.trouble.retry_after if tally.trouble is not None else None,
            cost_usd=spent.cost_usd, cost_source=spent.source, tokens=spent.tokens,
            turns=tally.turns, tools=dict(tally.tools), forbidden=tuple(tally.forbidden),
            attempts_to_stop=gate.blocks if gate is not None else 0, is_asked_again=self.is_asked_again,
            summary=answer_of(tally)[:LONGEST_SUMMARY] if self.task.role is Role.CODER else "",
            notes=tuple(self.all_notes()), seconds=round(time.monotonic() - self.began, 3),
            last=redact(one_line(self.hearing.last, LONGEST_LAST), ()),
            silent=round(time.monotonic() - self.hearing.watchdog.heard_at, 3),
        )  # fmt: skip

    def all_notes(self) -> list[str]:
        """What a person should know beside the numbers. What an unknown cost counts for is in `assumed_cost_usd`."""
        tally, spent = self.hearing.tally, self.hearing.spent
        more, models = tally.attempts - len(tally.forbidden), ", ".join(spent.unpriced)
        listed = f": no price is listed for {models}; see .agent-fox/prices.toml" if models else ""
        notes = (
            (more > 0, f"{more} more forbidden attempts"),
            (tally.refused > 0, f"{tally.refused} tool calls were refused"),
            (tally.odd_lines > 0, f"{tally.odd_lines} lines of its output could not be read"),
            (
                spent.source is CostSource.UNKNOWN and (tally.turns > 0 or bool(models)),
                f"its cost is not known{listed}",
            ),
        )
        return [*self.notes, *(words for holds, words in notes if holds)]


def keep_to_ourselves() -> None:
    """No other process of the same user may read our memory or environment, where there is such a call (Linux)."""
    library = ctypes.CDLL(None)
    if hasattr(library, "prctl"):
        library.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def main(document: str) -> int:
    keep_to_ourselves()
    task = TASK.validate_json(Path(document).read_bytes())
    Path(document).unlink()
    cli = command_line(task.cli)
    credentials = replace(find(cli.facts, task.provider, os.environ), login=task.login)
    if credentials.cloud is not None:
        credentials = replace(credentials, access=credentials.cloud.access(os.environ))
    for name in secret_names(cli.facts):
        os.environ.pop(name, None)
    orders = Orders()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: orders.ask())
    for folder in (task.home, task.scratch):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    prices = read_prices(task.prices)
    conversation = Conversation(task, cli, Hearing(task, cli, prices), orders)
    report = conversation.hold(credentials)
    conversation.hearing.recorder.close(is_ended=report.ending is Ending.ENDED)
    if conversation.hearing.transcript is not None:
        conversation.hearing.transcript.close()
    write_report(task.report, report)
    log(f"{report.ending}: {report.reason}")
    if task.role is not Role.CODER:
        sys.stdout.write(f"{answer_of(conversation.hearing.tally)}\n")
    return 0 if report.ending is Ending.ENDED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
