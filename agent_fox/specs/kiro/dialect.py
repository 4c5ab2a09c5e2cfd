"""Kiro's specs: requirements (or a bugfix), design and tasks of one folder, put together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.specs.collected import ReadRequirements, ReadTasks, spec_of
from agent_fox.specs.common.beside import read_commands
from agent_fox.specs.detection import KIRO
from agent_fox.specs.document import Documents, read_documents, title_of
from agent_fox.specs.files import place_of, warning
from agent_fox.specs.kiro.checks import check_approvals
from agent_fox.specs.kiro.fields import read_properties
from agent_fox.specs.kiro.references import references_of
from agent_fox.specs.kiro.requirements import read_bugfix, read_requirements
from agent_fox.specs.kiro.tasks import read_tasks

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem, Spec

_REQUIREMENTS, _BUGFIX, _DESIGN, _TASKS, _STATE = "requirements.md", "bugfix.md", "design.md", "tasks.md", "spec.json"
_CAN_DO_WITHOUT = frozenset({_DESIGN, _STATE})


def read_kiro(folder: Path, root: Path) -> tuple[Spec | None, list[Problem]]:
    """Folders with `requirements.md` or `bugfix.md`, and `tasks.md`; ids are implied by the numbers there."""
    documents = read_documents(folder, root, (_REQUIREMENTS, _BUGFIX, _DESIGN, _TASKS, _STATE), _CAN_DO_WITHOUT)
    if any(documents.lacks([name]) for name in (_REQUIREMENTS, _BUGFIX, _TASKS)):
        return None, documents.problems
    read = _expected(documents, place_of(folder, root))
    references = references_of(read.requirements, read.defects)
    markdown = documents.markdown(_TASKS)
    tasks = read_tasks(markdown, references) if markdown else ReadTasks()
    design = documents.markdown(_DESIGN)
    traces, problems = read_properties(design, references, tasks.properties) if design else ((), ())
    state = documents.files.get(_STATE)
    approvals = check_approvals(state, has_tasks=bool(tasks.groups)) if state else ()
    documents.problems += [*problems, *read.problems, *tasks.problems, *approvals]
    commands = [item for each in (design, markdown) if each for item in read_commands(each).items()]
    tasks = replace(tasks, traceability=traces, test_commands=dict(commands))
    spec = spec_of(KIRO, folder, root, documents, read, tasks)
    return replace(spec, title=_title(documents, folder.name)), documents.problems


def _expected(documents: Documents, where: str) -> ReadRequirements:
    """What is to be proven, from requirements.md, else from bugfix.md."""
    requirements = documents.markdown(_REQUIREMENTS)
    bugfix = documents.markdown(_BUGFIX)
    if requirements is None:
        read = read_bugfix(bugfix) if bugfix else ReadRequirements()
    else:
        read = read_requirements(requirements)
    if requirements and bugfix:
        what = "stands beside requirements.md: only requirements.md is expected. Give the bugfix a folder of its own"
        documents.problems.append(warning(bugfix.where, what))
    if not (read.requirements or read.withdrawn):
        at = next((markdown.where for markdown in (requirements, bugfix) if markdown), where)
        what = "holds no requirement with a number: nothing can be proven. Write `### Requirement 1: Title` and a list"
        documents.problems.append(warning(at, what))
    return read


def _title(documents: Documents, name: str) -> str:
    """What the first document is called after its kind (`Design: T`); most are called by their kind alone."""
    for key, file in documents.files.items():
        title = title_of([file]) if key != _STATE else ""
        if title and title != file.text.lstrip("\ufeff \n").partition("\n")[0].strip("# "):
            return title
    return name
