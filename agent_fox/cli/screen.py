"""What leaves a command: JSON documents, and lines in which foreign text cannot steer the terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from agent_fox.core.late import late_module

if TYPE_CHECKING:
    import unicodedata
else:
    unicodedata = late_module("unicodedata")

_Command = TypeVar("_Command", bound=Callable[..., object])
Line = tuple[tuple[str, str], ...]
"""Pieces of text, each with its style: a colour, `bold`, `dim`, `whole`, an address that it leads to, or nothing."""
WHOLE = "whole"
"""The style of a command to type, or of another text that is of no use where it is cut."""
NARROWEST = 20
UNBOUNDED = 120
"""Columns where nobody says how many there are: into a file or a pipe."""
_LINKING_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby"})
_LINKING_TERMINALS = frozenset({"xterm-kitty", "xterm-ghostty", "alacritty", "foot", "foot-direct", "wezterm"})
_LINKING_VARIABLES = frozenset({"KONSOLE_VERSION", "WT_SESSION", "KITTY_WINDOW_ID", "DOMTERM"})
OLDEST_VTE = 5000
"""The version of the library behind GNOME's terminals from which it shows links."""


def json_option(command: _Command) -> _Command:
    """The option `--json`, the same for every command."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")(command)


def signing_options(command: _Command) -> _Command:
    """By which key a person signs: `key`, `ssh_key`, `passphrase_file`."""
    options = (
        click.option(
            "--key", metavar="FILE",
            help="Sign with this key of `agent-fox keys`, by file or by name. Unset: the only one that may waive.",
        ),
        click.option("--ssh-key", metavar="FILE", help="Sign with ssh-keygen; a .pub file for a key of the SSH agent."),
        click.option(
            "--passphrase-file", type=click.Path(path_type=Path), metavar="FILE",
            help="Read the passphrase of --key from here, outside of the repository; else the terminal asks for it.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def sarif_option(command: _Command) -> _Command:
    """The option `--sarif`, for commands whose findings have places."""
    path = click.Path(dir_okay=False, path_type=Path)
    return click.option("--sarif", type=path, metavar="FILE", help="Write the findings there as SARIF 2.1.0, too.")(
        command
    )


def write_sarif(path: Path, log: object) -> None:
    """Raises UsageError."""
    refuse_link("--sarif", path)
    try:
        path.write_text(json.dumps(log, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"--sarif {path}: {error.strerror}; name a file that can be written") from error


def refuse_link(option: str, path: Path) -> None:
    """Raises UsageError for a link that a change may have planted where we write; those of the system may be meant."""
    if path.is_symlink() and Path("/dev") not in path.parents:
        raise click.UsageError(f"{option} {path}: it is a link, and nothing is written through one; name a file")


def print_json(document: object) -> None:
    """Letters as they are, where standard output can carry every one of them."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") in ("utf8", "utf8sig")
    click.echo(json.dumps(document, ensure_ascii=not is_unicode, indent=2))


def plain(text: str) -> str:
    """`text` with a space for every character that would not be printed, such as an escape sequence's."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def columns() -> int:
    """How wide a line may be: as COLUMNS says, or as wide as the terminal."""
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named):
        return max(int(named), NARROWEST)
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, NARROWEST)
    except (OSError, ValueError):
        return UNBOUNDED


def cells(text: str) -> int:
    """Columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, width: int) -> str:
    """`text`, without what could steer a terminal, in at most `width` columns; what is cut off becomes `…`."""
    text = plain(text)
    if cells(text) <= width:
        return text
    kept = text[: max(width - 1, 0)]
    while kept and cells(kept) >= width:
        kept = kept[:-1]
    return f"{kept.rstrip()}…" if width > 0 else ""


def wrapped(text: str, width: int, indent: str = "") -> Iterator[str]:
    """The words of `text` in lines of at most `width` columns, all but the first indented."""
    line = ""
    for word in plain(text).split():
        if line.strip() and cells(line) + 1 + cells(word) > width:
            yield line
            line = indent + word
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield line


def fitted(line: Line, width: int) -> Line:
    """The line in at most `width` columns; what a person may have to copy stays whole."""
    pieces = []
    for text, style in line:
        kept = plain(text) if "://" in style or style == WHOLE else cut(text, width)
        pieces.append((kept, style))
        width -= cells(kept)
        if kept != plain(text):
            break
    return tuple(pieces)


def styled(lines: Iterable[Line], width: int) -> Iterator[str]:
    """Lines for standard output, each in at most `width` columns."""
    for line in lines:
        yield "".join(_styled(*piece) for piece in fitted(line, width)).rstrip()


def _styled(text: str, style: str) -> str:
    if "://" in style:
        return link(text, style)
    if style in ("bold", "dim", WHOLE):
        return click.style(text, bold=style != "dim" or None, dim=style == "dim" or None)
    return click.style(text, fg=style) if style else text


def shows_links(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is one that is known to show links (OSC 8), and nobody asked for plain text."""
    if environ.get("NO_COLOR") or environ.get("TERM", "dumb") in ("", "dumb", "unknown") or environ.get("TMUX"):
        return False
    vte = environ.get("VTE_VERSION", "")
    return (
        environ.get("TERM_PROGRAM") in _LINKING_PROGRAMS
        or environ["TERM"] in _LINKING_TERMINALS
        or not _LINKING_VARIABLES.isdisjoint(environ)
        or (vte.isdigit() and int(vte) >= OLDEST_VTE)
    )


def link(text: str, target: str) -> str:
    """`text` as a link to an address where standard output is a terminal that shows links; else `text` alone."""
    is_address = target.startswith(("https://", "http://", "file://")) and target.isascii() and target.isprintable()
    if not is_address or not sys.stdout.isatty() or not shows_links(os.environ):
        return plain(text)
    return f"\x1b]8;;{target}\x1b\\{plain(text)}\x1b]8;;\x1b\\"


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
