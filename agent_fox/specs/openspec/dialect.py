"""OpenSpec's changes, which are planned, and its capabilities, which say what is there."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.specs.collected import ReadTasks, spec_of
from agent_fox.specs.common.beside import read_commands
from agent_fox.specs.common.id_ranges import index_of
from agent_fox.specs.detection import OPENSPEC
from agent_fox.specs.document import read_documents, read_markdown
from agent_fox.specs.openspec.capabilities import capability, read_capabilities, stale_references
from agent_fox.specs.openspec.folders import (
    SPEC_FILE,
    baseline_file,
    capability_name,
    delta_files,
    is_capability,
    is_other_change,
)
from agent_fox.specs.openspec.proposal import title_in, waits_for
from agent_fox.specs.openspec.task_references import Names
from agent_fox.specs.openspec.tasks import read_tasks

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem, Spec

_PROPOSAL, _TASKS, _DESIGN = "proposal.md", "tasks.md", "design.md"
_CAN_DO_WITHOUT = frozenset({_DESIGN})


def read_openspec(folder: Path, root: Path) -> tuple[Spec | None, list[Problem]]:
    """Changes with a proposal, deltas and tasks; and the capabilities that they change."""
    return _capability(folder, root) if is_capability(folder) else _change(folder, root)


def _capability(folder: Path, root: Path) -> tuple[Spec | None, list[Problem]]:
    documents = read_documents(folder, root, (SPEC_FILE, _DESIGN), _CAN_DO_WITHOUT)
    file = documents.first(SPEC_FILE)
    if file is None:
        return None, documents.problems
    markdown = read_markdown(file)
    read = read_capabilities([capability(folder.name, markdown, is_baseline=True)])
    spec = spec_of(OPENSPEC, folder, root, documents, read.expected, ReadTasks())
    spec = replace(spec, name=capability_name(folder), title=title_in([markdown]), is_baseline=True)
    return spec, [*documents.problems, *read.problems]


def _change(folder: Path, root: Path) -> tuple[Spec | None, list[Problem]]:
    deltas, unlisted = delta_files(folder, root)
    documents = read_documents(folder, root, (_PROPOSAL, _TASKS, _DESIGN, *deltas.values()), _CAN_DO_WITHOUT)
    documents.problems += unlisted
    if unlisted or any(documents.lacks([name]) for name in (_TASKS, *deltas.values())):
        return None, documents.problems
    capabilities = [
        one
        for name, path in deltas.items()
        if (one := capability(name, read_markdown(documents.files[path]))).delta.drafts
        or one.delta.renamed
        or path.endswith(SPEC_FILE)  # any other file without a requirement is a document beside
    ]
    read = read_capabilities(capabilities)
    documents.problems += read.problems
    for one in capabilities:
        baseline = baseline_file(folder, one.name)
        documents.problems += stale_references(one, baseline, root) if baseline else ()
    prose = {name: text for name in (_PROPOSAL, _TASKS) if (text := documents.markdown(name))}
    names = Names(read.names, read.scenarios, read.capabilities, index_of(read.requirements, ""))
    markdown = prose.get(_TASKS)
    tasks = read_tasks(markdown, names, title_in([markdown]) or folder.name) if markdown else ReadTasks()
    documents.problems += tasks.problems
    rows, problems = waits_for(prose.values(), partial(is_other_change, folder))
    spec = replace(
        spec_of(OPENSPEC, folder, root, documents, read.expected, tasks),
        title=title_in(prose.values()),
        dependencies=rows,
        test_commands=read_commands(markdown) if markdown else {},
        places=tasks.places | read.places,
    )
    return spec, [*documents.problems, *problems]
