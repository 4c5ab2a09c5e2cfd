"""What a file with a format of lines says: its rows, as values. How lines are read by them is in `row_reader`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from typing import Any

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.kinds import with_parts

OF_LINES = ("failure", "fallback", "listed", "held", "heading", "more", "end", "aside", "fails warnings", "asked")
OF_TESTS = ("test", "title", "printed", "entry", "seen", "counts", "running")
GIVES = (*OF_LINES, *OF_TESTS)
PLACES = ("unknown", "nowhere", "inside", "outside")
COUNTED = ("tests", "passed", "failed", "errors", "skipped", "xfailed", "xpassed", "broken")
GROUPS = (
    *("file", "line", "column", "severity", "warning", "code", "message", "symbol", "exception", "test", "caret"),
    *("first", "class", "suite", "folder", "owner", "number", "counts", *COUNTED),
)
SAID = "said"
"""In a message, what the text of a failed test says."""
Mark = tuple[int, str | re.Pattern[str]]
"""A text or a spot, by its number among all of a format."""
OF_OPEN = ("more", "end", "title", "printed")
"""What a row can only give while a failure is open."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a line is that begins as one of the patterns says. Its groups are named as in GROUPS.

    `gives`, of GIVES, says what comes of it: a failure; a fallback, which counts where the log names no failure (with
    `on_kind`, none of its kind); a file that counts where the log holds nothing but listed ones; one that is held until
    a row that `turns` the log is seen; a heading that names the file, perhaps the line, of the failures below it; more
    about the open failure, or its end; nothing; that warnings fail the run; or a place that is asked about: where code
    was used of which a failure right below, in a file outside of the workspace, comes. Of OF_TESTS: a failed test, to
    which each line below belongs that no row takes; more of its title; that the rest was printed by it; a test in a
    list of those that failed, or one that was seen to fail, which counts where there is no list; counts of tests; or,
    of the last line of a log without counts, a test that was running.
    """

    patterns: tuple[re.Pattern[str], ...]
    when: tuple[str, ...] = ()  # one of these stands in such a line, which is cheap to look for; `\n` is the line's end
    spot: re.Pattern[str] | None = None  # the same as a short pattern, which is found anywhere in the line
    gives: str = "failure"
    kind: FailureKind = FailureKind.UNKNOWN
    message: str | None = None
    """What is said in place of the group `message`, which in turn stands for the whole line; `{group}` is its text."""
    code: str | None = None  # what the code is in place of the group `code`, in the same way
    if_unplaced: bool = False  # whether the row is asked only while the line of the open failure is not known
    above: re.Pattern[str] | None = None  # what the line above has to begin with; its groups count too
    within: tuple[str, ...] = ("",)
    enters: str | None = None  # the passages that the row belongs to (`*`: any), and the one that begins below it
    columns_from: int = 1
    indent: int = 0  # columns before the source line that a caret stands below
    is_error: bool = False
    on_kind: bool = False
    closes: bool = False
    joins: bool = False  # a message that goes on, right below its beginning, until a line names the code
    turns: bool = False
    place: str = "unknown"
    """Whose place a row with more about a failure tells: that of one without a line (`unknown`), without a file
    (`nowhere`), or, by places in the workspace alone, without a file (`inside`) or in a file outside (`outside`)."""
    keeps_zero: bool = False  # whether a line or a column of 0 is kept, which tools say of what has no place
    symbol: re.Pattern[str] | None = None  # what of the message is the symbol: the group that is found
    kinds: str = ""  # the table of `data/kinds.toml` that tells the kind by the code, or without one by the message
    is_json: bool = False  # whether the groups are texts as JSON writes them
    reads: str = ""  # how the text of a failed test is read, where that is not the format's own way
    inner: str = ""  # the format of a compiler whose errors count in place of the test that shows them
    is_alike: bool = False  # whether tests whose titles stand below each other failed alike, and the text is of each
    uncounted: bool = False  # whether what failed is no test: a file, or what stands around tests
    passes: bool = False  # whether the test passed and should not have, of `xpassed`; or, in a list, when tried again
    restarts: bool = False  # whether all tests before it were none: the log shows them behind it
    is_empty: bool = False  # whether the line says that there are no tests
    if_empty: bool = False  # whether a fallback counts only where no test was counted
    relists: bool = False  # whether the list so far was none
    is_whole: bool = False  # whether the line is all of the test, and ends none: it counts where no block is of it
    only_listed: bool = False  # whether such a test failed only if a list names it
    opens: bool = False  # whether the lines below a test of the list are about it
    is_part: bool = False  # whether a test of the list is a part of the one whose block shows it
    is_apart: bool = False  # whether no list tells of it: what ended the runner itself
    is_last: bool = False  # whether a log that has such a line has no counts, and is whole without

    @property
    def is_aside(self) -> bool:
        """Whether it only keeps a line from being a failure's."""
        tells = self.turns or self.restarts or self.relists or self.is_empty or self.is_last
        return self.gives == "aside" and self.enters is None and not tells

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


@dataclass(eq=False)
class Rows:
    """The rows of one format, in the order in which they are asked; the first that fits takes a line."""

    tools: tuple[str, ...]
    rows: tuple[Row, ...]
    turned: tuple[FailureKind, str] | None = None  # the kind of failures in a turned log, and what turns it
    is_long: bool = False  # whether a failure goes on after no more of it is kept; with `stays`, until a row ends it
    stays: bool = False
    while_open: bool = False  # whether a passage ends at a line that no row takes, as a failure does
    kinds: str = ""  # the table of `data/kinds.toml` that tells a failure's kind by all of its lines, where it does
    reads: str = ""  # how the text of a failed test is read: one of the readers in `data/tools.toml`
    words: Mapping[str, str] = field(default_factory=dict)  # which of COUNTED a word in a line of counts means
    joint: str = " > "
    divider: str = " > "  # what stands between the parts of a test's name, here and in the log
    nested: str = ""  # what divides a test's name from that of a test within it: where both fail, the inner one counts
    has_files: bool = False  # whether a test's name begins with its file
    list_tells: bool = False
    """Whether a list tells all but what was printed: a block of a test that it does not name was printed by the test of
    the block before."""
    has_subtests: bool = False  # whether failures are of sub-tests, of which one test may have many
    are_last: bool = False  # whether failures are shown last, as many as are counted: what is before them was printed
    nothing: str = ""  # what is said where no test was counted

    def __post_init__(self) -> None:
        rows = self.rows
        self.has_more = any(row.gives == "more" for row in rows)
        self.has_tests = any(row.gives in OF_TESTS for row in rows)
        self.has_lists = any(row.gives == "entry" for row in rows)
        # Rows without a mark that only name a file: they are looked for above a failure.
        self.headings = tuple(row for row in rows if row.gives == "heading" and not row.when)
        # The rows of each passage, and those that are asked while no failure is open.
        asked = [row for row in rows if row.gives != "running"]
        passages = {"", *(name for row in rows for name in (*row.within, row.enters or ""))} - {"*"}
        self.opened = {name: tuple(row for row in asked if {name, "*"} & {*row.within}) for name in passages}
        self.closed = {name: tuple(row for row in self.opened[name] if row.gives not in OF_OPEN) for name in passages}
        # Texts and spots of which one stands in every line that matters in a passage, while something is open and while
        # nothing is; none where a row has none.
        self.all_marks = tuple(dict.fromkeys(mark for row in rows for mark in (*row.when, row.spot) if mark))
        self.marks = {(name, True): self._marks(of) for name, of in self.opened.items()}
        for name, of in self.closed.items():
            self.marks[name, False] = self._marks([row for row in of if not row.is_aside and row not in self.headings])

    def _marks(self, rows: Sequence[Row]) -> tuple[Mark, ...]:
        """The marks of which one stands in each line that one of the rows takes; empty where a row has none."""
        of_rows = [mark for row in rows for mark in (*row.when, row.spot) if mark]
        has_marks = all(row.when or row.spot for row in rows)
        return tuple((n, mark) for n, mark in enumerate(self.all_marks) if mark in of_rows) if has_marks else ()


def fields_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says of the fields of Rows."""
    parts = document.get("parts", {})
    rows = tuple(_row(written, document, parts) for written in document["row"])
    turned = document.get("turned")
    return {each.name: document[each.name] for each in fields(Rows) if each.name in document} | {
        "tools": tuple(document["tools"]),
        "rows": rows,
        "turned": (FailureKind(turned["kind"]), turned.get("code", "")) if turned else None,
        "words": {word: name for name, words in document.get("words", {}).items() for word in texts_of(words)},
    }


def _row(written: Mapping[str, Any], document: Mapping[str, Any], parts: Mapping[str, str]) -> Row:
    known = {"kind": document.get("kind", FailureKind.UNKNOWN), **written}
    patterns = [regex(with_parts(pattern, parts)) for pattern in texts_of(known.pop("pattern"))]
    known["kind"] = FailureKind(known["kind"])
    known |= {name: texts_of(known[name]) for name in ("when", "within") if name in known}
    for name in {"above", "spot", "symbol"} & known.keys():
        known[name] = regex(with_parts(known[name], parts))
    return Row(tuple(patterns), **known)


def texts_of(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
