"""Rules about the way from a requirement to its tasks and its tests. How requirements are worded is not here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.common.id_ranges import index_of
from agent_fox.specs.detection import KIRO, OPENSPEC, SPEC_KIT
from agent_fox.specs.lint.values import Found, Level
from agent_fox.specs.lint.world import ENTRY

if TYPE_CHECKING:
    from agent_fox.specs.lint.world import Case

_NUMBER = regex(r"\d+")
_NOT_PLAIN = regex(r"[^0-9a-z]+")
_LETTER_OR_DIGIT = regex(r"[0-9A-Za-z]")
_CELL = regex(r"[|,;`\s]+")
_MOST_NAMED = 6
_MOST_ROWS = 50
_FEW_TESTS = frozenset({KIRO, SPEC_KIT, OPENSPEC})
"""Dialects that name tests for a few requirements only, such as for properties."""


def untraced_requirement(case: Case) -> Iterator[tuple[str, str]]:
    """Parts that no task and no row names. Where a whole kind is never named, that is `untraced_kind`'s."""
    silent = _silent_kinds(case)
    for requirement in case.spec.requirements if case.spec.groups and case.spec.is_planned else ():
        left = [part.id for part in requirement.parts if not case.owners[part.id] and _kind(part.id) not in silent]
        if left:
            yield left[0], f"no task and no row names {_listed(left)}"


def untraced_kind(case: Case) -> Iterator[Found]:
    """All ids of one kind, such as `SC-001`, that no task names: once for the kind."""
    spec = case.spec
    for kind, parts in _silent_kinds(case).items() if spec.groups and spec.is_planned else ():
        is_all = len(parts) == len(spec.parts)
        what = "any requirement" if is_all else f"any of {_listed(parts)}"
        level = Level.WARNING if is_all and kind.count("-REQ-") else None
        yield Found(spec.place(parts[0]), f"no task and no row names {what}", level=level)


def _silent_kinds(case: Case) -> dict[str, list[str]]:
    """Kinds of ids of which no part has an owner; edge cases are of their requirement's kind."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for part in case.spec.parts:
        kinds[_kind(part.id)].append(part.id)
    return {kind: parts for kind, parts in kinds.items() if not any(case.owners[part] for part in parts)}


def _kind(identifier: str) -> str:
    return _NUMBER.sub("n", identifier.upper()).partition(".")[0]


def untested_requirement(case: Case) -> Iterator[tuple[str, str]]:
    """Parts that neither the test specification nor a row's tests name, where the spec has either for all of them."""
    spec, named = case.spec, case.test_entries.named
    rows = {trace.requirement for trace in spec.traceability if trace.tests or trace.tests_specified}
    if not (named or rows) or not spec.is_planned or spec.dialect in _FEW_TESTS:
        return
    names = index_of(spec.requirements, spec.name.partition("_")[0]).names
    tested = named | rows | {part for row in rows for part in names.get(row, ())}
    for requirement in spec.requirements:
        left = [part.id for part in requirement.parts if part.id not in tested and requirement.id not in tested]
        if left:
            yield left[0], f"no test is specified for {_listed(left)}"


def unnameable_id(case: Case) -> Iterator[tuple[str, str]]:
    """Ids that a test's name can't hold, or can't tell from another id of the spec."""
    seen: dict[str, str] = {}
    for part in case.spec.parts:
        flat = _NOT_PLAIN.sub("_", part.id.lower()).strip("_")
        if not _LETTER_OR_DIGIT.search(part.id):
            yield part.id, f"{part.id} has no letter and no digit that a test's name could hold"
        elif flat in seen:
            yield part.id, f"{part.id} and {seen[flat]} are one name, {flat}, in a test"
        else:
            seen[flat] = part.id


def stale_test_entry(case: Case) -> Iterator[Found]:
    """Entries such as `TS-04-9` that tasks or rows name, and the test specification does not have. An entry of another
    spec is that one's, so its number must be one that is used here."""
    declared = case.test_entries.declared
    numbers = {name.split("-")[1] for name in declared}
    for page in case.pages if declared else ():
        for number, line in page.lines if page.name.startswith("tasks.") else ():
            for name in map(str.upper, ENTRY.findall(line) if "TS-" in line.upper() else ()):
                if name.split("-")[1] in numbers and name not in declared:
                    yield Found(page.at(number), f"names {name}, which the test specification does not have")


def stale_test_requirement(case: Case) -> Iterator[Found]:
    """Requirements that the test specification names, and the spec does not have."""
    for name, where in case.test_entries.unknown if case.spec.expected else ():
        if name not in case.spec.withdrawn:
            yield Found(where, f"tests {name}: no such requirement in this spec")


def stale_task(case: Case) -> Iterator[Found]:
    """Tasks that rows or other tasks name, and the spec does not have."""
    spec = case.spec
    there = {task.number for group in spec.groups for task in group.subtasks} | {str(g.number) for g in spec.groups}
    rows = _rows(case) if there and spec.traceability else {}
    for trace in spec.traceability if there else ():
        if left := [task for task in trace.tasks if task not in there]:
            near = islice(rows.get(trace.requirement, ()), _MOST_ROWS)
            where = next((where for where, raw in near if left[0] in raw), spec.place(trace.requirement))
            yield Found(where, f"{trace.requirement} is traced to {_listed(left)}: no such task in this spec")
    for group in spec.groups:
        for task in group.subtasks:
            if left := [name for name in task.after if name not in there]:
                what = f"{task.number} waits for {_listed(left)}: no such task in this spec"
                yield Found(spec.place(f"task {task.number}"), what)


def _rows(case: Case) -> dict[str, list[tuple[str, str]]]:
    """Rows of tables in the tasks file, with their places, by the words in them: a trace does not know its line."""
    rows: dict[str, list[tuple[str, str]]] = defaultdict(list)
    page = case.page("tasks.md")
    if page is None:
        return rows
    for row in (row for table in page.markdown.tables for row in table.rows):
        raw = page.raw[row.line - 1]
        for word in set(_CELL.split(raw)):
            rows[word].append((page.at(row.line), raw))
    return rows


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    return shown + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")
