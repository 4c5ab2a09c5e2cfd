"""The repair of a fence that is never closed, where it is certain that the rest of the file is code."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.regex import regex
from agent_fox.specs.files import TextFile, read_text_file
from agent_fox.specs.lint.values import Edit, split_place

_OPENS = regex(r" ?(`{3,}|~{3,})[^`]*")
_IS_TEXT = regex(r"\s*(?:#{1,6}\s|[-*+]\s+\[.?\]|\||`{3}|~{3}|\d{1,3}[.)]\s|<!--)")


def closing_edit(root: Path, where: str) -> tuple[Edit, ...]:
    """A closing fence at the end of the file, unless something below looks like text: then a person must look."""
    path, number = split_place(where)
    file = read_text_file(root / path, root)
    if not isinstance(file, TextFile) or not number:
        return ()
    lines = file.text.split("\n")
    opens = _OPENS.fullmatch(lines[number - 1]) if number <= len(lines) else None
    below = lines[number:]
    if opens is None or not any(line.strip() for line in below) or any(_IS_TEXT.match(line) for line in below):
        return ()
    last = lines[-1]
    new = f"{opens[1]}\n" if not last else f"{last}\n{opens[1]}"
    return (Edit(path, len(lines), last, new),)
