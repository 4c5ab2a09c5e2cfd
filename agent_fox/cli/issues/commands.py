"""`agent-fox issues`: what was filed for people, and what is still to be. Filing is the engine's and the tracker's."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlparse

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.issues.lines import (
    detail_lines,
    effect_document,
    issue_document,
    issue_lines,
    waiting_lines,
)
from agent_fox.cli.names import specs as spec_names
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here, near
from agent_fox.cli.screen import json_option, plain, print_json, title
from agent_fox.core.values import to_document
from agent_fox.core.words import counted, did_you_mean
from agent_fox.store.issue_view import EffectView, IssueView, named, read_effects, read_issues, read_waiting
from agent_fox.system import clock

MOST_CLOSED = 10
FOLDER = ".agent-fox/exported-issues"

tracker_option = click.option(
    "--tracker", metavar="KIND", help="local, github, or the name of a plugin. Unset: [tracker] kind."
)


@click.group("issues", invoke_without_command=True, short_help="List, show, send, export, link, move and take issues.")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List the issues that were filed; show, send, export, link and move them, or take one as a spec. Without a
    command: `issues list`.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, only_open=False, is_all=False, as_json=as_json)


@command.command("list", short_help="List issues, open ones first, and updates not sent yet.")
@click.option("--open", "only_open", is_flag=True, help="Open issues only.")
@click.option("--all", "is_all", is_flag=True, help=f"All closed ones, not only the last {MOST_CLOSED}.")
@json_option
def list_(only_open: bool, is_all: bool, as_json: bool) -> None:
    """List issues: number, state and title; why, which requirements are open, age, and where it is. Updates that were
    not sent yet are listed by reason, with what to do. With --json every issue is listed.
    """
    root = here()
    with reading(root) as db:
        issues, waiting = read_issues(db), read_waiting(db, clock.now())
    listed = open_first(issues)
    wanted = [issue for issue in listed if issue.standing.is_open or not only_open]
    if as_json:
        print_json([issue_document(root, issue) for issue in wanted])
        return
    shown = wanted if is_all else without_old(wanted)
    parents = {issue.fingerprint: issue.number for issue in issues}
    lines = [line for issue in shown for line in issue_lines(root, issue, parents)]
    more = [f"and {len(wanted) - len(shown)} that were closed earlier: --all"] if len(shown) < len(wanted) else []
    click.echo("\n".join([*(lines or ["no issues"]), *more, *waiting_lines(waiting)]))


def open_first(issues: tuple[IssueView, ...]) -> list[IssueView]:
    return sorted(issues, key=lambda issue: not issue.standing.is_open)


def without_old(issues: list[IssueView]) -> list[IssueView]:
    """Those that are open, and the last ones that were closed."""
    closed = (issue for issue in issues if not issue.standing.is_open)
    newest = sorted(closed, key=lambda issue: issue.updated_at, reverse=True)
    kept = {issue.fingerprint for issue in newest[:MOST_CLOSED]}
    return [issue for issue in issues if issue.standing.is_open or issue.fingerprint in kept]


@command.command("show", short_help="Show one issue: its text, its requirements, and what was sent about it.")
@click.argument("name", metavar="NUMBER|FINGERPRINT|SPEC", shell_complete=spec_names)
@json_option
def show(name: str, as_json: bool) -> None:
    """Show one issue, by its number, its spec, or the start of its fingerprint: its text, its requirements, what was
    sent about it and what came of that, and earlier issues of the same cause.
    """
    root = here()
    with reading(root) as db:
        issue = find(read_issues(db), name)
        effects = read_effects(db, issue.fingerprint)
        waiting = [group for group in read_waiting(db, clock.now()) if issue.fingerprint in group.fingerprints]
    text = text_of(root, issue, effects)
    if as_json:
        more = {"effects": [effect_document(effect) for effect in effects], "waiting": to_document(waiting)}
        print_json({**issue_document(root, issue), "text": text, **more})
        return
    head = [title(f"{issue.number or 'not filed yet'}: {issue.title}"), f"{issue.standing}  {near(root, issue.where)}"]
    body = [plain(line) for line in text.splitlines()]
    click.echo("\n".join([*head, "", *body, "", *detail_lines(issue, effects), *waiting_lines(waiting)]))


def find(issues: tuple[IssueView, ...], name: str) -> IssueView:
    """The one issue of that name. Raises UserError."""
    matches = named(issues, name)
    if len(matches) == 1:
        return matches[0]
    if matches:
        which = "; ".join(f"{candidate.number or candidate.fingerprint} ({candidate.title})" for candidate in matches)
        raise UserError(f"{name}: {len(matches)} issues are meant: {which}; name one of them")
    known = [issue.number for issue in issues if issue.number] + [
        issue.fingerprint for issue in issues if not issue.number
    ]
    specs = sorted({spec for issue in issues for spec in issue.specs})
    there = f"; there are: {', '.join(known)}" if known else "; there are none yet"
    raise UserError(f"there is no issue {name}{did_you_mean(name, specs, there)}")


def text_of(root: Path, issue: IssueView, effects: tuple[EffectView, ...]) -> str:
    """The issue's own text where it is a file here; elsewhere the text that is sent."""
    place = urlparse(issue.where)
    if place.scheme == "file":
        with suppress(OSError):
            return Path(unquote(place.path)).read_text(encoding="utf-8", errors="replace")
    # Settings and the pages of a tracker take time to import, which listing issues need not wait for.
    text: str = import_module("agent_fox.cli.issues.text").as_sent(root, issue, effects)
    return text


@command.command("sync", short_help="Send queued issue updates now.")
@click.option(
    "--wait", type=click.FloatRange(0), default=0.0, metavar="SECONDS", help="Keep trying for this long at most."
)
@tracker_option
@json_option
def sync(wait: float, tracker: str | None, as_json: bool) -> Exit:
    """Send queued issue updates now, also those held back, after a look at how the issues stand. Works while a run goes
    on.

    Exits 0 when everything was sent, 2 when something still waits or the tracker cannot be reached.
    """
    # The engine and its settings, as above.
    return Exit(import_module("agent_fox.cli.issues.sync").synchronise(here(), wait, tracker, as_json=as_json))


@command.command("export", short_help="Write all issues with their texts into files.")
@click.option(
    "--format", "form", type=click.Choice(["markdown", "json"]), default="markdown", help="One file an issue."
)
@click.option(
    "--output", type=click.Path(path_type=Path), default=Path(FOLDER), metavar="DIR", help=f"Where. Unset: {FOLDER}."
)
@click.option("--force", is_flag=True, help="Write over files that are not of an earlier export.")
@json_option
def export(form: str, output: Path, force: bool, as_json: bool) -> None:
    """Write every issue with its text into a file of its own, with an index: for people without access to the tracker,
    or when it cannot be reached. Files that are not from an earlier export are left alone.
    """
    root = here()
    with reading(root) as db:
        issues = open_first(read_issues(db))
        sheets = [
            (issue, (effects := read_effects(db, issue.fingerprint)), text_of(root, issue, effects)) for issue in issues
        ]
    # Kept apart with what it imports, as above.
    written = import_module("agent_fox.cli.issues.export").export(root, sheets, form, output, force=force)
    if as_json:
        print_json({"folder": str(output), "files": [str(path) for path in written]})
    else:
        click.echo(plain(f"wrote {counted(len(sheets), 'issue')} to {output}"))


@command.command("adopt", short_help="Link an existing issue to a failing cause.")
@click.argument("number", metavar="NUMBER")
@click.option(
    "--for", "cause", required=True, metavar="SPEC|FINGERPRINT", shell_complete=spec_names,
    help="The cause: its spec, or its fingerprint.",
)  # fmt: skip
@tracker_option
@json_option
def adopt(number: str, cause: str, tracker: str | None, as_json: bool) -> Exit:
    """Link the existing issue NUMBER to a failing cause: one that a person wrote, or whose link was lost. From then on
    it is commented and closed like one that agent-fox filed. An issue of another cause is refused.
    """
    # The engine and its settings, as above.
    return Exit(import_module("agent_fox.cli.issues.adopt").adopt(here(), number, cause, tracker, as_json=as_json))


@command.command("take", short_help="Write a draft of a spec from a person's issue.")
@click.argument("number", metavar="NUMBER")
@click.option("--name", metavar="NAME", help="The spec's name. Unset: made from the issue's number and title.")
@tracker_option
@json_option
def take(number: str, name: str | None, tracker: str | None, as_json: bool) -> Exit:
    """Write a draft of a spec from the issue NUMBER, in the plain dialect: items of its lists that say what must hold
    become criteria, its words are quoted, and a `Source:` line names it. The draft is linted, and what is missing is
    said. Nothing that is there is overwritten; the issue stays as it is.
    """
    # The engine and its settings, as above.
    return Exit(import_module("agent_fox.cli.issues.take").take(here(), number, name, tracker, as_json=as_json))


@command.command("migrate", short_help="Move open issues from the former tracker to the current one.")
@tracker_option
@json_option
def migrate(tracker: str | None, as_json: bool) -> Exit:
    """Move the open issues of a former tracker to the one in the settings: each is filed there once, and the old one is
    closed with a note that says where it continues. Issues that a person closed stay closed and are not moved. It can
    be repeated after any interruption; a former tracker that cannot be reached is reported, and tried again next time.

    Exits 0 when everything is moved and noted, 2 if something still waits.
    """
    # The engine and its settings, as above.
    return Exit(import_module("agent_fox.cli.issues.migrate").migrate(here(), tracker, as_json=as_json))


@command.command("doctor", short_help="Check that issues can be filed; say what is missing.")
@tracker_option
@json_option
def doctor(tracker: str | None, as_json: bool) -> Exit:
    """Check the tracker that issues go to: repository, token, permissions. Writes nothing there. Each line that is not
    `ok` names its remedy.

    Exits 0 when all is well, 2 when something is missing or not known.
    """
    # The engine and its settings, as above.
    return Exit(import_module("agent_fox.cli.issues.doctor").examine(here(), tracker, as_json=as_json))
