"""The pages in docs/ say what the settings and commands are."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agent_fox.cli.main import COMMANDS, cli
from agent_fox.cli.reference import PAGES
from agent_fox.cli.setup.settings_tables import tables

DOCS = Path(__file__).resolve().parents[2] / "docs"
FILES = {"config": "configuration.md", "commands": "commands.md", "man": "agent-fox.1"}


@pytest.mark.parametrize("page", PAGES)
def test_the_page_is_the_one_that_is_made(page: str) -> None:
    made = f"python -m agent_fox.cli.reference {page} > docs/{FILES[page]}"
    assert (DOCS / FILES[page]).read_text(encoding="utf-8") == PAGES[page](), f"make it again: {made}"


def test_every_setting_stands_on_its_page_with_a_description() -> None:
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    for table in tables():
        assert f"`{table.header}`" in page
        assert table.about
        for row in table.rows:
            assert row.description, f"{table.header} {row.key} has no description"
            assert f"- `{row.key}` ({row.kind}" in page


def test_every_command_and_option_stands_on_its_page() -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    for path, command in all_commands():
        assert f"## `{path}`" in page
        assert command.help, f"{path} has no help"
        for option in (param for param in command.params if isinstance(param, click.Option)):
            assert option.help, f"{path} {option.name} has no help"
            assert all(f"{name}" in page for name in option.opts)


def test_every_command_stands_in_the_manual() -> None:
    page = (DOCS / "agent-fox.1").read_text(encoding="utf-8").replace("\\-", "-")
    for path, _ in all_commands():
        assert f"\n.SS {path}" in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not here, which formats manual pages")
def test_the_manual_page_is_formatted_without_a_warning() -> None:
    groff = ("groff", "-man", "-Tutf8", "-ww", "-z", DOCS / "agent-fox.1")
    done = subprocess.run(groff, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_line_in_the_command_table_is_the_commands_own() -> None:
    assert {name: entry.load().short_help for name, entry in COMMANDS.items()} == {
        name: entry.help for name, entry in COMMANDS.items()
    }


def test_every_command_can_speak_json() -> None:
    for path, command in all_commands():
        if not isinstance(command, click.Group):
            assert "--json" in [name for param in command.params for name in param.opts], path


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """The program's path and every command below it, groups included."""
    yield "agent-fox", cli
    for name, entry in COMMANDS.items():
        yield from _with_inner(f"agent-fox {name}", entry.load())


def _with_inner(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _with_inner(f"{path} {name}", inner)
