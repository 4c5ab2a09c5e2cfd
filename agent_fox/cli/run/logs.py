"""`agent-fox logs`: the log that a node's session left, or what one under way has printed so far, masked."""

from __future__ import annotations

import glob
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.names import nodes_and_specs
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here
from agent_fox.cli.run.finding import find_node
from agent_fox.cli.screen import columns, cut, json_option, print_json
from agent_fox.core.late import late_module
from agent_fox.engine.account.account import SessionLog, read_session_logs
from agent_fox.store.account import is_under_way, texts
from agent_fox.store.state import is_locked
from agent_fox.system.state_folders import LOCK, LOGS, artifacts_in, file_name, folder_of

if TYPE_CHECKING:
    from agent_fox import config
    from agent_fox.cli.run import live_log
    from agent_fox.cli.run.live_log import LiveLog
    from agent_fox.engine.planning import from_settings
    from agent_fox.verifier.artifacts import index as artifact_index
    from agent_fox.verifier.artifacts import store as artifacts
else:
    config = late_module("agent_fox.config")
    live_log = late_module("agent_fox.cli.run.live_log")
    from_settings = late_module("agent_fox.engine.planning.from_settings")
    artifact_index = late_module("agent_fox.verifier.artifacts.index")
    artifacts = late_module("agent_fox.verifier.artifacts.store")

CHUNK = 1 << 16
LOOK_EVERY = 0.3
"""Seconds between two looks at a session that is followed."""
ARTIFACT = "artifact://"
LARGEST_REPORT = 8 * 1024 * 1024
"""Bytes of a log that is read as a report; a larger one is shown as it is."""
REPORT = "{\n"
"""How a report begins; what agents print line by line is an object on each line."""
STDERR = "--- stderr, "


@click.command("logs", short_help="Show what a session printed; of a verifier, what its tests printed.")
@click.argument("node", metavar="NODE|ARTIFACT", shell_complete=nodes_and_specs)
@click.option("--attempt", type=click.IntRange(1), metavar="N", help="Which attempt. Unset: the last.")
@click.option(
    "--reading", "number", type=click.IntRange(1), metavar="N", help="Which of a verifier's readings. Unset: the last."
)
@click.option("--path", "is_path", is_flag=True, help="Print where the log is, not what it holds.")
@click.option(
    "--raw", "is_raw", is_flag=True, help="Show a verifier's report as it was recorded, not its tests' output."
)
@click.option("-f", "--follow", "is_followed", is_flag=True, help="Keep printing until the session ends.")
@json_option
def command(
    node: str, attempt: int | None, number: int | None, is_path: bool, is_raw: bool, is_followed: bool, as_json: bool
) -> None:
    """Show what the last session of NODE printed (a spec's name means its verifier), or that of the attempt and
    reading given. NODE may also be the address of a log that a report names: `artifact://RUN/ATTEMPT/NAME`.

    Of a verifier that runs tests, what the tests printed is shown, and the verdicts below it. Of a session that is
    still running, what it has printed so far is shown, a verifier's tests too; with -f also what comes, until it ends.
    Secrets are masked.
    """
    if is_followed and (is_path or as_json):
        raise click.UsageError("-f shows lines as they come: it goes with neither --path nor --json")
    root = here()
    if node.startswith(ARTIFACT):
        _show(_artifact(root, node), {"uri": node}, is_path=is_path, as_json=as_json)
        return
    with reading(root) as db:
        # A node that is no longer in the plan still has its logs, under the name it had.
        logs = list(read_session_logs(db, node)) or list(read_session_logs(db, find_node(db, node).node.id))
    log = choose(node, logs, attempt, number)
    if log.launch and not is_path and _show_live(root, log, is_followed=is_followed, as_json=as_json):
        return
    _show(newest(root, log), log.document(), is_path=is_path, as_json=as_json, root=None if is_raw else root)


def _show_live(root: Path, log: SessionLog, *, is_followed: bool, as_json: bool) -> bool:
    """Show what the session under way has printed; whether there was any place to look at."""
    is_running = is_locked(root / LOCK)
    with live_log.LiveLog(Path(log.folder), live_log.secrets_of(root)) as live:
        if not live.look() and not (is_followed and Path(log.folder).is_dir()):
            return False
        if as_json:
            text = "".join((*live.more(), *live.rest()))
            print_json({**log.document(), "path": "", "text": text, "is_running": is_running})
            return True
        printed = _followed(root, log, live) if is_followed else live.more()
        for text in _with_report(root, spec_of(log.node), live, printed):
            click.echo(_shown(text), nl=False)
    ended = "it has ended" if is_followed else "it is running; -f follows it"
    if not is_running:
        ended = "it was ended from outside, `agent-fox run` goes on"
    click.echo(f"--- {log.node}, attempt {log.attempt}: {ended}", err=True)
    return True


def _followed(root: Path, log: SessionLog, live: LiveLog) -> Iterator[str]:
    """What it prints until its launch is over, or nobody runs it any more; what was printed before is shown too."""
    is_on = True
    while is_on:
        with reading(root) as db:
            is_on = is_under_way(db, log.launch) and is_locked(root / LOCK)
        yield from live.more()
        if is_on:
            time.sleep(LOOK_EVERY)


def _with_report(root: Path, spec: str, live: LiveLog, printed: Iterator[str]) -> Iterator[str]:
    """What is printed and the rest of it, in which a report on test runs, once it is whole, is shown by what the tests
    printed, if that was not shown as they ran."""
    held: list[str] = []
    for text in chain(printed, live.rest()):
        if held or text.startswith(REPORT):
            held.append(text)
        else:
            yield text
    report = read_report("".join(held))
    yield from report_text(root, spec, *report, is_output_shown=live.has_tests) if report else held


def _artifact(root: Path, uri: str) -> Path:
    """Where the content of an artifact is. Raises ArtifactError where there is none of that address."""
    state = from_settings.state_folder(root, config.load(root, os.environ), os.environ)
    return artifacts.ArtifactStore(artifacts_in(folder_of(state, root)), "", 0).path_of(uri)


def spec_of(node: str) -> str:
    return node.partition(":")[0]


def _show(path: Path, about: Mapping[str, object], *, is_path: bool, as_json: bool, root: Path | None = None) -> None:
    """With `root` reports of test runs are shown by what the tests printed."""
    if as_json:
        print_json({**about, "path": str(path), "text": path.read_text("utf-8", "replace")})
    elif is_path:
        click.echo(str(path))
    else:
        judges = [(each, report_in(each) if root is not None else None) for each in (path, *others_beside(path))]
        for each, report in sorted(judges, key=lambda judge: judge[1] is None):
            spec = spec_of(str(about.get("node", "")))
            summary = summary_in(each) if root is not None and report is None else ""
            plainly = [summary] if summary else _chunks(each)
            for text in report_text(root, spec, *report) if root is not None and report else plainly:
                click.echo(text, nl=False)


def summary_in(path: Path) -> str:
    """What the reading of remembered failures came to, in a line; empty for any other log."""
    if path.stat().st_size > LARGEST_REPORT:
        return ""
    try:
        answer, _ = json.JSONDecoder().raw_decode(path.read_text("utf-8", "replace").partition("\n")[2])
    except (ValueError, RecursionError):
        return ""
    is_of_memory = isinstance(answer, dict) and isinstance(answer.get("memory"), list)
    return f"{_shown(str(answer.get('summary', '')))}\n" if is_of_memory else ""


def report_in(path: Path) -> tuple[dict[str, object], str] | None:
    """The report on test runs that a log holds, and what stood on standard error; None for any other log."""
    if path.stat().st_size > LARGEST_REPORT:
        return None
    return read_report(path.read_text("utf-8", "replace").partition("\n")[2])


def read_report(text: str) -> tuple[dict[str, object], str] | None:
    """The same of a log's text, without its first heading."""
    try:
        report, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    is_report = isinstance(report, dict) and isinstance(report.get("runs"), list) and report["runs"]
    return (report, text[end:].partition(STDERR)[2].partition("\n")[2]) if is_report else None


def report_text(
    root: Path, spec: str, report: Mapping[str, object], errors: str, *, is_output_shown: bool = False
) -> Iterator[str]:
    """Each command with what it printed, if that is not shown already, and how it ended, then the verdicts with their
    requirements' texts."""
    for run in _rows(report, "runs"):
        yield f"$ {run.get('command')}\n"
        yield from () if is_output_shown else _output(root, run)
        yield f"--- {_ending(run)}\n\n"
    yield from (f"standard error:\n{_shown(errors.rstrip())}\n\n" for _ in range(1) if errors.strip())
    with reading(root) as db:
        of_spec = texts(db, [spec]).get(spec, {})
    for verdict in _rows(report, "verdicts"):
        part, word = str(verdict.get("requirement_id")), verdict.get("verdict", "")
        yield cut(f"{word:<7} {part}  {of_spec.get(part, '')}", columns()).rstrip() + "\n"
        evidence = str(verdict.get("evidence") or verdict.get("note") or "").partition("\n")[0]
        yield cut(f"{'':7} {evidence}", columns()).rstrip() + "\n"


def _rows(report: Mapping[str, object], key: str) -> Iterator[Mapping[str, object]]:
    rows = report.get(key)
    return (row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else iter(())


def _output(root: Path, run: Mapping[str, object]) -> Iterator[str]:
    """All that a command printed; its last lines where the whole is not kept any more, which is said."""
    uri = str(run.get("artifact") or "")
    try:
        yield from _chunks(_artifact(root, uri))
    except artifact_index.ArtifactError:
        if uri:
            yield f"({uri} is not kept any more: only the last lines)\n"
        yield _shown(str(run.get("output_tail") or run.get("not_attempted") or ""))


def _ending(run: Mapping[str, object]) -> str:
    failing, total = run.get("failing") or [], run.get("tests")
    exit_code, seconds = run.get("exit_code"), run.get("seconds")
    parts = [f"exit {exit_code}" if exit_code is not None else "it did not run"]
    parts += [f"{seconds:.1f} s"] if isinstance(seconds, float) else []
    if total is not None:
        count = len(failing) if isinstance(failing, list) else 0
        parts.append(f"{count} of {total} tests failed" if count else f"{total} tests passed")
    return ", ".join(parts)


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
    """Where the log of its last launch is; a session that runs has none yet: then that of an earlier launch."""
    if log.path and Path(log.path).exists():
        return Path(log.path)
    stem = f"{file_name(log.node)}.{log.attempt}.{log.reading}"
    paths = sorted((root / LOGS).glob(f"{stem}.*.log"), key=lambda path: path.stat().st_mtime)
    if not paths:
        later = "it is kept when the session ends; `agent-fox logs` without --path shows what is there so far"
        missing = later if log.launch else f"its log is not there: {log.path or root / LOGS / stem}"
        raise UserError(f"{log.node}: {missing}")
    return paths[-1]


def _chunks(path: Path) -> Iterator[str]:
    """The text, with whatever could steer a terminal taken out where one is shown it."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        while text := file.read(CHUNK):
            yield _shown(text)


def _shown(text: str) -> str:
    if not sys.stdout.isatty():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in text)
