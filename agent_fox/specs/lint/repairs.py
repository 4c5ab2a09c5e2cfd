"""Rules whose findings have one certain repair each: spellings that are read as they are meant. Writing is not here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.detection import OPENSPEC, SPEC_KIT
from agent_fox.specs.lint.values import Edit, Found, split_place

if TYPE_CHECKING:
    from agent_fox.core.spec import Dependency
    from agent_fox.specs.lint.world import Case, Page
    from agent_fox.specs.outline import Row, Table

_UPPER_BOX = regex(r"([ \t]*[-*+][ \t]+\[)X(\](?:[ \t*].*)?)")
_FIELD = regex(r"[_*]{1,3}(?:Requirements?|Traces to)\s?:[_*]{0,3}", re.IGNORECASE)
_TOKEN = regex(
    r"(?<![\w./`-])[A-Za-z0-9]{1,12}(?:-[A-Za-z0-9]{1,12}){1,3}(?:\.[Ee]?\d{1,9}){0,2}(?![A-Za-z0-9/`-]|\.\w)"
)
_DIGITS = regex(r"\d+")
_DOUBLED = regex(r"(?<=[\w*\]])[ \t]*,(?:[ \t]*,)+[ \t]*")
_SCENARIO = regex(r"([ ]{0,3})(#{1,6})([ \t]+Scenario[ \t]*[:\uff1a].*)", re.IGNORECASE)
_PIPE = regex(r"(?<!\\)\|")
_NUMBER = regex(r"(\s*`?)(\d{1,9})(`?\s*)")
_NAMES_A_SPEC = ("spec", "depends on", "depends on spec", "required spec", "upstream spec", "upstream")
_SCENARIO_LEVEL = 4


def upper_case_box(case: Case) -> Iterator[Found]:
    """Once for a file, with all its boxes. spec-kit's own commands write X."""
    edits: dict[str, list[Edit]] = {}
    for page, line, raw in _text_lines(case, "tasks.md") if case.spec.dialect != SPEC_KIT else ():
        match = _UPPER_BOX.fullmatch(raw)
        if match:
            edits.setdefault(page.where, []).append(Edit(page.where, line, raw, f"{match[1]}x{match[2]}"))
    for where, boxes in edits.items():
        count = "a box is" if len(boxes) == 1 else f"{len(boxes)} boxes are"
        yield Found(f"{where}:{boxes[0].line}", f"{count} ticked with X", tuple(boxes))


def reference_spelling(case: Case) -> Iterator[Found]:
    """Ids in other letters or without their zeros, where exactly one id of the spec can be meant."""
    written = {part.id for part in case.spec.parts} | {requirement.id for requirement in case.spec.requirements}
    alike = Counter(_folded(name) for name in written)
    meant = {_folded(name): name for name in written if alike[_folded(name)] == 1 and "-" in name}

    def respelt(found: re.Match[str]) -> str:
        return found[0] if found[0] in written else meant.get(_folded(found[0]), found[0])

    for page, line, raw in _text_lines(case, "tasks.md") if meant else ():
        field = _FIELD.search(raw)
        if field is None:
            continue
        new = raw[: field.end()] + _TOKEN.sub(respelt, raw[field.end() :])
        if new != raw:
            yield _change(page, line, raw, new, "an id is spelt otherwise than it is declared")


def _folded(name: str) -> str:
    return _DIGITS.sub(lambda found: found[0].lstrip("0") or "0", name.upper())


def doubled_separator(case: Case) -> Iterator[Found]:
    for page, line, raw in _text_lines(case, "tasks.md"):
        field = _FIELD.search(raw)
        if field is not None:
            new = raw[: field.end()] + _DOUBLED.sub(", ", raw[field.end() :])
            if new != raw:
                yield _change(page, line, raw, new, "a comma stands twice between ids")


def scenario_level(case: Case) -> Iterator[Found]:
    """OpenSpec's own tool finds a scenario under four marks only."""
    for page in case.pages if case.spec.dialect == OPENSPEC else ():
        for line in page.markdown.lines if page.name.endswith("spec.md") else ():
            raw = page.raw[line.number - 1]
            match = _SCENARIO.fullmatch(raw) if line.heading is not None else None
            if match and len(match[2]) != _SCENARIO_LEVEL:
                new = f"{match[1]}{'#' * _SCENARIO_LEVEL}{match[3]}"
                yield _change(page, line.number, raw, new, f"a scenario stands under {match[2]}, not under ####")


def doubled_dependency(case: Case) -> Iterator[Found]:
    """Rows of a table of dependencies that are the same to the letter."""
    for page, table in _dependency_tables(case):
        seen: dict[str, int] = {}
        for row in table.rows:
            raw = page.raw[row.line - 1]
            first = seen.setdefault(raw.strip(), row.line)
            if first != row.line:
                yield _change(page, row.line, raw, None, f"this row stands in line {first} already")


def dependency_by_number(case: Case) -> Iterator[Found]:
    """A row that names a spec by its number, which is one spec's only. Another spec may take it one day."""
    rows = {split_place(row.where): row for row in case.spec.dependencies}
    for page, table in _dependency_tables(case):
        column = table.column(*_NAMES_A_SPEC)
        for row in table.rows if column is not None else ():
            named = rows.get((page.where, row.line))
            raw = page.raw[row.line - 1]
            new = _with_name(raw, row, column or 0, named)
            if named is not None and new != raw:
                yield _change(page, row.line, raw, new, f"{named.spec} is named by its number alone")


def _with_name(raw: str, row: Row, column: int, named: Dependency | None) -> str:
    """The row with the folder's name in its cell, where that holds nothing but its number."""
    cells = _PIPE.split(raw)
    place = column + (1 if raw.lstrip().startswith("|") else 0)
    match = _NUMBER.fullmatch(cells[place]) if place < len(cells) else None
    head = named.spec.partition("_")[0] if named else ""
    if named is None or match is None or not head.isdecimal() or int(head) != int(match[2]) or head == named.spec:
        return raw
    cells[place] = f"{match[1]}{named.spec}{match[3]}"
    return "|".join(cells)


def _dependency_tables(case: Case) -> Iterator[tuple[Page, Table]]:
    """The tables that the spec's dependencies were read from."""
    rows = {split_place(row.where) for row in case.spec.dependencies}
    files = {path for path, _ in rows}
    for page in case.pages:
        for table in page.markdown.tables if page.where in files else ():
            if any((page.where, row.line) in rows for row in table.rows):
                yield page, table


def _text_lines(case: Case, name: str) -> Iterator[tuple[Page, int, str]]:
    """Lines that are neither code nor in a comment, as they stand in the file."""
    for page in case.pages:
        for line in page.markdown.lines if page.name == name else ():
            raw = page.raw[line.number - 1]
            if not line.is_code and (bool(line.text) and line.text == raw.expandtabs(4).rstrip()):
                yield page, line.number, raw


def _change(page: Page, line: int, old: str, new: str | None, what: str) -> Found:
    return Found(page.at(line), what, (Edit(page.where, line, old, new),))
