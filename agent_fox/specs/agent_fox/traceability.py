"""The traceability table: from a requirement to the tasks that implement it and the tests that show it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import Problem, Trace
from agent_fox.specs.files import warning

if TYPE_CHECKING:
    from agent_fox.specs.agent_fox.id_ranges import PartIndex
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.outline import Table

_ID = regex(r"(?:\d{1,9}-)?REQ-\d{1,9}(?:\.E?\d{1,9})*")
_TASKS = regex(
    r"(\d{1,6}\.\d{1,6})\s?[–—-]\s?(?:\d{1,6}\.)?(\d{1,6})(?![\d.])|\d{1,6}\.(?:\d{1,6}|V)|(?<![\w.])\d{1,6}(?![\w.])"
)
_TEST_SPEC = regex(r"TS-[\w-]+")
_SEPARATOR = regex(r",|;|<br\s?/?>", re.IGNORECASE)
_NOTHING = frozenset({"", "-", "–", "—", "n/a", "none", "tbd", "null"})


def read_traceability(markdown: Markdown, index: PartIndex) -> tuple[tuple[Trace, ...], tuple[Problem, ...]]:
    """All rows that name a requirement. Ids that the spec does not have are warnings, where it has any."""
    traces: list[Trace] = []
    problems: list[Problem] = []
    for table in markdown.tables:
        requirement, tasks = table.column_with("requirement"), table.column_with("task", "implement")
        if requirement is None or tasks is None:
            continue
        specified = table.column_with("test spec")
        tests = _column_of_tests(table, (specified, tasks))
        for row in table.rows:
            ids, unknown = _ids(row.cell(requirement), index)
            if unknown and index.every:
                what = f"traces {', '.join(unknown)}: no such requirement in this spec. Correct the row"
                problems.append(warning(markdown.at(row.line), what))
            if ids:
                says = (
                    tuple(_TEST_SPEC.findall(row.cell(specified))),
                    tasks_in(row.cell(tasks)),
                    _names(row.cell(tests)),
                )
                traces += [Trace(identifier, *says) for identifier in ids]
    return tuple(traces), tuple(problems)


def tasks_in(cell: str) -> tuple[str, ...]:
    """The tasks that a cell names, ranges such as `4.1–4.4` written out; a bare number is a group."""
    return tuple(dict.fromkeys(name for match in _TASKS.finditer(cell) for name in _span(match)))


def _span(found: re.Match[str]) -> Iterable[str]:
    if found[1] is None:
        return (found[0],)
    group, _, first = found[1].partition(".")
    numbers = range(int(first), min(int(found[2]), int(first) + 99) + 1)
    return (f"{group}.{number}" for number in numbers)


def _ids(cell: str, index: PartIndex) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not index.every:
        return tuple(_ID.findall(cell)), ()
    if cell in index.names:
        return index.names[cell], ()
    return index.expand(cell) if _ID.search(cell) else ((), ())


def _column_of_tests(table: Table, others: Container[int | None]) -> int | None:
    return next((n for n, name in enumerate(table.header) if "test" in name and n not in others), None)


def _names(cell: str) -> tuple[str, ...]:
    names = (part.strip().strip("`").strip() for part in _SEPARATOR.split(cell))
    return tuple(name for name in names if name.lower() not in _NOTHING)
