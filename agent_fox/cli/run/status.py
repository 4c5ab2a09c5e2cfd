"""`agent-fox status`: where the run is. It imports little, for it must be there at once; a run may go on meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from agent_fox.cli.account_lines import evidence_line, spec_lines, total_lines, trouble_lines
from agent_fox.cli.opening import reading, waivers_of
from agent_fox.cli.place import OWN, held_for, here
from agent_fox.cli.screen import ago, duration, json_option, plain, print_json, title
from agent_fox.core.ledger.evidence import OF_CHECKS, environment_parts
from agent_fox.engine.account.account import RunAccount, read_account
from agent_fox.engine.account.document import account_document
from agent_fox.evidence import witness
from agent_fox.store.known import judged_elsewhere
from agent_fox.store.state import is_locked
from agent_fox.system import git
from agent_fox.system.state_folders import LOCK

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.engine.account.account import Activity

NEVER = "no run yet"
VARIABLES = "AGENT_FOX__VERIFY"
PROBE = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true")
LONGEST_PROBE = 5  # seconds
LONG_SILENCE = 30.0
"""Seconds without a sign of an agent, from which on `status` shows the silence."""

LOST = "not running (it was ended from outside); `agent-fox run` goes on"


@click.command("status", short_help="Show what is proven, what runs, what is blocked, what it cost.")
@json_option
def command(as_json: bool) -> None:
    """Show what is proven, what runs, what is blocked and what it cost. Works while a run goes on, and changes
    nothing.
    """
    root = here()
    with reading(root) as db:
        lost = witness.why_lost(db, witness.path_of(os.environ, root))
        account = read_account(
            db, tip_tree=tip_tree(root), in_force=waivers_of(root, db), **judged_away(root, db),
            lost=f"the history does not hold together, and proves nothing: {lost}" if lost else "",
        )  # fmt: skip
    is_alive = account.status == "running" and is_locked(root / LOCK)
    if is_alive:
        account = replace(account, seconds=account.seconds + held_for(root))
    else:
        account = account.at_rest()
    if as_json:
        print_json({**account_document(root, account), "is_alive": is_alive, "ledger_lost": lost})
    else:
        click.echo("\n".join(_lines(root, account, is_alive=is_alive)))


class Away(TypedDict):
    """As `read_account` has it."""

    elsewhere: Mapping[str, tuple[str, ...]]
    is_counted_elsewhere: bool


def judged_away(root: Path, db: Database) -> Away:
    """Where PASSes were given that count elsewhere only. The settings, which take longer to load than all the rest, are
    loaded where a glance finds a difference, or cannot tell."""
    away = judged_elsewhere(db, at_a_glance(_table(root), os.environ))
    if not away:
        return Away(elsewhere={}, is_counted_elsewhere=False)
    from agent_fox.config import ConfigError, load  # noqa: PLC0415 - heavy, and rarely needed
    from agent_fox.engine.record.environment import facts  # noqa: PLC0415 - the same

    try:
        settings = load(root, os.environ)
    except ConfigError as error:
        untold = (f"what the environment is now is not known: {error}",)
        return Away(elsewhere=dict.fromkeys(away, untold), is_counted_elsewhere=False)
    is_counted = settings.evidence.environment == "show"
    return Away(elsewhere=judged_elsewhere(db, facts(settings.verify)), is_counted_elsewhere=is_counted)


def at_a_glance(table: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, str]:
    """What the environment is named by, from the table of the settings' file: as `engine.record.environment.facts` says
    it, without loading the settings and the whole of the sandbox. Empty where only these can tell.
    """
    verify = table.get("verify", {})
    if not isinstance(verify, dict) or any(name.upper().startswith(VARIABLES) for name in environ):
        return {}
    is_open = is_open_at_a_glance(verify)
    if is_open is None:
        return {}
    chosen = {key: verify.get(key, default) for key, default in OF_CHECKS.items()}
    return environment_parts(sys.platform, os.uname().machine, sys.version_info[:2], chosen, is_open=is_open)


def is_open_at_a_glance(verify: Mapping[str, object]) -> bool | None:
    """Whether commands run without a sandbox. None: that takes to try it as it is used."""
    if verify.get("sandbox") == "off":
        return True
    try:
        subprocess.run(PROBE, capture_output=True, check=True, timeout=LONGEST_PROBE)
    except FileNotFoundError:
        return True
    except (OSError, subprocess.SubprocessError):
        return None
    return False


def tip_tree(root: Path) -> str | None:
    """The tree of the integration branch now."""
    branch = integration_branch(root)
    tip = git.commit_of(root, branch) if branch else None
    return git.tree_of(root, tip) if tip else None


def integration_branch(root: Path) -> str | None:
    """The branch's name without reading all settings, which takes longer than all the rest."""
    chosen = os.environ.get("AGENT_FOX__GIT__INTEGRATION_BRANCH")
    if chosen:
        return chosen
    table = _table(root).get("git")
    return str((table if isinstance(table, dict) else {}).get("integration_branch", "agent-fox/integration"))


def _table(root: Path) -> dict[str, object]:
    """What the settings' file says; nothing where it cannot be read."""
    try:
        return tomllib.loads((root / OWN / "config.toml").read_text(encoding="utf-8").removeprefix("\ufeff"))
    except (OSError, ValueError, RecursionError):
        return {}


def _lines(root: Path, account: RunAccount, *, is_alive: bool) -> Iterator[str]:
    state = plain(_state(account, is_alive=is_alive))
    yield f"{title(f'run {account.run}')}: {state}" if account.run else NEVER
    yield from spec_lines(account.specs)
    counts = ", ".join(f"{count} {status}" for status, count in account.nodes.items())
    yield f"nodes: {counts or 'none'}"
    yield from total_lines(account, is_lost=account.status == "running" and not is_alive)
    yield evidence_line(account)
    for session in account.running:
        ticket = f"attempt {session.attempt}" + (f", reading {session.reading}" if session.archetype != "coder" else "")
        about = f"{session.node} ({session.archetype}, {ticket})"
        yield plain(f"running: {about} since {ago(session.since)}{_doing(session.activity)}")
    yield from trouble_lines(root, account)


def _doing(activity: Activity | None) -> str:
    if activity is None:
        return ""
    cost = "" if activity.cost_usd is None else f", ${activity.cost_usd:.2f}"
    silent = f", silent for {duration(activity.silent)}" if activity.silent >= LONG_SILENCE else ""
    return f"; {activity.cli}: {activity.turns} turns{cost}{silent}; {activity.last or 'nothing heard yet'}"


def _state(account: RunAccount, *, is_alive: bool) -> str:
    if account.status == "running":
        return "running" if is_alive else LOST
    return f"{account.status}: {account.reason}" if account.reason else account.status
