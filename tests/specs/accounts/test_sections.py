"""What a section's title says that it holds: every example in sections.toml, against the tables of its dialect."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from agent_fox.specs.unread import About, about

EXAMPLES = tomllib.loads((Path(__file__).parent / "sections.toml").read_text("utf-8"))


@pytest.mark.parametrize("dialect", EXAMPLES)
def test_each_title_is_about_what_its_table_says(dialect: str) -> None:
    wanted = {title: About(kind) for kind, titles in EXAMPLES[dialect].items() for title in titles}
    assert {title: about(title, dialect) for title in wanted} == wanted
