"""`plan --accounted`: where each item of the documents went, on a screen and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import said, start

REQUIREMENTS = """\
# Requirements

### Requirement 1: Lock

#### Acceptance Criteria

1. WHEN asked THE lock SHALL open.
   - at once

### Further requirements

- The lock MUST be blue.

## Notes

- Blue is nice.
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / ".kiro" / "specs" / "locks"
    folder.mkdir(parents=True)
    (folder / "requirements.md").write_text(REQUIREMENTS)
    (folder / "tasks.md").write_text("- [ ] 1. Build\n  - [ ] 1.1 Open\n")
    return tmp_path


def test_each_item_is_listed_with_its_line_and_where_it_went(root: Path) -> None:
    done = start(root, "plan", "--accounted")
    assert done.returncode == 1
    place = ".kiro/specs/locks"
    assert [line.partition("  | ")[0].strip() for line in done.stdout.partition("locks: ")[2].splitlines()] == [
        "11 items: 2 ids, 1 part of one, 2 in groups, 5 context, 1 left over",
        f"{place}/requirements.md:1  heading  context: Requirements",
        f"{place}/requirements.md:3  heading  id 1",
        f"{place}/requirements.md:5  heading  context: Acceptance Criteria",
        f"{place}/requirements.md:7  item  id 1.1",
        f"{place}/requirements.md:8  item  part of 1.1",
        f"{place}/requirements.md:10  heading  context: Further requirements",
        f"{place}/requirements.md:12  item  left over, an error",
        f"{place}/requirements.md:14  heading  context: Notes",
        f"{place}/requirements.md:16  item  context: Notes",
        f"{place}/tasks.md:1  box  group 1",
        f"{place}/tasks.md:2  box  task 1.1",
    ]


def test_it_is_told_as_json_too(root: Path) -> None:
    (spec,) = json.loads(start(root, "plan", "--accounted", "--json").stdout)["accounted"]
    left = [item for item in spec["items"] if item["fate"] == "leftover"]
    assert [(item["where"].rpartition(":")[2], item["is_error"], item["text"]) for item in left] == [
        ("12", True, "The lock MUST be blue.")
    ]


def test_markdown_has_no_place_for_it(root: Path) -> None:
    assert "--accounted is shown as text or with --json" in said(
        start(root, "plan", "--accounted", "--format", "markdown")
    )
