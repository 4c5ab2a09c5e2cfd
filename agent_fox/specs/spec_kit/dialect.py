"""spec-kit's specs: spec.md, plan.md and tasks.md of one folder, put together."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.collected import ReadRequirements, ReadTasks, spec_of
from agent_fox.specs.common.beside import read_commands
from agent_fox.specs.common.rows import without_doubles
from agent_fox.specs.detection import SPEC_KIT
from agent_fox.specs.document import Documents, Markdown, read_documents
from agent_fox.specs.files import children, is_file, place_of, warning
from agent_fox.specs.spec_kit.identifiers import references_of
from agent_fox.specs.spec_kit.prose import needs_in, unfinished
from agent_fox.specs.spec_kit.requirements import read_requirements
from agent_fox.specs.spec_kit.tasks import read_tasks
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.core.spec import BareCriteria, Dependency, Problem, Spec
    from agent_fox.specs.lines import Line

_LIKE = patterns_in(__file__)
_SPEC, _PLAN, _TASKS = "spec.md", "plan.md", "tasks.md"
_BESIDE = ("data-model.md", "research.md", "quickstart.md")
_FOLDERS = ("contracts", "checklists")
_MOST_BESIDE = 200
_HEAD = 40
_LONGEST_HEADING = 4000
_FULL_WIDTH_ZERO = 0xFF10
_PLAIN = {0x2010: "-", 0x2011: "-", 0x00A0: " "} | {_FULL_WIDTH_ZERO + digit: str(digit) for digit in range(10)}
_ODD = regex(f"[{''.join(map(chr, _PLAIN))}]")


def read_spec_kit(folder: Path, root: Path, bare: BareCriteria) -> tuple[Spec | None, list[Problem]]:
    """Folders `NNN-name` with spec.md, plan.md and tasks.md, as spec-kit makes them, in any language."""
    documents = read_documents(folder, root, (_SPEC, _PLAN, _TASKS), frozenset({_PLAN}))
    if any(documents.lacks([name]) for name in (_SPEC, _TASKS)):
        return None, documents.problems
    read = {name: _plain(markdown) for name in documents.files if (markdown := documents.markdown(name))}
    return _spec(folder, root, documents, read, bare), documents.problems


def _plain(markdown: Markdown) -> Markdown:
    """The same with plain hyphens, digits and spaces: an id is written in many ways, and looks like one. Headings are
    of a length that headings have, for each is looked at for all tasks below it. The document itself, with its tree,
    where it is so already."""
    odd = [line for line in markdown.lines if not line.text.isascii() and _ODD.search(line.text)]
    odd += [line for line in markdown.lines if line.heading is not None and len(line.heading.title) > _LONGEST_HEADING]
    lines = {line.number: _plain_line(line) for line in odd}
    return replace(markdown, lines=tuple(lines.get(line.number, line) for line in markdown.lines)) if odd else markdown


def _plain_line(line: Line) -> Line:
    title = line.heading.title if line.heading else ""
    title = title if len(title) <= _LONGEST_HEADING else f"{title[:_LONGEST_HEADING]}…"
    heading = line.heading and line.heading._replace(title=title.translate(_PLAIN))
    return line._replace(text=line.text.translate(_PLAIN), heading=heading)


def _spec(folder: Path, root: Path, documents: Documents, read: dict[str, Markdown], bare: BareCriteria) -> Spec:
    requirements = read_requirements(read[_SPEC], bare) if _SPEC in read else ReadRequirements()
    tasks = read_tasks(read[_TASKS], references_of(requirements)) if _TASKS in read else ReadTasks()
    left = [problem for name in (_SPEC, _TASKS) if name in read for problem in unfinished(read[name])]
    documents.problems += [*requirements.problems, *tasks.problems, *left]
    ended = _ended(read[_SPEC]) if _SPEC in read else None
    if ended is not None:
        documents.problems.append(warning(ended, f"{folder.name} has ended: nothing of it is planned"))
    spec = replace(
        spec_of(SPEC_KIT, folder, root, documents, requirements, tasks),
        title=_title(read),
        dependencies=_dependencies(folder, documents, read),
        test_commands=dict(ChainMap(*map(read_commands, read.values()))),
        documents=documents.paths | dict(_beside(folder, root)),
    )
    gone = (*spec.expected, *spec.withdrawn)
    return replace(spec, requirements=(), withdrawn=gone, is_withdrawn=True) if ended is not None else spec


def _title(read: dict[str, Markdown]) -> str:
    """The first heading, without the kind of document before its colon."""
    for name in (_SPEC, _PLAN, _TASKS):
        titles = [line.heading.title for line in read[name].lines if line.heading] if name in read else []
        if titles:
            match = _LIKE["kind_of_document"].match(titles[0])
            return match["title"].strip() if match else titles[0]
    return ""


def _dependencies(folder: Path, documents: Documents, read: dict[str, Markdown]) -> tuple[Dependency, ...]:
    """The specs that this one says it needs. They are read from prose, so a problem reports what was understood."""
    siblings = sorted(path.name for path in children(folder.parent))
    rows = without_doubles(
        row
        for name, markdown in read.items()
        for row in needs_in(markdown, folder.name, siblings, header_only=name == _TASKS)
    )
    for row in rows:
        what = f"read as: all of {row.spec} comes before this spec. Say it in other words if that is not meant"
        documents.problems.append(warning(row.where, what))
    return rows


def _ended(markdown: Markdown) -> str | None:
    """The line whose status says that the spec has ended."""
    head = (line for line in markdown.lines[:_HEAD] if not line.is_code and _LIKE["ended"].match(line.text))
    return next((markdown.at(line.number) for line in head), None)


def _beside(folder: Path, root: Path) -> Iterator[tuple[str, str]]:
    """The documents that only people and agents read: they are named, not read here."""
    names = [name for name in _BESIDE if is_file(folder / name)]
    for name in _FOLDERS:
        names += [f"{name}/{path.name}" for path in sorted(children(folder / name)) if is_file(path)]
    yield from ((name, place_of(folder / name, root)) for name in names[:_MOST_BESIDE])
