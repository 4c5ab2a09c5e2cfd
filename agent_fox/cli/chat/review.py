"""`agent-fox review`: what stands with review tasks, and the password that clears them. The server is in `mcp`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.place import OWN
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.core.late import late_module
from agent_fox.core.markdown import one_line
from agent_fox.review.clearing import FILE, ClearingOff, set_password
from agent_fox.review.tasks import Standing, Word
from agent_fox.store.state import NoState, read_state
from agent_fox.system.git import GitError

if TYPE_CHECKING:
    from agent_fox import config
    from agent_fox.cli.chat import review_desk
    from agent_fox.engine.doors import reviewing
    from agent_fox.review import recheck
    from agent_fox.store.reviews import TaskRow
else:
    review_desk = late_module("agent_fox.cli.chat.review_desk")
    config = late_module("agent_fox.config")
    reviewing = late_module("agent_fox.engine.doors.reviewing")
    recheck = late_module("agent_fox.review.recheck")

LONGEST_TITLE = 60
NO_TASK_YET = (
    "no task was ever registered here; an agent does that by todoWrite (`agent-fox hook install` gives it to it)"
)
CHANGED = "changed"


@click.group("review", short_help="List review tasks; set the password that clears them.")
def command() -> None:
    """Review tasks of agents in chats, served by `agent-fox mcp review`."""


@command.command("tasks", short_help="List the review tasks and where each stands.")
@click.argument("ids", nargs=-1)
@json_option
def tasks(ids: tuple[str, ...], as_json: bool) -> Exit:
    """List review tasks, or these. Exit code 2 where one is not verified, or its files changed since."""
    state = review_desk.project_of(None, os.environ) / OWN / review_desk.STATE_FILE
    try:
        db = read_state(state)
    except NoState as error:
        raise UserError(f"{state}: {NO_TASK_YET}") from error
    try:
        wanted = [(row, stands) for row, stands in reviewing.all_standings(db) if not ids or row.id in ids]
    finally:
        db.close()
    unknown = set(ids) - {row.id for row, _ in wanted}
    if unknown:
        raise UserError(f"{state}: there is no review task {', '.join(sorted(unknown))}")
    rows = [_row(row, stands, _changed(state, stands)) for row, stands in wanted]
    if as_json:
        print_json(rows)
    else:
        click.echo("\n".join(plain(line) for row in rows for line in _lines(row)) or "no review tasks")
    return Exit.DONE if all(row["standing"] == Word.VERIFIED for row in rows) else Exit.UNPROVEN


@command.command("password", short_help="Set the password that clears review tasks.")
@json_option
def password(as_json: bool) -> None:
    """Set the password that `todoClear` wants: typed at a terminal, its salted hash kept outside of the project.

    Until there is one, nothing can be cleared. Setting it anew unlocks it after wrong tries.
    """
    if not sys.stdin.isatty():
        raise UserError("the password is typed by a person: run `agent-fox review password` at a terminal")
    file = config.own_folder(os.environ) / FILE
    review_desk.refuse_inside(file, [review_desk.project_of(None, os.environ)])
    given = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    try:
        set_password(file, str(given))
    except ClearingOff as error:
        raise UserError(str(error)) from error
    if as_json:
        return print_json({"file": str(file)})
    click.echo(f"kept in {file}; tell it to an agent only when a task has to be cleared")


def _changed(state: Path, stands: Standing) -> str:
    """What is not as it was when the reviewer said OK; empty where all is."""
    if not stands.is_verified:
        return ""
    try:
        changed = recheck.changed_since(state, [stands.task_id])[stands.task_id]
    except (GitError, OSError) as error:
        return f"it cannot be told whether the files are the same: {error}"
    return f"changed since it was verified: {', '.join(changed)}; have it reviewed again" if changed else ""


def _lines(row: dict[str, str]) -> tuple[str, str]:
    return f"{row['task_id']}  {row['standing']:<10}  {row['title']}", f"    {row['reason']}"


def _row(row: TaskRow, stands: Standing, changed: str) -> dict[str, str]:
    lines = [line.lstrip("# ").strip() for line in row.description.splitlines() if line.strip()]
    return {
        "task_id": row.id,
        "standing": CHANGED if changed else stands.word.value,
        "title": one_line(lines[0] if lines else "", LONGEST_TITLE),
        "reason": one_line(changed or stands.reason, 500),
        "registered_at": row.at,
        "at": stands.at,
    }
