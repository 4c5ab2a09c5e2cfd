"""All events of a session, from the program and from the proxy, in one place and one thread."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.markdown import one_line
from agent_fox.core.values import dataclass
from agent_fox.session.agents import events
from agent_fox.session.agents.events import Answered, Beat, Called, Event, Printed, Trouble, Unreadable, Used
from agent_fox.session.agents.runner import scanning
from agent_fox.session.agents.runner.cost import Spent, cost_of, metered_usd
from agent_fox.session.agents.runner.stop_gate import CHECKS, StopGate
from agent_fox.session.agents.runner.tally import LONGEST_NAME, Tally, short_tool, shown_call
from agent_fox.session.agents.runner.trace import NAME, Recorder, Transcript
from agent_fox.session.agents.runner.watchdog import Stop, Watchdog
from agent_fox.session.workspaces.steps import Steps

if TYPE_CHECKING:
    from agent_fox.session.agents.command_line import CommandLine
    from agent_fox.session.agents.prices import Prices
    from agent_fox.session.agents.task import AgentTask

LAST_COMPLAINTS = 20
LONGEST_COMPLAINT = 4000
"""Characters of a line of standard error that are kept."""

LONGEST_SAID = 2000
LONGEST_ANSWER = 600
"""Characters of words and of a tool's output that a log keeps."""


@dataclass(frozen=True, slots=True)
class FromProxy:
    """An event of the metering proxy: the same session, seen from the other side."""

    event: Event


@dataclass(slots=True)
class Hearing:
    """What has been heard so far. `metered` are the proxy's own counts; `complaints` the last lines of the errors.

    `was_asked`: a request to the model came to the proxy. `unread`: the last lines that are no event of work.
    """

    task: AgentTask
    cli: CommandLine
    prices: Prices
    gate: StopGate | None = None
    tally: Tally = field(init=False)
    watchdog: Watchdog = field(init=False)
    recorder: Recorder = field(init=False)
    transcript: Transcript | None = field(init=False)
    metered: dict[str, Used] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    was_asked: bool = False
    last: str = ""
    """What was told last, in words."""
    _checks: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.tally = Tally(lambda tool: self.cli.may(self.task.role, tool), model=self.task.model)
        self.watchdog = Watchdog(self.task.limits, self.cli.facts.beats)
        beginning = self.task.beginning
        steps = Steps(beginning, self.task.workspace) if beginning is not None else None
        self.recorder = Recorder(self.task.report.with_name(NAME), self.task.workspace, steps=steps)
        self.transcript = Transcript(self.task.transcript) if self.task.transcript is not None else None

    @property
    def spent(self) -> Spent:
        """So far, by all its processes. May be asked from any thread."""
        return cost_of(self.tally, self.metered, self.prices, self.cli.facts)

    @property
    def most_usd(self) -> float | None:
        """The most that the program or the proxy reports, for the ceilings. May be asked from any thread."""
        costs = (self.spent.cost_usd, metered_usd(self.metered, self.prices))
        return max((usd for usd in costs if usd is not None), default=None)

    def why_end(self) -> Stop | None:
        return self.watchdog.look(self.tally, self.most_usd)

    def complain(self, text: str, *, is_life: bool = False) -> None:
        """`is_life`: a program that prints there is at work."""
        if is_life:
            self.watchdog.hear()
        if text.strip():
            self.complaints = [*self.complaints, text[:LONGEST_COMPLAINT]][-LAST_COMPLAINTS:]

    def has_asked(self, *, is_proxied: bool) -> bool:
        """Whether anything shows that the model was asked. A turn is the program's intent: behind our proxy the
        request itself is seen."""
        tally = self.tally
        has_cost = any(last.cost_usd for last in tally.last_words)
        is_heard = bool(tally.words or tally.tools or tally.used or self.metered) or has_cost
        return self.was_asked or is_heard or (tally.turns > 0 and not is_proxied)

    def hear_line(self, text: str, meant: Iterable[Event]) -> None:
        """A line as its events; one that tells of no work is kept, for it may say why the program died."""
        is_work = False
        for event in meant:
            is_work = is_work or not isinstance(event, Beat | Printed | Unreadable)
            self.take(event)
        if text.strip() and not is_work:
            self.unread = [*self.unread, text[:LONGEST_COMPLAINT]][-LAST_COMPLAINTS:]

    def take_from_proxy(self, event: Event) -> None:
        """The program reports its own tokens; what the proxy counts is kept beside them."""
        self.watchdog.hear()
        match event:
            case Used(message=message):
                self.metered[message] = event
            case Trouble():
                self.take(event)

    def take(self, event: Event) -> None:
        self.watchdog.hear()
        self.tally.hear(event)
        self.recorder.hear(event)
        if self.transcript is not None:
            self.transcript.hear(event)
        self._look_at(event)
        line = None if isinstance(event, Beat) else line_of(event)
        if line is not None:
            self.last = line
            log(line)

    def _look_at(self, event: Event) -> None:
        match event:
            case Called(tool=tool, call=call):
                folders = (self.task.workspace, self.task.home, self.task.scratch, *self.task.readable)
                why = scanning.forbidden(event.arguments, [PurePosixPath(str(folder)) for folder in folders])
                if why:
                    self.tally.forbid(f"tried {why}: {tool[:LONGEST_NAME]} {shown_call(event)}")
                if short_tool(tool) in CHECKS:
                    self._checks.add(call)
            case Answered(call=call, is_error=is_error) if call in self._checks:
                self._checks.discard(call)
                if self.gate is not None and not (is_error or event.is_refused):
                    self.gate.note_check()


def line_of(event: Event) -> str | None:
    """One line, or None for what is of no use to a reader."""
    match event:
        case events.Began():
            servers = ", ".join(f"{name} {state}" for name, state in event.servers.items())
            return (
                f"began: session {event.session or '?'}, model {event.model or '?'}{f'; {servers}' if servers else ''}"
            )
        case events.Spoke(text=text):
            return f"says: {one_line(text, LONGEST_SAID)}" if text.strip() else None
        case Printed(line=line):
            return f"prints: {one_line(line, LONGEST_ANSWER)}" if line.strip() else None
        case Called(tool=tool):
            return f"calls {tool} {shown_call(event)}"
        case Answered():
            how = "refused" if event.is_refused else "failed" if event.is_error else "answers"
            return f"  {how}: {one_line(event.text, LONGEST_ANSWER)}"
        case Trouble():
            return f"trouble ({event.kind or 'of an unknown kind'}): {one_line(event.text, LONGEST_ANSWER)}"
        case events.Broken(text=text):
            return f"broken: {one_line(text, LONGEST_ANSWER)}"
        case events.Finished():
            cost = "" if event.cost_usd is None else f", ${event.cost_usd:.4f}"
            return f"ended: {event.reason or 'no reason given'}{' (error)' if event.is_error else ''}{cost}"
        case Unreadable(line=line):
            return f"unreadable: {one_line(line, LONGEST_ANSWER)}"
    return None


def log(line: str) -> None:
    """One line for the session's log."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
