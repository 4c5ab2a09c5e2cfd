"""A session's recorded events: what its agent's tools did, line by line, for formulas about their order and for traces.

Written by the runner, where the agent cannot write; bounded. What a formula makes of it is in `core.temporal`, what a
trace is in `core.trace`.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.regex import regex
from agent_fox.session.agents.events import Answered, Called, Event, Spoke, Unreadable
from agent_fox.session.agents.runner.scanning import COMMANDS, PLACES
from agent_fox.session.agents.runner.tally import LONGEST_NAME, short_tool
from agent_fox.system import clock
from agent_fox.system.redaction.masking import redact

if TYPE_CHECKING:
    from agent_fox.session.workspaces.steps import Steps

NAME = "events.jsonl"
MOST_EVENTS, MOST_BYTES = 20_000, 8 * 1024 * 1024
"""What is kept of one session. A trace that was cut says so, and decides only what it can."""

LONGEST = 400
"""Characters of a path or command line; a longer one cannot be told from another that begins so, and is not kept."""
MOST_OPEN = 1000
"""Calls that are remembered until they end."""

EDITING = frozenset(
    {"edit", "write", "multiedit", "notebookedit", "write_file", "replace", "apply_patch", "patch", "delete", "move"}
)
"""Tools that change files, by their names in the programs that are known."""

RUNNING = frozenset({"bash", "shell", "exec_command", "run_shell_command", "local_shell", "unified_exec", "execute"})
"""Tools that run command lines."""

MOST_RED, LONGEST_RED = 20, 200
"""Lines of one observation that tell of failures, and characters of each, that are kept."""

_RED = regex(r"FAIL|\bnot ok\b|✗|✖|✕|\bError\b|\w(?:Error|Exception)\b|\bpanicked\b|^\s*E\s")
"""What stands in a line that tells of a test that failed: `FAILED tests/test_a.py::test_b`, `not ok 2 adds`."""

_PATCHED = regex(r"(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$")


def transcript_beside(log: Path) -> Path:
    """Where the transcript of a session is kept whose log is kept there."""
    return log.with_suffix(".transcript.jsonl")


def trace_beside(log: Path) -> Path:
    """Where the events of a session are kept whose log is kept there."""
    return log.with_suffix(f".{NAME}")


@dataclass(slots=True)
class Recorder:
    """Writes the events of one session to `path`. Trouble with the file ends the recording, never the session.

    `at` of an event is when its line was read, ISO 8601, UTC; `call` numbers the calls, and names the one that ended.
    """

    path: Path
    workspace: Path
    now: Callable[[], str] = clock.now
    count: int = 0
    bytes: int = 0
    is_whole: bool = True
    unrecorded: int = 0
    """Lines that were not written."""
    calls: int = 0
    open_calls: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By their ids: the number of the call, from 1, and its tool."""
    steps: Steps | None = None
    """Takes the state of the files after a call that may have changed some."""

    def hear(self, event: Event) -> None:
        match event:
            case Called():
                self._called(event)
            case Answered():
                self._answered(event)
            case Unreadable():
                self.is_whole = False

    def close(self, *, is_ended: bool) -> None:
        """The last line; without it a trace counts as cut."""
        missing: dict[str, object] = {"unrecorded": self.unrecorded} if self.unrecorded else {}
        if self.steps is not None:
            large = {"files too large for a state": len(self.steps.large)} if self.steps.large else {}
            unseen = {**self.steps.unseen, **large}
            missing |= {"unseen": unseen} if unseen else {}
        self._write({"kind": "end", "is_whole": self.is_whole and is_ended, **missing}, is_last=True)

    def _called(self, event: Called) -> None:
        tool = short_tool(event.tool)[:LONGEST_NAME]
        self.calls += 1
        if len(self.open_calls) < MOST_OPEN:
            self.open_calls[event.call] = self.calls, tool
        edits, command = edits_of(tool, event.arguments, self.workspace), command_of(tool, event.arguments)
        call = {"kind": "call", "tool": tool, "at": self.now(), "call": self.calls, "edits": edits, "command": command}
        self._write(call)

    def _answered(self, event: Answered) -> None:
        call, tool = self.open_calls.pop(event.call, (0, ""))
        if not tool:
            return
        is_failed = event.is_error or event.is_refused
        may_change = tool.lower() in EDITING | RUNNING and not event.is_refused and self.has_room
        at = self.now()
        seen = {"sha256": digest_of(event.text), "characters": len(event.text), "red": red_lines(event.text)}
        tree = self.steps.take() if may_change and self.steps is not None else ""
        self._write(
            {
                "kind": "failed" if is_failed else "done", "tool": tool, "at": at, "call": call,
                **({"seen": {name: value for name, value in seen.items() if value}} if event.text else {}),
                **({"tree": tree} if tree else {}),
            }
        )  # fmt: skip

    @property
    def has_room(self) -> bool:
        return self.is_whole and self.count < MOST_EVENTS and self.bytes < MOST_BYTES

    def _write(self, line: Mapping[str, object], *, is_last: bool = False) -> None:
        text = json.dumps(line, ensure_ascii=False) + "\n"
        if not is_last and (not self.has_room or self.bytes + len(text) > MOST_BYTES):
            self.is_whole = False  # after a gap nothing: what stands behind it would seem to follow what is before it
            self.unrecorded += 1
            return
        self.is_whole &= appended(self.path, text)
        self.count, self.bytes = self.count + 1, self.bytes + len(text)


@dataclass(slots=True)
class Transcript:
    """Writes down all that a session's model said, what it called, and what it was shown (`[training] keep = "full"`).

    Its lines are numbered by the calls, as those of the Recorder. What would make it too large is counted instead.
    """

    path: Path
    bytes: int = 0
    unrecorded: int = 0
    calls: int = 0
    open_calls: dict[str, int] = field(default_factory=dict)

    def hear(self, event: Event) -> None:
        match event:
            case Spoke(text=text) if text.strip():
                self._write({"kind": "said", "text": text})
            case Called(tool=tool, arguments=arguments, call=call):
                self.calls += 1
                self.open_calls[call] = self.calls
                self._write(
                    {"kind": "call", "call": self.calls, "tool": short_tool(tool), "arguments": dict(arguments)}
                )
            case Answered(call=call, text=text):
                how = "refused" if event.is_refused else "failed" if event.is_error else "done"
                self._write({"kind": how, "call": self.open_calls.pop(call, 0), "text": text})

    def close(self) -> None:
        self._write({"kind": "end", "unrecorded": self.unrecorded}, is_last=True)

    def _write(self, line: Mapping[str, object], *, is_last: bool = False) -> None:
        text = json.dumps(line, ensure_ascii=False, default=str) + "\n"
        if not is_last and (self.unrecorded or self.bytes + len(text) > MOST_BYTES):
            self.unrecorded += 1
            return
        self.unrecorded += not appended(self.path, text)
        self.bytes += len(text)


def appended(path: Path, text: str) -> bool:
    """Whether the line could be written."""
    try:
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError:
        return False
    return True


def red_lines(text: str) -> list[str]:
    """The lines of an output that tell of failures, cut, and none of those that hold a secret."""
    lines = (line.strip()[:LONGEST_RED] for line in text.splitlines() if _RED.search(line))
    return [line for line in lines if redact(line, ()) == line][:MOST_RED]


def edits_of(tool: str, arguments: Mapping[str, object], workspace: Path) -> list[str] | None:
    """The files that a call changes, from the workspace's root; None where it changes some that it does not name."""
    if tool.lower() not in EDITING:
        return []
    named = [place for name in PLACES if isinstance(place := arguments.get(name), str)]
    named += [path for text in arguments.values() if isinstance(text, str) for path in _PATCHED.findall(text)]
    kept = [shown for place in dict.fromkeys(named) if (shown := kept_text(inside(place.strip(), workspace)))]
    return kept if kept and len(kept) == len(dict.fromkeys(named)) else None


def inside(place: str, workspace: Path) -> str:
    """A path as the repository has it; one outside of the workspace stays as it is."""
    path = posixpath.normpath(place)
    for root in (str(workspace), str(workspace.resolve())):
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return path


def command_of(tool: str, arguments: Mapping[str, object]) -> str | None:
    """The command line that a call runs; None where it runs one that cannot be kept."""
    if tool.lower() not in RUNNING:
        return ""
    command = next((value for name in COMMANDS if (value := arguments.get(name))), None)
    text = " ".join(map(str, command)) if isinstance(command, list) else command
    return kept_text(text) if isinstance(text, str) else None


def kept_text(text: str) -> str | None:
    """The text, if it is short and holds no secret: half of one would fit another pattern than the whole."""
    return text if text and len(text) <= LONGEST and redact(text, ()) == text else None
