"""`agent-fox doctor`: the checks of `health`, printed with their remedies."""

from __future__ import annotations

from dataclasses import asdict

import click

from agent_fox.cli.exits import Exit
from agent_fox.cli.health import Check, State, surroundings
from agent_fox.cli.health_settings import configuration
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json

COLOURS = {State.OK: "green", State.WARNING: "yellow", State.MISSING: "red"}


@click.command("doctor", short_help="Check that everything this configuration needs is here.")
@json_option
def command(as_json: bool) -> Exit:
    """Check that everything this configuration needs is here; each line that is not `ok` names its remedy.

    Exits 1 where something is missing that a run needs; warnings do not count.
    """
    root = here()
    found = list(surroundings(root))
    in_repository = any((check.name, check.state) == ("repository", State.OK) for check in found)
    found += configuration(root, in_repository=in_repository)
    is_ready = all(check.state is not State.MISSING for check in found)
    if as_json:
        print_json({"ok": is_ready, "checks": [asdict(check) for check in found]})
    else:
        click.echo("\n".join(line for check in found for line in _lines(check)))
    return Exit.DONE if is_ready else Exit.INPUT


def _lines(check: Check) -> list[str]:
    state = click.style(f"{check.state:<8}", fg=COLOURS[check.state])
    remedy = [f"{'':9}-> {plain(check.remedy)}"] if check.remedy else []
    return [f"{state} {check.name}: {plain(check.what)}", *remedy]
