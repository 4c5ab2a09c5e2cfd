"""What a proposal says in prose."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.spec import Dependency
from tests.specs.openspec.worlds import ADDED, change, read, told


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Change: Add login\n", "Add login"),
        ("# Proposal: Add login\n", "Add login"),
        ("# Change Proposal — Add login\n", "Add login"),
        ("# 提案：登录\n", "登录"),
        ("# Add login: with codes\n", "Add login: with codes"),
        ("# Proposal\n\n## Why\n", ""),
        ("## Why\n\nx\n", ""),
    ],
)
def test_the_title_is_that_of_the_proposal(tmp_path: Path, text: str, title: str) -> None:
    assert read(change(tmp_path, proposal=text), tmp_path)[0].title == title


def waits(root: Path, proposal: str) -> tuple[Dependency, ...]:
    for other in ("add-auth", "add-mail", "billing"):
        change(root, other, proposal="# x\n")
    return read(change(root, proposal=proposal, auth=ADDED), root)[0].dependencies


@pytest.mark.parametrize(
    "text",
    [
        "Depends on: add-auth\n",
        "- **Depends on**: `add-auth`\n",
        "This change depends on\n`openspec/changes/add-auth/` being done.\n",
        "## Dependencies\n\n- `add-auth` must land first\n",
        "### Prerequisites\n1. add-auth\n",
        "Blocked by add-auth. Independent of add-mail.\n",
        "依赖：`add-auth`\n",
    ],
)
def test_prose_names_the_change_that_this_one_waits_for(tmp_path: Path, text: str) -> None:
    (row,) = waits(tmp_path, "## Why\n\nx\n\n" + text)
    assert (row.spec, row.from_group, row.to_group, row.is_archived) == ("add-auth", None, None, True)


@pytest.mark.parametrize(
    "text",
    [
        "It does not depend on add-auth.\n",
        "It doesn't depend on add-auth.\n",
        "## Dependencies\n\nNone; add-auth can go on in parallel.\n",
        "## Dependencies\n\n- Blocks: add-auth\n",
        "Depends on: add-nothing, add-login, archive, billing of others\n",
        "See add-auth.\n",
        "```\nDepends on: add-auth\n```\n",
    ],
)
def test_prose_that_says_no_such_thing_is_none(tmp_path: Path, text: str) -> None:
    assert waits(tmp_path, text) == ()


def test_a_name_that_is_an_ordinary_word_counts_in_backticks(tmp_path: Path) -> None:
    assert [row.spec for row in waits(tmp_path, "Depends on `billing`, add-mail and add-mail.\n")] == [
        "billing",
        "add-mail",
    ]


def test_what_was_read_from_prose_is_said_where_it_stands(tmp_path: Path) -> None:
    change(tmp_path, "add-auth", proposal="# x\n")
    spec, problems = read(change(tmp_path, proposal="# x\n\nThis depends on\nadd-auth.\n"), tmp_path)
    assert spec.dependencies[0].where == "openspec/changes/add-login/proposal.md:4"
    assert told(problems) == [
        ("proposal.md:4", "waits for add-auth: read from prose. Correct the sentence if it does not")
    ]
