"""Kiro's specs: requirements (or a bugfix), design and tasks of one folder, put together; and how far a spec was
approved, as spec.json says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ValidationError

from agent_fox.core.spec import Problem, Spec
from agent_fox.specs.collected import ReadRequirements, ReadTasks, spec_of
from agent_fox.specs.common.beside import read_commands
from agent_fox.specs.detection import KIRO
from agent_fox.specs.document import read_documents, title_of
from agent_fox.specs.files import TextFile, place_of, warning
from agent_fox.specs.kiro.ids import references_of
from agent_fox.specs.kiro.requirements import read_bugfix, read_requirements
from agent_fox.specs.kiro.tasks import read_properties, read_tasks

_REQUIREMENTS, _BUGFIX, _DESIGN, _TASKS, _STATE = "requirements.md", "bugfix.md", "design.md", "tasks.md", "spec.json"
_CAN_DO_WITHOUT = frozenset({_DESIGN, _STATE})
_STEPS = ("requirements", "design", "tasks")


class _Approval(BaseModel, defer_build=True):
    generated: bool = False
    approved: bool = False


class _SpecJson(BaseModel, defer_build=True):
    phase: str = ""
    approvals: dict[str, _Approval | bool] = {}


def read_kiro(folder: Path, root: Path) -> tuple[Spec | None, list[Problem]]:
    """Folders with `requirements.md` or `bugfix.md`, and `tasks.md`; ids are implied by the numbers there."""
    documents = read_documents(folder, root, (_REQUIREMENTS, _BUGFIX, _DESIGN, _TASKS, _STATE), _CAN_DO_WITHOUT)
    if any(documents.lacks([name]) for name in (_REQUIREMENTS, _BUGFIX, _TASKS)):
        return None, documents.problems
    requirements, bugfix = documents.markdown(_REQUIREMENTS), documents.markdown(_BUGFIX)
    read = read_requirements(requirements) if requirements else read_bugfix(bugfix) if bugfix else ReadRequirements()
    if requirements and bugfix:
        what = "stands beside requirements.md: only requirements.md is expected. Give the bugfix a folder of its own"
        documents.problems.append(warning(bugfix.where, what))
    if not (read.requirements or read.withdrawn):
        at = next((markdown.where for markdown in (requirements, bugfix) if markdown), place_of(folder, root))
        what = "holds no requirement with a number: nothing can be proven. Write `### Requirement 1: Title` and a list"
        documents.problems.append(warning(at, what))
    references = references_of(read.requirements, read.defects)
    markdown = documents.markdown(_TASKS)
    tasks = read_tasks(markdown, references) if markdown else ReadTasks()
    design = documents.markdown(_DESIGN)
    traces, problems = read_properties(design, references, tasks.properties) if design else ((), [])
    state = documents.files.get(_STATE)
    approvals = _check_approvals(state, has_tasks=bool(tasks.groups)) if state else ()
    documents.problems += [*problems, *read.problems, *tasks.problems, *approvals]
    commands = [item for each in (design, markdown) if each for item in read_commands(each).items()]
    tasks = replace(tasks, traceability=traces, test_commands=dict(commands))
    spec = spec_of(KIRO, folder, root, documents, read, tasks)
    # what the first document is called after its kind (`Design: T`); most are called by their kind alone
    files = [file for name, file in documents.files.items() if name != _STATE]
    titled = ((title_of([file]), file.text.lstrip("\ufeff \n").partition("\n")[0].strip("# ")) for file in files)
    title = next((title for title, first in titled if title and title != first), folder.name)
    return replace(spec, title=title), documents.problems


def _check_approvals(file: TextFile, *, has_tasks: bool) -> tuple[Problem, ...]:
    """What spec.json says against planning the spec now."""
    try:
        approvals = _SpecJson.model_validate_json(file.text)
    except ValidationError as wrong:
        reason = wrong.errors()[0]["msg"]
        return (warning(file.where, f"can't be read as Kiro's spec.json ({reason}): approvals are not known. Mend it"),)
    if not has_tasks:
        phase = f"says phase {approvals.phase!r}, and there " if approvals.phase else "there "
        return (warning(file.where, f"{phase}are no tasks yet: nothing of it is built. Write tasks.md"),)
    known = ((step, approvals.approvals[step]) for step in _STEPS if step in approvals.approvals)
    approved = ((step, each.approved if isinstance(each, _Approval) else each) for step, each in known)
    is_open = [step for step, is_approved in approved if not is_approved]
    what = f"{', '.join(is_open)} not approved: planned all the same. Approve, or leave the spec out"
    return (warning(file.where, what),) if is_open else ()
