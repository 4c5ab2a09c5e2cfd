"""Small spec folders for the tests of this package."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.graph import Plan
from agent_fox.core.spec import Problem, Spec
from agent_fox.specs.dialects import Dialect
from agent_fox.specs.document import Markdown, read_markdown
from agent_fox.specs.files import TextFile
from agent_fox.specs.planner import PlanShape, plan_of
from agent_fox.specs.reader import BUILT_IN, read_specs

TASKS = "# Plan\n\n- [ ] 1. Write failing tests\n  - [ ] 1.1 Write them\n\n- [ ] 2. Build it\n  - [ ] 2.1 Do it\n"


def built_in(name: str) -> Dialect:
    """One of the built-in dialects, by its name."""
    return next(dialect for dialect in BUILT_IN if dialect.name == name)


def markdown(text: str) -> Markdown:
    return read_markdown(TextFile("a.md", text))


def write_spec(specs: Path, name: str, **documents: str) -> Path:
    """A spec folder. Documents are named `tasks`, `requirements`, `prd`; `_json` at the end makes it JSON."""
    folder = specs / name
    folder.mkdir(parents=True)
    for document, text in documents.items():
        stem = document.removesuffix("_json")
        (folder / (stem + (".json" if document.endswith("_json") else ".md"))).write_text(text, "utf-8")
    return folder


def requirements(number: str, count: int = 1) -> str:
    """`count` requirements with one criterion each."""
    blocks = [
        f"### Requirement {n}: Part\n\n1. [{number}-REQ-{n}.1] THE part SHALL work.\n" for n in range(1, count + 1)
    ]
    return "# Requirements\n\n" + "\n".join(blocks)


def needs(*rows: str) -> str:
    """A prd with a dependency table of rows such as `01_a | 1 | 1`."""
    header = "# PRD\n\n## Dependencies\n\n| Spec | From Group | To Group | Relationship |\n|---|---|---|---|\n"
    return header + "".join(f"| {row} | uses it |\n" for row in rows)


def usual(specs: Path, name: str, *rows: str, tasks: str = TASKS) -> Path:
    """A spec with a requirement, two groups and dependency rows."""
    return write_spec(specs, name, tasks=tasks, requirements=requirements(name.split("_")[0]), prd=needs(*rows))


def read_one(specs: Path) -> tuple[Spec, tuple[Problem, ...]]:
    (spec,), problems = read_specs(specs, specs.parent)
    return spec, problems


def planned(specs: Path, shape: PlanShape | None = None) -> Plan:
    return plan_of(*read_specs(specs, specs.parent), shape)
