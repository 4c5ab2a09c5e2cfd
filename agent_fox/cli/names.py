"""Names of nodes and specs as arguments: completed from the state file, as cheaply as that goes."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import click
from click.shell_completion import CompletionItem

from agent_fox.cli.place import OWN, here

_NODES = "SELECT id FROM plan_nodes WHERE status <> 'withdrawn' ORDER BY position"
_SPECS = "SELECT name FROM plan_specs WHERE is_withdrawn = 0 ORDER BY position, name"


class StoredName(click.ParamType[str]):
    """A name that the state file knows; any text is taken, since the command says better what is wrong with it."""

    def __init__(self, name: str, *questions: str) -> None:
        self.name = name
        self.questions = questions

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in self.known() if name.startswith(incomplete)]

    def known(self) -> list[str]:
        """The names there are; none where there is no state that can be read."""
        try:
            with closing(sqlite3.connect(f"file:{here() / OWN / 'state.db'}?mode=ro", uri=True)) as db:
                return [str(name) for question in self.questions for (name,) in db.execute(question)]
        except sqlite3.Error:
            return []


NODE = StoredName("node", _NODES)
SPEC = StoredName("spec", _SPECS)
NODE_OR_SPEC = StoredName("node or spec", _NODES, _SPECS)
