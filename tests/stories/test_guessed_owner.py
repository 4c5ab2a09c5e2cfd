"""A spec whose tasks name no requirement: who gets a FAIL back is guessed, said, and corrected by a person."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.worlds import Req, World, commit_all, run_cli
from tests.stories.scene import PROVEN, coders, outcomes, run

SPEC = """# Feature Specification: Notes

## Requirements *(mandatory)*

### Functional Requirements

- **FR-001**: System MUST move notes that are older than a year into the archive
- **FR-002**: System MUST find notes by the words of their title
"""

TASKS = """# Tasks: Notes

## Phase 1: Archive

- [ ] T001 Move old notes into the archive in notes/archive.py

## Phase 2: Search

- [ ] T002 Find notes by words in notes/search.py
- [ ] T003 Leave out what is in the archive

## Phase 3: Look

- [ ] T004 Choose colours
"""


def build(folder: Path, owner: int) -> Path:
    """A world in which the coder of this group makes FR-001, wrongly at first."""
    root = World({}).build(folder)
    World({"001-notes": [Req("FR-001", owner, right_at=2), Req("FR-002", 2)]}).write_story(root)
    spec = root / "specs" / "001-notes"
    spec.mkdir(parents=True)
    for name, text in (("spec.md", SPEC), ("plan.md", "# Plan\n"), ("tasks.md", TASKS)):
        (spec / name).write_text(text)
    commit_all(root, "a spec")
    return root


def brief(root: Path, session: str) -> str:
    """The kept brief of a coder's session, such as `001-notes-1.2` for the second attempt of group 1."""
    (file,) = (root / ".agent-fox" / "logs").glob(f"{session}.*.brief.md")
    return file.read_text()


def test_a_fail_goes_to_the_guessed_owner_and_its_brief_names_who_comes_next(tmp_path: Path) -> None:
    root = build(tmp_path, owner=1)
    run(root, ends=PROVEN)
    assert coders(root) == {"001-notes:1": 2, "001-notes:2": 1, "001-notes:3": 1}
    assert outcomes(root) == {"001-notes:4": "verified"}
    text = brief(root, "001-notes-1.2")
    assert "That this is the work of your group is a guess, for no task names it: both say move, older, archive" in text
    assert "If it is not, it would next be that of group 2. Search." in text
    assert "is a guess" not in brief(root, "001-notes-1.1")


def test_corrected_by_a_person_the_fail_goes_elsewhere(tmp_path: Path) -> None:
    root = build(tmp_path, owner=3)
    assert run_cli(root, "plan", "--owners").returncode == 0
    file = root / ".agent-fox" / "owners.toml"
    lines = file.read_text().splitlines()
    (guess,) = (line for line in lines if line.startswith('# "FR-001" = "1. Archive"'))
    file.write_text("\n".join('"FR-001" = "3. Look"' if line == guess else line for line in lines))
    run(root, ends=PROVEN)
    assert coders(root) == {"001-notes:1": 1, "001-notes:2": 1, "001-notes:3": 2}
    assert "is a guess" not in brief(root, "001-notes-3.2")
