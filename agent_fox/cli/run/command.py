"""`agent-fox run`: what a person may ask of a run. The run itself is in `real_run`, its forecast in `dry_run`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from agent_fox.cli.names import specs as spec_names
from agent_fox.cli.place import here
from agent_fox.core.late import late_module

if TYPE_CHECKING:
    from agent_fox import config, plugins
    from agent_fox.cli.exits import Exit
    from agent_fox.cli.issues import tracker_place as issues_place
    from agent_fox.cli.run import dry_run as dry_runs
    from agent_fox.cli.run import real_run as real_runs
    from agent_fox.config import Settings
    from agent_fox.engine.planning import workplace
else:
    config = late_module("agent_fox.config")
    plugins = late_module("agent_fox.plugins")
    dry_runs = late_module("agent_fox.cli.run.dry_run")
    issues_place = late_module("agent_fox.cli.issues.tracker_place")
    real_runs = late_module("agent_fox.cli.run.real_run")
    workplace = late_module("agent_fox.engine.planning.workplace")


@click.command("run", short_help="Run the plan until everything is proven or needs you.")
@click.option(
    "--spec",
    "specs",
    multiple=True,
    metavar="NAME",
    shell_complete=spec_names,
    help="Only this spec and what it depends on. Repeatable.",
)
@click.option("--parallel", type=click.IntRange(1), metavar="N", help="How many sessions run at once.")
@click.option(
    "--max-cost",
    type=click.FloatRange(0),
    metavar="DOLLARS",
    help="Stop before this is exceeded, instead of at [limits] cost_usd.",
)
@click.option("--skip-broken", is_flag=True, help="Leave out specs that cannot be read; they count as not proven.")
@click.option("--new-run", is_flag=True, help="Start over with a fresh budget.")
@click.option("--redo", is_flag=True, help="Also run tasks already ticked off.")
@click.option("--reprove", is_flag=True, help="Verify again what rests on passing tests alone: can these tests fail?")
@click.option("--dry-run", is_flag=True, help="Show what would run, in which order, and what it may cost; run nothing.")
@click.option("--tracker", metavar="KIND", help="Where issues go: local, github, or the name of a plugin.")
@click.option(
    "--engine", metavar="ADDRESS", help="Run sessions on other hosts: temporal://HOST:PORT, or the address of a plugin."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line; the last is the summary.")
def command(
    specs: tuple[str, ...], parallel: int | None, max_cost: float | None, skip_broken: bool, new_run: bool,
    redo: bool, reprove: bool, dry_run: bool, tracker: str | None, engine: str | None, as_json: bool,
) -> Exit:  # fmt: skip
    """Run the plan until everything is proven or needs you. Work lands on the integration branch; your checkout stays
    as it is. A run that was paused, interrupted or killed goes on where it was.

    Ctrl-C waits for the sessions that are running; a second one ends them.
    """
    root = here()
    loaded = plugins.load_plugins()
    settings = with_ceiling(config.load(root, os.environ), max_cost)
    if tracker is not None:
        settings = issues_place.with_tracker(settings, tracker, loaded)
    if engine is not None:
        settings = with_engine(settings, engine)
    options = workplace.RunOptions(specs, parallel, skip_broken, new_run, redo, reprove)
    if dry_run:
        return dry_runs.show(workplace.Workplace(root, settings, loaded), options, as_json=as_json)
    return real_runs.go(root, settings, loaded, options, as_json=as_json)


def with_engine(settings: Settings, address: str) -> Settings:
    cluster = settings.cluster.model_copy(update={"engine": address})
    return settings.model_copy(update={"cluster": cluster})


def with_ceiling(settings: Settings, dollars: float | None) -> Settings:
    if dollars is None:
        return settings
    limits = settings.limits.model_copy(update={"cost_usd": dollars})
    return settings.model_copy(update={"limits": limits})
