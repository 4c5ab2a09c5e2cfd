"""What a file with a format of lines says: its rows, as values. How lines are read by them is in `row_reader`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import FailureKind

if TYPE_CHECKING:
    pass

GIVES = ("failure", "fallback", "listed", "held", "heading", "more", "end", "aside", "fails warnings", "asked")
PLACES = ("unknown", "nowhere", "inside", "outside")
GROUPS = ("file", "line", "column", "severity", "warning", "code", "message", "symbol", "exception", "test", "caret")


@dataclass(frozen=True, slots=True)
class Row:
    """What a line is that begins as one of the patterns says. Its groups are named as in GROUPS.

    `gives`, of GIVES, says what comes of it: a failure; a fallback, which counts where the log names no failure (with
    `on_kind`, none of its kind); a file that counts where the log holds nothing but listed ones; one that is held until
    a row that `turns` the log is seen; a heading that names the file, perhaps the line, of the failures below it; more
    about the open failure, or its end; nothing; that warnings fail the run; or a place that is asked about: where code
    was used of which a failure right below, in a file outside of the workspace, comes.
    """

    patterns: tuple[re.Pattern[str], ...]
    when: tuple[str, ...] = ()
    """One of these stands in such a line: cheaper to look for than the patterns. `\\n` is the line's end."""
    spot: re.Pattern[str] | None = None
    """The same as a short pattern, which is found anywhere in the line."""
    gives: str = "failure"
    kind: FailureKind = FailureKind.UNKNOWN
    message: str | None = None
    """What is said in place of the group `message`, which in turn stands for the whole line; `{group}` is its text."""
    above: re.Pattern[str] | None = None
    """What the line above has to begin with; its groups count too."""
    within: str = ""
    enters: str | None = None
    """The passage that the row belongs to (`*`: any), and the one that begins below it."""
    columns_from: int = 1
    indent: int = 0
    """Columns before the source line that a caret stands below."""
    is_error: bool = False
    on_kind: bool = False
    closes: bool = False
    joins: bool = False
    """A message that goes on, right below its beginning, until a line names the code."""
    turns: bool = False
    place: str = "unknown"
    """Whose place a row with more about a failure tells: that of one without a line (`unknown`), without a file
    (`nowhere`), or, by places in the workspace alone, without a file (`inside`) or in a file outside (`outside`)."""
    keeps_zero: bool = False
    """Whether a line or a column of 0 is kept: tools that count from 1 say so of what has no place."""
    symbol: re.Pattern[str] | None = None
    """What of the message is the symbol: the group that is found."""
    kinds: str = ""
    """The table of `data/kinds.toml` that tells the kind by the code, where it does."""
    is_json: bool = False
    """Whether the groups are texts as JSON writes them."""

    @property
    def matters_alone(self) -> bool:
        """Whether such a line says something where no failure is open and no passage was entered."""
        is_aside = self.gives == "aside" and self.enters is None and not self.turns
        return not (is_aside or self.gives in ("more", "end") or self.within not in ("", "*"))

    def match(self, line: str) -> re.Match[str] | None:
        for mark in self.when:
            if mark in line or (mark[-1] == "\n" and line.endswith(mark[:-1])):
                break
        else:
            if self.when or (self.spot and not self.spot.search(line)):
                return None
        for pattern in self.patterns:
            if match := pattern.match(line):
                return match
        return None


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one format, in the order in which they are asked; the first that fits takes a line."""

    tools: tuple[str, ...]
    rows: tuple[Row, ...]
    turned: tuple[FailureKind, str] | None = None
    """The kind that failures in a file have in a log that is turned, and the code that turns it."""
    is_long: bool = False
    """Whether a failure goes on after no more of it is kept; and with `stays`, until a row says that it ends."""
    stays: bool = False
    while_open: bool = False
    """Whether a passage ends at a line that no row takes, as a failure does."""
    kinds: str = ""
    """The table of `data/kinds.toml` that tells a failure's kind by all of its lines, where it does."""
    marks: tuple[str | re.Pattern[str], ...] = field(init=False)
    """Texts and spots of which one stands in every line that matters while nothing is open; empty if none is known."""
    headings: tuple[Row, ...] = field(init=False)
    """Rows without a mark that only name a file: they are looked for above a failure."""
    has_more: bool = field(init=False)
    opened: Mapping[str, tuple[Row, ...]] = field(init=False)
    """The rows of each passage, and those that are asked while no failure is open."""
    closed: Mapping[str, tuple[Row, ...]] = field(init=False)

    def __post_init__(self) -> None:
        headings = tuple(row for row in self.rows if row.gives == "heading" and not row.when)
        first = [row for row in self.rows if row.matters_alone and row not in headings]
        has_marks = all(row.when or row.spot for row in first)
        marks = dict.fromkeys(mark for row in first for mark in (*row.when, row.spot) if mark) if has_marks else ()
        object.__setattr__(self, "headings", headings)
        object.__setattr__(self, "marks", tuple(marks))
        object.__setattr__(self, "has_more", any(row.gives == "more" for row in self.rows))
        passages = {"", *(row.within for row in self.rows), *(row.enters or "" for row in self.rows)}
        opened = {name: tuple(row for row in self.rows if row.within in (name, "*")) for name in passages}
        closed = {name: tuple(row for row in opened[name] if row.gives not in ("more", "end")) for name in passages}
        object.__setattr__(self, "opened", opened)
        object.__setattr__(self, "closed", closed)
