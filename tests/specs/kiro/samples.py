"""Small documents of Kiro's kind, read as the dialect reads them."""

from __future__ import annotations

from textwrap import dedent

from agent_fox.core.spec import Problem, Requirement, Severity
from agent_fox.specs.collected import ReadRequirements, ReadTasks
from agent_fox.specs.document import Markdown, read_markdown
from agent_fox.specs.files import TextFile
from agent_fox.specs.kiro.ids import References, references_of
from agent_fox.specs.kiro.requirements import read_bugfix, read_requirements
from agent_fox.specs.kiro.tasks import read_tasks

Shape = dict[str, tuple[list[str], list[str]]]


def markdown_of(text: str, where: str = "s/x.md") -> Markdown:
    return read_markdown(TextFile(where, dedent(text).lstrip("\n")))


def requirements_of(text: str) -> ReadRequirements:
    return read_requirements(markdown_of(text, "s/requirements.md"))


def bugfix_of(text: str) -> ReadRequirements:
    return read_bugfix(markdown_of(text, "s/bugfix.md"))


def shape(read: ReadRequirements) -> Shape:
    return {r.id: ([c.id for c in r.criteria], [e.id for e in r.edge_cases]) for r in read.requirements}


def ids(text: str) -> list[str]:
    return [part.id for requirement in requirements_of(text).requirements for part in requirement.parts]


def texts(text: str) -> dict[str, str]:
    return {part.id: part.text for requirement in requirements_of(text).requirements for part in requirement.parts}


def with_criteria(**counts: int) -> References:
    """References of a spec whose requirements (`_1=3`) have so many criteria each."""
    return references_of(requirement(name.strip("_"), count) for name, count in counts.items())


def requirement(identifier: str, count: int) -> Requirement:
    text = f"### Requirement {identifier}\n" + "".join(f"{n}. THE app SHALL do {n}\n" for n in range(1, count + 1))
    return requirements_of(text).requirements[0]


def tasks_of(text: str, references: References | None = None) -> ReadTasks:
    return read_tasks(markdown_of(text, "s/tasks.md"), references or with_criteria(_1=3, _2=5, _3=2))


def groups_of(read: ReadTasks) -> list[tuple[int, str, list[str]]]:
    return [(group.number, group.title, [task.number for task in group.subtasks]) for group in read.groups]


def said(problems: tuple[Problem, ...]) -> list[tuple[str, str]]:
    """Where each problem is, and how it begins: enough to know it by."""
    return [(problem.where, problem.what) for problem in problems]


def errors(problems: tuple[Problem, ...]) -> list[Problem]:
    return [problem for problem in problems if problem.severity is Severity.ERROR]
