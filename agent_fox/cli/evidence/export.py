"""`agent-fox export`: recorded work for those who learn from it; only what persons allowed."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.evidence.waive import Act, Place
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.config import load
from agent_fox.core.late import late_module
from agent_fox.core.values import to_document
from agent_fox.core.words import counted
from agent_fox.evidence import training, waivers
from agent_fox.store.state import transaction
from agent_fox.system import clock, git
from agent_fox.system.files import read_regular, replace_file
from agent_fox.system.git_diff import diff_of
from agent_fox.system.redaction.masking import redact, secret_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlite_utils import Database

    from agent_fox.evidence.exports import episodes, learning, tasks
    from agent_fox.evidence.exports.learning import Export
    from agent_fox.session.agents.runner import trace
else:
    trace = late_module("agent_fox.session.agents.runner.trace")
    episodes = late_module("agent_fox.evidence.exports.episodes")
    learning = late_module("agent_fox.evidence.exports.learning")
    tasks = late_module("agent_fox.evidence.exports.tasks")

SHOWN = 20
LARGEST_TRANSCRIPT = 32 * 1024 * 1024


@click.command("export", short_help="Write recorded work for training: trajectories, preference pairs or tasks.")
@click.argument("kind", type=click.Choice(("trajectories", "preferences", "tasks")))
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--purpose", required=True, metavar="TEXT", help="What for: as in `agent-fox training allow --purpose`.")
@click.option("--dry", is_flag=True, help="Write nothing; say what would be in it, what not, and why.")
@json_option
def command(kind: str, folder: Path | None, purpose: str, dry: bool, as_json: bool) -> None:
    """Write what persons allowed to learn from, for one purpose, into FOLDER: trajectories in ATIF 1.7, a file each;
    preference pairs as JSONL; or a task folder for each verified spec, in Harbor's format.

    `manifest.json` names the records of the ledger that are in it, and what was left out. Secrets are masked again. The
    same state gives the same files. What is written is noted in the ledger.
    """
    if folder is None and not dry:
        raise click.UsageError("name the FOLDER to write to, or give --dry")
    if folder is not None and not dry and folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder}: there is something in it already; name a folder that is empty or not there")
    place = Place(here(), load(here(), os.environ))
    if dry:
        with reading(place.root) as db:
            export = made(place, db, kind, purpose)
    else:
        export = written(place, kind, purpose, Path(str(folder)))
    if as_json:
        print_json(
            {"export": kind, "purpose": purpose, "digest": export.digest, "files": sorted(export.files),
             "records": list(export.records), "left_out": to_document(export.left_out), "is_dry": dry}
        )  # fmt: skip
    else:
        click.echo("\n".join(plain(line) for line in told(export, folder, is_dry=dry)))


def made(place: Place, db: Database, kind: str, purpose: str) -> Export:
    secrets = secret_values(os.environ)
    permissions = training.in_force(db, place.grounds(), clock.now())
    known = tuple(episodes.episodes(db, lru_cache(lambda tree: files_of(place.root, tree))))
    mask, diff = (lambda text: redact(text, secrets)), (lambda one, other: diff_of(place.root, one, other, ()))
    if kind == "tasks":
        return tasks.exported(db, known, permissions, purpose, mask, source_of(place.root))
    return learning.exported(kind, known, permissions, purpose, mask, diff, transcript_of)


def transcript_of(log: str) -> str | None:
    """What is kept beside a session's log."""
    raw = read_regular(trace.transcript_beside(Path(log)), LARGEST_TRANSCRIPT) if log else None
    return raw.decode("utf-8", "replace") if raw is not None else None


def source_of(root: Path) -> tasks.Source:
    return tasks.Source(
        lambda commit: filter(None, files_of(root, commit)), lambda commit, path: text_of(root, commit, path),
        lambda one, other, paths: diff_of(root, one, other, paths) if paths else "",
        lambda one, other: [*filter(None, git.call(root, "diff", "--name-only", "-z", one, other).text.split("\0"))],
    )  # fmt: skip


def text_of(root: Path, commit: str, path: str) -> str | None:
    content = git.show(root, commit, path)
    try:
        return None if content is None or b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def files_of(root: Path, tree: str) -> list[str]:
    return git.call(root, "ls-tree", "-r", "-z", "--name-only", tree).text.split("\0")


def written(place: Place, kind: str, purpose: str, folder: Path) -> Export:
    done: list[Export] = []

    def act(db: Database) -> Act:
        done.append(write(place, db, kind, purpose, folder))
        return {}, []

    place.write(act)
    return done[0]


def write(place: Place, db: Database, kind: str, purpose: str, folder: Path) -> Export:
    """The files first, then the note in the ledger: an export that is not noted was not finished."""
    export = made(place, db, kind, purpose)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (*export.files.items(), ("manifest.json", export.manifest())):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        replace_file(folder / name, text)
    now = waivers.time_of(db, clock.now(), place.grounds())
    with transaction(db):
        noted = training.Exported(now, kind, purpose, export.digest, export.records)
        training.note_export(db, now, noted, export.permissions)
    return export


def told(export: Export, folder: Path | None, *, is_dry: bool) -> Sequence[str]:
    where = "nothing was written" if is_dry else f"written to {folder}"
    lines = [f"{counted(len(export.files), 'file')} with {counted(len(export.records), 'record')}: {where}"]
    lines += [f"  left out: {what}: {why}" for what, why in export.left_out[:SHOWN]]
    more = len(export.left_out) - SHOWN
    return [*lines, *([f"  and {more} more; --json lists them"] if more > 0 else [])]
