"""What the text of a coder's work may not hold when it lands: keys and conflict markers; and links that lead outside.

Only what the work adds is looked at: a line that stood in the file before is nobody's news. Files are read from the
workspace, after the session has ended.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.session.regular_files import read_regular
from agent_fox.session.unfinished_merge import MARKERS, is_marker
from agent_fox.system.git_objects import ABSENT, Change, Store
from agent_fox.system.redact import looks_secret
from agent_fox.system.redact_keys import key_begin
from agent_fox.system.redact_shapes import tokens
from agent_fox.verifier.proof.sides import is_test_side

if TYPE_CHECKING:
    from agent_fox.session.order import LaunchOrder

LINK = "120000"
MOST_NAMED = 5
BEGIN, MIDDLE, END = MARKERS[0], MARKERS[2], MARKERS[3]

_ASSIGNED = regex(rb"\s*(?:export\s+)?([A-Za-z_]\w*)\s*[=:]\s*[\"']?([^\s\"'#]*)")
"""`export DB_PASSWORD='x8Kq2mLp0Zr7Vt4W'` gives name and value; `# PASSWORD=x` and `PORT` are no such line."""

_LEAST_SECRET = 16
"""Characters of a value in a `.env` that is taken for a key; shorter ones are words such as `changeme`."""

_MADE_UP = regex(rb"example|your|change|placeholder|dummy|sample|redacted|\$\{|<|(.)\1{7}", re.IGNORECASE)
"""`AKIAIOSFODNN7EXAMPLE`, `${KEY}` and `xxxxxxxxxx` stand for a key; `x8Kq2mLp0Zr7Vt4W` is one."""


@dataclass(frozen=True, slots=True)
class Landed:
    """What was found: `refused` may not land, `named` is only told. Each says where; none repeats a key."""

    refused: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


def look_at(order: LaunchOrder, store: Store, workspace: Path, changes: Iterable[Change]) -> Landed:
    """What of these changes may not land, or has to be named. Raises GitError, OSError.

    With `[policy] landed_text = "note"` everything is only named.
    """
    refused: list[str] = []
    named: list[str] = []
    outside: list[str] = []
    for change in changes:
        if change.new.mode == LINK:
            target = str((workspace / change.path).readlink())
            outside += [f"{change.path} -> {target}"] if _leads_outside(change.path, target) else []
        elif change.new.mode != ABSENT:
            for place, what in _found(order, store, workspace, change):
                is_known = what == PRIVATE_KEY and is_test_side(change.path)
                (named if is_known else refused).append(f"{change.path}:{place} {what}")
    if outside:
        named.append(f"links lead outside of the repository: {_listed(outside)}")
    if order.landed_text == "note":
        return Landed((), (*refused, *named))
    return Landed((_refusal(refused),) if refused else (), tuple(named))


def _refusal(found: list[str]) -> str:
    return f"may not land: {_listed(found)}; take it out, and read keys from the environment"


def _listed(found: list[str]) -> str:
    return ", ".join(found[:MOST_NAMED]) + (f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else "")


def _leads_outside(path: str, target: str) -> bool:
    inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return target.startswith("/") or inside == ".." or inside.startswith("../")


KEY, PRIVATE_KEY, CONFLICT = "holds a key", "is a private key", "is a conflict marker"


def _found(order: LaunchOrder, store: Store, workspace: Path, change: Change) -> Iterator[tuple[int, str]]:
    """Line number and what is there, of the lines that the work added."""
    text = read_regular(workspace / change.path, order.sizes.file + 1) or b""
    if b"\0" in text:
        return
    found = [*dict.fromkeys((*_keys(change.path, text), *_conflicts(text)))]
    if found and change.old.mode != ABSENT:
        before = frozenset(store.blob(change.old.id).splitlines())
        lines = text.splitlines()
        found = [(number, what) for number, what in found if lines[number - 1] not in before]
    yield from found


def _keys(path: str, text: bytes) -> Iterator[tuple[int, str]]:
    for start, end in tokens(text):
        if not _MADE_UP.search(text, start, end):
            yield text.count(b"\n", 0, start) + 1, KEY
    begin = key_begin(text, 0, len(text))
    if begin is not None:
        yield text.count(b"\n", 0, begin) + 1, PRIVATE_KEY
    if _is_environment(path):
        yield from ((number, KEY) for number, line in enumerate(text.splitlines(), 1) if _is_secret(line))


def _is_environment(path: str) -> bool:
    """`.env`, `.env.production`, `app.env`; a template (`.env.example`) holds no keys of anybody's."""
    name = PurePosixPath(path).name.lower()
    is_one = name == ".env" or name.startswith(".env.") or name.endswith(".env")
    return is_one and not re.search(r"example|sample|template|dist|test", name)


def _is_secret(line: bytes) -> bool:
    found = _ASSIGNED.match(line)
    if found is None:
        return False
    name, value = found.groups()
    return looks_secret(name.decode()) and len(value) >= _LEAST_SECRET and not _MADE_UP.search(value)


def _conflicts(text: bytes) -> Iterator[tuple[int, str]]:
    """Where a whole conflict stands: its three marks at the beginnings of lines, in their order."""
    if BEGIN not in text:
        return
    begin, is_open = 0, False
    for number, line in enumerate(text.splitlines(), 1):
        if is_marker(line, BEGIN) and line != BEGIN:
            begin, is_open = number, False
        elif begin and is_marker(line, MIDDLE):
            is_open = True
        elif begin and is_open and is_marker(line, END):
            yield begin, CONFLICT
            begin, is_open = 0, False
