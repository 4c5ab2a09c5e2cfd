"""`agent-fox doctor`: the checks of `health`, printed with their remedies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.exits import Exit
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.cli.setup.health import Check, State, surroundings
from agent_fox.cli.setup.health_settings import configuration
from agent_fox.core.late import late_module
from agent_fox.core.values import to_document
from agent_fox.core.words import listed

if TYPE_CHECKING:
    from agent_fox import config
    from agent_fox.cli.setup import health_engine, health_places, health_try
else:
    health_engine = late_module("agent_fox.cli.setup.health_engine")
    health_places = late_module("agent_fox.cli.setup.health_places")
    config = late_module("agent_fox.config")
    health_try = late_module("agent_fox.cli.setup.health_try")

NEEDED = frozenset({"git", "settings", "plugins"})
COLOURS = {State.OK: "green", State.WARNING: "yellow", State.MISSING: "red"}


@click.command("doctor", short_help="Check that everything a run needs is here.")
@click.option("--try", "is_try", is_flag=True, help="Also try one tiny session with each agent; it costs cents.")
@click.option("--engine", metavar="ADDRESS", help="Look at this engine and its workers. Unset: as configured.")
@json_option
def command(is_try: bool, engine: str | None, as_json: bool) -> Exit:
    """Check that everything a run needs is here; each line that is not `ok` says what to do.

    With an engine, in the settings or by --engine: whether it answers, its version, and who serves what.

    With --try each agent that is configured is asked one question, in its role and its sandbox: three minutes, four
    turns and $0.50 at most each. A line says what came of it and what it cost.

    Exits 1 where something is missing that a run needs; warnings do not count.
    """
    root = here()
    checks = list(surroundings(root))
    in_repository = any((check.name, check.state) == ("repository", State.OK) for check in checks)
    checks += configuration(root, in_repository=in_repository)
    checks += elsewhere(root, checks, engine)
    if is_try:
        checks += tried(root, checks)
    is_ready = all(check.state is not State.MISSING for check in checks)
    if as_json:
        print_json({"ok": is_ready, "checks": to_document(checks)})
    else:
        click.echo("\n".join(line for check in checks for line in _lines(check)))
    return Exit.DONE if is_ready else Exit.INPUT


def elsewhere(root: Path, found: list[Check], engine: str | None) -> Iterator[Check]:
    """The places and the engine of sessions that are held elsewhere, where they are named and settings can be read."""
    if any(check.name == "settings" and check.state is State.MISSING for check in found):
        return
    settings = config.load(root, os.environ)
    if settings.places:
        yield from health_places.places(settings)
    address = engine or settings.cluster.engine
    if address:
        yield from health_engine.engine(address, settings, os.environ)


def tried(root: Path, found: list[Check]) -> Iterator[Check]:
    """A session with each agent, where the settings can be read and there is a git to make a repository with."""
    unready = [check.name for check in found if check.name in NEEDED and check.state is State.MISSING]
    if unready:
        yield Check("tries", State.MISSING, f"no agent was tried: {listed(unready)}", "see above")
    else:
        yield from health_try.tries(root, config.load(root, os.environ))


def _lines(check: Check) -> list[str]:
    state = click.style(f"{check.state:<8}", fg=COLOURS[check.state])
    remedy = [f"{'':9}-> {plain(check.remedy)}"] if check.remedy else []
    return [f"{state} {check.name}: {plain(check.what)}", *remedy]
