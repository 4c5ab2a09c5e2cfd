"""`agent-fox issues`: what was filed for people. Filing is the engine's and the tracker's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from urllib.parse import unquote, urlparse

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here, near
from agent_fox.cli.screen import json_option, plain, print_json, title
from agent_fox.engine.account import Issue, read_issues


@click.group("issues", invoke_without_command=True, short_help="List the issues that were filed, or show one.")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List the issues that were filed, or show one. Alone, the same as `agent-fox issues list`."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, only_open=False, as_json=as_json)


@command.command("list", short_help="List issues, open ones first.")
@click.option("--open", "only_open", is_flag=True, help="Open issues only.")
@json_option
def list_(only_open: bool, as_json: bool) -> None:
    """List issues: number, state, where they are, and what they are about."""
    root = here()
    found = [issue for issue in _issues(root) if issue.state == "open" or not only_open]
    if as_json:
        print_json([_document(root, issue) for issue in found])
    else:
        click.echo("\n".join(_lines(root, found)) or "no issues")


@command.command("show", short_help="Show one issue.")
@click.argument("number")
@json_option
def show(number: str, as_json: bool) -> None:
    """Show the issue NUMBER, as `agent-fox issues list` numbers it."""
    root = here()
    issue = _find(_issues(root), number)
    text = _text(issue)
    if as_json:
        print_json({**_document(root, issue), "text": text})
    elif text is None:
        click.echo(plain(f"{title(issue.title)}\n{issue.where}"))
    else:
        click.echo("\n".join(plain(line) for line in text.splitlines()))


def _issues(root: Path) -> list[Issue]:
    with reading(root) as db:
        return sorted(read_issues(db), key=lambda issue: issue.state != "open")


def _find(issues: list[Issue], number: str) -> Issue:
    """Raises UserError."""
    wanted = number.lstrip("#0") or "0"
    for issue in issues:
        if issue.number == wanted:
            return issue
    known = ", ".join(issue.number for issue in issues if issue.number) or "none"
    raise UserError(f"there is no issue {number}; there are: {known}")


def _lines(root: Path, issues: list[Issue]) -> Iterator[str]:
    for issue in issues:
        where = near(root, issue.where) or "not delivered yet"
        yield plain(f"{issue.number or '-':>4}  {issue.state:<6}  {issue.title}")
        yield plain(f"{'':14}{where}")


def _document(root: Path, issue: Issue) -> dict[str, object]:
    return {**asdict(issue), "where": near(root, issue.where)}


def _text(issue: Issue) -> str | None:
    """The issue's own text where it is a file here; None where it lives elsewhere. Raises UserError."""
    place = urlparse(issue.where)
    if place.scheme != "file":
        return None
    path = Path(unquote(place.path))
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; it was filed there") from error
