"""Small spec-kit folders for the tests of this package."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.spec import Problem, Spec
from tests.specs.worlds import built_in


def write(root: Path, name: str = "002-cart", **documents: str) -> Path:
    folder = root / "specs" / name
    folder.mkdir(parents=True, exist_ok=True)
    for document, text in documents.items():
        (folder / f"{document}.md").write_text(text, "utf-8")
    return folder


def read(root: Path, name: str = "002-cart", **documents: str) -> tuple[Spec, list[str]]:
    """The spec of these documents, and its problems as `file:line what`."""
    folder = write(root, name, **documents)
    spec, problems = built_in("spec-kit").read(folder, root)
    assert spec is not None
    return spec, [told(problem, folder.name) for problem in problems]


def told(problem: Problem, name: str) -> str:
    return f"{problem.where.removeprefix(f'specs/{name}/')} {problem.what}"
