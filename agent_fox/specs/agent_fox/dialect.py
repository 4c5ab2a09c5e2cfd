"""The agent-fox dialect: the documents of a spec folder, in Markdown or JSON, put together as one spec."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agent_fox.core.regex import regex
from agent_fox.core.spec import BareCriteria, Dependency, Problem, Severity, SourceIssue, Spec
from agent_fox.core.values import dataclass
from agent_fox.specs.agent_fox.commands import read_commands
from agent_fox.specs.agent_fox.dependencies import read_dependencies, without_doubles
from agent_fox.specs.agent_fox.id_ranges import PartIndex, index_of
from agent_fox.specs.agent_fox.requirements import read_requirements
from agent_fox.specs.agent_fox.source import source_in
from agent_fox.specs.agent_fox.tasks import read_tasks
from agent_fox.specs.agent_fox.traceability import read_traceability
from agent_fox.specs.collected import ReadRequirements, ReadTasks, spec_of
from agent_fox.specs.detection import AGENT_FOX, NUMBERED
from agent_fox.specs.document import HEAD, Documents, Markdown, conflict_in, read_documents, read_markdown, title_of
from agent_fox.specs.files import TextFile, warning

_TASKS = ("tasks.json", "tasks.md")
_REQUIREMENTS = ("requirements.json", "requirements.md")
_OTHERS = ("prd.md", "design.md", "test_spec.md", "test_spec.json")
_CAN_DO_WITHOUT = frozenset({"design.md", "test_spec.md", "test_spec.json"})
_SUPERSEDED = regex(r"[>*_#\s]{0,12}SUPERSEDED[*_]{0,3}\s+by\b", re.IGNORECASE)
_MAY_NAME_A_SOURCE = regex(r"^[>*_\s-]{0,12}source", re.IGNORECASE | re.MULTILINE)
_FRONT_MATTER = "---"
_ENDED = regex(r"status:\s*['\"]?(superseded|archived)\b")


@dataclass(frozen=True, slots=True)
class _PrdPart:
    """What a prd.md says to a plan."""

    dependencies: tuple[Dependency, ...] = ()
    source: SourceIssue | None = None
    problems: tuple[Problem, ...] = ()


def read_agent_fox(folder: Path, root: Path, bare: BareCriteria) -> tuple[Spec | None, list[Problem]]:
    """Folders `NN_name` with requirements and tasks; a folder without a number if it has tasks."""
    documents = read_documents(folder, root, (*_REQUIREMENTS, *_TASKS, *_OTHERS), _CAN_DO_WITHOUT)
    numbered = NUMBERED.fullmatch(folder.name)
    requirements = _requirements(documents, numbered[1] if numbered else "", bare)
    index = index_of(requirements.requirements, requirements.prefix)
    prd = _prd_from(documents.files["prd.md"], folder.name) if "prd.md" in documents.files else _PrdPart()
    tasks = _tasks(documents, folder.name, index, prd)
    documents.problems += [*requirements.problems, *tasks.problems, *_conflicts(documents)]
    if documents.lacks(_REQUIREMENTS) or documents.lacks(_TASKS):
        return None, documents.problems
    titled = [documents.files[name] for name in ("prd.md", "tasks.md", "requirements.md") if name in documents.files]
    spec = spec_of(AGENT_FOX, folder, root, documents, requirements, tasks)
    spec = replace(spec, title=title_of(titled), source=prd.source)
    return _as_withdrawn(spec, documents), documents.problems


def _conflicts(documents: Documents) -> Iterator[Problem]:
    """What a merge left in Markdown that is not read further: nothing of the plan hangs on it."""
    unread = [file for name, file in documents.files.items() if name in _CAN_DO_WITHOUT and name.endswith(".md")]
    for problem in filter(None, map(conflict_in, unread)):
        yield replace(problem, severity=Severity.WARNING)


def _requirements(documents: Documents, number: str, bare: BareCriteria) -> ReadRequirements:
    file = documents.first(*_REQUIREMENTS)
    if file is None:
        return ReadRequirements(prefix=number)
    if file.where.endswith(".md"):
        return _requirements_from(file, number, bare)
    from agent_fox.specs.agent_fox.json_form import requirements_from_json  # noqa: PLC0415 - heavy, and most specs are Markdown

    read = requirements_from_json(file, number)
    return _unread(documents, read, "requirements.json") if isinstance(read, Problem) else read


def _unread(documents: Documents, problem: Problem, name: str) -> ReadRequirements:
    del documents.files[name]
    return ReadRequirements(problems=(problem,))


def _tasks(documents: Documents, spec_name: str, index: PartIndex, prd: _PrdPart) -> ReadTasks:
    """What tasks.md or tasks.json says, with the dependencies and the problems of prd.md."""
    file = documents.first(*_TASKS)
    if file is None:
        return ReadTasks(dependencies=without_doubles(prd.dependencies), problems=prd.problems)
    if file.where.endswith(".md"):
        tasks = _tasks_from(file, spec_name, index)
        dependencies = without_doubles([*prd.dependencies, *tasks.dependencies])
        return replace(tasks, dependencies=dependencies, problems=(*prd.problems, *tasks.problems))
    from agent_fox.specs.agent_fox.json_form import tasks_from_json  # noqa: PLC0415 - heavy, and most specs are Markdown

    read = tasks_from_json(file, index, documents.files.get("test_spec.json"))
    if isinstance(read, Problem):
        del documents.files["tasks.json"]
        return ReadTasks(problems=(*prd.problems, read))
    dependencies = without_doubles([*read.dependencies, *_not_named(prd.dependencies, read.dependencies)])
    return replace(read, dependencies=dependencies, problems=(*prd.problems, *read.problems))


def _not_named(in_prd: tuple[Dependency, ...], in_tasks: tuple[Dependency, ...]) -> list[Dependency]:
    """tasks.json says exactly what prd.md tells in words: its rows about a spec count alone."""
    named = {_head(dependency.spec) for dependency in in_tasks}
    return [dependency for dependency in in_prd if _head(dependency.spec) not in named]


def _head(name: str) -> str:
    head = name.partition("_")[0]
    return str(int(head)) if head.isdecimal() else name


def _as_withdrawn(spec: Spec, documents: Documents) -> Spec:
    """A spec that says it is superseded expects nothing."""
    files = [file for name, file in documents.files.items() if name.endswith(".md") and name not in _CAN_DO_WITHOUT]
    banners = [file for file in files if _is_superseded(file)]
    prd = documents.files.get("prd.md")
    if not banners and not (prd and _front_matter_ended(prd)):
        return spec
    where = banners[0].where if banners else f"{spec.path}/prd.md"
    documents.problems.append(warning(where, f"{spec.name} is superseded: nothing of it is planned"))
    return replace(spec, requirements=(), withdrawn=(*spec.expected, *spec.withdrawn), is_withdrawn=True)


def _front_matter_ended(prd: TextFile) -> bool:
    head = prd.text.split("\n---", 1)[0]
    return head.startswith("---") and _ENDED.search(head) is not None


def _requirements_from(file: TextFile, number: str, bare: BareCriteria) -> ReadRequirements:
    markdown = read_markdown(file)
    read = read_requirements(markdown, number, bare)
    return replace(read, problems=(*markdown.problems, *read.problems))


def _tasks_from(file: TextFile, spec_name: str, index: PartIndex) -> ReadTasks:
    markdown = read_markdown(file)
    tasks = read_tasks(markdown, index, file.text)
    traces, problems = read_traceability(markdown, index)
    return replace(
        tasks,
        problems=(*markdown.problems, *tasks.problems, *problems),
        dependencies=read_dependencies(markdown, spec_name),
        traceability=traces,
        test_commands=read_commands(markdown),
    )


def _prd_from(file: TextFile, spec_name: str) -> _PrdPart:
    markdown = read_markdown(file)
    source = source_in(markdown) if _MAY_NAME_A_SOURCE.search(file.text) else None
    return _PrdPart(read_dependencies(markdown, spec_name), source, markdown.problems)


def _is_superseded(file: TextFile) -> bool:
    """`**SUPERSEDED** by ...` as the first line that says anything."""
    first = _first_line(read_markdown(file))
    return first is not None and "superseded" in first.lower() and _SUPERSEDED.match(first) is not None


def _first_line(markdown: Markdown) -> str | None:
    """The first text after front matter."""
    lines = [line.text.strip() for line in markdown.lines[:HEAD] if not line.is_blank]
    if lines and lines[0] == _FRONT_MATTER and _FRONT_MATTER in lines[1:]:
        lines = lines[lines.index(_FRONT_MATTER, 1) + 1 :]
    return lines[0] if lines else None
