"""`agent-fox replay`: recorded verifier outputs, decided about without running anything. Deciding is the engine's."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic import ValidationError

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.screen import plain
from agent_fox.core.late import late_module

if TYPE_CHECKING:
    from agent_fox import config
    from agent_fox.engine.doors import replay as replaying
else:
    replaying = late_module("agent_fox.engine.doors.replay")
    config = late_module("agent_fox.config")

STDIN = "-"


@click.command("replay", short_help="Show what would be decided about recorded verifier outputs.")
@click.argument("file", metavar="FILE")
@click.option(
    "--policy", metavar="FILE", type=click.Path(path_type=Path), help="TOML with other `[retry]` settings, and rungs."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line, for each line read.")
def command(file: str, policy: Path | None, as_json: bool) -> Exit:
    """Push the verifier outputs recorded in FILE (JSON lines; `-` is standard input) through reader, judge and
    decision table, and tell what would have been decided. Needs neither settings nor a repository.

    A line is `{"spec_name", "expected": [ids], "attempts": [{"attempt": 1, "verifier_output": text or object}]}`;
    several readings of one attempt repeat its number. A line that cannot be read is told, the others are replayed all
    the same, and the exit code is 1. The policy file holds keys of `[retry]`, in that table or flat, and in
    `[agents.coder]` the agents that a coder climbs to, as a repository's settings do; decisions then tell the rung.
    """
    settings = read_policy(policy) if policy else config.Settings()
    streams = replaying.read_streams(_lines_of(file), "standard input" if file == STDIN else file)
    bad = 0
    for stream in streams:
        if isinstance(stream, replaying.BadLine):
            bad += 1
            click.echo(plain(f"agent-fox: {stream.what}"), err=True)
            continue
        replayed = replaying.replay(stream, settings)
        click.echo(_json(replayed, settings) if as_json else "\n".join(_lines(replayed)))
    return Exit.INPUT if bad else Exit.DONE


def read_policy(path: Path) -> config.Settings:
    """The `[retry]` settings of a TOML file, and its agents where it has any. Raises UserError."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        retry = table.get("retry", {} if "agents" in table else table)
        limits = config.RetrySettings.model_validate(retry)
        return config.Settings(retry=limits, agents=_agents(path, table.get("agents", {})))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; name a TOML file with a table [retry]") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "[retry]"
        known = ", ".join(config.RetrySettings.model_fields)
        raise UserError(f"{path}: {place}: {first['msg']}; known are {known}") from error
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error


def _agents(path: Path, table: object) -> config.Agents:
    try:
        return config.Agents.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in ("agents", *first["loc"]))
        raise UserError(f"{path}: {place}: {first['msg']}; write it as in .agent-fox/config.toml") from error


def _lines_of(file: str) -> Iterable[str]:
    """Lines of a file or of standard input, one at a time. Raises UserError."""
    try:
        handle = sys.stdin.buffer if file == STDIN else Path(file).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; name a file of JSON lines") from error
    with handle:
        try:
            yield from (line.decode("utf-8", "replace") for line in handle)
        except OSError as error:
            raise UserError(f"{file}: {error.strerror}; name a file of JSON lines") from error


def _json(replayed: replaying.Replayed, settings: config.Settings) -> str:
    """One line; without rungs to climb there is none to tell."""
    has_rungs = settings.rungs_of("coder", replayed.spec_name) > 0
    return replayed.model_dump_json(exclude=None if has_rungs else {"decisions": {"__all__": {"rung"}}})


def _lines(replayed: replaying.Replayed) -> Iterator[str]:
    used = f"{replayed.attempts_used} attempt(s), {replayed.readings_used} reading(s)"
    yield f"{click.style(plain(replayed.spec_name), bold=True)}: {replayed.end}; {used}"
    for decision in replayed.decisions:
        yield plain(f"  {decision.attempt}.{decision.reading}  {_decision(decision):<26}  {_ids(decision)}").rstrip()


def _decision(replayed: replaying.ReplayedDecision) -> str:
    rung = f", rung {replayed.rung}" if replayed.decision == "Recode" and replayed.rung else ""
    return f"{replayed.decision}{f': {replayed.cause}' if replayed.cause else ''}{rung}"


def _ids(replayed: replaying.ReplayedDecision) -> str:
    lists = (("fail", replayed.failing), ("unknown", replayed.unknown))
    return "; ".join(f"{word}: {', '.join(ids)}" for word, ids in lists if ids)
