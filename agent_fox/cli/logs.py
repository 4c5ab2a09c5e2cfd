"""`agent-fox logs`: the log that a node's session left. What is in it was redacted before it was kept."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.finding import find_node
from agent_fox.cli.names import nodes_and_specs
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, print_json
from agent_fox.core.late import late_module
from agent_fox.engine.account import SessionLog, read_session_logs
from agent_fox.system.state_folders import LOGS, artifacts_in, file_name, folder_of

if TYPE_CHECKING:
    from agent_fox import config
    from agent_fox.engine import from_settings
    from agent_fox.verifier import artifacts
else:
    config = late_module("agent_fox.config")
    from_settings = late_module("agent_fox.engine.from_settings")
    artifacts = late_module("agent_fox.verifier.artifacts")

CHUNK = 1 << 16
ARTIFACT = "artifact://"


@click.command("logs", short_help="Show the log of a node's session.")
@click.argument("node", metavar="NODE|ARTIFACT", shell_complete=nodes_and_specs)
@click.option("--attempt", type=click.IntRange(1), metavar="N", help="The attempt. Unset: the last.")
@click.option(
    "--reading", "number", type=click.IntRange(1), metavar="N", help="The reading of a verifier. Unset: the last."
)
@click.option("--path", "is_path", is_flag=True, help="Print where the log is, not what it holds.")
@json_option
def command(node: str, attempt: int | None, number: int | None, is_path: bool, as_json: bool) -> None:
    """Show the log of the last session of NODE (or of the verifier of a spec, named by the spec), or of the attempt
    and reading named; of a session that was launched again, its last launch. NODE may also be the address of an
    artifact, as reports and issues name it: `artifact://RUN/ATTEMPT/NAME`.
    """
    root = here()
    if node.startswith(ARTIFACT):
        _show(_artifact(root, node), {"uri": node}, is_path=is_path, as_json=as_json)
        return
    with reading(root) as db:
        # A node that is no longer in the plan still has its logs, under the name it had.
        logs = list(read_session_logs(db, node)) or list(read_session_logs(db, find_node(db, node).node.id))
    log = choose(node, logs, attempt, number)
    _show(newest(root, log), log.document(), is_path=is_path, as_json=as_json)


def _artifact(root: Path, uri: str) -> Path:
    """Where the content of an artifact is. Raises ArtifactError where there is none of that address."""
    state = from_settings.state_folder(root, config.load(root, os.environ), os.environ)
    return artifacts.ArtifactStore(artifacts_in(folder_of(state, root)), "", 0).path_of(uri)


def _show(path: Path, about: Mapping[str, object], *, is_path: bool, as_json: bool) -> None:
    if as_json:
        print_json({**about, "path": str(path), "text": path.read_text("utf-8", "replace")})
    elif is_path:
        click.echo(str(path))
    else:
        for each in (path, *others_beside(path)):
            for text in _chunks(each):
                click.echo(text, nl=False)


def others_beside(path: Path) -> list[Path]:
    """The logs of the other judges of the same launch: `NODE.ATTEMPT.READING.LAUNCH.JUDGE.log`."""
    launch, _, judge = path.name.removesuffix(".log").rpartition(".")
    if judge.isdigit():
        return []
    return [other for other in sorted(path.parent.glob(f"{glob.escape(launch)}.*.log")) if other != path]


def choose(node: str, logs: list[SessionLog], attempt: int | None, number: int | None) -> SessionLog:
    """The session that is meant. Raises UserError where there is none."""
    fitting = [log for log in logs if attempt in (None, log.attempt) and number in (None, log.reading)]
    if fitting:
        return fitting[-1]
    if not logs:
        raise UserError(f"{node}: no session of it yet; `agent-fox status` shows what there is")
    known = ", ".join(f"{log.attempt}.{log.reading}" for log in logs)
    raise UserError(f"{node}: no such attempt and reading; there are (attempt.reading): {known}")


def newest(root: Path, log: SessionLog) -> Path:
    """Where the log of its last launch is; a session that runs has not told yet, so its name is looked for."""
    if log.path and Path(log.path).exists():
        return Path(log.path)
    stem = f"{file_name(log.node)}.{log.attempt}.{log.reading}"
    found = sorted((root / LOGS).glob(f"{stem}.*.log"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UserError(f"{log.node}: its log is not there: {log.path or root / LOGS / stem}")
    return found[-1]


def _chunks(path: Path) -> Iterator[str]:
    """The text, with whatever could steer a terminal taken out where one is shown it."""
    is_shown = sys.stdout.isatty()
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        while text := file.read(CHUNK):
            yield "".join(c if c.isprintable() or c in "\n\t" else " " for c in text) if is_shown else text
