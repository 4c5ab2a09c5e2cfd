"""`agent-fox completion`: the script that makes a shell complete commands, options and values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from agent_fox.cli.errors import UserError
from agent_fox.cli.screen import json_option, print_json

SHELLS = ("bash", "zsh", "fish")
PROGRAM, VARIABLE = "agent-fox", "_AGENT_FOX_COMPLETE"


@click.command("completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
@click.pass_context
def command(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print the completion script for SHELL.

    For bash, put `eval "$(agent-fox completion bash)"` into `~/.bashrc`; for zsh the same with `zsh` into
    `~/.zshrc`; for fish, write the script to `~/.config/fish/completions/agent-fox.fish`.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise UserError(f"this version of click cannot complete for {shell}; update click")
    script = kind(ctx.find_root().command, {}, PROGRAM, VARIABLE).source()
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)
