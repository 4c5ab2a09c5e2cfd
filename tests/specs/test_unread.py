"""What a document says and no reading of it holds is told, whatever the dialect."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.specs.reader import read_specs

AGENT_FOX = """# R

## Introduction
The part MUST be small.

### 02-REQ-1: A
1. **02-REQ-1.1**: THE part SHALL open.
{}

## Non-functional
- THE part SHALL be quick.
> THE part MUST be blue.
Requirements use EARS: IF, THEN and SHALL. The word "MUST" is strong.
```
- THE part SHALL stand in a sample.
```
<!-- THE part MUST be hidden. -->
"""
TASKS = "- [ ] 1. Build\n{}\n## Notes\n- [ ] Call the neighbour\n## Legend\n- [ ] open\n```\n- [ ] 2. Sample\n```\n"
SPEC_KIT = """# Feature Specification: A

## Requirements
- **FR-001**: It MUST open.
> **FR-002**: It MUST close.

| Requirement | ID |
|---|---|
| It MUST shine | FR-003 |

## Success Criteria
- **SC-001**: It opens in 2 s.
- Nine of ten people smile.

## Assumptions
- A key MUST be there, as FR-001 says.
"""
KIRO = "# R\n\n### Requirement 1\n1. THE part SHALL open.\n\n## Notes\nTHE part MUST be blue.\n"
OPENSPEC = """## ADDED Requirements
### Requirement: A
It SHALL open.
#### Scenario: S
- **WHEN** asked
- **THEN** it opens

## Non-functional
- It SHALL be quick.

## REMOVED Requirements
### Requirement: Old
It SHALL rust.
"""


def told(root: Path, **documents: str) -> list[str]:
    """The warnings about a spec with these documents, without the remedies; `tasks_md` is `tasks.md`."""
    for name, text in documents.items():
        file = root / "specs" / "02_a" / name.replace("__", "/").replace("_md", ".md")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    _, problems = read_specs(root / "specs", root)
    words = ("outside of all", "that nothing is read under", "belong to no task group")
    return [problem.what.partition(".")[0] for problem in problems if any(word in problem.what for word in words)]


def test_obligations_that_nothing_holds_are_told_and_samples_and_comments_are_not(tmp_path: Path) -> None:
    assert told(tmp_path, requirements_md=AGENT_FOX.format(""), tasks_md=TASKS.format("")) == [
        "SHALL or MUST outside of all that is to be proven: lines 11 and 12",
        "SHALL or MUST outside of all that is to be proven: line 4",
        "boxes that belong to no task group: line 4",
    ]


@pytest.mark.parametrize("line", ["2. THE part SHALL close 02-REQ-1.2", "| shut | 02-REQ-1.2 |"])
def test_an_id_that_nothing_is_read_under_is_told(tmp_path: Path, line: str) -> None:
    ids = told(tmp_path, requirements_md=AGENT_FOX.format(line))[-1]
    assert ids == "ids that nothing is read under: 02-REQ-1"
    found = [p for p in read_specs(tmp_path / "specs", tmp_path)[1] if "nothing is read under" in p.what]
    assert [(p.where.rpartition(":")[2], "02-REQ-1.2 (line 8)" in p.what) for p in found] == [("8", True)]


def test_ids_in_quotes_and_last_cells_of_spec_kit_are_told(tmp_path: Path) -> None:
    said = told(tmp_path, spec_md=SPEC_KIT, plan_md="# P\n")
    assert said == [
        "SHALL or MUST outside of all that is to be proven: line 9",
        "SHALL or MUST outside of all that is to be proven: line 16",
        "ids that nothing is read under: FR-003 (line 9)",
        "ids that nothing is read under: FR-002 (line 5)",
    ]


def test_a_success_criterion_without_an_id_is_a_detail_of_the_one_above_it(tmp_path: Path) -> None:
    told(tmp_path, spec_md=SPEC_KIT, plan_md="# P\n")
    (spec,), _ = read_specs(tmp_path / "specs", tmp_path)
    assert [one.details for one in spec.requirements if one.id == "SC-001"] == [("Nine of ten people smile.",)]


def test_notes_of_kiro_and_other_sections_of_openspec_are_told_and_what_is_removed_is_told_once(tmp_path: Path) -> None:
    assert told(tmp_path / "k", requirements_md=KIRO) == ["SHALL or MUST outside of all that is to be proven: line 7"]
    assert told(tmp_path / "o", proposal_md="# A\n", specs__x__spec_md=OPENSPEC) == [
        "SHALL or MUST outside of all that is to be proven: line 9"
    ]


def test_line_ends_marks_in_front_and_front_matter_hide_nothing(tmp_path: Path) -> None:
    text = "\ufeff---\r\ntitle: The part MUST shine\r\n---\r\n" + KIRO.replace("\n", "\r\n")
    assert told(tmp_path, requirements_md=text) == [
        "SHALL or MUST outside of all that is to be proven: line 2",
        "SHALL or MUST outside of all that is to be proven: line 10",
    ]


def test_a_box_beside_the_groups_that_has_no_number_is_told(tmp_path: Path) -> None:
    told(tmp_path, requirements_md=AGENT_FOX.format(""), tasks_md=TASKS.format("- [ ] Paint it\n1. [ ] Sell it\n"))
    problems = read_specs(tmp_path / "specs", tmp_path)[1]
    found = [problem.where.rpartition(":")[2] for problem in problems if "has no number" in problem.what]
    assert found == ["2", "3"]
