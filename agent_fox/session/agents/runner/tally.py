"""What the events of a session add up to: turns, tools, tokens, troubles, and what was tried that must not be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from agent_fox.core.markdown import one_line
from agent_fox.session.agents import events
from agent_fox.session.infrastructure import Infrastructure

MOST_KEPT = 20
"""How many forbidden attempts, and how many odd lines, are told one by one."""

LONGEST_TOLD = 160
"""Characters of a call's arguments that a report shows."""

LONGEST_NAME, LONGEST_REASON = 120, 400
"""Characters of a tool's name, and of other names that a program tells; and of its reason to end."""

MOST_NAMES, MOST_OPEN = 200, 1000
"""Different tools that are counted apart, and calls that are remembered until they end. What a program prints is also
what a command of its agent may have printed in its name.
"""

UNREACHED = frozenset({"failed", "error", "needs-auth", "disabled", "disconnected"})
"""What programs call the state of a server without which a session must not go on."""

OTHERS = "others"
MOST_TELLING = (Infrastructure.NO_CREDIT, Infrastructure.UNKNOWN_MODEL, Infrastructure.AUTHENTICATION)
"""Of two kinds that one trouble is given, the one that says more: a status alone (403, 429) says less than a name."""

MOST_TOKENS = 10**12
MOST_USD = 10**6
"""More is no number that a program tells of itself."""


@dataclass(slots=True)
class Tally:
    """The sum of one session's events, resumed parts included. `may` says whether a tool may be called."""

    may: Callable[[str], bool]
    session: str = ""
    model: str = ""
    turns: int = 0
    tools: Counter[str] = field(default_factory=Counter)
    open_calls: dict[str, str] = field(default_factory=dict)
    """Calls that have not ended: their id, and the tool."""
    used: dict[str, events.Used] = field(default_factory=dict)
    """Tokens of each message, by its id."""
    forbidden: list[str] = field(default_factory=list)
    attempts: int = 0
    """How many forbidden attempts there were."""
    refused: int = 0
    odd_lines: int = 0
    words: str = ""
    trouble: events.Trouble | None = None
    """The last failed request to the model, unless something went well after it."""
    unserved: str = ""
    """The program's word for an MCP server that it cannot reach."""
    told_usd: float | None = None
    """Dollars of the session by the program's own word, where it tells them as it works."""
    broken: events.Broken | None = None
    version: str = ""
    """What the program says it is, where its own events do."""
    finished: events.Finished | None = None
    """The last word of the process that runs, or ran last."""
    last_words: list[events.Finished] = field(default_factory=list)
    """Of all its processes."""

    def hear(self, event: events.Event) -> None:
        match event:
            case events.Began(session=session, model=model, servers=servers, version=version):
                self.version = version[:LONGEST_NAME] or self.version
                self.session, self.model = session[:LONGEST_NAME] or self.session, model[:LONGEST_NAME] or self.model
                self.unserved = next((state for state in servers.values() if state in UNREACHED), "")
            case events.Turn():
                self.turns += 1
            case events.Spoke(text=text):
                self.words, self.trouble = text, None
            case events.Called():
                self._called(event)
            case events.Answered(call=call, is_refused=is_refused):
                self.open_calls.pop(call, None)
                self.refused += is_refused
            case events.Used(message=message):
                model = (event.model or self.model)[:LONGEST_NAME]
                self.used[message] = replace(event, tokens=sane(event.tokens), model=model)
            case events.Trouble():
                self.trouble = _joined(self.trouble, event)
            case events.Cost(usd=usd) if 0 <= usd <= MOST_USD:
                self.told_usd = max(usd, self.told_usd or 0.0)
            case events.Broken():
                self.broken = self.broken or event
            case events.Unreadable():
                self.odd_lines += 1
            case events.Finished():
                self._finished(event)

    def _called(self, event: events.Called) -> None:
        tool = event.tool[:LONGEST_NAME]
        self.tools[tool if tool in self.tools or len(self.tools) < MOST_NAMES else OTHERS] += 1
        self.trouble = None
        if len(self.open_calls) < MOST_OPEN:
            self.open_calls[event.call or f"call {self.tools.total()}"] = tool
        if not self.may(event.tool):
            self.forbid(f"asked for {tool}, which its role does not have: {shown_call(event)}")

    def forbid(self, what: str) -> None:
        """Note a forbidden attempt; the first of them in words."""
        self.attempts += 1
        self.forbidden = [*self.forbidden, what][:MOST_KEPT]

    def _finished(self, event: events.Finished) -> None:
        """A cost that is no sound number is left out, for it cannot be added up."""
        session, model, reason = event.session[:LONGEST_NAME], event.model[:LONGEST_NAME], event.reason[:LONGEST_REASON]
        self.finished = event = replace(
            event, session=session, model=model, reason=reason,
            cost_usd=event.cost_usd if event.cost_usd is not None and 0 <= event.cost_usd <= MOST_USD else None,
            tokens=sane(event.tokens) if event.tokens is not None else None,
        )  # fmt: skip
        self.last_words = [*self.last_words, event][-MOST_KEPT:]
        self.session, self.model = event.session or self.session, self.model or event.model
        self.open_calls.clear()

    def reported_cost(self, *, counts_resumed: bool) -> float | None:
        """Dollars by the program's own word, None where it told none. Resumed, most count the earlier parts too.

        Such a number never falls: one that does was printed by something else in the program's name.
        """
        costs = [end.cost_usd for end in self.last_words if end.cost_usd is not None]
        ended = (max(costs) if counts_resumed else sum(costs)) if costs else None
        return max((usd for usd in (ended, self.told_usd) if usd is not None), default=None)

    def reported_tokens(self, *, counts_resumed: bool) -> events.Tokens | None:
        counts = [end.tokens for end in self.last_words if end.tokens is not None]
        return (counts[-1] if counts_resumed else sum(counts, events.Tokens())) if counts else None


def _joined(before: events.Trouble | None, now: events.Trouble) -> events.Trouble:
    """The same trouble is told by the proxy and by the program, and not both know its kind: a program that has heard
    of a 429 and no more calls spent credit a limit.
    """
    if before is None:
        return now
    kinds = (before.kind, now.kind)
    kind = next((telling for telling in MOST_TELLING if telling in kinds), now.kind or before.kind)
    return replace(
        now, kind=kind, retry_after=now.retry_after or before.retry_after,
        is_too_long=now.is_too_long or before.is_too_long,
    )  # fmt: skip


def sane(tokens: events.Tokens) -> events.Tokens:
    return events.Tokens(*(min(max(0, count), MOST_TOKENS) for count in tokens.counts))


def shown_call(event: events.Called) -> str:
    """A call's arguments in one line, cut."""
    text = json.dumps(dict(event.arguments), ensure_ascii=False, default=str)
    return one_line(text, LONGEST_TOLD)


def short_tool(name: str) -> str:
    """A tool of the verifier under the name it has there: programs put the server's name before it."""
    for mark in ("__", ".", "/"):
        name = name.rpartition(mark)[2]
    return PurePosixPath(name).name.removeprefix("verifier_")
