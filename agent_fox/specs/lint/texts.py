"""Rules about what is written: whether sentences say what must hold and how it is measured (only English is judged);
and spellings that are read as they are meant, whose findings have one certain repair each. Writing is not here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from agent_fox.specs.detection import AGENT_FOX, KIRO, OPENSPEC, SPEC_KIT
from agent_fox.specs.lint.values import Edit, Found, split_place
from agent_fox.specs.lint.world import is_english
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.core.spec import Criterion
    from agent_fox.specs.lint.world import Case, Page
    from agent_fox.specs.outline import Table

_LIKE = patterns_in(__file__)

_LOOK = 4_000
_EARS_ALONE = frozenset({AGENT_FOX, KIRO})
_OTHERWISE_WORDED = ("SC-", "EC.")
"""spec-kit's success criteria are what is measured, and its edge cases a question with its answer."""

_NAMES_A_SPEC = ("spec", "depends on", "depends on spec", "required spec", "upstream spec", "upstream")
_SCENARIO_LEVEL = 4

_Named = Iterator[tuple[str, str]]
"""Ids, each with what is wrong with its text."""


def no_obligation(case: Case) -> _Named:
    """A criterion that obliges nobody: no SHALL or MUST, and none of the forms that its dialect has beside them. A spec
    that writes nothing so has a form of its own, which is not judged."""
    texts = [part.text[:_LOOK] for part in case.spec.parts]
    if not case.is_english or not any(map(_LIKE["obliges"].search, texts)):
        return
    is_ears = case.spec.dialect in _EARS_ALONE
    for part, text in zip(case.spec.parts, texts, strict=True):
        is_fine = bool(_LIKE["obliges"].search(text)) or part.id.startswith(_OTHERWISE_WORDED)
        is_fine = is_fine or bool(not is_ears and _LIKE["given"].search(text) and _LIKE["then"].search(text))
        if not is_fine and is_english(part.text):
            yield part.id, f"{part.id} says neither SHALL nor MUST: {_shown(part)}"


def if_without_then(case: Case) -> _Named:
    """An IF without THEN: EARS names both."""
    for part in case.spec.parts if case.spec.dialect != SPEC_KIT and case.is_english else ():
        text = part.text[:_LOOK]
        if _LIKE["if"].match(text) and not _LIKE["then"].search(text) and is_english(part.text):
            yield part.id, f"{part.id} says IF without THEN: {_shown(part)}"


def _shown(part: Criterion) -> str:
    text = " ".join(part.text[:200].split())
    return text if len(text) <= 70 else text[:69] + "…"


def vague_word(case: Case) -> _Named:
    """A word that everyone measures differently, in a sentence without any measure."""
    for part in case.spec.parts if case.is_english else ():
        text = _LIKE["code"].sub(" ", part.text[:_LOOK])
        words = dict.fromkeys(word.lower() for word in _LIKE["vague"].findall(text))
        if words and not _LIKE["measure"].search(text) and is_english(part.text):
            yield part.id, f"{part.id} says {', '.join(words)} and gives no measure"


def needs_clarification(case: Case) -> Iterator[Found]:
    """A question that was left in a document, where reading does not say so itself."""
    for page in case.pages:
        for line in page.markdown.words if _LIKE["unclear"].search(page.file.text) else ():
            is_reported = page.at(line.number) in case.world.questions
            if not is_reported and _LIKE["unclear"].search(_LIKE["code"].sub(" ", line.text)):
                yield Found(page.at(line.number), "a question is left open here: NEEDS CLARIFICATION")


def unwritten(case: Case) -> _Named:
    for part in case.spec.parts:
        match = _LIKE["unwritten"].search(_LIKE["code"].sub(" ", part.text[:_LOOK]))
        if match:
            yield part.id, f"{part.id} is not written to its end: {match[0].strip(' :(')}"
        elif not part.text.strip():
            yield part.id, f"{part.id} has no text"


def upper_case_box(case: Case) -> Iterator[Found]:
    """Once for a file, with all its boxes. spec-kit's own commands write X."""
    edits: dict[str, list[Edit]] = {}
    for page, line, raw in _task_lines(case) if case.spec.dialect != SPEC_KIT else ():
        if match := _LIKE["upper_box"].fullmatch(raw):
            edits.setdefault(page.where, []).append(Edit(page.where, line, raw, f"{match[1]}x{match[2]}"))
    for where, boxes in edits.items():
        count = "a box is" if len(boxes) == 1 else f"{len(boxes)} boxes are"
        yield Found(f"{where}:{boxes[0].line}", f"{count} ticked with X", tuple(boxes))


def reference_spelling(case: Case) -> Iterator[Found]:
    """Ids in other letters or without their zeros, where exactly one id of the spec can be meant."""
    written = {part.id for part in case.spec.parts} | {requirement.id for requirement in case.spec.requirements}
    alike = Counter(map(_folded, written))
    meant = {_folded(name): name for name in written if alike[_folded(name)] == 1 and "-" in name}

    def respelt(found: re.Match[str]) -> str:
        return found[0] if found[0] in written else meant.get(_folded(found[0]), found[0])

    what = "an id is spelt otherwise than it is declared"
    return _in_fields(case, lambda text: _LIKE["token"].sub(respelt, text), what) if meant else iter(())


def _folded(name: str) -> str:
    return _LIKE["digits"].sub(lambda found: found[0].lstrip("0") or "0", name.upper())


def doubled_separator(case: Case) -> Iterator[Found]:
    return _in_fields(case, lambda text: _LIKE["doubled"].sub(", ", text), "a comma stands twice between ids")


def _in_fields(case: Case, mended: Callable[[str], str], what: str) -> Iterator[Found]:
    """What can be mended behind the label of a field that names requirements."""
    for page, line, raw in _task_lines(case):
        field = _LIKE["field"].search(raw)
        new = raw[: field.end()] + mended(raw[field.end() :]) if field else raw
        if new != raw:
            yield _change(page, line, raw, new, what)


def scenario_level(case: Case) -> Iterator[Found]:
    """OpenSpec's own tool finds a scenario under four marks only."""
    for page in case.pages if case.spec.dialect == OPENSPEC else ():
        for line in page.markdown.lines if page.name.endswith("spec.md") else ():
            raw = page.raw[line.number - 1]
            match = _LIKE["scenario"].fullmatch(raw) if line.heading is not None else None
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
    """A row that names a spec by its number, which is one spec's only. Another spec may take it one day. Its cell holds
    nothing but the number."""
    rows = {row.where: row for row in case.spec.dependencies}
    for page, table in _dependency_tables(case):
        column = table.column(*_NAMES_A_SPEC)
        for row in table.rows if column is not None else ():
            raw, named = page.raw[row.line - 1], rows.get(page.at(row.line))
            head = named.spec.partition("_")[0] if named else ""
            cells = _LIKE["pipe"].split(raw)
            place = (column or 0) + (1 if raw.lstrip().startswith("|") else 0)
            match = _LIKE["lone_number"].fullmatch(cells[place]) if place < len(cells) else None
            if named and match and head.isdecimal() and int(head) == int(match[2]) and head != named.spec:
                cells[place] = f"{match[1]}{named.spec}{match[3]}"
                yield _change(page, row.line, raw, "|".join(cells), f"{named.spec} is named by its number alone")


def _dependency_tables(case: Case) -> Iterator[tuple[Page, Table]]:
    """The tables that the spec's dependencies were read from."""
    rows = {row.where for row in case.spec.dependencies}
    files = {split_place(where)[0] for where in rows}
    for page in case.pages:
        for table in page.markdown.tables if page.where in files else ():
            if any(page.at(row.line) in rows for row in table.rows):
                yield page, table


def _task_lines(case: Case) -> Iterator[tuple[Page, int, str]]:
    """Lines of the tasks file that are neither code nor in a comment, as they stand in it."""
    for page in (page for page in case.pages if page.name == "tasks.md"):
        for line in page.markdown.words:
            raw = page.raw[line.number - 1]
            if line.text and line.text == raw.expandtabs(4).rstrip():
                yield page, line.number, raw


def _change(page: Page, line: int, old: str, new: str | None, what: str) -> Found:
    return Found(page.at(line), what, (Edit(page.where, line, old, new),))
