"""Rules about the way from a requirement to its tasks and its tests. How requirements are worded is not here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.common.id_ranges import index_of
from agent_fox.specs.detection import KIRO, OPENSPEC, SPEC_KIT
from agent_fox.specs.lint.values import Found, Level

if TYPE_CHECKING:
    from agent_fox.core.spec import Spec
    from agent_fox.specs.lint.world import Case

_NUMBER = regex(r"\d+")
_NOT_PLAIN = regex(r"[^0-9a-z]+")
_LETTER_OR_DIGIT = regex(r"[0-9A-Za-z]")
_CELL = regex(r"[|,;`\s]+")
_MOST_NAMED = 6
_MOST_ROWS = 50
_FEW_TESTS = frozenset({KIRO, SPEC_KIT, OPENSPEC})
"""Dialects that name tests for a few requirements only, such as for properties."""


def untraced(case: Case) -> Iterator[Found]:
    """Parts that no task and no row names. Where a whole kind is never named, that is `untraced_kind`'s."""
    spec = case.spec
    if not spec.groups or not spec.is_planned:
        return
    owners = case.owners
    silent = set(_silent_kinds(case))
    for requirement in spec.requirements:
        left = [part.id for part in requirement.parts if not owners[part.id] and _kind(part.id) not in silent]
        if left:
            yield Found(spec.place(left[0]), f"no task and no row names {_listed(left)}", spec=spec.name)


def untraced_kind(case: Case) -> Iterator[Found]:
    """All ids of one kind, such as `SC-001`, that no task names: once for the kind."""
    spec = case.spec
    if not spec.groups or not spec.is_planned:
        return
    for kind, parts in _silent_kinds(case).items():
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


def untested(case: Case) -> Iterator[Found]:
    """Parts that neither the test specification nor a row's tests name, where the spec has either for all of them."""
    entries = case.test_entries
    rows = {trace.requirement for trace in case.spec.traceability if trace.tests or trace.tests_specified}
    if not (entries.named or rows) or not case.spec.is_planned or case.spec.dialect in _FEW_TESTS:
        return
    tested = entries.named | rows | _expanded(case.spec, rows)
    for requirement in case.spec.requirements:
        left = [part.id for part in requirement.parts if part.id not in tested and requirement.id not in tested]
        if left:
            yield Found(case.spec.place(left[0]), f"no test is specified for {_listed(left)}")


def _expanded(spec: Spec, rows: Iterable[str]) -> set[str]:
    names = index_of(spec.requirements, spec.name.partition("_")[0]).names
    return {part for row in rows for part in names.get(row, ())}


def unnameable(case: Case) -> Iterator[Found]:
    """Ids that a test's name can't hold, or can't tell from another id of the spec."""
    seen: dict[str, str] = {}
    for part in case.spec.parts:
        flat = _NOT_PLAIN.sub("_", part.id.lower()).strip("_")
        if not _LETTER_OR_DIGIT.search(part.id):
            yield Found(case.spec.place(part.id), f"{part.id} has no letter and no digit that a test's name could hold")
        elif flat in seen:
            yield Found(case.spec.place(part.id), f"{part.id} and {seen[flat]} are one name, {flat}, in a test")
        else:
            seen[flat] = part.id


def stale_test_entry(case: Case) -> Iterator[Found]:
    """Entries such as `TS-04-9` that tasks or rows name, and the test specification does not have."""
    entries = case.test_entries
    if not entries.declared:
        return
    for name, where in entries.mentioned:
        if name not in entries.declared:
            yield Found(where, f"names {name}, which the test specification does not have")


def stale_test_requirement(case: Case) -> Iterator[Found]:
    """Requirements that the test specification names, and the spec does not have."""
    entries = case.test_entries
    gone = {*case.spec.withdrawn}
    for name, where in entries.unknown if case.spec.expected else ():
        if name not in gone:
            yield Found(where, f"tests {name}: no such requirement in this spec")


def stale_task(case: Case) -> Iterator[Found]:
    """Tasks that rows or other tasks name, and the spec does not have."""
    spec = case.spec
    there = {task.number for group in spec.groups for task in group.subtasks} | {str(g.number) for g in spec.groups}
    rows = _rows(case) if there and spec.traceability else {}
    for trace in spec.traceability if there else ():
        left = [task for task in trace.tasks if task not in there]
        if left:
            where = _row_place(rows.get(trace.requirement, ()), left[0]) or spec.place(trace.requirement)
            yield Found(where, f"{trace.requirement} is traced to {_tasks(left)}")
    for group in spec.groups:
        for task in group.subtasks:
            left = [name for name in task.after if name not in there]
            if left:
                yield Found(spec.place(f"task {task.number}"), f"{task.number} waits for {_tasks(left)}")


def _tasks(names: list[str]) -> str:
    return f"{_listed(names)}: no such task in this spec"


def _rows(case: Case) -> dict[str, list[tuple[str, str]]]:
    """Rows of tables in the tasks file, with their places, by the words in them: a trace does not know its line."""
    rows: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for page in case.pages:
        for table in page.markdown.tables if page.name == "tasks.md" else ():
            for row in table.rows:
                raw = page.raw[row.line - 1]
                for word in set(_CELL.split(raw)):
                    rows[word].append((page.at(row.line), raw))
    return rows


def _row_place(rows: Iterable[tuple[str, str]], task: str) -> str | None:
    return next((where for where, raw in islice(rows, _MOST_ROWS) if task in raw), None)


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    return shown + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")


TRACING = {
    "untraced-requirement": untraced,
    "untraced-kind": untraced_kind,
    "untested-requirement": untested,
    "unnameable-id": unnameable,
    "stale-test-entry": stale_test_entry,
    "stale-test-requirement": stale_test_requirement,
    "stale-task": stale_task,
}
