"""`agent-fox run`: starts or continues a run and shows how it goes. Deciding is the engine's."""

from __future__ import annotations

import os
import signal

import click

from agent_fox.cli.exits import Exit
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option
from agent_fox.config import load
from agent_fox.engine.run import Engine, RunOptions
from agent_fox.engine.scheduler import Orders
from agent_fox.engine.watch import RunEvent
from agent_fox.plugins import load_plugins


def show(event: RunEvent) -> None:
    node = event.planned.node.id if event.planned else ""
    decision = type(event.handled.decision).__name__ if event.handled else ""
    click.echo(f"{event.kind:12} {node:40} {decision} {event.text}", err=True)


@click.command("run", short_help="Run the plan until everything is proven, or nothing more can be done.")
@click.option("--spec", "specs", multiple=True, metavar="NAME", help="Only this spec and what it depends on.")
@click.option("--parallel", type=click.IntRange(1), metavar="N", help="Sessions at the same time.")
@click.option("--skip-broken", is_flag=True, help="Leave out specs that cannot be read; they count as not proven.")
@click.option("--new-run", is_flag=True, help="Start a new account instead of continuing a paused run.")
@click.option("--redo", is_flag=True, help="Launch groups that are ticked in the spec, too.")
@json_option
def command(
    specs: tuple[str, ...], parallel: int | None, skip_broken: bool, new_run: bool, redo: bool, as_json: bool
) -> Exit:
    root = here()
    settings = load(root, os.environ)
    engine = Engine(root, settings, load_plugins(), show)
    orders = Orders()
    signal.signal(signal.SIGINT, lambda *_: orders.interrupt())
    signal.signal(signal.SIGTERM, lambda *_: orders.terminate())
    stop = engine.run(RunOptions(specs, parallel, skip_broken, new_run, redo), orders)
    click.echo(stop.reason)
    return Exit(int(stop.exit))
