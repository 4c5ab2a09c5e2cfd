"""A run as a person sees it: warnings before, a screen meanwhile, the summary and the exit code at the end."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.exits import Exit
from agent_fox.cli.issues.lines import waits_told
from agent_fox.cli.issues.tracker_place import in_words
from agent_fox.cli.opening import reading
from agent_fox.cli.place import OWN
from agent_fox.cli.run.notify import Notifier
from agent_fox.cli.run.screens import JsonLines, Lines, Screen, is_live, print_line
from agent_fox.cli.run.signals import listening
from agent_fox.cli.run.summary import Summary
from agent_fox.cli.screen import plain
from agent_fox.cli.story import Story
from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.ledger.gates import Gate
from agent_fox.engine.account.account import read_account
from agent_fox.engine.account.freshness import untouched
from agent_fox.engine.handlers.waiving import notes_in_force
from agent_fox.engine.launching.agents import unmetered
from agent_fox.engine.planning.scope import with_dependencies
from agent_fox.engine.record.ending import RunExit, Stop
from agent_fox.engine.running.run import Engine
from agent_fox.engine.running.scheduler import Orders
from agent_fox.evidence.waivers import first_commands
from agent_fox.plugins import PluginError
from agent_fox.session.agents.registry import is_watched
from agent_fox.store.issue_view import read_issue_counts
from agent_fox.store.state import StateError, read_state
from agent_fox.system import clock, git
from agent_fox.system.sandbox.bubblewrap import why_missing
from agent_fox.system.state_folders import STATE

if TYPE_CHECKING:
    import pluggy

    from agent_fox.config import Settings
    from agent_fox.engine.account import overview
    from agent_fox.engine.planning.workplace import RunOptions
    from agent_fox.engine.record.watch import RunEvent
else:
    overview = late_module("agent_fox.engine.account.overview")

SHOWN_CHANGES = 5


def go(root: Path, settings: Settings, plugins: pluggy.PluginManager, options: RunOptions, *, as_json: bool) -> Exit:
    """Run until the end or a pause, and say what came of it."""
    warn_of_changes(root)
    warn_of_open_agents(settings)
    warn_of_unmetered_agents(settings)
    screen = screen_for(root, settings, as_json=as_json)
    notifier = Notifier(root, settings.notify)

    def show(event: RunEvent) -> None:
        screen.show(event)
        notifier.note(event)

    engine, orders = Engine(root, settings, plugins, show), Orders()
    if not as_json:
        tell_where_issues_go(engine)
    with listening(orders, screen.notice), screen.on():
        stop = engine.run(options, orders)
    summary = summary_of(engine, options, stop)
    if as_json:
        print_line(summary.document())
    else:
        click.echo("\n".join(["", *summary.lines()]))
    if stop.exit is RunExit.CANNOT_GO_ON:
        click.echo(plain(f"agent-fox: {stop.reason}"), err=True)
    notifier.end(summary.document())
    return Exit(int(stop.exit))


def warn_of_changes(root: Path) -> None:
    """Sessions see commits only: what is not committed is not part of the run."""
    changed = [path for path in git.dirty(root) if not path.startswith(f"{OWN}/")] if git.is_repository(root) else []
    if changed:
        shown = ", ".join(changed[:SHOWN_CHANGES]) + (", ..." if len(changed) > SHOWN_CHANGES else "")
        text = f"warning: not committed, so agents do not see it: {shown}"
        click.echo(plain(f"agent-fox: {text}"), err=True)


def warn_of_open_agents(settings: Settings) -> None:
    """Agents' programs that should be apart from the machine and cannot be, for want of a sandbox."""
    agents = [settings.agents.of(archetype) for archetype in Archetype]
    watched = [agent for agent in agents if any(is_watched(name, agent.like or "") for name in agent.backends)]
    if any(agent.sandbox == "auto" for agent in watched) and why_missing():
        click.echo(plain(f"agent-fox: warning: {why_missing()}; agents can read and change what you can"), err=True)


def warn_of_unmetered_agents(settings: Settings) -> None:
    """Agents for which no ceiling of money can be promised."""
    for why in unmetered(settings):
        click.echo(plain(f"agent-fox: warning: {why}"), err=True)


def screen_for(root: Path, settings: Settings, *, as_json: bool) -> Screen:
    is_enough = Gate(settings.policy.required_state) is Gate.TESTED
    story = Story(root, settings.retry.attempts, proven="PROVEN" if is_enough else "verified")
    if as_json:
        return JsonLines(story)
    if not is_live(os.environ):
        return Lines(story)
    # rich takes time to import, and most runs that nobody watches do not need it.
    live: Screen = import_module("agent_fox.cli.run.live").LiveScreen(story, settings.limits.cost_usd)
    return live


def tell_where_issues_go(engine: Engine) -> None:
    """Said where it is not the folder that everybody has, or where something waits from earlier."""
    waiting = ""
    with suppress(StateError), reading(engine.root) as db:  # a state that cannot be read is the run's to tell
        waiting = waits_told(read_issue_counts(db, clock.now()).waiting)
    with suppress(PluginError):  # the same
        place = in_words(engine.tracker())
        if engine.settings.tracker.kind != "local" or waiting:
            click.echo(plain("; ".join(filter(None, (f"issues go to {place}", waiting)))))


def summary_of(engine: Engine, options: RunOptions, stop: Stop) -> Summary:
    branch = engine.settings.git.integration_branch
    tip = git.commit_of(engine.root, branch)
    only = with_dependencies(engine.check(options)[1].plan, options.specs) if options.specs else None
    tree = git.tree_of(engine.root, tip) if tip else None
    with closing(read_state(engine.root / STATE)) as db:
        account = read_account(
            db, tip_tree=tree, only=only, untouched=untouched(db, engine.root, tree, lambda: engine.settings),
            in_force=lambda: notes_in_force(db, engine.grounds(), clock.now()),
        ).at_rest()  # fmt: skip
        work = overview.takeover(engine.root, branch)
        first = overview.read_overview(
            db, account, is_alive=False, work=lambda: work, can_sign=lambda: not first_commands(engine.grounds())
        )
    return Summary(engine.root, stop, account, first, work, engine.settings.limits.cost_usd)
