"""The engine that reads lines by the rows of a format, and the formats of `data/`. What a row may say is in `rows`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.blocks import Blocks
from agent_fox.verifier.logs.frames import java_file
from agent_fox.verifier.logs.gathering import MILD, MOST_KEPT, Draft, Gathering
from agent_fox.verifier.logs.kinds import DATA, kind_in, written
from agent_fox.verifier.logs.parsers import read_lines
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.rows import COUNTED, OF_TESTS, Mark, Row, Rows, fields_of

LONG = 1 << 16  # characters
Relative = Callable[[str], str]


class RowReader:
    """Reads one log, or takes the lines of its format out of one. `relative` makes paths those of the workspace, where
    that is not the workspace's own affair."""

    def __init__(
        self, of: Rows, workspace: Workspace, findings: Gathering | None = None, relative: Relative | None = None
    ) -> None:
        self._format, self._findings = of, findings if findings is not None else Gathering()
        self._relative, self._holds = relative or workspace.relative, workspace.holds
        self.tests = Blocks(of, workspace)
        self._asked: tuple[str, int | None, int | None] | None = None
        self._open: Draft | None = None
        self._is_joining = False
        self._heading: Mapping[str, str | None] = {}
        self._above = self._within = ""
        self._listed: list[Draft] | None = [] if any(row.gives == "listed" for row in of.rows) else None
        self._held: list[Draft] = []
        self._if_empty: list[Failure] = []
        self._is_turned = self._fails_warnings = self._is_whole = False
        self._block, self._places = "", [0]
        self.used: set[tuple[int, str]] | None = None  # for who asks: the patterns that took a line, with their rows

    @property
    def is_open(self) -> bool:
        """Whether lines may still follow that belong to the last failure."""
        return self._open is not None or self.tests.open is not None

    @property
    def file(self) -> str | None:
        """Where the open failure is."""
        return self._open.file if self._open is not None else None

    def leave(self) -> None:
        """What comes belongs to no passage, nor to a failure before it."""
        self.finish()
        self._within = ""

    def skip(self, block: str, at: int) -> int:
        """Passes over lines without a mark; those below a test's title belong to the test."""
        has_tests = self._format.has_tests
        if self._open is not None or self._listed is not None or (self._within and not has_tests):
            return at
        marks = self._format.marks[self._within, self.tests.open is not None]
        if marks and self._findings.is_full and not has_tests:
            return len(block)
        start = self._next(marks, block, at) if marks else at
        if start > at:
            if has_tests:
                self.tests.pass_over(block, at, start)
            self._look_back(block, at, start)
        return start

    def _look_back(self, block: str, at: int, start: int) -> None:
        """The line above, and the last heading of what was skipped."""
        end, headings = start - 1, self._format.headings
        begin = max(at, block.rfind("\n", at, end) + 1)
        self._above = block[begin:end]
        while headings and end > at:
            if any((match := row.match(block[begin:end])) and self._use(row, match) for row in headings):
                return
            end = begin - 1
            begin = max(at, block.rfind("\n", at, end) + 1)

    def _next(self, marks: tuple[Mark, ...], block: str, at: int) -> int:
        """Where the next line with a mark begins. Each mark is looked for once from place to place."""
        if block is not self._block:
            self._block, self._places = block, [-1] * len(self._format.all_marks)
        places, end = self._places, len(block)
        nearest = end
        for n, mark in marks:
            place = places[n]
            if place < at:
                place = places[n] = _find(mark, block, at)
            if place < nearest:
                nearest = place
        return end if nearest == end else max(at, block.rfind("\n", at, nearest) + 1)

    def feed(self, line: str) -> bool:
        """Take a line. Whether it is one of this format."""
        draft = self._open
        is_open = draft is not None or self.tests.open is not None
        is_joined = draft is not None and bool(draft.code or not self._is_joining)  # its message has come to its end
        for row in (self._format.opened if is_open else self._format.closed)[self._within]:
            if not (row.joins and is_joined) and (match := row.match(line)) and self._use(row, match):
                self._above = self.tests.last = line
                return True
        if self._format.has_tests:
            self.tests.add(line)
            self._above = line
            return self.tests.open is not None
        if not self._format.stays:
            self.finish()
        if self._format.while_open:
            self._within = ""
        self._listed, self._above = None, line
        return False

    take = feed

    def finish(self) -> None:
        if self.tests.open is not None:
            self.tests.end()
        if self._open is not None:
            by_lines = kind_in(self._format.kinds, "\n".join(self._open.evidence)) if self._format.kinds else None
            self._open.kind = by_lines or self._open.kind
            self._findings.keep(self._open)
        self._open = None

    def _use(self, row: Row, match: re.Match[str]) -> bool:
        """Whether the row takes the line."""
        if row.if_unplaced and self._open is not None and self._open.line is not None:
            return False
        above = row.above.match(self._above) if row.above else None
        if row.above and not above:
            return False
        groups = {**(above.groupdict() if above else {}), **match.groupdict()}
        if row.restarts:
            self.tests.restart()
        if row.relists:
            self.tests.listed = []
        if row.gives in OF_TESTS and not self._take_test(row, groups):
            return False
        if self.used is not None:
            self.used.add((id(row), match.re.pattern))
        if row.is_whole:
            self.tests.add(match.string)
        if row.is_json:
            groups = {name: _unescaped(text) for name, text in groups.items()}
        self._within = self._within if row.enters is None else row.enters
        self._is_turned, self._is_whole = self._is_turned or row.turns, self._is_whole or row.is_last
        match row.gives:
            case "more":
                self._add(row, groups, match)
            case "heading":
                self._heading = groups
            case "asked":
                self.finish()
                place = self._place(groups, row)
                self._asked = place if self._holds(place[0]) else self._asked
            case "fails warnings":
                self._fails_warnings = True
            case "failure" if _is_warning(groups) and len(self._findings.warnings) >= MOST_KEPT:
                self._asked = None
                self.finish()
            case "failure" | "fallback" | "held" | "listed":
                self._begin(row, self._draft(row, groups, [above.string] if above else [], match.string))
        if row.is_empty:
            self.tests.count({"tests": "0"})
        is_over = self._open is not None and self._open.is_full and not self._format.is_long
        if row.closes or row.gives == "end" or is_over:
            self.finish()
        return True

    def _take_test(self, row: Row, groups: Mapping[str, str | None]) -> bool:
        """Whether the line is what the row says of tests."""
        if row.gives in ("entry", "seen"):
            self.tests.enlist(row, groups)
        if row.gives == "title":
            return self.tests.name(groups)
        if row.gives == "printed" and self.tests.open is not None:
            self.tests.open.is_printing = True  # the rest of it
        if row.gives == "test" and not self.tests.begin(row, groups, groups.get("file") or self._heading.get("file")):
            return False
        if row.gives == "counts" or any(map(groups.get, COUNTED)):
            self.tests.count(groups)
        if row.gives == "counts" and row.message:
            self._findings.fall_back(Failure(row.kind, row.message))
        if row.gives == "running":
            self._findings.fall_back(self.tests.running(groups))
        return True

    def _draft(self, row: Row, groups: Mapping[str, str | None], above: list[str], line: str) -> Draft:
        if row.gives == "failure" and not groups.get("file"):
            groups = {**groups, **{name: text for name, text in self._heading.items() if not groups.get(name)}}
        of, (file, number, column) = groups.get, self._place(groups, row)
        code = (of("code") or "").strip().rstrip(":") or None
        message = (of("message", line) or "").strip() if row.message is None else _filled(row.message, groups)
        text = code if "code" in groups else message
        named = row.symbol.search(message) if row.symbol else None
        symbol = next(filter(None, named.groups()), "").strip() if named else ""
        if file and self._asked:
            file, number, column = (file, number, column) if self._holds(file) else self._asked
            self._asked = None
        return Draft(
            kind=(kind_in(row.kinds, text) if row.kinds and text else None) or row.kind,
            message=message,
            file=file or None,
            line=number,
            column=column,
            symbol=symbol or " ".join((of("symbol") or "").split()) or None,
            test_name=of("test"),
            code=code,
            exception=of("exception"),
            is_error=row.is_error,
            is_warning=_is_warning(groups),
            evidence=[*above, line],
        )

    def _place(self, groups: Mapping[str, str | None], row: Row) -> tuple[str, int | None, int | None]:
        file = groups.get("file")
        if owner := groups.get("class"):
            file = java_file(owner, file or "")
        at = groups.get("line"), groups.get("column")
        line, column = int(at[0]) if at[0] else None, int(at[1]) + 1 - row.columns_from if at[1] else None
        if not row.keeps_zero:
            line, column = line or None, column or None
        return self._relative(file) if file else "", line, column

    def _begin(self, row: Row, draft: Draft) -> None:
        if row.gives == "fallback" and row.if_empty:
            self._if_empty.append(draft.failure())
        elif row.gives == "fallback":
            self._findings.fall_back(draft.failure(), on_kind=row.on_kind)
        elif row.gives == "failure":
            self.finish()
            self._open, self._is_joining = draft, True
            turned = self._format.turned
            self._is_turned = self._is_turned or bool(turned and draft.code == turned[1])
            if not self._format.has_more:
                self.finish()
        elif (drafts := self._held if row.gives == "held" else self._listed) is not None and len(drafts) < MOST_KEPT:
            drafts.append(draft)

    def _add(self, row: Row, groups: Mapping[str, str | None], match: re.Match[str]) -> None:
        """One more line about the open failure, and what it tells that was not known."""
        draft = self._open
        if draft is None:
            self.tests.add(match.string)
            return
        draft.add(match.string)
        self._is_joining = self._is_joining and row.joins
        if not groups:
            return
        if draft.message in ("", draft.code):  # nothing was said yet
            draft.message = (groups.get("first") or "").strip() or draft.message
        if row.message:
            draft.message += _filled(row.message, groups)
        elif text := groups.get("message"):
            draft.message = f"{draft.message} {text.strip()}".strip()
        place = self._place(groups, row)
        is_ours = row.place in ("inside", "outside") and self._holds(place[0])
        takes_place = {
            "unknown": draft.line is None,
            "nowhere": draft.file is None,
            "inside": is_ours and draft.file is None,
            "outside": is_ours and draft.file is not None and not self._holds(draft.file),
        }
        if groups.get("file") and takes_place[row.place]:
            draft.file, draft.line, draft.column = place
        elif row.place != "unknown":
            return
        elif not groups.get("file") and draft.line is None:
            draft.line, draft.column = place[1:]
        draft.is_warning = draft.is_warning or _is_warning(groups)
        draft.code = draft.code or _filled(row.code, groups) or groups.get("code")
        draft.exception = draft.exception or groups.get("exception")
        draft.symbol = draft.symbol or " ".join((groups.get("symbol") or "").split()) or None
        if groups.get("caret") and draft.column is None and len(draft.evidence) > 2:  # a source line is above it
            draft.column = max(match.start("caret") - row.indent, 0) + 1

    def parsed(self) -> Parsed:
        self.finish()
        gathering = self._findings
        known = {failure.file for failure in gathering.failures.values()}
        held = [draft for draft in self._held if self._is_turned and draft.file not in known]
        for draft in (*held, *(self._listed or ())):
            self._findings.keep(draft)
        if self._fails_warnings:
            gathering.fail(*gathering.warnings.values())
            gathering.warnings.clear()
        of, summary, is_complete = self._format, None, True
        if of.has_tests:
            gathering.fail(*self.tests.believed())
            summary = self.tests.summary()
            if not (summary and (summary.tests or summary.errors)):
                nothing = [Failure(FailureKind.UNKNOWN, of.nothing)] if summary and of.nothing else []
                for failure in self._if_empty[:MOST_KEPT] or nothing:
                    gathering.fall_back(failure)
            for row in of.rows if summary is None else ():
                if row.gives == "running" and (match := row.match(self.tests.last)):
                    self._use(row, match)
            has_counts = any(row.gives == "counts" for row in of.rows)
            is_complete = self._is_whole or bool(summary) or not has_counts
        parsed = gathering.parsed(summary, is_complete=is_complete)
        kind = of.turned[0] if of.turned and self._is_turned else None
        failures = (replace(each, kind=kind) if kind and each.file else each for each in parsed.failures)
        return replace(parsed, failures=tuple(failures))


def _find(mark: str | re.Pattern[str], block: str, at: int) -> int:
    """Where a mark stands next, or the block ends. Over a long way a pattern is found twice as fast as a text."""
    if isinstance(mark, str) and len(block) < LONG:
        place = block.find(mark, at)
        return len(block) if place < 0 else place
    match = (re.compile(re.escape(mark)) if isinstance(mark, str) else mark).search(block, at)
    return match.start() if match else len(block)


def _filled(template: str | None, groups: Mapping[str, str | None]) -> str:
    return (template or "").format(**{name: text or "" for name, text in groups.items()})


def _unescaped(text: str | None) -> str | None:
    """A text out of a JSON string; as it stands where it is none."""
    try:
        return str(json.loads(f'"{text}"')) if text and "\\" in text else text
    except ValueError:
        return text


def _is_warning(groups: Mapping[str, str | None]) -> bool:
    return bool(groups.get("warning")) or (groups.get("severity") or "").strip().lower() in MILD


class LineFormat(Rows):
    """A format of lines that reads the logs of its tools."""

    def reader(self, workspace: Workspace) -> RowReader:
        return RowReader(self, workspace)

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        return read_lines(lines, self.reader(workspace))


@cache
def built_in(name: str) -> LineFormat:
    """The format of `data/NAME.lines.toml`, whose patterns are compiled when they are first asked for."""
    return format_of(written(DATA / f"{name}.lines.toml"))


def format_of(document: Mapping[str, Any]) -> LineFormat:
    """The format that a file describes. Raises KeyError, TypeError and ValueError for one that is written wrongly."""
    return LineFormat(**fields_of(document))
