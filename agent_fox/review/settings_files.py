"""Settings files of other programs, JSON and TOML: read, changed and written whole, or refused. Not whose they are.

A file that cannot be read as what it is gets refused with the place, never repaired; what is not touched stays.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core import json_text
    from agent_fox.system import files
else:
    files = late_module("agent_fox.system.files")
    json_text = late_module("agent_fox.core.json_text")

JsonTable = dict[str, object]
Edit = Callable[[JsonTable], None]


class InstallTrouble(Exception):
    """Settings that cannot be changed as they are. Its text says which, where, and what to do."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file: what it holds now and what it is to hold; None where there is none."""

    path: Path
    before: str | None
    after: str | None
    follows_links: bool = False

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def json_change(path: Path, edit: Edit, is_out: bool, *, follows_links: bool = False) -> Change:
    """A file of JSON after an edit, in the indent that it had. One that holds nothing any more goes."""
    before = read(path, follows_links)
    settings = parsed(path, before) if before is not None and before.strip() else {}
    original = json.dumps(settings)
    try:
        edit(settings)
    except InstallTrouble as trouble:
        raise InstallTrouble(f"{path}: {trouble}") from trouble
    if json.dumps(settings) == original:
        return Change(path, before, before, follows_links)
    after = None if is_out and not settings else _written(settings, before or "")
    return Change(path, before, after, follows_links)


def read(path: Path, follows_links: bool) -> str | None:
    if not follows_links and (path.is_symlink() or path.parent.is_symlink()):
        raise InstallTrouble(
            f"{path} is a link, or in a folder that is one, and may lead anywhere; replace the link first"
        )
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InstallTrouble(f"{path}: not UTF-8 text; convert it first") from error
    except OSError as error:
        raise InstallTrouble(f"{path}: cannot be read ({error.strerror}); check what is there") from error


def parsed(path: Path, text: str) -> JsonTable:
    try:
        document = json_text.read_json(text, is_strict=True)
    except json_text.Doubled as error:
        twice = f"{error.name!r} stands there twice, and one would be lost"
        raise InstallTrouble(f"{path}: {twice}; correct it first") from error
    except json_text.NotJson as error:
        if not error.line:
            raise InstallTrouble(f"{path}: {error}; correct it first") from error
        what = str(error).removeprefix("it is not JSON: ")
        raise InstallTrouble(
            f"{path}: line {error.line}, column {error.column}: this is not JSON ({what}); correct it first "
            "(comments are not JSON)"
        ) from error
    if not isinstance(document, dict):
        raise InstallTrouble(f"{path}: not a JSON object; correct it first")
    return document


def _written(settings: JsonTable, before: str) -> str:
    match = re.search(r"^[{[]\r?\n([ \t]+)", before)
    text = json.dumps(settings, ensure_ascii=False, indent=match.group(1) if match else 2)
    ending = "\n" if before.endswith("\n") or not before else ""
    return (text + ending).replace("\n", "\r\n") if "\r\n" in before else text + ending


def tables(path: Path, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InstallTrouble(f"{path}: this is not TOML: {error}; correct it first") from error


def write(found: Sequence[Change]) -> None:
    """Write what is needed, each file at once and whole. Raises InstallTrouble where one has changed meanwhile."""
    for change in found:
        if not change.is_needed:
            continue
        if read(change.path, change.follows_links) != change.before:
            raise InstallTrouble(f"{change.path}: another program has just changed it; try again")
        try:
            _replace(change)
        except OSError as error:
            raise InstallTrouble(
                f"{change.path}: cannot be written ({error.strerror}); check its permissions"
            ) from error


def _replace(change: Change) -> None:
    path = change.path.resolve() if change.follows_links else change.path
    if change.after is None:
        path.unlink(missing_ok=True)
        return
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o600
    files.replace_file(path, change.after, mode)


def table_of(settings: JsonTable, name: str) -> JsonTable:
    value = settings.get(name, {})
    if not isinstance(value, dict):
        raise InstallTrouble(f"{name} is no object; the program itself would not read that either, correct it first")
    return value


def list_of(settings: JsonTable, name: str, shown: str) -> list[object]:
    value = settings.get(name, [])
    if not isinstance(value, list):
        raise InstallTrouble(f"{shown} is no list; the program itself would not read that either, correct it first")
    return value


def keep(settings: JsonTable, name: str, value: JsonTable | list[object]) -> JsonTable:
    """Set it where it holds something, or was there before with nothing in it."""
    if value or name in settings:
        settings[name] = value
    if not value:
        settings.pop(name, None)
    return settings
