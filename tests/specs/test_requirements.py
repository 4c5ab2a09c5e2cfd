"""Every spelling of a requirements file becomes the ids that are to be proven."""

from __future__ import annotations

import pytest

from agent_fox.core.spec import BareCriteria, Severity
from agent_fox.specs.agent_fox.requirements import read_requirements
from agent_fox.specs.collected import ReadRequirements
from tests.specs.worlds import markdown

Ids = dict[str, tuple[list[str], list[str]]]


def read(text: str, number: str = "07") -> ReadRequirements:
    return read_requirements(markdown(text), number)


def ids(found: ReadRequirements) -> Ids:
    return {r.id: ([c.id for c in r.criteria], [e.id for e in r.edge_cases]) for r in found.requirements}


ONE: Ids = {"07-REQ-1": (["07-REQ-1.1", "07-REQ-1.2"], ["07-REQ-1.E1"])}


ITEMS = [
    "1. [{id}] WHEN x, THE y SHALL z.",
    "[{id}] WHEN x, THE y SHALL z.\n",
    "1. **{id}** - THE y SHALL z.",
    "1. **{id}** — THE y SHALL z.",
    "1. **{id}:** WHEN x, THE y SHALL z.",
    "1. **[{id}]** WHEN x, THE y SHALL z.",
    "- `[{id}]` WHEN x, THE y SHALL z.",
    "- [{id}] WHEN x, THE y SHALL z.",
    "* {id}: THE y SHALL z.",
    "- [ ] {id}: THE y SHALL z.",
]


@pytest.mark.parametrize(
    "heading", ["### Requirement 1: T", "### [07-REQ-1] T", "### 07-REQ-1: T", "### REQ-1: T", "## Requirement 1 — T"]
)
def test_every_way_to_write_an_id_is_read_under_every_heading(heading: str) -> None:
    for item in ITEMS:
        items = "\n".join(item.format(id=f"07-REQ-1.{n}") for n in ("1", "2"))
        edge = item.format(id="07-REQ-1.E1")
        found = read(f"# R\n\n{heading}\n\n#### Acceptance Criteria\n\n{items}\n\n#### Edge Cases\n\n{edge}\n")
        assert (ids(found), found.requirements[0].title, found.problems) == (ONE, "T", ()), item


def test_wrapped_lines_are_joined_into_the_whole_text() -> None:
    found = read("### Requirement 1: T\n\n1. [07-REQ-1.1] WHEN the first\n   line ends, THE text\n   SHALL go on.\n")
    assert found.requirements[0].criteria[0].text == "WHEN the first line ends, THE text SHALL go on."


def test_text_without_list_marks_wraps_at_the_margin() -> None:
    found = read("### Requirement 1: T\n\n[07-REQ-1.1] WHEN a\nline wraps, b.\n\n[07-REQ-1.2] THE c.\n")
    assert [c.text for c in found.requirements[0].criteria] == ["WHEN a line wraps, b.", "THE c."]


def test_code_inside_a_criterion_is_part_of_its_text() -> None:
    found = read("### Requirement 1: T\n\n1. [07-REQ-1.1] THE output SHALL be:\n   ```\n   [07-REQ-9.9] x\n   ```\n")
    assert ids(found) == {"07-REQ-1": (["07-REQ-1.1"], [])}
    assert "[07-REQ-9.9] x" in found.requirements[0].criteria[0].text


def test_criteria_without_ids_get_the_ids_that_their_numbers_imply() -> None:
    text = (
        "### [07-REQ-1] T\n\n**User Story:** As a user.\n\n**Acceptance Criteria:**\n\n1. The a.\n2. The b.\n\n"
        "**Edge Cases:**\n\n- [07-REQ-1.E1] IF c.\n"
    )
    assert ids(read(text)) == ONE


def test_numbers_that_all_say_one_are_counted() -> None:
    found = read(
        "### Requirement 3: T\n\n#### Acceptance Criteria\n\n1. The a.\n1. The b.\n\n#### Edge Cases\n\n1. If c.\n"
    )
    assert ids(found) == {"07-REQ-3": (["07-REQ-3.1", "07-REQ-3.2"], ["07-REQ-3.E1"])}


def test_a_dotted_heading_is_the_requirement_where_no_other_heading_holds_it() -> None:
    text = (
        "### 07-REQ-1.1: T\n\nWhen a, it shall b.\n\n**Acceptance criteria:**\n- The c.\n"
        "- The d.\n\n### 07-REQ-1.2: U\n\nIt shall e.\n"
    )
    assert ids(read(text)) == {"07-REQ-1.1": (["07-REQ-1.1.1", "07-REQ-1.1.2"], []), "07-REQ-1.2": ([], [])}


def test_a_dotted_heading_below_its_requirement_is_a_criterion() -> None:
    found = read("### 07-REQ-1: T\n\n#### 07-REQ-1.1: The a\n\nIt shall b.\n\n#### 07-REQ-1.E1: The c\n\nIt shall d.\n")
    assert ids(found) == {"07-REQ-1": (["07-REQ-1.1"], ["07-REQ-1.E1"])}


def test_numbered_lines_beside_criteria_with_ids_are_no_criteria_of_their_own() -> None:
    text = (
        "### 07-REQ-1: T\n\n**Requirements:**\n\n- [07-REQ-1.1] The a.\n\n**Acceptance Criteria:**\n\n"
        "1. The file.\n2. The log.\n\n"
        "**Edge Cases:**\n\n- [07-REQ-1.E1] IF b.\n"
    )
    assert ids(read(text)) == {"07-REQ-1": (["07-REQ-1.1"], ["07-REQ-1.E1"])}


def test_one_file_may_mix_the_spellings() -> None:
    text = (
        "### Requirement 1: A\n\n1. **07-REQ-1.1:** WHEN a.\n2. **07-REQ-1.2** - THE b.\n\n"
        "#### Edge Cases\n\n1. [07-REQ-1.E1] IF c.\n\n"
        "### REQ-2: B\n\n- `[07-REQ-2.1]` THE d.\n"
    )
    assert ids(read(text)) == {**ONE, "07-REQ-2": (["07-REQ-2.1"], [])}


def test_a_requirement_without_criteria_is_itself_what_is_proven() -> None:
    found = read("### Requirement 1: T\n\nTHE system SHALL a.\n")
    assert [part.id for r in found.requirements for part in r.parts] == ["07-REQ-1"]
    assert found.requirements[0].parts[0].text == "THE system SHALL a."


def test_ids_in_prose_glossaries_and_code_are_not_requirements() -> None:
    text = (
        "# R\n\n## Introduction\n\nBuilds on 03-REQ-1.1.\n\n- [07-REQ-9.1] is an example.\n\n"
        "## Glossary\n\n| T | `NN-REQ-N.C`, e.g. `03-REQ-1.1` |\n|--|--|\n\n"
        "## Requirements\n\n### Requirement 1: T\n\n1. [07-REQ-1.1] THE a SHALL b (see\n"
        "   [03-REQ-2.1] and 07-REQ-1.2).\n"
        "2. [07-REQ-1.2] THE c.\n\n#### Edge Cases\n\n1. [07-REQ-1.E1] IF d.\n\n```\n1. [07-REQ-8.1] THE e.\n```\n"
        "<!--\n1. [07-REQ-8.2] THE f.\n-->\n\n- [03-REQ-4.1] of another spec.\n\n## Out of Scope\n\n"
        "- [07-REQ-7.1] THE g.\n\n## Changes\n\n- [07-REQ-1.1] was reworded.\n"
    )
    assert ids(read(text)) == ONE


def test_ids_are_those_of_the_file_where_the_folder_has_another_number() -> None:
    assert ids(read("### Requirement 1: T\n\n1. [12-REQ-1.1] a\n", "07")) == {"12-REQ-1": (["12-REQ-1.1"], [])}


def test_a_folder_without_number_takes_the_number_of_its_ids() -> None:
    assert ids(read("### Requirement 1: T\n\n1. [12-REQ-1.1] a\n", "")) == {"12-REQ-1": (["12-REQ-1.1"], [])}


def test_the_ids_say_which_requirement_a_misnumbered_heading_is() -> None:
    assert ids(read("### Requirement 3: T\n\n1. [07-REQ-4.1] a\n")) == {"07-REQ-4": (["07-REQ-4.1"], [])}


def test_a_doubled_id_is_an_error_that_names_both_lines() -> None:
    found = read("### Requirement 1: T\n\n1. [07-REQ-1.1] a\n2. [07-REQ-1.1] b\n")
    (problem,) = found.problems
    assert problem.severity is Severity.ERROR
    assert problem.where == "a.md:4"
    assert "07-REQ-1.1" in problem.what
    assert "lines 3 and 4" in problem.what


def test_a_doubled_heading_is_an_error_that_names_both_lines() -> None:
    found = read("### Requirement 1: T\n\n1. [07-REQ-1.1] a\n\n### Requirement 1: U\n\n1. [07-REQ-1.2] b\n")
    assert "lines 1 and 5" in found.problems[0].what


def test_an_amendment_table_takes_single_requirements_back() -> None:
    text = (
        "### Requirement 1: T\n\n1. [07-REQ-1.1] a\n2. [07-REQ-1.2] b\n\n### Requirement 2: U\n\n"
        "1. [07-REQ-2.1] c\n\n"
        "## Amendments\n\n| Requirement | Change |\n|---|---|\n"
        "| 07-REQ-1.2 | **Superseded** by 09-REQ-1.1 |\n| 07-REQ-2 | Withdrawn |\n"
        "| 07-REQ-1.1 | Removed the flag from the text |\n"
    )
    found = read(text)
    assert ids(found) == {"07-REQ-1": (["07-REQ-1.1"], [])}
    assert found.withdrawn == ("07-REQ-1.2", "07-REQ-2.1")


def test_what_is_suspended_is_not_expected() -> None:
    found = read(
        "### Requirement 1: A\n\n1. [07-REQ-1.1] THE a SHALL b.\n2. [07-REQ-1.2] THE c SHALL d.\n\n"
        "## Amendment: what is gone\n\n| Requirement | Command | Status |\n|---|---|---|\n"
        "| 07-REQ-1.2 | `c` | **Suspended** — command removed |\n"
    )
    assert ids(found) == {"07-REQ-1": (["07-REQ-1.1"], [])}
    assert found.withdrawn == ("07-REQ-1.2",)


def test_a_table_that_is_not_about_changes_takes_nothing_back() -> None:
    text = (
        "### Requirement 1: T\n\n1. [07-REQ-1.1] a\n\n## Sources\n\n| Requirement | PRD Section |\n"
        "|---|---|\n| 07-REQ-1.1 | Removed |\n"
    )
    assert ids(read(text)) == {"07-REQ-1": (["07-REQ-1.1"], [])}


def test_an_empty_file_has_no_requirements() -> None:
    assert read("").requirements == ()


CLOSED = """### 07-REQ-1: T

1. THE a SHALL b. `07-REQ-1.1`
2. [07-REQ-1.2] THE c SHALL d as in `07-REQ-1.1`.
3. THE text
   SHALL wrap. `07-REQ-1.3`
4. THE id SHALL stand
   alone.
   `07-REQ-1.4`

**Edge Cases:**

- IF it fails, THEN THE a SHALL stop. (07-REQ-1.E1)
"""


def test_an_id_may_stand_at_the_end_of_its_item() -> None:
    found = read(CLOSED)
    assert [(part.id, part.text) for part in found.requirements[0].parts] == [
        ("07-REQ-1.1", "THE a SHALL b."),
        ("07-REQ-1.2", "THE c SHALL d as in `07-REQ-1.1`."),
        ("07-REQ-1.3", "THE text SHALL wrap."),
        ("07-REQ-1.4", "THE id SHALL stand alone."),
        ("07-REQ-1.E1", "IF it fails, THEN THE a SHALL stop."),
    ]
    assert (found.problems, [*found.implied]) == ((), [])


def test_an_id_at_the_end_needs_no_heading_with_an_id() -> None:
    found = read(
        "## Locks\n\n1. THE a SHALL b. `07-REQ-1.1`\n2. THE a SHALL c. `07-REQ-1.2`\n- THE d. **07-REQ-2.1**\n"
    )
    assert ids(found) == {"07-REQ-1": (["07-REQ-1.1", "07-REQ-1.2"], []), "07-REQ-2": (["07-REQ-2.1"], [])}


BARE = """### 07-REQ-1: T

**Requirements:**

- [07-REQ-1.1] THE a SHALL b.
- [07-REQ-1.2] THE c SHALL d.

**Acceptance Criteria:**

1. THE x SHALL y.
2. THE z SHALL w.

**Edge Cases:**

- [07-REQ-1.E1] IF it fails, THEN THE a SHALL stop.
"""


def test_criteria_without_ids_beside_others_are_details_in_the_text_of_each() -> None:
    (own,) = read(BARE).requirements
    details = "Details of 07-REQ-1:\n- THE x SHALL y.\n- THE z SHALL w."
    assert own.details == ("THE x SHALL y.", "THE z SHALL w.")
    assert [(part.id, part.text) for part in own.parts] == [
        ("07-REQ-1.1", f"THE a SHALL b.\n{details}"),
        ("07-REQ-1.2", f"THE c SHALL d.\n{details}"),
        ("07-REQ-1.E1", "IF it fails, THEN THE a SHALL stop."),
    ]


def test_criteria_without_ids_get_the_next_numbers_where_that_is_asked_for() -> None:
    found = read_requirements(markdown(BARE), "07", BareCriteria.REQUIRED)
    (own,) = found.requirements
    assert [part.id for part in own.parts] == ["07-REQ-1.1", "07-REQ-1.2", "07-REQ-1.3", "07-REQ-1.4", "07-REQ-1.E1"]
    assert (own.details, sorted(found.implied)) == ((), ["07-REQ-1.3", "07-REQ-1.4"])


ENDS = """### 02-REQ-1: A
- **02-REQ-1.1**: THE part SHALL open.
1. THE part SHALL close `02-REQ-1.2`
2. THE part SHALL shine — 02-REQ-1.3
3. THE part SHALL do as in `02-REQ-1.4`
4. THE part SHALL repeat `02-REQ-1.1`
5. THE part SHALL meet 02-REQ-1.1 — 02-REQ-1.9
"""


def test_an_id_at_the_end_counts_without_a_full_stop_unless_it_is_a_mention() -> None:
    (own,) = read_requirements(markdown(ENDS), "02").requirements
    assert [part.id for part in own.criteria] == ["02-REQ-1.1", "02-REQ-1.2", "02-REQ-1.3"]
    assert [detail.split()[3] for detail in own.details] == ["do", "repeat", "meet"]


BELOW_NO_ID = """## Opening
**Requirements:**
- **02-REQ-1.1** THE part SHALL open.
- **02-REQ-2.1** THE part SHALL close.

**Acceptance Criteria:**
1. WHEN asked THEN it opens.

**Edge Cases:**
1. IF stuck, THEN THE part SHALL say so.

## Shining
**Acceptance Criteria:**
1. WHEN dark THEN it shines.

**Requirements:**
* 02-REQ-3.1: THE part SHALL shine.
"""


def test_criteria_without_an_id_below_a_heading_without_one_belong_to_the_id_nearest_above_them() -> None:
    read = read_requirements(markdown(BELOW_NO_ID), "02")
    assert [(one.id, [part.id for part in one.parts], one.details) for one in read.requirements] == [
        ("02-REQ-1", ["02-REQ-1.1"], ()),
        ("02-REQ-2", ["02-REQ-2.1", "02-REQ-2.E1"], ("WHEN asked THEN it opens.",)),
        ("02-REQ-3", ["02-REQ-3.1"], ("WHEN dark THEN it shines.",)),
    ]
    required = read_requirements(markdown(BELOW_NO_ID), "02", BareCriteria.REQUIRED)
    assert [part.id for one in required.requirements for part in one.parts][1:3] == ["02-REQ-2.1", "02-REQ-2.2"]


def test_paragraphs_that_begin_with_a_number_of_the_requirement_are_its_criteria() -> None:
    """Also `**3.1** THE`; not a line that goes on with a number of something else, or with one in its midst."""
    text = (
        "### Requirement 3: Bell\n\nThe bell of\n3.5 kg rings.\n\n#### Acceptance Criteria\n\n"
        "3.1. WHEN it is pulled, THE bell SHALL ring\nand the door\nSHALL open.\n\n**3.2** THE bell SHALL stop.\n"
        "4.1. is told elsewhere.\n\n#### Edge Cases\n\n3.E1. IF it is broken, THEN THE door SHALL knock.\n"
    )
    found = read(text)
    requirement = found.requirements[0]
    assert ids(found) == {"07-REQ-3": (["07-REQ-3.1", "07-REQ-3.2"], ["07-REQ-3.E1"])}
    assert [part.text for part in (*requirement.criteria, *requirement.edge_cases)] == [
        "WHEN it is pulled, THE bell SHALL ring and the door SHALL open.",
        "THE bell SHALL stop. 4.1. is told elsewhere.",
        "IF it is broken, THEN THE door SHALL knock.",
    ]
    assert (requirement.text, found.problems) == ("The bell of 3.5 kg rings.", ())
