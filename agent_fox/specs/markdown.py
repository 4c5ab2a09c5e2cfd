"""The Markdown form of a spec's documents: which file says what, put together as one set of values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field, replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.specs.commands import read_commands
from agent_fox.specs.dependencies import read_dependencies
from agent_fox.specs.document import Markdown, read_head, read_markdown
from agent_fox.specs.requirements import ReadRequirements, read_requirements
from agent_fox.specs.source import source_in
from agent_fox.specs.tasks import read_tasks
from agent_fox.specs.traceability import read_traceability

if TYPE_CHECKING:
    from agent_fox.core.spec import BareCriteria, Dependency, Group, Problem, SourceIssue, Trace
    from agent_fox.specs.files import TextFile
    from agent_fox.specs.id_ranges import PartIndex

_SUPERSEDED = regex(r"[>*_#\s]{0,12}SUPERSEDED[*_]{0,3}\s+by\b", re.IGNORECASE)
_MAY_NAME_A_SOURCE = regex(r"^[>*_\s-]{0,12}source", re.IGNORECASE | re.MULTILINE)
_HEAD = 8_000
_FRONT_MATTER = "---"


@dataclass(frozen=True, slots=True)
class TasksPart:
    """What a tasks file holds, in either form."""

    groups: tuple[Group, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    traceability: tuple[Trace, ...] = ()
    test_commands: dict[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    places: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PrdPart:
    """What a prd.md says to a plan."""

    dependencies: tuple[Dependency, ...] = ()
    source: SourceIssue | None = None
    problems: tuple[Problem, ...] = ()


def requirements_from(file: TextFile, number: str, bare: BareCriteria) -> ReadRequirements:
    markdown = read_markdown(file)
    read = read_requirements(markdown, number, bare)
    return replace(read, problems=(*markdown.problems, *read.problems))


def tasks_from(file: TextFile, spec_name: str, index: PartIndex) -> TasksPart:
    markdown = read_markdown(file)
    tasks = read_tasks(markdown, index, file.text)
    traces, problems = read_traceability(markdown, index)
    return TasksPart(
        tasks.groups,
        read_dependencies(markdown, spec_name),
        traces,
        read_commands(markdown),
        (*markdown.problems, *tasks.problems, *problems),
        tasks.places,
    )


def prd_from(file: TextFile, spec_name: str) -> PrdPart:
    markdown = read_markdown(file)
    source = source_in(markdown) if _MAY_NAME_A_SOURCE.search(file.text) else None
    return PrdPart(read_dependencies(markdown, spec_name), source, markdown.problems)


def is_superseded(file: TextFile) -> bool:
    """`**SUPERSEDED** by ...` as the first line that says anything."""
    if "superseded" not in file.text[:_HEAD].lower():
        return False
    first = _first_line(read_head(file))
    return first is not None and _SUPERSEDED.match(first) is not None


def title_of(files: Iterable[TextFile]) -> str:
    """The first heading of the first file that has one, without what it says about the kind of document."""
    for file in files:
        for line in read_head(file).lines:
            heading = line.heading
            if heading is not None and heading.level == 1:
                return heading.title.partition(":")[2].strip() or heading.title
    return ""


def _first_line(markdown: Markdown) -> str | None:
    """The first text after front matter."""
    lines = [line.text.strip() for line in markdown.lines if not line.is_blank]
    if lines and lines[0] == _FRONT_MATTER and _FRONT_MATTER in lines[1:]:
        lines = lines[lines.index(_FRONT_MATTER, 1) + 1 :]
    return lines[0] if lines else None
