"""The command of `[notify]`: run when a run ends or pauses. Its failure is a warning, never more."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from agent_fox.cli.screen import plain
from agent_fox.system import programs

LONGEST = 30.0  # seconds


def notify(root: Path, command: Sequence[str], summary: Mapping[str, object]) -> None:
    """Run the command in `root` with the summary as JSON on its standard input. No command: nothing."""
    if not command:
        return
    failure = _failure(root, command, json.dumps(summary, ensure_ascii=False))
    if failure is not None:
        click.echo(f"agent-fox: warning: [notify] command {plain(command[0])}: {plain(failure)}", err=True)


def _failure(root: Path, command: Sequence[str], document: str) -> str | None:
    try:
        done = programs.run(
            command, LONGEST, cwd=root, data=document.encode("utf-8", "replace"), stdout=programs.NOTHING
        )
    except TimeoutError:
        return f"not done after {LONGEST:g} seconds"
    except OSError as error:
        return error.strerror or str(error)
    last = done.err.decode("utf-8", "replace").strip().splitlines()[-1:]
    return f"exit status {done.status}{''.join(f', {line}' for line in last)}" if done.status else None
