"""`agent-fox issues doctor`: can issues be filed here? What GitHub needs is looked at by its own package."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from agent_fox.cli.exits import Exit
from agent_fox.cli.issues.tracker_place import with_tracker, workplace
from agent_fox.cli.screen import plain, print_json
from agent_fox.config import Settings, load
from agent_fox.core.values import dataclass, to_document
from agent_fox.plugins import load_plugins
from agent_fox.system.state_folders import ISSUES
from agent_fox.trackers.issue_file import parse_issue_file

COLOURS = {"ok": "green", "missing": "red", "unknown": "yellow"}


@dataclass(frozen=True, slots=True)
class Line:
    """One thing looked at. `state` is ok, missing or unknown; `remedy` is empty where all is well."""

    name: str
    state: str
    told: str
    remedy: str = ""


def examine(root: Path, kind: str | None, *, as_json: bool) -> Exit:
    """Raises ConfigError, PluginError, UserError."""
    settings = with_tracker(load(root, os.environ), kind, load_plugins())
    lines = tuple(looked_at(root, settings, os.environ))
    is_fine = all(line.state == "ok" for line in lines)
    if as_json:
        print_json({"ok": is_fine, "tracker": settings.tracker.kind, "checks": to_document(lines)})
    else:
        click.echo("\n".join(words for line in lines for words in in_words(line)))
    return Exit.DONE if is_fine else Exit.UNPROVEN


def looked_at(root: Path, settings: Settings, environ: Mapping[str, str]) -> Iterator[Line]:
    """Everything that the tracker of these settings needs."""
    match settings.tracker.kind:
        case "github":
            yield Line("tracker", "ok", "github")
            yield from on_github(root, settings, environ)
        case "local":
            yield Line("tracker", "ok", "local")
            yield from in_folder(root / ISSUES)
        case kind:
            place = workplace(root, kind)
            remedy = "what it needs is known to its plugin alone; `agent-fox issues sync` tells what comes of it"
            yield Line("tracker", "unknown", f"{place.tracker.name}, made by a plugin", remedy)


def on_github(root: Path, settings: Settings, environ: Mapping[str, str]) -> Iterator[Line]:
    from agent_fox.trackers.github.doctor import examine as checks  # noqa: PLC0415 - PyGithub takes long to import

    words = {True: "ok", False: "missing", None: "unknown"}
    for check in checks(settings.tracker, root, environ, github=settings.github):
        yield Line(check.name, words[check.ok], check.detail, check.remedy)


def in_folder(folder: Path) -> Iterator[Line]:
    """The folder of the local tracker, or the one that it would be made in; and every file in it."""
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not nearest.is_dir():
        yield Line("folder", "missing", f"{nearest} is no folder", "move it away")
        return
    if not os.access(nearest, os.W_OK | os.X_OK):
        yield Line("folder", "missing", f"{nearest} cannot be written", "give yourself the right to write there")
        return
    yield Line("folder", "ok", f"{folder}{'' if folder.exists() else ' (made with the first issue)'}")
    for path in sorted(nearest.glob("[0-9]*-*.md")) if nearest == folder else []:
        yield from file_trouble(path)


def file_trouble(path: Path) -> Iterator[Line]:
    try:
        issue = parse_issue_file(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        yield Line(path.name, "missing", f"{path}: {error.strerror}", "make it a file that can be read")
        return
    if issue is None or not issue.value("fingerprint"):
        number = path.name.partition("-")[0]
        trouble = f"{path}: no front matter with a fingerprint, so it is the issue of no cause"
        yield Line(path.name, "unknown", trouble, f"agent-fox issues adopt {number} --for SPEC, or move it away")


def in_words(line: Line) -> Iterator[str]:
    state = click.style(f"{line.state:<8}", fg=COLOURS[line.state])
    yield f"{state} {line.name}: {plain(line.told)}"
    if line.remedy:
        yield f"{'':9}-> {plain(line.remedy)}"
