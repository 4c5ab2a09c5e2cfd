"""Reading one file of a spec folder: its text, or a problem that names it. What it says is not here."""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF8
from pathlib import Path

from agent_fox.core.spec import Problem, Severity
from agent_fox.core.values import dataclass

MAX_FILE_BYTES = 8 * 1024 * 1024
BYTES_OF_A_LINE = 16
"""A file at the limit may have lines so short, on average: each line costs time and memory, an empty one too."""
_HEAD = 64 * 1024
MERGE_MARKS = ("<<<<<<< ", ">>>>>>> ")


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text with its place: `where` is the path relative to the repository's root. Line ends are `\\n`."""

    where: str
    text: str


def place_of(path: Path | str, root: Path) -> str:
    """How a path is named to a person: relative to the repository's root where it lies inside."""
    text, above = str(path), f"{root}/"
    if text.startswith(above):
        return text[len(above) :]
    path = Path(path)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def error(where: str, what: str, spec: str | None = None) -> Problem:
    return Problem(Severity.ERROR, where, what, spec)


def warning(where: str, what: str, spec: str | None = None) -> Problem:
    return Problem(Severity.WARNING, where, what, spec)


def read_text_file(path: Path | str, root: Path, limit: int = MAX_FILE_BYTES) -> TextFile | Problem:
    """The text of a file, or why it has none: unreadable, not a plain file, too large or long, binary, not UTF-8."""
    where = place_of(path, root)
    try:
        state = os.stat(path)
        if not stat.S_ISREG(state.st_mode):
            return error(where, "is not a plain file; put the text itself there")
        if (size := state.st_size) > limit:
            return error(where, f"has {size:,} bytes; the limit is {limit:,}. Split the spec")
        with open(path, "rb", buffering=0) as file:  # half as many calls of the system as with a buffer
            content = file.read(size + 1)
            content += file.read() if len(content) > size else b""
    except OSError as refused:
        return error(where, f"can't be read ({refused.strerror}); check its permissions")
    if b"\0" in content:
        return error(where, "is a binary file; a spec's documents are UTF-8 text")
    try:
        text = _with_plain_line_ends(content.removeprefix(BOM_UTF8).decode())
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        return error(f"{where}:{line}", "is not UTF-8; save the file as UTF-8")
    most = limit // BYTES_OF_A_LINE
    if len(content) > most and (lines := text.count("\n")) > most:
        return error(where, f"has {lines:,} lines; the limit is {most:,}. Split the spec")
    return TextFile(where, text)


def left_by_a_merge(file: TextFile) -> Problem | None:
    """The first line that begins with a mark of a merge, as a problem. Code in Markdown may show one: `document.py`."""
    if "<<<<<<<" not in file.text and ">>>>>>>" not in file.text:  # far quicker than with the space that ends a mark
        return None
    marked = (number for number, line in enumerate(file.text.split("\n"), 1) if line.startswith(MERGE_MARKS))
    return next((merge_left(file.where, number) for number in marked), None)


def head_of(path: Path) -> str:
    """How a file begins, as far as it is text, to tell what it is; nothing where it is no file or can't be read."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return _with_plain_line_ends(file.read(_HEAD).decode("utf-8-sig", "replace"))
    except OSError:
        return ""


def children(folder: Path) -> list[Path]:
    """What lies in a folder, in no order; nothing where it can't be listed."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def is_file(path: Path) -> bool:
    """Whether a file is there; False where nobody can look."""
    try:
        return path.is_file()
    except OSError:
        return False


def merge_left(where: str, line: int) -> Problem:
    return error(f"{where}:{line}", "a merge conflict was left here; resolve it")


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
