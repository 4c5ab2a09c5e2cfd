"""design.md's correctness properties: which requirements each one validates, and which tasks write its test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent_fox.core.spec import Problem, Trace
from agent_fox.specs.common.task_lists import Bullet
from agent_fox.specs.files import warning
from agent_fox.specs.kiro.fields import Sort, fields_of
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.kiro.references import References

_LIKE = patterns_in(__file__)


def read_properties(
    markdown: Markdown, references: References, tasks: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[Trace, ...], tuple[Problem, ...]]:
    """A trace for each part that a property validates: `Property 1` shows it, by the tasks that say so. A property goes
    on up to the next one, or to a heading of its rank."""
    problems: list[Problem] = []
    shown: dict[str, dict[str, None]] = {}
    number, level, section = "", 1, 1
    for line in markdown.words:
        text, heading = line.text.strip(), line.heading
        match = _LIKE["head"].match(heading.title if heading else text)
        sets_off = text.startswith(("**", "- **", "* **")) or ":" in line.text[:40] or "：" in line.text[:40]
        if match is not None and (heading is not None or sets_off):
            number, level = match["number"], heading.level if heading else section
            continue
        if heading is not None:
            number, section = "" if heading.level <= level else number, heading.level
        bullet = Bullet([line], None, text.removeprefix("- ").removeprefix("* "))
        for field in fields_of(bullet, references) if number else ():
            named = references.read(field.value if field.sort is Sort.REQUIREMENTS else "none")
            if named.unknown:
                what = f"Property {number} names {', '.join(named.unknown)}: no such requirement in this spec"
                problems.append(warning(markdown.at(line.number), f"{what}. Correct the number"))
            for part in named.ids:
                shown.setdefault(part, {})[number] = None
    traces = []
    for part in (part for part in references.index.every if part in shown):
        by = dict.fromkeys(task for number in shown[part] for task in tasks.get(number, ()))
        traces.append(Trace(part, tuple(f"Property {number}" for number in shown[part]), tuple(by)))
    return tuple(traces), tuple(problems) if references.index.every else ()
