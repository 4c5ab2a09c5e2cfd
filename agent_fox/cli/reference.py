"""The pages docs/configuration.md, docs/commands.md and docs/agent-fox.1, written from the settings and commands
themselves.

`python -m agent_fox.cli.reference config` (or `commands`, `man`) prints one; a test holds the files against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import cleandoc

import click

from agent_fox.cli.exits import Exit
from agent_fox.cli.main import COMMANDS, HELP_OPTIONS, NAME, cli
from agent_fox.cli.setup.settings_tables import Row, SettingsTable, tables

CONFIG_INTRO = """# Settings

Made by `python -m agent_fox.cli.reference config` from `agent_fox/config.py`; a test keeps it so.

Settings stand in `.agent-fox/config.toml`, a TOML file; `agent-fox init` writes one with every default as a
comment. No file at all means every default. A key that is not known is an error that names the nearest one.

Each setting is also an environment variable, which counts over the file: `AGENT_FOX__`, then its table and
key with two underscores between. `AGENT_FOX__RETRY__ATTEMPTS=5` is `[retry] attempts = 5`, and
`AGENT_FOX__AGENTS__CODER__TIMEOUT=60` is `[agents.coder] timeout = 60`. A value is read as TOML (`5`, `true`,
`["pytest", "-q"]`), or else as text.

Behind each key stand what it takes and, where it has one, its default.

For one spec, `[specs.NAME]` and its tables change what they name; `environment` tables are joined, all else
is replaced. A rung changes its agent in the same way.
"""

COMMANDS_INTRO = """# Commands

Made by `python -m agent_fox.cli.reference commands` from the commands themselves; a test keeps it so.

Every command takes `-h`, `--help`, and every one that is no group of others `--json`, which prints one JSON
document instead of text; where it prints lines, that is said below. Errors are one line on standard error.
`NO_COLOR` turns colours off; without a terminal there are none.
"""


COMMON = ("Show this message and exit.", "Print one JSON document instead of text.")
"""Options that every command has, and the head of the page tells of."""


def config_page() -> str:
    """docs/configuration.md."""
    alike: dict[tuple[tuple[str, str], ...], list[SettingsTable]] = {}
    for table in tables():
        alike.setdefault(tuple((row.key, row.description) for row in table.rows), []).append(table)
    firsts = [same[0] for same in alike.values()]
    return "\n".join([CONFIG_INTRO, *(line for same in alike.values() for line in _section(firsts, *same))])


def _section(firsts: Sequence[SettingsTable], table: SettingsTable, *same: SettingsTable) -> Iterator[str]:
    """A table's keys, or which of another's they are; `firsts` are the tables that have a section."""
    yield f"## `{table.header}`\n\n{table.about}\n"
    keys = {(row.key, row.description) for row in table.rows}
    wider = next((other for other in firsts if keys < {(row.key, row.description) for row in other.rows}), None)
    if wider is not None:
        without = ", ".join(f"`{row.key}`" for row in wider.rows if (row.key, row.description) not in keys)
        yield f"The keys of `{wider.header}`, without {without}.\n"
    else:
        yield from (*map(_entry, table.rows), "")
    if same:
        yield f"The same keys stand in {', '.join(_difference(other, table) for other in same)}.\n"


def _entry(row: Row) -> str:
    default = f", `{row.default}`" if row.default else ""
    return f"- `{row.key}` ({row.kind}{default}): {row.description}"


def _difference(table: SettingsTable, first: SettingsTable) -> str:
    changed = [row for row, other in zip(table.rows, first.rows, strict=True) if row.default not in ("", other.default)]
    shown = ", ".join(f"`{row.key} = {row.default}`" for row in changed)
    return f"`{table.header}`" + (f" ({shown})" if shown else "")


def commands_page() -> str:
    """docs/commands.md."""
    root = click.Context(cli, info_name=NAME, help_option_names=HELP_OPTIONS)
    commands = ((name, entry.load()) for name, entry in COMMANDS.items())
    lines = [
        COMMANDS_INTRO,
        *_command(root),
        *(line for each in commands for line in _command(_context(root, *each))),
    ]
    return "\n".join([*lines, "## Exit codes\n", *(f"- `{code.value}`: {code.meaning}" for code in Exit), ""])


def _context(parent: click.Context, name: str, command: click.Command) -> click.Context:
    return click.Context(command, info_name=name, parent=parent)


def _command(ctx: click.Context) -> Iterator[str]:
    """One command's section, then those of its own commands."""
    arguments = " ".join(ctx.command.collect_usage_pieces(ctx)[1:])
    yield f"## `{ctx.command_path}`\n" + (f"\n`{ctx.command_path} {arguments}`\n" if arguments else "")
    yield cleandoc(ctx.command.help or "").replace("\b\n", "") + "\n"
    options = (param for param in ctx.command.get_params(ctx) if isinstance(param, click.Option))
    records = filter(None, (option.get_help_record(ctx) for option in options))
    lines = [f"- `{names}`: {text}" for names, text in records if text not in COMMON or ctx.command is cli]
    yield from (*lines, "") if lines else ()
    if isinstance(ctx.command, click.Group) and ctx.command is not cli:
        for name, command in ctx.command.commands.items():
            yield from _command(_context(ctx, name, command))


def man_page() -> str:
    """docs/agent-fox.1: the same commands, in the macros of man(7)."""
    root = click.Context(cli, info_name=NAME, help_option_names=HELP_OPTIONS)
    contexts = [
        root,
        *(below for name, entry in COMMANDS.items() for below in _tree(_context(root, name, entry.load()))),
    ]
    lines = [
        f'.TH {NAME.upper()} 1 "" "{NAME}"\n.ad l\n.nh\n.SH NAME',
        _roff(f"{NAME} - run coding agents over many specs until a verifier has proven every requirement"),
        f".SH SYNOPSIS\n.B {_roff(NAME)}\n[\\-C DIR] COMMAND [ARGUMENT]...\n.SH COMMANDS",
        *(line for ctx in contexts for line in manual_section(ctx)),
        ".SH EXIT STATUS",
        *(f".TP\n.B {code.value}\n{_roff(code.meaning)}" for code in Exit),
        ".SH FILES",
        f".TP\n.I .agent\\-fox/config.toml\n{_roff('The settings, see `agent-fox init`.')}",
    ]
    return "\n".join([*lines, ""])


def _tree(ctx: click.Context) -> Iterator[click.Context]:
    """A command, and all below it."""
    yield ctx
    if isinstance(ctx.command, click.Group):
        for name, command in ctx.command.commands.items():
            yield from _tree(_context(ctx, name, command))


def manual_section(ctx: click.Context) -> Iterator[str]:
    usage = " ".join([ctx.command_path, *ctx.command.collect_usage_pieces(ctx)[1:]])
    yield f".SS {_roff(usage)}"
    for paragraph in cleandoc(ctx.command.help or "").split("\n\n"):
        verbatim = paragraph.startswith("\b\n")
        text = _roff(paragraph.removeprefix("\b\n"))
        yield f".PP\n.nf\n{text}\n.fi" if verbatim else f".PP\n{text}"
    options = (param for param in ctx.command.get_params(ctx) if isinstance(param, click.Option))
    for names, text in filter(None, (option.get_help_record(ctx) for option in options)):
        if text not in COMMON or ctx.command is cli:
            yield f".TP\n.B {_roff(names)}\n{_roff(text)}"


def _roff(text: str) -> str:
    """Text as it is: no backslash, hyphen, or dot at a line's beginning means anything to the formatter.

    A line may be broken between alternatives.
    """
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("|", "|\\:")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in escaped.split("\n"))


PAGES = {"config": config_page, "commands": commands_page, "man": man_page}


@click.command()
@click.argument("page", type=click.Choice(sorted(PAGES)))
def command(page: str) -> None:
    """Print one page of the reference."""
    click.echo(PAGES[page](), nl=False)


if __name__ == "__main__":
    command()
