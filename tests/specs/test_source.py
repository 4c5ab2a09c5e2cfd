"""The issue that a spec came from: how prd.md files name it, and what is no such name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.spec import SourceIssue
from agent_fox.specs.common.beside import source_in
from tests.specs.worlds import TASKS, markdown, read_one, requirements, write_spec

FULL = SourceIssue(114, "o/r", "github.com")
ADDRESS = "https://github.com/o/r/issues/114"


@pytest.mark.parametrize(
    ("line", "issue"),
    [
        (f"> Source: [GitHub Issue #114]({ADDRESS})", FULL),
        (f"**Source:** {ADDRESS}", FULL),
        (f"Source: <{ADDRESS}>", FULL),
        (f"- **Source**: GitHub issue {ADDRESS}#issuecomment-9", FULL),
        (f"source: '{ADDRESS}'", FULL),
        ("Source: #12", SourceIssue(12)),
        ("source: GH-12", SourceIssue(12)),
        ("> **Source issue:** GitHub Issue #12 (log in)", SourceIssue(12)),
        ("Source: o/r#12.", SourceIssue(12, "o/r")),
        ("Source: `o/r#12`", SourceIssue(12, "o/r")),
        ("Source: https://git.example.org/o/r/issues/7", SourceIssue(7, "o/r", "git.example.org")),
    ],
)
def test_the_spellings_in_use_name_an_issue(line: str, issue: SourceIssue) -> None:
    assert source_in(markdown(f"# PRD\n\n{line}\n\n## Overview\n")) == issue


@pytest.mark.parametrize(
    "line",
    [
        "> Source: post-run analysis of a database",
        "Source: `.specs/prd.md`, sections 1 and 5",
        "source: docs/prd/prd11.md",
        "Source: what was said in #12 and elsewhere",
        "Source: https://github.com/o/r/pull/12",
        "Source: https://github.com/o/r/issues/",
        "Source: [the talk](https://example.org/talk) about #12",
        "Source: #0",
        "Source: #12abc",
        "The source: #12",
        "See #12",
        "    Source: #12",
        "<!-- Source: #12 -->",
        "```\nSource: #12\n```",
    ],
)
def test_what_is_no_issue_is_no_source(line: str) -> None:
    assert source_in(markdown(f"# PRD\n\n{line}\n\n## Overview\n")) is None


def test_the_first_source_that_is_an_issue_counts() -> None:
    text = "Source: a meeting\n\n```\nSource: #1\n```\n\n## Source\n\nSource: #2\n\nSource: #3\n"
    assert source_in(markdown(text)) == SourceIssue(2)


def test_a_spec_brings_the_source_of_its_prd(tmp_path: Path) -> None:
    written = {"tasks": TASKS, "requirements": requirements("01")}
    write_spec(tmp_path / "specs", "01_a", prd="# A\n\n> Source: #7\n", **written)
    spec, problems = read_one(tmp_path / "specs")
    assert (spec.source, problems) == (SourceIssue(7), ())


@given(text=st.text() | st.text("Source:#12 /o[](h.)\n`>*"))
def test_any_text_is_read(text: str) -> None:
    source_in(markdown(text))


@pytest.mark.parametrize(
    ("issue", "is_there"),
    [
        (SourceIssue(1), True),
        (SourceIssue(1, "O/R"), True),
        (SourceIssue(1, "o/r", "www.GitHub.com"), True),
        (SourceIssue(1, "o/other"), False),
        (SourceIssue(1, "o/r", "git.example.org"), False),
    ],
)
def test_an_issue_belongs_to_the_place_that_it_names_or_names_none(issue: SourceIssue, is_there: bool) -> None:
    assert issue.is_in("github.com/o/r") is is_there
