"""Whatever stands in Kiro's documents, reading it does not raise, and what is read can be told apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_fox.specs.kiro.ids import references_of
from agent_fox.specs.kiro.tasks import read_properties
from tests.specs.kiro.samples import bugfix_of, markdown_of, requirements_of, tasks_of

PIECES = st.sampled_from(
    [
        "### Requirement 1: T\n",
        "### 要件 ２：U\n",
        "## Non-Functional Requirements\n",
        "### 1. Title\n",
        "### REQ-1 T\n",
        "#### Acceptance Criteria\n",
        "#### Edge Cases\n",
        "### Expected Behavior\n",
        "### Current Behavior\n",
        "**Bold**\n",
        "1. A shall\n",
        "1.1 B shall\n",
        "- **AC-1**: C shall\n",
        "- [ ] 1. A\n",
        "- [x] 1.1 B\n",
        "  - [ ]* 1b.2 (P) C\n",
        "- [ ] D\n",
        "## Phase 1: X\n",
        "### Task 1.2: Y\n",
        "  - _Requirements: 1.1, 2-3, all_\n",
        "  - _Depends: 1.1-1.9_\n",
        "**Property 1: P**\n",
        "**Validates: Requirements 1.1**\n",
        "```\n",
        "<!--",
        "-->",
        "~~",
        "\n\n",
        "  ",
        "\t",
        "9" * 5000,
        "\u2013",
        "\x85",
        "²",
    ]
)
TEXT = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map("".join))


@given(TEXT, TEXT, TEXT)
def test_documents_of_any_kind_are_read(requirements: str, tasks: str, design: str) -> None:
    read = requirements_of(requirements)
    ids = [part.id for requirement in read.requirements for part in requirement.parts]
    assert len(ids) == len(set(ids))
    assert {*ids} <= read.places.keys()
    references = references_of(read.requirements)
    planned = tasks_of(tasks, references)
    numbers = [group.number for group in planned.groups]
    assert len(numbers) == len(set(numbers))
    assert all(number > 0 for number in numbers)
    assert {i for group in planned.groups for i in group.requirements} <= {*ids}
    traces, _ = read_properties(markdown_of(design), references, planned.properties)
    assert {trace.requirement for trace in traces} <= {*ids}


@given(TEXT)
def test_a_bugfix_of_any_kind_is_read(text: str) -> None:
    read = bugfix_of(text)
    ids = [part.id for requirement in read.requirements for part in requirement.parts]
    assert len(ids) == len(set(ids))
