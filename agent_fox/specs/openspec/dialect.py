"""OpenSpec's changes, which are planned, and its capabilities, which say what is there. A change says in prose what it
is called, and for which other changes it waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.spec import Dependency, Problem
from agent_fox.specs.collected import ReadTasks, spec_of
from agent_fox.specs.common.beside import read_commands
from agent_fox.specs.common.id_ranges import index_of
from agent_fox.specs.detection import OPENSPEC
from agent_fox.specs.document import read_documents, read_markdown
from agent_fox.specs.files import warning
from agent_fox.specs.openspec import folders
from agent_fox.specs.openspec.capabilities import capability, read_capabilities, stale_references
from agent_fox.specs.openspec.task_references import Names
from agent_fox.specs.openspec.tasks import read_tasks
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.core.spec import Spec
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.lines import Line

_LIKE = patterns_in(__file__)
_LONGEST = 4_000
_PROPOSAL, _TASKS, _DESIGN = "proposal.md", "tasks.md", "design.md"
_CAN_DO_WITHOUT = frozenset({_DESIGN})


def read_openspec(folder: Path, root: Path) -> tuple[Spec | None, list[Problem]]:
    """Changes with a proposal, deltas and tasks; and the capabilities that they change."""
    return _capability(folder, root) if folders.is_capability(folder) else _change(folder, root)


def _capability(folder: Path, root: Path) -> tuple[Spec | None, list[Problem]]:
    documents = read_documents(folder, root, (folders.SPEC_FILE, _DESIGN), _CAN_DO_WITHOUT)
    file = documents.first(folders.SPEC_FILE)
    if file is None:
        return None, documents.problems
    markdown = read_markdown(file)
    read = read_capabilities([capability(folder.name, markdown, is_baseline=True)])
    spec = spec_of(OPENSPEC, folder, root, documents, read.expected, ReadTasks())
    spec = replace(spec, name=folders.capability_name(folder), title=_title_in([markdown]), is_baseline=True)
    return spec, [*documents.problems, *read.problems]


def _change(folder: Path, root: Path) -> tuple[Spec | None, list[Problem]]:
    deltas, unlisted = folders.delta_files(folder, root)
    documents = read_documents(folder, root, (_PROPOSAL, _TASKS, _DESIGN, *deltas.values()), _CAN_DO_WITHOUT)
    documents.problems += unlisted
    if unlisted or any(documents.lacks([name]) for name in (_TASKS, *deltas.values())):
        return None, documents.problems
    capabilities = []
    for name, path in deltas.items():
        each = capability(name, read_markdown(documents.files[path]))
        if path.endswith(folders.SPEC_FILE) or each.delta.drafts or each.delta.renamed:  # else a document beside them
            capabilities.append(each)
    read = read_capabilities(capabilities)
    documents.problems += read.problems
    for each in capabilities:
        baseline = folders.baseline_file(folder, each.name)
        documents.problems += stale_references(each, baseline, root) if baseline else ()
    prose = {name: text for name in (_PROPOSAL, _TASKS) if (text := documents.markdown(name))}
    names = Names(read.names, read.scenarios, read.capabilities, index_of(read.requirements, ""))
    markdown = prose.get(_TASKS)
    tasks = read_tasks(markdown, names, _title_in([markdown]) or folder.name) if markdown else ReadTasks()
    documents.problems += tasks.problems
    rows, problems = _waits_for(prose.values(), partial(folders.is_other_change, folder))
    spec = replace(
        spec_of(OPENSPEC, folder, root, documents, read.expected, tasks),
        title=_title_in(prose.values()),
        dependencies=rows,
        test_commands=read_commands(markdown) if markdown else {},
        places=tasks.places | read.places,
    )
    return spec, [*documents.problems, *problems]


def _title_in(documents: Iterable[Markdown]) -> str:
    """The first heading of rank 1, without what it says about the kind of document."""
    for document in documents:
        tops = (line.heading.title for line in document.lines if line.heading is not None and line.heading.level == 1)
        named = _LIKE["kind_of_document"].sub("", next(tops, ""), count=1)
        if title := _LIKE["kind_after"].sub("", named).strip("*_` "):
            return title
    return ""


def _waits_for(
    documents: Iterable[Markdown], is_change: Callable[[str], bool]
) -> tuple[tuple[Dependency, ...], tuple[Problem, ...]]:
    """The other changes that prose says this one depends on, each once, and a word about each."""
    waits: dict[str, str] = {}
    is_known = cache(is_change)
    for document in documents:
        for name, line in _named(document, is_known):
            waits.setdefault(name, document.at(line))
    rows = tuple(Dependency(name, None, None, where, is_archived=True) for name, where in waits.items())
    what = "waits for {}: read from prose. Correct the sentence if it does not"
    return rows, tuple(warning(where, what.format(name)) for name, where in waits.items())


def _named(document: Markdown, is_change: Callable[[str], bool]) -> Iterator[tuple[str, int]]:
    for is_section, lines in _paragraphs(document.lines):
        text = " ".join(line.text.strip() for line in lines)[:_LONGEST]
        for sentence in _LIKE["sentence_ends"].split(text):
            waits = _LIKE["waits"].search(sentence)
            if waits is None and not is_section:
                continue
            begins = 0 if is_section or waits is None else waits.end()
            names = [name for name in _names(sentence, begins) if name and is_change(name)]
            rest = sentence
            for name in names:  # `remove-not-found` denies nothing
                rest = rest.replace(name, " ")
            if names and not _LIKE["no_wait"].search(rest):
                for name in names:
                    yield name, next((line.number for line in lines if name in line.text), lines[0].number)


def _names(sentence: str, begins: int) -> Iterator[str]:
    """What may be names of changes. One that may be an ordinary word counts in backticks alone."""
    for match in _LIKE["name"].finditer(sentence, begins):
        quoted, plain = (match["quoted"] or "").strip("/"), (match["plain"] or "").rstrip("-_")
        yield quoted.rpartition("/")[2] or (plain if "-" in plain or "_" in plain else "")


def _paragraphs(lines: Iterable[Line]) -> Iterator[tuple[bool, list[Line]]]:
    """Paragraphs and list items, each with whether it stands in a section about what is waited for."""
    section: int | None = None
    text: list[Line] = []
    for line in lines:
        if text and (line.heading or line.is_blank or line.is_code or _LIKE["item"].match(line.text)):
            yield section is not None, text
            text = []
        if line.heading is not None:
            level, is_one = line.heading.level, _LIKE["section"].match(line.heading.title) is not None
            section = section if section is not None and level > section else level if is_one else None
        elif not line.is_blank and not line.is_code:
            text.append(line)
    if text:
        yield section is not None, text
