"""`agent-fox status`: where the run is. It imports little, for it must be there at once; a run may go on meanwhile."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from agent_fox.cli.account_lines import ALL, Most, Page, audit_lines
from agent_fox.cli.exits import Exit
from agent_fox.cli.opening import can_sign, reading, waivers_of
from agent_fox.cli.place import OWN, held_for, here
from agent_fox.cli.screen import columns, json_option, plain, print_json, styled, title
from agent_fox.core.late import late_module
from agent_fox.core.ledger.evidence import OF_CHECKS, environment_parts
from agent_fox.core.words import counted
from agent_fox.engine.account.account import read_account
from agent_fox.engine.account.overview import read_overview, takeover
from agent_fox.evidence import witness
from agent_fox.store.account import candidate_refs, is_measured
from agent_fox.store.known import judged_elsewhere
from agent_fox.store.state import is_locked
from agent_fox.system import git, programs
from agent_fox.system.state_folders import LOCK

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import Settings
    from agent_fox.engine.account import document as documents
    from agent_fox.engine.account import freshness
    from agent_fox.engine.account.account import Holds
    from agent_fox.engine.account.overview import Banner
else:
    documents = late_module("agent_fox.engine.account.document")
    freshness = late_module("agent_fox.engine.account.freshness")

VARIABLES = "AGENT_FOX__VERIFY"
PROBE = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true")
LONGEST_PROBE = 5  # seconds


@click.command("status", short_help="Show what is proven, what needs you, what runs and what it cost.")
@click.option("--all", "is_whole", is_flag=True, help="Show everything: all specs and requirements, hashes, counts.")
@click.option("--exit-code", "is_deciding", is_flag=True, help="Exit as `run` would: 0 proven, 2 not proven (yet).")
@json_option
def command(is_whole: bool, is_deciding: bool, as_json: bool) -> Exit:
    """Show whether everything is proven, what needs you, each spec, what runs, what it cost, and what to do next.
    Works while a run goes on, and changes nothing.

    With --exit-code the exit code is the answer: 0 proven, 2 not proven, not run yet or still running, 3 stopped at a
    ceiling, 4 cannot go on or ended from outside, 130 interrupted. Without it, 0 wherever the state could be read.
    """
    root = here()
    with reading(root) as db:
        lost = witness.why_lost(db, witness.path_of(os.environ, root))
        tree = tip_tree(root)
        account = read_account(
            db, tip_tree=tree, in_force=waivers_of(root, db), untouched=untouched(root, db, tree),
            **judged_away(root, db),
            lost=f"the history does not hold together, and proves nothing: {lost}" if lost else "",
        )  # fmt: skip
        is_alive = account.status == "running" and is_locked(root / LOCK)
        if is_alive:
            account = replace(account, seconds=account.seconds + held_for(root))
        else:
            account = account.at_rest()
        overview = read_overview(
            db, account, is_alive=is_alive, work=lambda: takeover(root, integration_branch(root)),
            can_sign=lambda: can_sign(root),
        )  # fmt: skip
        kept = kept_candidates(root, db)
    if as_json:
        document = {**documents.account_document(root, account), **documents.overview_document(overview)}
        print_json({**document, "is_alive": is_alive, "ledger_lost": lost, "candidates": kept})
    else:
        is_lost = account.status == "running" and not is_alive
        page = Page(root, account, overview, columns(), ALL if is_whole else Most(), is_lost)
        click.echo("\n".join(_lines(page, kept if is_whole else None)))
    return Exit(code_of(overview.banner)) if is_deciding else Exit.DONE


def code_of(banner: Banner) -> int:
    """What `run` would exit with; nothing is proven as long as it runs, and before it did."""
    return int(Exit.UNPROVEN) if banner.exit_code is None else banner.exit_code


class Away(TypedDict):
    """As `read_account` has it."""

    elsewhere: Mapping[str, tuple[str, ...]]
    is_counted_elsewhere: bool


def judged_away(root: Path, db: Database) -> Away:
    """Where PASSes were given that count elsewhere only. The settings, which take longer to load than all the rest, are
    loaded where a glance finds a difference, or cannot tell."""
    glance = at_a_glance(_table(root), os.environ)
    away = judged_elsewhere(db, lambda _: glance)
    if not away:
        return Away(elsewhere={}, is_counted_elsewhere=False)
    from agent_fox.config import ConfigError, load  # noqa: PLC0415 - heavy, and rarely needed
    from agent_fox.engine.launching.current import facts_of  # noqa: PLC0415 - the same

    try:
        settings = load(root, os.environ)
    except ConfigError as error:
        untold = (f"what the environment is now is not known: {error}",)
        return Away(elsewhere=dict.fromkeys(away, untold), is_counted_elsewhere=False)
    is_counted = settings.evidence.environment == "show"
    now = lru_cache(maxsize=None)(lambda spec: facts_of(db, settings, spec))
    return Away(elsewhere=judged_elsewhere(db, now), is_counted_elsewhere=is_counted)


def untouched(root: Path, db: Database, tree: str | None) -> Holds:
    """Which PASSes that were given on an older tree count for this one. The settings are loaded where that is asked of
    one that rests on something measured; none counts where they are wrong."""

    def settings() -> Settings | None:
        from agent_fox.config import ConfigError, load  # noqa: PLC0415 - heavy, and rarely needed

        try:
            return load(root, os.environ)
        except ConfigError:
            return None

    look = lru_cache(maxsize=1)(lambda: freshness.untouched(db, root, tree, settings))
    return lambda spec, part, read: is_measured(db, spec) and look()(spec, part, read)


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
        done = programs.run(PROBE, LONGEST_PROBE)
    except FileNotFoundError:
        return True
    except OSError:
        return None
    return None if done.status else False


def tip_tree(root: Path) -> str | None:
    """The tree of the integration branch now."""
    tip = git.commit_of(root, integration_branch(root))
    return git.tree_of(root, tip) if tip else None


def integration_branch(root: Path) -> str:
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


def kept_candidates(root: Path, db: Database) -> list[str]:
    """The references of candidates that were not taken, as far as they are there still."""
    return [ref for ref in candidate_refs(db) if git.commit_of(root, ref)]


def _lines(page: Page, kept: list[str] | None) -> Iterator[str]:
    """`kept`: references of candidates, where everything is shown."""
    yield from styled(page.lines(), page.width)
    if kept is not None:
        yield from ("", title("for an audit"), *(plain(f"  {line}") for line in audit_lines(page.account)))
        if kept:
            yield plain(f"  kept: {counted(len(kept), 'candidate')} ({', '.join(kept)}): git diff HEAD REF")
    steps = [*page.next()]
    if steps:
        yield from ("", title("next"), *styled(steps, page.width))
