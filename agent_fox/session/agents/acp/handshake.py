"""Does a command speak the Agent Client Protocol? It is started, asked to `initialize`, and ended, before anything is
paid for.

Asked in an empty home of its own, so that asking changes nothing of a person's; once for each state of its file.
"""

from __future__ import annotations

import contextlib
import os
import queue
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from agent_fox.session.agents.acp.dialogue import ANSWERING, AcpDialogue
from agent_fox.session.agents.events import Broken, Event
from agent_fox.session.agents.runner.child import Child, Stream, StreamLine
from agent_fox.session.agents.task import AgentTask, Limits, Role
from agent_fox.system.own_folders import own_folder

DRAINING, TICK = 1.0, 0.25


def trouble_of(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """Why no session can be had with this command; empty where it has introduced itself."""
    state = Path(argv[0]).stat()
    return known_trouble_of(tuple(argv), tuple(sorted(environment.items())), state.st_mtime_ns, state.st_size)


@cache
def known_trouble_of(argv: tuple[str, ...], environment: tuple[tuple[str, str], ...], changed: int, size: int) -> str:
    """`changed` and `size` are part of the cache's key."""
    with own_folder("handshake") as home:
        return trouble_with(argv, dict(environment), home)


def trouble_with(argv: tuple[str, ...], environment: Mapping[str, str], home: Path) -> str:
    own = {"HOME": str(home), "TMPDIR": str(home), "NO_COLOR": "1"}
    whole = {"PATH": os.environ.get("PATH", os.defpath), **own, **environment}
    dialogue, lines = AcpDialogue(no_task(argv[0], home), lambda _: ()), queue.SimpleQueue[StreamLine]()
    try:
        child = Child(argv, whole, home, "", lines.put, is_spoken_with=True)
    except OSError as error:
        return f"it cannot be run: {error.strerror or error}"
    try:
        return introduction_of(dialogue, child, lines)
    finally:
        child.kill()
        child.wait(DRAINING)


def introduction_of(dialogue: AcpDialogue, child: Child, lines: queue.SimpleQueue[StreamLine]) -> str:
    """Until it is known what it is; why it is no agent, empty where it is one."""
    began, streams = time.monotonic(), 2
    while not dialogue.is_known:
        for reply in dialogue.replies():
            child.say(reply)
        events: list[Event] = list(dialogue.overdue(time.monotonic() - began))
        with contextlib.suppress(queue.Empty):
            line = lines.get(timeout=TICK)
            streams -= line.stream is Stream.END
            events += events_of(dialogue, line)
        if not streams and (last := dialogue.end(child.wait(DRAINING))) is not None:
            return last.reason
        broken = next((event for event in events if isinstance(event, Broken)), None)
        if broken is not None:
            return broken.text
    return ""


def events_of(dialogue: AcpDialogue, line: StreamLine) -> Iterable[Event]:
    match line.stream:
        case Stream.OUTPUT:
            return dialogue.line(line.text)
        case Stream.COMPLAINTS:
            return dialogue.complaint(line.text)
        case Stream.END:
            return ()


def no_task(program: str, home: Path) -> AgentTask:
    """The task of a session that is never had."""
    return AgentTask(
        cli="acp", program=program, role=Role.REVIEWER, workspace=home, home=home, scratch=home,
        report=home / "report.json", system="", prompt="", limits=Limits(ANSWERING, ANSWERING, ANSWERING),
        provider=None, upstream="", environment={},
    )  # fmt: skip
