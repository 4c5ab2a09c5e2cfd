"""For every rule about read specs one repository in which it speaks, with the place: the good spec, changed."""

from __future__ import annotations

from tests.specs.lint.worlds import OTHER, REQUIREMENTS, ROWS, TASKS

TEST_SPEC = """# Test Specification

### TS-01-1: It adds

**Requirement:** 01-REQ-1.1

### TS-01-E1: It says what is missing

**Requirement:** 01-REQ-1.E1
"""
TRACES = (
    "\n## Traceability\n\n"
    "| Requirement | Test Spec Entry | Implemented By Task | Verified By Test |\n|---|---|---|---|\n"
)
KIT = "# Feature Specification: New\n\n## Requirements\n\n- **FR-001**: System MUST add.\n"
LATER = "\n## Phase 2: B\n\n- [ ] T002 Ask first\n"
CIRCLE = {**OTHER, "01_sum/prd.md": ROWS + "| 02_other | 2 | 1 | a |\n"}

EXAMPLES: dict[str, tuple[dict[str, str], str]] = {
    "merge-conflict": ({"01_sum/tasks.md": "<<<<<<< ours\n" + TASKS + ">>>>>>> theirs\n"}, "01_sum/tasks.md:1"),
    "unreadable": ({"01_sum/requirements.md": "a\0b"}, "01_sum/requirements.md"),
    "two-dialects": ({"01_sum/proposal.md": "# Why\n", "01_sum/specs/a/spec.md": "## ADDED Requirements\n"}, "01_sum"),
    "doubled-id": (
        {"01_sum/requirements.md": REQUIREMENTS + "2. [01-REQ-1.E1] IF it fails, THEN THE system SHALL stop.\n"},
        "01_sum/requirements.md:12",
    ),
    "doubled-task": ({"01_sum/tasks.md": TASKS + "\n- [ ] 2. Build it again\n"}, "01_sum/tasks.md:11"),
    "ambiguous-dependency": (
        {**OTHER, "02_more/tasks.md": TASKS, "01_sum/prd.md": ROWS + "| 02 | 2 | 1 | a |\n"},
        "01_sum/prd.md:7",
    ),
    "dependency-cycle": ({**CIRCLE, "02_other/prd.md": ROWS + "| 01_sum | 2 | 1 | a |\n"}, "02_other/prd.md:7"),
    "dangling-dependency": ({"01_sum/prd.md": ROWS + "| 09_none | 2 | 1 | a |\n"}, "01_sum/prd.md:7"),
    "foreign-id": ({"01_sum/tasks.md": TASKS + "    - _Requirements: 07-REQ-1.1_\n"}, "01_sum/tasks.md:10"),
    "dangling-reference": ({"01_sum/tasks.md": TASKS + "    - _Requirements: 01-REQ-9.1_\n"}, "01_sum/tasks.md:10"),
    "unclosed-block": ({"01_sum/tasks.md": TASKS + "\n## Notes\n\n```sh\nmake\n"}, "01_sum/tasks.md:13"),
    "nothing-to-prove": ({"03_new/tasks.md": "- [ ] 1. Build it\n  - [ ] 1.1 Do it\n"}, "03_new"),
    "no-groups": ({"03_new/requirements.md": REQUIREMENTS.replace("01-", "03-")}, "03_new"),
    "unknown-archetype": ({"01_sum/tasks.md": TASKS + "\n- [ ] 3. Sing [archetype: tenor]\n"}, "01_sum"),
    "not-a-spec": ({"05_notes/words.txt": "a"}, "05_notes"),
    "taken-back": ({"01_sum/prd.md": "**SUPERSEDED** by spec 07.\n"}, "01_sum/prd.md"),
    "untraced-requirement": (
        {"01_sum/tasks.md": TASKS.replace(", 01-REQ-1.E1", ""), "01_sum/requirements.md": REQUIREMENTS},
        "01_sum/requirements.md:11",
    ),
    "untraced-kind": (
        {"01_sum/tasks.md": "- [ ] 1. Build it\n  - [ ] 1.1 Do it\n"},
        "01_sum/requirements.md:7",
    ),
    "untested-requirement": (
        {"01_sum/test_spec.md": TEST_SPEC.partition("### TS-01-E1")[0]},
        "01_sum/requirements.md:11",
    ),
    "stale-test-entry": (
        {"01_sum/test_spec.md": TEST_SPEC, "01_sum/tasks.md": TASKS + "    - _Test Spec: TS-01-1, TS-01-9_\n"},
        "01_sum/tasks.md:10",
    ),
    "stale-test-requirement": (
        {"01_sum/test_spec.md": TEST_SPEC + "\n### TS-01-2: Old\n\n**Requirement:** 01-REQ-7.1\n"},
        "01_sum/test_spec.md:13",
    ),
    "stale-task": (
        {"01_sum/tasks.md": TASKS + TRACES + "| 01-REQ-1.1 | TS-01-1 | 7.1 | `test_a` |\n"},
        "01_sum/tasks.md:15",
    ),
    "task-order": (
        {
            "003-new/spec.md": KIT,
            "003-new/tasks.md": "## Phase 1: A\n\n- [ ] T001 Do FR-001 (depends on T002)\n" + LATER,
        },
        "003-new/tasks.md:3",
    ),
    "task-circle": (
        {
            "003-new/spec.md": KIT,
            "003-new/tasks.md": LATER + "- [ ] T003 Do FR-001 (depends on T004)\n- [ ] T004 Ask (depends on T003)\n",
        },
        "003-new/tasks.md:5",
    ),
    "large-group": (
        {"01_sum/tasks.md": TASKS + "".join(f"  - [ ] 2.{n} Do more\n" for n in range(2, 12))},
        "01_sum/tasks.md:7",
    ),
    "large-requirement": (
        {
            "01_sum/requirements.md": REQUIREMENTS
            + "".join(f"{n}. [01-REQ-1.E{n}] IF case {n} comes, THEN THE system SHALL stop.\n" for n in range(2, 17))
        },
        "01_sum/requirements.md:3",
    ),
    "empty-group": ({"01_sum/tasks.md": TASKS + "\n- [ ] 3. Something\n"}, "01_sum/tasks.md:11"),
    "first-checkpoint": (
        {"01_sum/tasks.md": "- [ ] 1. Checkpoint\n" + TASKS.replace("1. W", "4. W")},
        "01_sum/tasks.md:1",
    ),
    "no-edge-case": (
        {
            "01_sum/requirements.md": REQUIREMENTS
            + "\n### Requirement 2: Show\n\n#### Acceptance Criteria\n\n1. [01-REQ-2.1] THE program SHALL show it.\n"
        },
        "01_sum/requirements.md:13",
    ),
    "no-obligation": (
        {
            "01_sum/requirements.md": REQUIREMENTS.replace(
                "THE calculator SHALL add them", "it is good to add them to it"
            )
        },
        "01_sum/requirements.md:7",
    ),
    "if-without-then": (
        {"01_sum/requirements.md": REQUIREMENTS.replace("THEN THE", "the")},
        "01_sum/requirements.md:11",
    ),
    "vague-word": (
        {"01_sum/requirements.md": REQUIREMENTS.replace("SHALL add them", "SHALL add them quickly and be robust")},
        "01_sum/requirements.md:7",
    ),
    "needs-clarification": (
        {"01_sum/prd.md": "# PRD\n\nWhat of zero? [NEEDS CLARIFICATION: is zero a number?]\n"},
        "01_sum/prd.md:3",
    ),
    "unwritten": (
        {"01_sum/requirements.md": REQUIREMENTS.replace("SHALL add them", "SHALL TBD")},
        "01_sum/requirements.md:7",
    ),
    "missing-file": (
        {"01_sum/design.md": "# Design\n\n1. **`src/gone.py`** (modified) adds\n"},
        "01_sum/design.md:3",
    ),
    "upper-case-box": ({"01_sum/tasks.md": TASKS.replace("[ ] 1.1", "[X] 1.1")}, "01_sum/tasks.md:4"),
    "reference-spelling": (
        {"01_sum/tasks.md": TASKS.replace("01-REQ-1.E1_\n\n", "1-req-1.e1_\n\n")},
        "01_sum/tasks.md:5",
    ),
    "doubled-separator": ({"01_sum/tasks.md": TASKS.replace(", 01", ",, 01", 1)}, "01_sum/tasks.md:5"),
    "doubled-dependency": (
        {**OTHER, "01_sum/prd.md": ROWS + "| 02_other | 2 | 1 | a |\n| 02_other | 2 | 1 | a |\n"},
        "01_sum/prd.md:8",
    ),
    "dependency-by-number": ({**OTHER, "01_sum/prd.md": ROWS + "| 02 | 2 | 2 | a |\n"}, "01_sum/prd.md:7"),
}

FIXABLE = [
    "unclosed-block",
    "upper-case-box",
    "reference-spelling",
    "doubled-separator",
    "doubled-dependency",
    "dependency-by-number",
]
