"""The agent-fox dialect: the documents of a spec folder, in Markdown or JSON, put together as one spec."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent_fox.core.spec import BareCriteria, Problem, Severity, Spec
from agent_fox.specs.agent_fox.requirements import read_requirements
from agent_fox.specs.agent_fox.tasks import read_tasks
from agent_fox.specs.collected import ReadRequirements, ReadTasks, spec_of
from agent_fox.specs.common import beside
from agent_fox.specs.common.id_ranges import PartIndex, index_of
from agent_fox.specs.detection import AGENT_FOX, NUMBERED
from agent_fox.specs.document import HEAD, Documents, Markdown, conflict_in, read_documents, read_markdown, title_of
from agent_fox.specs.files import warning
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_TASKS = ("tasks.json", "tasks.md")
_REQUIREMENTS = ("requirements.json", "requirements.md")
_OTHERS = ("prd.md", "design.md", "test_spec.md", "test_spec.json")
_CAN_DO_WITHOUT = frozenset({"design.md", "test_spec.md", "test_spec.json"})
_FRONT_MATTER = "---"


def read_agent_fox(folder: Path, root: Path, bare: BareCriteria) -> tuple[Spec | None, list[Problem]]:
    """Folders `NN_name` with requirements and tasks; a folder without a number if it has tasks."""
    documents = read_documents(folder, root, (*_REQUIREMENTS, *_TASKS, *_OTHERS), _CAN_DO_WITHOUT)
    numbered = NUMBERED.fullmatch(folder.name)
    requirements = _requirements(documents, numbered[1] if numbered else "", bare)
    index = index_of(requirements.requirements, requirements.prefix)
    file = documents.files.get("prd.md")
    prd = read_markdown(file) if file else Markdown("", ())
    tasks = _tasks(documents, folder.name, index, prd)
    documents.problems += [*requirements.problems, *tasks.problems]
    unread = (each for name, each in documents.files.items() if name in _CAN_DO_WITHOUT and name.endswith(".md"))
    conflicts = filter(None, map(conflict_in, unread))  # nothing of the plan hangs on what is not read further
    documents.problems += (replace(problem, severity=Severity.WARNING) for problem in conflicts)
    if documents.lacks(_REQUIREMENTS) or documents.lacks(_TASKS):
        return None, documents.problems
    titled = [documents.files[name] for name in ("prd.md", "tasks.md", "requirements.md") if name in documents.files]
    spec = spec_of(AGENT_FOX, folder, root, documents, requirements, tasks)
    source = beside.source_in(prd) if file and _LIKE["may_name_a_source"].search(file.text) else None
    spec = replace(spec, title=title_of(titled), source=source)
    return _as_withdrawn(spec, documents), documents.problems


def _requirements(documents: Documents, number: str, bare: BareCriteria) -> ReadRequirements:
    file = documents.first(*_REQUIREMENTS)
    if file is None:
        return ReadRequirements(prefix=number)
    if file.where.endswith(".md"):
        markdown = read_markdown(file)
        in_markdown = read_requirements(markdown, number, bare)
        return replace(in_markdown, problems=(*markdown.problems, *in_markdown.problems))
    from agent_fox.specs.agent_fox.json_form import requirements_from_json  # noqa: PLC0415 - heavy, and most specs are Markdown

    read = requirements_from_json(file, number)
    if isinstance(read, Problem):
        del documents.files["requirements.json"]
        return ReadRequirements(problems=(read,))
    return read


def _tasks(documents: Documents, spec_name: str, index: PartIndex, prd: Markdown) -> ReadTasks:
    """What tasks.md or tasks.json says, with the dependencies and the problems of prd.md."""
    file = documents.first(*_TASKS)
    in_prd = beside.read_dependencies(prd, spec_name)
    if file is not None and not file.where.endswith(".md"):
        from agent_fox.specs.agent_fox.json_form import tasks_from_json  # noqa: PLC0415 - heavy, and most specs are Markdown

        in_json = tasks_from_json(file, index, documents.files.get("test_spec.json"))
        if isinstance(in_json, Problem):
            del documents.files["tasks.json"]
            return ReadTasks(problems=(*prd.problems, in_json))
        # it says exactly what prd.md tells in words: its rows about a spec count alone, and come first
        named = {beside.number_of(row.spec) for row in in_json.dependencies}
        rows = (*in_json.dependencies, *(row for row in in_prd if beside.number_of(row.spec) not in named))
        return replace(in_json, dependencies=beside.without_doubles(rows), problems=(*prd.problems, *in_json.problems))
    if file is None:
        return ReadTasks(dependencies=beside.without_doubles(in_prd), problems=prd.problems)
    markdown = read_markdown(file)
    read = read_tasks(markdown, index, file.text)
    traces, problems = beside.read_traceability(markdown, index)
    return replace(
        read,
        problems=(*prd.problems, *markdown.problems, *read.problems, *problems),
        dependencies=beside.without_doubles([*in_prd, *beside.read_dependencies(markdown, spec_name)]),
        traceability=traces,
        test_commands=beside.read_commands(markdown),
    )


def _as_withdrawn(spec: Spec, documents: Documents) -> Spec:
    """A spec that says it is superseded expects nothing: in a banner, or in the front matter of prd.md."""
    banner = None
    for file in (
        each for name, each in documents.files.items() if name.endswith(".md") and name not in _CAN_DO_WITHOUT
    ):
        # the first line that says anything after front matter: `**SUPERSEDED** by ...`
        lines = [line.text.strip() for line in read_markdown(file).lines[:HEAD] if not line.is_blank]
        if lines and lines[0] == _FRONT_MATTER and _FRONT_MATTER in lines[1:]:
            lines = lines[lines.index(_FRONT_MATTER, 1) + 1 :]
        banner = banner or (file if lines and _LIKE["superseded"].match(lines[0]) else None)
    head = documents.files["prd.md"].text.split("\n---", 1)[0] if "prd.md" in documents.files else ""
    has_ended = head.startswith(_FRONT_MATTER) and _LIKE["ended"].search(head) is not None
    if banner is None and not has_ended:
        return spec
    where = banner.where if banner else f"{spec.path}/prd.md"
    documents.problems.append(warning(where, f"{spec.name} is superseded: nothing of it is planned"))
    return replace(spec, requirements=(), withdrawn=(*spec.expected, *spec.withdrawn), is_withdrawn=True)
