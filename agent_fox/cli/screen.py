"""What leaves a command: JSON documents, and lines in which foreign text cannot steer the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., object])


def json_option(command: _Command) -> _Command:
    """The option `--json`, the same for every command."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")(command)


def sarif_option(command: _Command) -> _Command:
    """The option `--sarif`, for commands whose findings have places."""
    path = click.Path(dir_okay=False, path_type=Path)
    return click.option("--sarif", type=path, metavar="FILE", help="Write the findings there as SARIF 2.1.0, too.")(
        command
    )


def write_sarif(path: Path, log: object) -> None:
    """Raises UsageError."""
    try:
        path.write_text(json.dumps(log, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"--sarif {path}: {error.strerror}; name a file that can be written") from error


def print_json(document: object) -> None:
    """Letters as they are, where standard output can carry every one of them."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf8sig")
    click.echo(json.dumps(document, ensure_ascii=not is_unicode, indent=2))


def plain(text: str) -> str:
    """`text` with a space for every character that would not be printed, such as an escape sequence's."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def title(text: str) -> str:
    return click.style(plain(text), bold=True)


def shown_time(at: str) -> str:
    """The local time of day of a stored time (ISO 8601, UTC): `12:03:04`."""
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")


def ago(at: str) -> str:
    """How long a stored time is past, as `mm:ss` or `h:mm:ss`."""
    return duration((datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds())


def duration(seconds: float) -> str:
    whole = max(int(seconds), 0)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
