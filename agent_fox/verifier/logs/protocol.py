"""What a parser of logs or reports is, and the workspace and places that it tells of. Parsers stream: their memory does
not grow with what they read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Protocol, runtime_checkable
from urllib.parse import unquote

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Parsed

_DRIVE = regex(r"/?[A-Za-z]:/")


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where the tool ran: paths in a log become relative to `root`.

    `module` is the folder, below the root, of the module that a report is about, where its place tells.
    """

    root: PurePosixPath
    module: str = ""

    def relative(self, path: str) -> str:
        """`path` (or file URL) relative to the root where it lies inside, else as it stands; `/`, no `./`."""
        clean = path.strip()
        if clean.startswith("file:"):
            clean = unquote(re.sub(r"^file:(//(localhost)?(?=/))?", "", clean))
            clean = clean[1:] if clean.startswith("/") and _DRIVE.match(clean) else clean
        if not (clean := clean.replace("\\", "/")):
            return clean
        root, clean = str(self.root).replace("\\", "/").rstrip("/"), posixpath.normpath(clean)
        is_inside = clean.startswith(f"{root}/")
        if not is_inside and _DRIVE.match(clean):  # Windows names a folder in either case
            is_inside = clean.lower().startswith(f"{root}/".lower())
        return clean[len(root) + 1 :] if is_inside else clean

    def holds(self, path: str) -> bool:
        """Whether a path lies in the workspace: relative and not leaving it, or below the root."""
        inside = self.relative(path)
        return bool(inside) and not (inside.startswith(("/", "../")) or _DRIVE.match(inside))


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file, relative to the workspace."""

    file: str
    line: int
    column: int | None = None


def at(place: Place | None, file: str | None = None) -> dict[str, Any]:
    """What a failure is given of its place; of `file`, where none is known."""
    return {"file": place.file, "line": place.line, "column": place.column} if place else {"file": file}


def place_of(match: re.Match[str], workspace: Workspace, columns_from: int = 1) -> Place:
    """The place that a match tells by its groups `file`, `line` and perhaps `column`."""
    digits = match.groupdict().get("column")
    column = int(digits) + 1 - columns_from if digits else None
    return Place(workspace.relative(match["file"]), int(match["line"]), column)


@runtime_checkable
class LogParser(Protocol):
    """Reads what one or more tools print.

    `tools` are the words a person or a profile names the tool by. `parse` takes decoded lines without line ends,
    colours already removed, and never raises for what they hold.
    """

    @property
    def tools(self) -> tuple[str, ...]: ...

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed: ...


@runtime_checkable
class DocumentParser(Protocol):
    """Reads what a tool writes for programs: a document (XML, JSON) that is a report or the whole output, or a stream
    of lines, between which others may stand.

    `stands_alone`: whether it says everything, so that the parser of the tool's text need not read the log too.
    """

    @property
    def stands_alone(self) -> bool: ...

    def recognises(self, head: str) -> bool:
        """Whether a log or report that begins with `head` is in this format; a few lines may stand before it."""

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        """What the document says. Never raises for its content: what cannot be read to its end is not complete."""
