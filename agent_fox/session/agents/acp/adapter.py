"""Any program that speaks the Agent Client Protocol, by the command that a person names.

The protocol cannot take a tool away, so the sandbox holds the roles; what an agent asks permission for is answered by
`permissions`, what is said otherwise stands in `dialogue`. Whether a command speaks it is asked before anything is paid
for: it is started in an empty home of its own, asked to `initialize`, and ended; once for each state of its file.
"""

from __future__ import annotations

import contextlib
import queue
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.session.agents.acp import permissions, relay
from agent_fox.session.agents.acp.dialogue import ANSWERING, AcpDialogue
from agent_fox.session.agents.command_line import (
    EFFORT,
    MODEL,
    CommandLine,
    Reader,
    Start,
    command_of,
    environment_of,
    facts_of,
    words_of,
)
from agent_fox.session.agents.events import Broken, Event
from agent_fox.session.agents.private_files import keep_folder
from agent_fox.session.agents.runner import stop_hook
from agent_fox.session.agents.runner.child import Child, Stream, StreamLine
from agent_fox.session.agents.task import AgentTask, Limits, Role
from agent_fox.session.agents.versions import bare_environment
from agent_fox.system.own_folders import own_folder

if TYPE_CHECKING:
    from agent_fox.session.agents.task import Door

SERVER = "verifier"


class Acp(CommandLine):
    """The adapter."""

    facts = facts_of("acp")

    def prepare(self, task: AgentTask, door: Door) -> None:
        keep_folder(task.home)

    def start(self, task: AgentTask, door: Door) -> Start:
        words = words_of(task, door)
        written = (*task.arguments, *task.environment.values())
        named = {place for place in (MODEL, EFFORT) for text in written if place in text}
        dialogue = AcpDialogue(task, partial(servers, door), is_set=frozenset(named), why_held=partial(why_held, door))
        return Start(command_of(task, words), environment_of(task, door, words), dialogue=dialogue)

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        """Never asked for: the question is put within the dialogue."""
        return self.start(task, door)

    def reader(self, task: AgentTask) -> Reader:
        return AcpDialogue(task, lambda has_http: ())

    def own_tools(self, role: Role) -> Collection[str]:
        return permissions.TABLE[role]


def servers(door: Door, has_http: bool) -> Sequence[Mapping[str, object]]:
    """The verifier's tools as `session/new` takes them: over HTTP where the agent can, else by our relay."""
    if not door.mcp_url:
        return ()
    if has_http:
        headers = [{"name": "Authorization", "value": f"Bearer {door.mcp_token}"}]
        return ({"type": "http", "name": SERVER, "url": door.mcp_url, "headers": headers},)
    given = {relay.URL: door.mcp_url, relay.TOKEN: door.mcp_token}
    variables = [{"name": name, "value": value} for name, value in given.items()]
    arguments = ["-I", "-S", "-B", str(Path(relay.__file__).resolve())]
    return ({"name": SERVER, "command": sys.executable, "args": arguments, "env": variables},)


def why_held(door: Door) -> str:
    """What the gate of the session says to a coder that wants to stop; empty where it may, and where there is none."""
    return stop_hook.ask(door.stop_command[-1]) if door.stop_command else ""


DRAINING, TICK = 1.0, 0.25


def trouble_of(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """Why no session can be had with this command; empty where it has introduced itself."""
    state = Path(argv[0]).stat()
    return known_trouble_of(tuple(argv), tuple(sorted(environment.items())), state.st_mtime_ns, state.st_size)


@cache
def known_trouble_of(argv: tuple[str, ...], environment: tuple[tuple[str, str], ...], changed: int, size: int) -> str:
    """`changed` and `size` are part of the cache's key."""
    with own_folder("handshake") as home:
        dialogue, lines = AcpDialogue(no_task(argv[0], home), lambda _: ()), queue.SimpleQueue[StreamLine]()
        whole = bare_environment(home) | dict(environment)
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
            if line.stream is not Stream.END:
                events += (dialogue.line if line.stream is Stream.OUTPUT else dialogue.complaint)(line.text)
        if not streams and (last := dialogue.end(child.wait(DRAINING))) is not None:
            return last.reason
        broken = next((event for event in events if isinstance(event, Broken)), None)
        if broken is not None:
            return broken.text
    return ""


def no_task(program: str, home: Path) -> AgentTask:
    """The task of a session that is never had."""
    return AgentTask(
        cli="acp", program=program, role=Role.REVIEWER, workspace=home, home=home, scratch=home,
        report=home / "report.json", system="", prompt="", limits=Limits(ANSWERING, ANSWERING, ANSWERING),
        provider=None, upstream="", environment={},
    )  # fmt: skip


ACP = Acp()
