"""Where a run's events go: JSON lines, plain lines, or a live screen. Which words they have is in `story`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

import click

from agent_fox.cli.screen import plain, shown_time
from agent_fox.system import clock

if TYPE_CHECKING:
    from agent_fox.cli.story import Story
    from agent_fox.engine.record.watch import RunEvent


class Screen(Protocol):
    """Shows a run while it goes on."""

    def show(self, event: RunEvent) -> None:
        """Called for each event, by the thread that runs."""

    def notice(self, text: str) -> None:
        """Called from a signal handler: it must not block, and not write where `show` may be writing."""

    def on(self) -> AbstractContextManager[None]:
        """The context in which the run goes on."""


class Lines:
    """One line an event, each with the time of day."""

    def __init__(self, story: Story) -> None:
        self.story = story

    def show(self, event: RunEvent) -> None:
        now = shown_time(clock.now())
        for line in self.story.lines(event):
            click.echo(plain(f"{now}  {line}"))

    def notice(self, text: str) -> None:
        to_stderr(text)

    @contextmanager
    def on(self) -> Iterator[None]:
        yield


class JsonLines(Lines):
    """One JSON object an event."""

    def show(self, event: RunEvent) -> None:
        print_line(self.story.document(event, clock.now()))


def print_line(document: Mapping[str, object]) -> None:
    click.echo(json.dumps(document, ensure_ascii=False))


def to_stderr(text: str) -> None:
    """Written past the buffers, since a signal may have come in the middle of another line."""
    with suppress(OSError):  # full, or left by its reader: a signal must not end the run by that
        os.write(2, f"agent-fox: {text}\n".encode())


def is_live(environ: Mapping[str, str]) -> bool:
    """Whether a live screen can be shown: a terminal that can move its cursor, and nobody asked for plain text."""
    is_plain = environ.get("NO_COLOR") or environ.get("TERM", "dumb") in ("", "dumb", "unknown")
    return sys.stdout.isatty() and not is_plain
