"""design.md's correctness properties: which requirements each one validates, and which tasks write its test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.spec import Problem, Trace
from agent_fox.specs.common.task_lists import Bullet
from agent_fox.specs.files import warning
from agent_fox.specs.kiro.fields import Sort, fields_of
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.kiro.references import References
    from agent_fox.specs.lines import Line

_LIKE = patterns_in(__file__)


@dataclass(slots=True)
class _Property:
    number: str
    line: int
    lines: list[Line] = field(default_factory=list)


def read_properties(
    markdown: Markdown, references: References, tasks: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[Trace, ...], tuple[Problem, ...]]:
    """A trace for each part that a property validates: `Property 1` shows it, by the tasks that say so."""
    problems: list[Problem] = []
    shown: dict[str, dict[str, None]] = {}
    for property_ in _properties(markdown):
        for line, value in _validated(property_, references):
            named = references.read(value)
            if named.unknown:
                what = f"Property {property_.number} names {', '.join(named.unknown)}: no such requirement in this spec"
                problems.append(warning(markdown.at(line), f"{what}. Correct the number"))
            for part in named.ids:
                shown.setdefault(part, {})[property_.number] = None
    traces = [_trace(part, tuple(shown[part]), tasks) for part in references.index.every if part in shown]
    return tuple(traces), tuple(problems) if references.index.every else ()


def _trace(part: str, numbers: tuple[str, ...], tasks: Mapping[str, tuple[str, ...]]) -> Trace:
    by = dict.fromkeys(task for number in numbers for task in tasks.get(number, ()))
    return Trace(part, tests_specified=tuple(f"Property {number}" for number in numbers), tasks=tuple(by))


def _properties(markdown: Markdown) -> Iterator[_Property]:
    """Each property with the lines up to the next one, or to a heading of its rank."""
    current: _Property | None = None
    level = section = 1
    for line in markdown.lines:
        if line.is_code:
            continue
        match = _LIKE["head"].match(line.heading.title if line.heading else line.text.strip())
        is_head = match is not None and (line.heading is not None or _sets_off(line.text))
        if match is not None and is_head:
            if current is not None:
                yield current
            current = _Property(match["number"], line.number)
            level = line.heading.level if line.heading else section
        elif current is not None and line.heading is not None and line.heading.level <= level:
            yield current
            current = None
        elif current is not None:
            current.lines.append(line)
        section = line.heading.level if line.heading and not is_head else section
    if current is not None:
        yield current


def _sets_off(text: str) -> bool:
    """A line that is a property's title: `**Property 1: T**`, `Property 1: T`."""
    return text.strip().startswith(("**", "- **", "* **")) or ":" in text[:40] or "：" in text[:40]


def _validated(found: _Property, references: References) -> Iterator[tuple[int, str]]:
    for line in found.lines:
        text = line.text.strip()
        bullet = Bullet([line], None, text.removeprefix("- ").removeprefix("* "))
        for part in fields_of(bullet, references):
            if part.sort is Sort.REQUIREMENTS:
                yield line.number, part.value
