"""What the text of a coder's work may not hold when it lands: keys and conflict markers; and links that lead outside.

Only what the work adds is looked at: a key or a conflict that stood in the file before, or in one that the work removes
(it was moved), is nobody's news. Files are read from the workspace, after the session has ended.
"""

from __future__ import annotations

import codecs
import posixpath
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.session.workspaces.unfinished_merge import MARKERS, is_marker
from agent_fox.system.files import read_regular
from agent_fox.system.git_objects import ABSENT, GITLINK, Change, Store
from agent_fox.system.redaction.keys import key_blocks
from agent_fox.system.redaction.masking import looks_secret
from agent_fox.system.redaction.shapes import tokens
from agent_fox.verifier.proof.sides import is_test_side

if TYPE_CHECKING:
    from agent_fox.session.order import LaunchOrder

LINK = "120000"
MOST_NAMED = 5
BEGIN, MIDDLE, END = MARKERS[0], MARKERS[2], MARKERS[3]

_VALUE = rb"(?:\"([^\"\n]+)\"|'([^'\n]+)'|([^\s\"'#,]+))"
_ASSIGNED = regex(rb"(?:([A-Za-z_][\w-]*)[\"']?[ \t]*[=:][ \t]*|\b(password)\s+)" + _VALUE)
"""`export DB_PASSWORD='x8Kq2mLp0Zr7Vt4W'`, `"token": "x8..."` and `login me password x8...` give names and values."""

_COMMENT = regex(rb"^[ \t]*[#;][^\n]*", re.MULTILINE)

_ADDRESS = regex(rb"://[^\s/@:\"']*:([^\s/@\"']{8,})@(?!127\.)[\w-]+\.[\w.-]+")
"""`postgres://app:s3cr3tPassw0rd@db.example.net/app` gives the password; `postgres://app:postgres@localhost` has no
host of anybody else's."""

_LEAST_SECRET = 16
"""Characters of a value that is taken for a key in a file of keys; shorter ones are words such as `changeme`."""

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
    changes = tuple(changes)
    removed = tuple(change for change in changes if change.new.mode == ABSENT)
    for change in changes:
        if change.new.mode == LINK:
            target = str((workspace / change.path).readlink())
            outside += [f"{change.path} -> {target}"] if _leads_outside(change.path, target) else []
        elif change.new.mode not in (ABSENT, GITLINK):
            for place, what in _found(order, store, workspace, change, removed):
                is_known = what == PRIVATE_KEY and is_test_side(change.path)
                (named if is_known or what in ONLY_NAMED else refused).append(f"{change.path}:{place} {what}")
    if outside:
        named.append(f"links lead outside of the repository: {_listed(outside)}")
    if order.landed_text == "note":
        return Landed((), (*refused, *named))
    return Landed((_refusal(refused),) if refused else (), tuple(named))


def _refusal(findings: list[str]) -> str:
    remedies = {CONFLICT: "finish the merge", KEY: "read keys from the environment"}
    is_merge = [finding.endswith(CONFLICT) for finding in findings]
    what = [remedies[CONFLICT]] * any(is_merge) + [remedies[KEY]] * (not all(is_merge))
    return f"may not land: {_listed(findings)}; take it out, and {' and '.join(what)}"


def _listed(found: list[str]) -> str:
    return ", ".join(found[:MOST_NAMED]) + (f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else "")


def _leads_outside(path: str, target: str) -> bool:
    """Git's own folder is no part of what the repository keeps."""
    inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return target.startswith("/") or inside.split("/")[0] in ("..", ".git")


KEY, PRIVATE_KEY, KEY_STORE = "holds a key", "is a private key", "is a store of keys, which nobody can read here"
CONFLICT, PROSE_CONFLICT = "is a conflict marker", "looks like a conflict marker"
ONLY_NAMED = (KEY_STORE, PROSE_CONFLICT)

_KEY_STORES = ("*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx")
_KEY_FILES = (
    *(".env", ".env.*", "*.env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials"),
    *("credentials", "secrets.*", "*.tfvars"),
)
_TEMPLATE = regex(r"(?:^|[._-])(?:example|sample|template|dist|test)(?:$|[._-])")
"""`.env.example` and `app.test.env` hold no keys of anybody's; `latest.env` and `distributor.env` may."""

_PROSE = (".md", ".rst", ".txt", ".adoc")
Place = tuple[int, str, bytes]
"""Line number, what is there, and the bytes that make it what it is: they tell whether it stood somewhere before."""


def _found(
    order: LaunchOrder, store: Store, workspace: Path, change: Change, removed: Iterable[Change]
) -> Iterator[tuple[int, str]]:
    """Line number and what is there, of what the work added."""
    if _is_named(change.path, _KEY_STORES) and change.old.mode == ABSENT:
        yield 1, KEY_STORE
    text = _plain(read_regular(workspace / change.path, order.sizes.file + 1) or b"")
    findings = [*_keys(change.path, text), *(() if b"\0" in text else _conflicts(change.path, text))]
    if findings:
        kept = [each.old.id for each in (change, *removed) if each.old.mode not in (ABSENT, GITLINK, LINK)]
        before = [b"".join(_plain(store.blob(id)).split()) for id in dict.fromkeys(kept)]
        yield from dict.fromkeys(
            (number, what)
            for number, what, part in findings
            if not any(b"".join(part.split()) in old for old in before)
        )


def _plain(text: bytes) -> bytes:
    """A text in UTF-16 as UTF-8; anything else as it is."""
    is_wide = text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return text.decode("utf-16", "replace").encode() if is_wide else text


def _keys(path: str, text: bytes) -> Iterator[Place]:
    for start, end in tokens(text):
        if not _MADE_UP.search(text, start, end):
            yield _line(text, start), KEY, text[start:end]
    for start, end in key_blocks(text):
        yield _line(text, start), PRIVATE_KEY, text[start:end]
    if _is_named(path, _KEY_FILES) and not _TEMPLATE.search(PurePosixPath(path).name.lower()):
        for start, value in _values(text):
            yield _line(text, start), KEY, value


def _values(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Where values of a file of keys begin that are secrets by their names, or are addresses with a password."""
    code = _COMMENT.sub(lambda comment: b" " * len(comment.group()), text)
    for match in _ASSIGNED.finditer(code):
        name, value = filter(None, match.groups())
        if looks_secret(name.decode()) and len(value) >= _LEAST_SECRET and not _MADE_UP.search(value):
            yield match.start(), value
    for match in _ADDRESS.finditer(code):
        if not _MADE_UP.search(match.group(1)):
            yield match.start(1), match.group(1)


def _is_named(path: str, globs: Iterable[str]) -> bool:
    name = PurePosixPath(path).name.lower()
    return any(fnmatchcase(name, glob) for glob in globs)


def _line(text: bytes, position: int) -> int:
    return text.count(b"\n", 0, position) + 1


def _conflicts(path: str, text: bytes) -> Iterator[Place]:
    """Where a conflict stands, or what is left of one: marks at the beginnings of lines, in their order.

    A row of `=` alone is an underline, and `<` or `>` without the name of a side are no mark that git writes. In prose
    only a whole conflict is certain.
    """
    if BEGIN not in text and END not in text:
        return
    half = PROSE_CONFLICT if PurePosixPath(path).suffix.lower() in _PROSE else CONFLICT
    lines = text.splitlines()
    begin = middle = None
    for at, line in enumerate(lines):
        if is_marker(line, BEGIN) and line != BEGIN:
            if begin is not None:
                yield begin + 1, half, _part(lines, begin, middle)
            begin, middle = at, None
        elif is_marker(line, MIDDLE):
            middle = at
        elif is_marker(line, END) and (begin is not None or line != END):
            first = next(number for number in (begin, middle, at) if number is not None)
            yield first + 1, half if None in (begin, middle) else CONFLICT, _part(lines, first, at)
            begin = middle = None
    if begin is not None:
        yield begin + 1, half, _part(lines, begin, middle)


def _part(lines: list[bytes], first: int, last: int | None) -> bytes:
    return b"\n".join(lines[first : (first if last is None else last) + 1])
