"""A group that imports a command only when it is chosen. Which commands there are is in `main`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from agent_fox.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the command table: the module whose `command` it is, and the line that the help shows."""

    module: str
    help: str

    def load(self) -> click.Command:
        command: click.Command = import_module(self.module).command
        return command


class LazyGroup(click.Group):
    """Help, completion and the search for a name use the table alone."""

    def __init__(self, *, table: Mapping[str, Entry], **attributes: object) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type]
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.table.get(cmd_name)
        return entry.load() if entry else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.table and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(self._unknown(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def _unknown(self, name: str) -> str:
        from agent_fox.core.words import did_you_mean  # noqa: PLC0415 - after a mistake alone

        return f"there is no command {name}{did_you_mean(name, self.table)}"

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.table.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        named = [
            CompletionItem(name, help=entry.help) for name, entry in self.table.items() if name.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)
