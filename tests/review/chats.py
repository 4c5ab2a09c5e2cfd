"""Chats with agents as their programs write them down, and the state that such a chat leaves, for the hook's tests.

Fake: the chat. The lines have the form of what Claude Code 2.1 and codex 0.169 wrote, without what nobody reads here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from agent_fox.core.values import to_document
from agent_fox.review.repositories import Registered
from agent_fox.review.tasks import Event, Word, record, register
from agent_fox.store.reviews import TaskRow
from agent_fox.store.state import transaction
from agent_fox.testing import prefork
from tests.states import fresh_state

AT = "2026-11-22T12:00:00.000Z"
SESSION = "efd7796b-ecc5-40ff-a42c-3b2634547ff0"
ONE, TWO = "afx-0123456789ab", "afx-ba9876543210"
DESCRIPTION = "## Add a greeting\n\n### Acceptance criteria\n- it says hello\n- it has a test\n"
SOURCE = Path(__file__).resolve().parents[2]
HOOK = (sys.executable, "-m", "agent_fox.cli.door", "hook", "stop")


def result(task: str) -> str:
    """The text that the tool answers with."""
    return json.dumps({"task_id": task}, indent=2)


def claude_call(task: str, name: str = "mcp__agent-fox-review__todoWrite", message: str = "m1") -> str:
    block = {"type": "tool_use", "id": f"toolu_{task}", "name": name, "input": {"description": DESCRIPTION}}
    return json.dumps({"type": "assistant", "message": {"id": message, "role": "assistant", "content": [block]}})


def claude_answer(task: str, text: str = "") -> str:
    content = [{"type": "text", "text": text or result(task)}]
    block = {"tool_use_id": f"toolu_{task}", "type": "tool_result", "content": content}
    return json.dumps({"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": content})


def claude_says(text: str, message: str = "m9") -> str:
    content = [{"type": "text", "text": text}]
    return json.dumps(
        {"type": "assistant", "message": {"id": message, "role": "assistant", "content": content}},
        separators=(",", ":"),
    )


def codex_call(task: str, name: str = "todoWrite") -> str:
    payload = {"type": "function_call", "name": name, "namespace": "mcp__agent_fox_review", "call_id": f"call_{task}"}
    return json.dumps({"type": "response_item", "payload": {**payload, "arguments": "{}"}})


def codex_answer(task: str) -> str:
    output = [
        {"type": "input_text", "text": "Wall time: 0.0042 seconds\nOutput:"},
        {"type": "input_text", "text": result(task)},
    ]
    payload = {"type": "function_call_output", "call_id": f"call_{task}", "output": output}
    return json.dumps({"type": "response_item", "payload": payload})


def codex_item(task: str) -> str:
    """What codex writes beside the answer, and alone where the model called the tool from a script."""
    item = {
        "type": "McpToolCall", "id": f"call_{task}", "server": "agent-fox-review", "tool": "todoWrite",
        "result": {"content": [{"type": "text", "text": result(task)}], "isError": False},
    }  # fmt: skip
    return json.dumps({"type": "event_msg", "payload": {"type": "item_completed", "item": item}})


def codex_says(text: str) -> str:
    content = [{"type": "output_text", "text": text}]
    payload = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    return json.dumps({"type": "response_item", "payload": payload}, separators=(",", ":"))


CLAUDE = (claude_call(ONE), claude_answer(ONE), claude_says("All is done."))
CODEX = (codex_call(ONE), codex_item(ONE), codex_answer(ONE), codex_says("All is done."))


def keep(db: Database, task: str, *events: Event, client: str = "", repositories: Sequence[Registered] = ()) -> None:
    """A task with what happened to it, in a transaction of its own."""
    where = json.dumps(to_document(repositories))
    row = TaskRow(task, AT, DESCRIPTION, where, client)
    with transaction(db):
        register(db, AT, row, repositories)
        for event in events:
            record(db, AT, row, event)


@dataclass(frozen=True)
class Chat:
    """A project with its state, and the transcript of a chat in it."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def own(self) -> Path:
        return self.project / ".agent-fox"

    @property
    def transcript(self) -> Path:
        return self.root / "transcript.jsonl"

    def state(self) -> Database:
        return fresh_state(self.own / "state.db")

    def register(self, task: str, *words: Word, client: str = "", gone: str = "") -> None:
        """`gone`: a repository of the task, which is no longer there."""
        db = self.state()
        where = [Registered(gone, "", "")] if gone else []
        keep(db, task, *(Event(word, {"trees": {}}) for word in words), client=client, repositories=where)
        db.close()

    def write(self, lines: Iterable[str]) -> None:
        self.transcript.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def asked(self, **changes: object) -> dict[str, object]:
        """What the client tells its hook."""
        return {
            "session_id": SESSION, "transcript_path": str(self.transcript), "cwd": str(self.project),
            "hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": "All is done.", **changes,
        }  # fmt: skip

    def stop(self, *options: str, given: bytes | None = None, **changes: object) -> subprocess.CompletedProcess[str]:
        """Let the client ask the hook."""
        text = json.dumps(self.asked(**changes)).encode() if given is None else given
        return prefork.run([*HOOK[3:], *options], cwd=self.root, env=environment(self.root), data=text, module=HOOK[2])


def environment(home: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(SOURCE), **more}


def chat(root: Path, lines: Sequence[str] = CLAUDE) -> Chat:
    """A chat in a project that has no state yet."""
    made = Chat(root)
    made.project.mkdir()
    made.write(lines)
    return made
