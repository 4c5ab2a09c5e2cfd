"""Where the strings of a JSON document stand: by line, since JSON itself keeps no lines. What they mean is not here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.specs.files import TextFile


@dataclass(frozen=True, slots=True)
class Strings:
    """The whole strings of a document, as they are written, each with all lines it stands in."""

    where: str
    lines: dict[str, list[int]]

    def place(self, text: str) -> str:
        """`path:line` of the first one; the path alone where it is not found, such as where it has escapes."""
        return f"{self.where}:{self.lines[text][0]}" if text in self.lines else self.where

    def places(self, texts: Iterable[str]) -> dict[str, str]:
        """Those that are found, each with its place."""
        return {text: self.place(text) for text in texts if text in self.lines}


def strings_of(file: TextFile) -> Strings:
    """One look at the document, however many strings are asked for then."""
    lines: dict[str, list[int]] = {}
    for number, line in enumerate(file.text.split("\n"), 1):
        bare = line.replace("\\\\", "").replace('\\"', "") if "\\" in line else line
        for text in bare.split('"')[1::2]:
            lines.setdefault(text, []).append(number)
    return Strings(file.where, lines)


def unescaped(written: str) -> str:
    """A string as it is meant; as it is written where it is cut from one with escapes of its own."""
    try:
        return str(json.loads(f'"{written}"'))
    except ValueError:
        return written
