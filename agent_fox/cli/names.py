"""Names of nodes and specs, completed in the shell from the state file, as cheaply as that goes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from agent_fox.cli.place import OWN, here

if TYPE_CHECKING:
    import click

_NODES = "SELECT id FROM plan_nodes WHERE status <> 'withdrawn' ORDER BY position"
_SPECS = "SELECT name FROM plan_specs WHERE is_withdrawn = 0 ORDER BY position, name"


def nodes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return _known(incomplete, _NODES)


def specs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return _known(incomplete, _SPECS)


def nodes_and_specs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return _known(incomplete, _NODES, _SPECS)


def _known(incomplete: str, *questions: str) -> list[str]:
    """The names that start so; none where there is no state that can be read."""
    try:
        with closing(sqlite3.connect(f"file:{here() / OWN / 'state.db'}?mode=ro", uri=True)) as db:
            names = [str(name) for question in questions for (name,) in db.execute(question)]
    except sqlite3.Error:
        return []
    return [name for name in names if name.startswith(incomplete)]
