"""`agent-fox hook`: the stop hook of a chat, and its place in the settings of Claude Code and codex.

What the hook decides is in `agent_fox.review.hooks.stop_hook`, where it is put in `hook_install`; here are the words.
"""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from agent_fox.cli import door
from agent_fox.cli.errors import UserError
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.config import REVIEW_FILE, load_review, own_folder
from agent_fox.core.values import to_object
from agent_fox.review.hooks.install import (
    SERVER,
    Installed,
    Place,
    Program,
    Scope,
    changes,
    installed,
    server_argv,
)
from agent_fox.review.settings_files import Change, write

CLAUDE_SERVER = "claude mcp add --scope user"
REVIEWER = "no reviewer is named yet: put `command = [...]` into the table [review] of {file} (see docs/review.md)"
TRUST = "codex runs a hook only after you have trusted it: start codex here once, and confirm it there (`/hooks`)"


class _Closed(click.Command):
    """A command whose usage errors are a block too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            door.end((door.BLOCKED, "", f"BLOCKED: {plain(error.format_message())}\n"))


@click.group("hook", short_help="Block an agent from finishing until its work is reviewed.")
def command() -> None:
    """Block an agent from finishing until its work is reviewed.

    The hook is no barrier: Claude Code ends after nine blocks, codex never gives up, and an agent that can write your
    files can take it out. `agent-fox gate --task-id` is what a merge should wait for.
    """


@command.command(
    "stop",
    cls=_Closed,
    short_help="What a client runs when its agent wants to stop.",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.option("--state", metavar="DIR", help="The project's `.agent-fox`. Unset: found from the chat's folder.")
@click.option("--seconds", metavar="N", default="100", show_default=True, help="Block when this much time has passed.")
@json_option
@click.pass_context
def stop(ctx: click.Context, state: str | None, seconds: str, as_json: bool) -> None:
    """Read what a client tells its stop hook, from standard input.

    Exit 0: the chat registered no task, or each of its tasks is verified or was cleared by a person. Exit 2: it may not
    stop, and standard error says why; any error at all is a 2 as well.
    """
    words = [*ctx.args, "--seconds", seconds]
    words += ["--state", state] if state is not None else []
    door.end(door.stop_hook([*words, "--json"] if as_json else words))


@command.command("install", short_help="Write the hook and the review server into the settings of a client.")
@click.option("--claude", "is_claude", is_flag=True, help="For Claude Code. Unset: for what is on PATH.")
@click.option("--codex", "is_codex", is_flag=True, help="For Codex.")
@click.option("--user", "is_user", is_flag=True, help="For all your projects.")
@click.option("--project", "is_project", is_flag=True, help="For this project only (the default).")
@click.option("--dry-run", is_flag=True, help="Show what would be written.")
@json_option
def install(is_claude: bool, is_codex: bool, is_user: bool, is_project: bool, dry_run: bool, as_json: bool) -> None:
    """Write the hook and the review server into the settings of Claude Code or codex. Nothing else there is touched.

    Done again, it changes nothing. A file that is not what its program reads is refused.
    """
    programs, scope = _programs(is_claude, is_codex), _scope(is_user, is_project)
    place = Place.of(here(), os.environ)
    planned = changes(programs, scope, place, program_argv())
    _carry_out(planned, dry_run)
    notes = _notes(programs, scope)
    if as_json:
        return print_json({**_document(planned, dry_run), "notes": notes})
    _show(planned, dry_run)
    for note in notes:
        click.echo(f"note: {note}")


@command.command("uninstall", short_help="Remove the hook and the review server from the settings.")
@click.option("--claude", "is_claude", is_flag=True, help="For Claude Code. Unset: for both.")
@click.option("--codex", "is_codex", is_flag=True, help="For Codex.")
@click.option("--user", "is_user", is_flag=True, help="For all your projects.")
@click.option("--project", "is_project", is_flag=True, help="For this project only (the default).")
@click.option("--dry-run", is_flag=True, help="Show what would be written.")
@json_option
def uninstall(is_claude: bool, is_codex: bool, is_user: bool, is_project: bool, dry_run: bool, as_json: bool) -> None:
    """Remove what `install` wrote from the settings, and only that."""
    named = _named(is_claude, is_codex)
    place = Place.of(here(), os.environ)
    planned = changes(named or list(Program), _scope(is_user, is_project), place, program_argv(), is_out=True)
    _carry_out(planned, dry_run)
    if as_json:
        return print_json(_document(planned, dry_run))
    _show(planned, dry_run)


@command.command("show", short_help="Show where the hook is installed, and what keeps it from working.")
@json_option
def show(as_json: bool) -> None:
    """Show where the hook is installed, and what keeps it from working."""
    hooks = installed(Place.of(here(), os.environ))
    if as_json:
        return print_json([_row(hook) for hook in hooks])
    for hook in hooks:
        state = hook.trouble or ("installed" if hook.command else "not installed")
        click.echo(f"{hook.program:6} {hook.scope:7} {plain(str(hook.path))}: {plain(state)}")


def program_argv() -> list[str]:
    """How `agent-fox` is started from a client's settings, whatever its working folder and its PATH are."""
    script = Path(sys.executable).with_name("agent-fox")
    return [str(script)] if os.access(script, os.X_OK) else [sys.executable, "-P", "-m", "agent_fox.cli.door"]


def _named(is_claude: bool, is_codex: bool) -> list[Program]:
    wanted = {Program.CLAUDE: is_claude, Program.CODEX: is_codex}
    return [program for program, is_wanted in wanted.items() if is_wanted]


def _programs(is_claude: bool, is_codex: bool) -> list[Program]:
    programs = _named(is_claude, is_codex) or [program for program in Program if shutil.which(program)]
    if not programs:
        raise UserError("neither claude nor codex is on PATH; say for which: --claude or --codex")
    return programs


def _scope(is_user: bool, is_project: bool) -> Scope:
    if is_user and is_project:
        raise UserError("--user and --project exclude each other")
    return Scope.USER if is_user else Scope.PROJECT


def _carry_out(found: Sequence[Change], dry_run: bool) -> None:
    if not dry_run:
        write(found)


def _notes(programs: Sequence[Program], scope: Scope) -> list[str]:
    notes = [TRUST] if Program.CODEX in programs else []
    if not load_review(os.environ).command:
        notes.append(REVIEWER.format(file=own_folder(os.environ) / REVIEW_FILE))
    if Program.CLAUDE in programs and scope is Scope.USER:
        words = " ".join(server_argv(program_argv()))
        notes.append(f"for all your projects, Claude Code itself adds the server: {CLAUDE_SERVER} {SERVER} -- {words}")
    return [*notes, "the hook is no barrier (docs/threat-model.md); let a merge wait for `agent-fox gate --task-id`"]


def _document(found: Sequence[Change], dry_run: bool) -> dict[str, object]:
    return {"dry_run": dry_run, "files": [{"path": str(change.path), "change": _change(change)} for change in found]}


def _change(change: Change) -> str:
    if not change.is_needed:
        return "none"
    if change.after is None:
        return "removed"
    return "changed" if change.before is not None else "new"


def _show(found: Sequence[Change], dry_run: bool) -> None:
    words = {"none": "as it is", "removed": "removed", "changed": "changed", "new": "written"}
    for change in found:
        click.echo(
            f"{'would be ' if dry_run and change.is_needed else ''}{words[_change(change)]}: {plain(str(change.path))}"
        )
        if dry_run and change.is_needed:
            click.echo("".join(_difference(change)), nl=False)


def _difference(change: Change) -> list[str]:
    before, after = ((text or "").splitlines() for text in (change.before, change.after))
    return [f"  {plain(line)}\n" for line in difflib.unified_diff(before, after, lineterm="", n=1)]


def _row(one: Installed) -> dict[str, object]:
    state = {"path": str(one.path), "is_installed": bool(one.command)}
    return {**to_object(one, only=("program", "scope")), **state, **to_object(one, only=("command", "trouble"))}
