"""How one author happens to write: bullets, indentation, line ends, noise between. What is said is not here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from agent_fox.core.spec import TaskState

Choice = TypeVar("Choice")

_FULL_WIDTH = str.maketrans("0123456789", "".join(chr(0xFF10 + digit) for digit in range(10)))
_BOXES = {TaskState.OPEN: " ", TaskState.DONE: "x", TaskState.IN_PROGRESS: "-", TaskState.SKIPPED: "~"}


@dataclass(frozen=True)
class Spelling:
    """Drawn once for the documents of a spec; single lines draw from `rng` too."""

    rng: Random
    newline: str
    has_mark: bool
    bullet: str
    step: int
    has_tabs: bool
    is_upper: bool
    is_trailing: bool
    is_tight: bool
    wraps: bool

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def pick(self, *choices: Choice) -> Choice:
        return self.rng.choice(choices)

    def box(self, state: TaskState) -> str:
        letter = _BOXES[state]
        return f"[{letter.upper() if self.is_upper else letter}]"

    def indent(self, depth: int) -> str:
        return " " * (self.step * depth)

    def wrapped(self, text: str, indent: str) -> list[str]:
        """A long text over several lines; the first line keeps four words or more."""
        words = text.strip().split(" ")
        if not self.wraps or len(words) < 10:
            return [text]
        start = text[: len(text) - len(text.lstrip())]
        cut = self.rng.randint(6, len(words) - 3)
        return [start + " ".join(words[:cut]), indent + " ".join(words[cut:])]

    def document(self, lines: Iterable[str]) -> bytes:
        """The lines as the bytes of a file."""
        kept = [self._line(line) for line in lines if line.strip() or not self.is_tight]
        text = self.newline.join(kept) + self.pick(self.newline, self.newline, "")
        return (b"\xef\xbb\xbf" if self.has_mark else b"") + text.encode()

    def _line(self, line: str) -> str:
        bare = line.lstrip(" ")
        depth = len(line) - len(bare)
        start = "\t" * (depth // 4) + " " * (depth % 4) if self.has_tabs else " " * depth
        return start + bare + (self.pick("", " ", "  ", "\t") if self.is_trailing else "")


def spelling_of(rng: Random) -> Spelling:
    has_tabs = rng.random() < 0.15
    return Spelling(
        rng=rng,
        newline=rng.choice(("\n", "\n", "\n", "\r\n", "\r")),
        has_mark=rng.random() < 0.15,
        bullet=rng.choice("---*+"),
        step=4 if has_tabs else rng.choice((2, 2, 3, 4)),
        has_tabs=has_tabs,
        is_upper=rng.random() < 0.2,
        is_trailing=rng.random() < 0.2,
        is_tight=rng.random() < 0.15,
        wraps=rng.random() < 0.3,
    )


def full_width(text: str) -> str:
    """The digits of a text as wide as Chinese characters."""
    return text.translate(_FULL_WIDTH)


def noise(spelling: Spelling, samples: Sequence[str]) -> list[str]:
    """A comment and a code block that hold what would count elsewhere. Nothing of it is meant."""
    mark = spelling.pick("```", "~~~~", "````")
    lines: list[str] = []
    if spelling.chance(0.4):
        lines += [f"{mark}markdown", *samples, mark, ""]
    if spelling.chance(0.4):
        lines += ["<!-- a template:", *samples, "-->", ""]
    if spelling.chance(0.2):
        lines += [f"<!-- {samples[0]} -->", ""]
    return lines


def heading(level: int, text: str, spelling: Spelling) -> str:
    return f"{'#' * level} {text}{spelling.pick('', '', ' ' * 2)}"
