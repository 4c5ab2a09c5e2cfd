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
    from agent_fox.engine import replay as replaying
else:
    replaying = late_module("agent_fox.engine.replay")
    config = late_module("agent_fox.config")

STDIN = "-"


@click.command("replay", short_help="Decide about recorded verifier outputs, without running anything.")
@click.argument("file", metavar="FILE")
@click.option("--policy", metavar="FILE", type=click.Path(path_type=Path), help="TOML with other `[retry]` settings.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line, for each line read.")
def command(file: str, policy: Path | None, as_json: bool) -> Exit:
    """Push the verifier outputs recorded in FILE (JSON lines; `-` is standard input) through reader, judge and
    decision table, and tell what would have been decided. Needs neither settings nor a repository.

    A line is `{"spec_name", "expected": [ids], "attempts": [{"attempt": 1, "verifier_output": text or object}]}`;
    several readings of one attempt repeat its number. A line that cannot be read is told, the others are replayed all
    the same, and the exit code is 1. The policy file holds keys of `[retry]`, in that table or flat.
    """
    limits = read_policy(policy) if policy else config.RetrySettings()
    streams = replaying.read_streams(_lines_of(file), "standard input" if file == STDIN else file)
    bad = 0
    for stream in streams:
        if isinstance(stream, replaying.BadLine):
            bad += 1
            click.echo(plain(f"agent-fox: {stream.what}"), err=True)
            continue
        replayed = replaying.replay(stream, limits)
        click.echo(replayed.model_dump_json() if as_json else "\n".join(_told(replayed)))
    return Exit.INPUT if bad else Exit.DONE


def read_policy(path: Path) -> config.RetrySettings:
    """The `[retry]` settings of a TOML file. Raises UserError."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        return config.RetrySettings.model_validate(table.get("retry", table))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; name a TOML file with a table [retry]") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "[retry]"
        known = ", ".join(config.RetrySettings.model_fields)
        raise UserError(f"{path}: {place}: {first['msg']}; known are {known}") from error
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error


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


def _told(replayed: replaying.Replayed) -> Iterator[str]:
    used = f"{replayed.attempts_used} attempt(s), {replayed.readings_used} reading(s)"
    yield f"{click.style(plain(replayed.spec_name), bold=True)}: {replayed.end}; {used}"
    for said in replayed.decisions:
        cause = f": {said.cause}" if said.cause else ""
        yield plain(f"  {said.attempt}.{said.reading}  {said.decision + cause:<26}  {_ids(said)}").rstrip()


def _ids(said: replaying.ReplayedDecision) -> str:
    lists = (("fail", said.failing), ("unknown", said.unknown))
    return "; ".join(f"{word}: {', '.join(ids)}" for word, ids in lists if ids)
