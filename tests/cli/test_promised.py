"""What plugins, hosts and scripts rely on is as it was: any difference to the golden files is a decision, and shown.

`PROMISED=write pytest tests/cli/test_promised.py` writes the files anew. Read the difference before it is committed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest

from agent_fox.cli.setup.settings_tables import tables as settings_tables
from agent_fox.testing.worlds import run_cli
from tests.cli.conftest import Finished, story
from tests.contracts import promised
from tests.contracts.promised import DOCUMENTS, GOLDEN, shape, written


def documents(finished: Finished, summary: str) -> object:
    found = {command: shape(json.loads(run_cli(finished.root, *command.split()).stdout)) for command in DOCUMENTS}
    return {**found, "run --json, the last line": shape(json.loads(summary.splitlines()[-1]))}


def held(name: str, now: object) -> None:
    """`now` is what the golden file says; with PROMISED=write in the environment the file is written first."""
    file = GOLDEN / f"{name}.json"
    if os.environ.get("PROMISED") == "write":
        file.write_text(written(now), encoding="utf-8")
    assert written(now) == file.read_text(encoding="utf-8"), f"what others rely on has changed: {file}"


@pytest.mark.parametrize("name", ["imports", "protocols", "hooks", "hosted", "exits"])
def test_what_others_import_is_where_it_was(name: str) -> None:
    gathered: dict[str, Callable[[], object]] = {
        "imports": promised.imports,
        "protocols": promised.protocols,
        "hooks": promised.hooks,
        "hosted": promised.hosted,
        "exits": promised.exits,
    }
    held(name, gathered[name]())


def test_the_settings_are_the_ones_that_were() -> None:
    held("settings", {table.header: {row.key: row.kind for row in table.rows} for table in settings_tables()})


def test_the_tables_of_a_state_file_are_the_ones_that_were(finished: Finished) -> None:
    held("tables", promised.tables(finished.root / ".agent-fox" / "state.db"))


def test_the_documents_of_the_commands_are_the_ones_that_were(
    finished: Finished, tmp_path_factory: pytest.TempPathFactory
) -> None:
    again = run_cli(story().build(tmp_path_factory.mktemp("again") / "world"), "run", "--parallel", "1", "--json")
    held("documents", documents(finished, again.stdout))
