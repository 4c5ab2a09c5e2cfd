"""A session's events as lines for people: what stands in its log."""

from __future__ import annotations

from agent_fox.core.markdown import one_line
from agent_fox.session.agents.events import (
    Answered,
    Began,
    Broken,
    Called,
    Event,
    Finished,
    Printed,
    Spoke,
    Trouble,
    Unreadable,
)
from agent_fox.session.agents.runner.tally import shown_call

LONGEST_SAID = 2000
LONGEST_ANSWER = 600
"""Characters of words and of a tool's output that a log keeps."""


def line_of(event: Event) -> str | None:
    """One line, or None for what is of no use to a reader."""
    match event:
        case Began():
            servers = ", ".join(f"{name} {state}" for name, state in event.servers.items())
            return (
                f"began: session {event.session or '?'}, model {event.model or '?'}{f'; {servers}' if servers else ''}"
            )
        case Spoke(text=text):
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
        case Broken(text=text):
            return f"broken: {one_line(text, LONGEST_ANSWER)}"
        case Finished():
            cost = "" if event.cost_usd is None else f", ${event.cost_usd:.4f}"
            return f"ended: {event.reason or 'no reason given'}{' (error)' if event.is_error else ''}{cost}"
        case Unreadable(line=line):
            return f"unreadable: {one_line(line, LONGEST_ANSWER)}"
    return None
