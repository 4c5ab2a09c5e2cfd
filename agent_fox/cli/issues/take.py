"""`agent-fox issues take`: a draft of a spec from a person's issue. How it is made is the plain dialect's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.issues.adopt import number_of, refuse_elsewhere
from agent_fox.cli.issues.tracker_place import workplace
from agent_fox.cli.place import OWN
from agent_fox.cli.screen import plain, print_json
from agent_fox.core.regex import regex
from agent_fox.engine.planning.plan_reading import read_plan
from agent_fox.engine.planning.plugged_dialects import dialects_of
from agent_fox.plugins import load_plugins
from agent_fox.specs.lint.rules import lint
from agent_fox.specs.lint.world import World
from agent_fox.specs.places import taken_by
from agent_fox.specs.plain.dialect import is_reserved
from agent_fox.specs.plain.draft import Draft, draft_of, name_for
from agent_fox.trackers.protocol import Held
from agent_fox.trackers.upkeep import PersonsIssue, ReadsIssues

if TYPE_CHECKING:
    from agent_fox.config import Settings
    from agent_fox.specs.lint.values import Finding

SPECS = Path(OWN) / "specs"
_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


def take(root: Path, number: str, name: str | None, kind: str | None, *, as_json: bool) -> Exit:
    """Raises UserError for what is refused; ConfigError, PluginError."""
    place = workplace(root, kind)
    refuse_elsewhere(number, place.tracker)
    if not isinstance(place.tracker, ReadsIssues):
        raise UserError(f"the tracker {place.tracker.name} has no issues of people to read; try --tracker github")
    issue = read(place.tracker, number_of(number))
    path = free_path(root, name or name_for(issue.title, issue.number))
    draft = draft_of(issue.title, issue.body, issue.source)
    write_new(root / path, draft.text)
    findings = findings_of(root, place.settings, path)
    if as_json:
        shown = {"path": str(path), "source": issue.source, "criteria": list(draft.criteria)}
        lines = [line_of(finding) for finding in findings]
        print_json({**shown, "left_out": draft.left_out, "missing": list(draft.missing), "findings": lines})
    else:
        click.echo("\n".join(map(plain, lines_of(path, issue, draft, findings))))
    return Exit.DONE


def read(tracker: ReadsIssues, number: int) -> PersonsIssue:
    """Raises UserError where there is none that can be taken."""
    issue = tracker.read_issue(number)
    match issue:
        case PersonsIssue():
            return issue
        case Held(reason, remedy):
            raise UserError(f"{reason}; {remedy}")
        case _:
            raise UserError(f"{issue.reason}; run it again later", Exit.UNPROVEN)


def free_path(root: Path, name: str) -> Path:
    """Where the draft goes. Raises UserError for a name that is none, or taken: nothing is ever overwritten."""
    if not _NAME.fullmatch(name) or is_reserved(f"{name}.md"):
        raise UserError(f"--name {name}: no name for a spec; give letters, digits, - and _ that name no other document")
    there = taken_by(root, name)
    if there is not None:
        raise UserError(f"{there} is there already and stays as it is; name another: --name NAME")
    return SPECS / f"{name}.md"


def write_new(file: Path, text: str) -> None:
    """Raises UserError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", errors="replace") as new:
            new.write(text)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; nothing was written") from error


def findings_of(root: Path, settings: Settings, path: Path) -> tuple[Finding, ...]:
    """What the linter says of the draft."""
    plan = read_plan(root, settings, dialects_of(load_plugins()), [str(path)])
    return lint(World(root, plan, settings.lint, (root / ".git").exists())).findings


def lines_of(path: Path, issue: PersonsIssue, draft: Draft, findings: tuple[Finding, ...]) -> Iterator[str]:
    yield f"wrote {path}, a draft from {issue.source} by {issue.author}: {criteria(len(draft.criteria))}"
    if draft.left_out:
        yield f"left out: {criteria(draft.left_out)} beyond the first {len(draft.criteria)}"
    yield from (f"missing: {line}" for line in draft.missing)
    yield from map(line_of, findings)
    yield f"next: read it, put it right, then agent-fox lint {path}"


def criteria(count: int) -> str:
    return f"{count} {'criterion' if count == 1 else 'criteria'}"


def line_of(finding: Finding) -> str:
    return f"{finding.where}: {finding.level}: {finding.what} [{finding.rule}]"
