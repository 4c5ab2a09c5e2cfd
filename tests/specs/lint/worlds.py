"""Small repositories for the tests of the linter: a good spec, and what is changed about it."""

from __future__ import annotations

from pathlib import Path

from agent_fox.config import LintSettings
from agent_fox.core.graph import Plan
from agent_fox.core.spec import Problem, Spec
from agent_fox.specs.lint.rules import lint
from agent_fox.specs.lint.values import Finding
from agent_fox.specs.lint.world import World
from agent_fox.specs.planner import plan_of
from agent_fox.specs.reader import read_specs

SPECS = Path("specs")
REQUIREMENTS = """# Requirements

### Requirement 1: Sum

#### Acceptance Criteria

1. [01-REQ-1.1] WHEN two numbers are given, THE calculator SHALL add them.

#### Edge Cases

1. [01-REQ-1.E1] IF one of the numbers is missing, THEN THE calculator SHALL say so.
"""
TASKS = """# Plan

- [ ] 1. Write failing tests
  - [ ] 1.1 Write tests of the sum
    - _Requirements: 01-REQ-1.1, 01-REQ-1.E1_

- [ ] 2. Build the sum
  - [ ] 2.1 Add
    - _Requirements: 01-REQ-1.1, 01-REQ-1.E1_
"""
OTHER = {
    "02_other/requirements.md": REQUIREMENTS.replace("01-", "02-"),
    "02_other/tasks.md": TASKS.replace("01-", "02-"),
}
GOOD = {"01_sum/requirements.md": REQUIREMENTS, "01_sum/tasks.md": TASKS}
ROWS = "# PRD\n\n## Dependencies\n\n| Spec | From Group | To Group | Relationship |\n|---|---|---|---|\n"


def write(root: Path, files: dict[str, str]) -> Path:
    """A repository with these files below its folder of specs, beside the good one's; gives the root."""
    (root / ".git").mkdir(parents=True, exist_ok=True)
    for name, text in (GOOD | files).items():
        path = root / SPECS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    return root


def read(root: Path, **settings: int | list[str]) -> World:
    plan = plan_of(*read_specs(root / SPECS, root))
    return World(root, plan, LintSettings.model_validate(settings), (root / ".git").exists())


def found(root: Path, files: dict[str, str], **settings: int | list[str]) -> list[Finding]:
    return list(lint(read(write(root, files), **settings)).findings)


def of_rule(rule: str, findings: list[Finding]) -> list[tuple[str, str]]:
    """Places (below the folder of specs) and sentences of a rule's findings."""
    return [(f.where.removeprefix("specs/"), f.what) for f in findings if f.rule == rule]


def made(root: Path, *specs: Spec, problems: tuple[Problem, ...] = ()) -> World:
    """A world of specs that were made, not read."""
    return World(root, Plan(specs, (), (), problems), LintSettings(), True)
