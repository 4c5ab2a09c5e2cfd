"""The command of `[notify]`: run when work stops, and when a run ends or pauses. If it fails, that is a warning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.screen import plain
from agent_fox.core.retry.decision import Block
from agent_fox.core.words import counted, quote
from agent_fox.store import outbox
from agent_fox.store.state import read_state
from agent_fox.system import programs
from agent_fox.system.redaction.masking import redact
from agent_fox.system.state_folders import STATE

if TYPE_CHECKING:
    from agent_fox.config import NotifySettings
    from agent_fox.engine.record.watch import RunEvent

LONGEST = 30.0  # seconds


class Notifier:
    """Runs the command in `root`, one call after the other, in a thread: no run waits for it."""

    def __init__(self, root: Path, settings: NotifySettings) -> None:
        self.root = root
        self.command = settings.command
        self.kinds = settings.on if settings.command else []
        self.calls: list[Future[str]] = []
        self.pool = ThreadPoolExecutor(1, "notify")

    def note(self, event: RunEvent) -> None:
        """Tell of a block, when it is decided."""
        handled = event.handled
        if "blocked" in self.kinds and handled and isinstance(handled.decision, Block) and event.planned:
            node = event.planned.node
            document = blocked_document(self.root, node.spec_name, node.id, handled.decision.cause, handled.effects)
            self.call(document)

    def call(self, document: Mapping[str, object]) -> None:
        text = redact(json.dumps(document, ensure_ascii=False))
        self.calls.append(self.pool.submit(_failure, self.root, self.command, text))

    def end(self, summary: Mapping[str, object]) -> None:
        """Tell how the run ended, after all else; wait for it, but not for long, and say what has failed."""
        if "ended" in self.kinds:
            self.call({**summary, "text": ended_text(summary)})
        done, open_calls = wait(self.calls, LONGEST)
        self.pool.shutdown(wait=False, cancel_futures=True)
        failures = dict.fromkeys(call.result() for call in self.calls if call in done)
        for failure in [*filter(None, failures), *_unsent(len(open_calls))]:
            click.echo(f"agent-fox: warning: [notify] command {plain(self.command[0])}: {plain(failure)}", err=True)


def _unsent(count: int) -> Iterator[str]:
    if count:
        yield f"{counted(count, 'notification')} not sent within {LONGEST:g} seconds"


def blocked_document(root: Path, spec: str, node: str, cause: str, effects: Sequence[str]) -> dict[str, object]:
    """What stopped, as its issue says it, and what to type; `text` is for a message."""
    with closing(read_state(root / STATE)) as db:
        statuses = outbox.statuses_of(db, effects)
    issues = [{name: status[name] for name in ("title", "headline", "parts")} for status in statuses]
    commands = [f"agent-fox explain {quote(node)}", f"agent-fox reset {quote(node)}"]
    lines = [line for status in statuses for line in (str(status["title"]), str(status["headline"]))]
    text = "\n".join([*(lines or [f"{node} stopped: {cause}"]), commands[0]])
    return {
        "kind": "blocked", "spec": spec, "node": node, "cause": cause, "issues": issues, "next": commands, "text": text,
    }  # fmt: skip


def ended_text(summary: Mapping[str, object]) -> str:
    return f"agent-fox run {summary.get('run', '')}: {summary.get('reason', '')} (exit {summary.get('exit_code', '')})"


def _failure(root: Path, command: Sequence[str], document: str) -> str:
    """Why a call failed; empty where it did not."""
    try:
        done = programs.run(
            command, LONGEST, cwd=root, data=document.encode("utf-8", "replace"), stdout=programs.NOTHING
        )
    except TimeoutError:
        return f"not done after {LONGEST:g} seconds"
    except OSError as error:
        return error.strerror or str(error)
    last = done.err.decode("utf-8", "replace").strip().splitlines()[-1:]
    return f"exit status {done.status}{''.join(f', {line}' for line in last)}" if done.status else ""
