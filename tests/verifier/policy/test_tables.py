"""The tables of rules: each can be read, and each pattern finds what its examples say."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import get_args

import pytest

from agent_fox.verifier.policy.tables import Becomes, rule_rows

WRITTEN = tomllib.loads(files("agent_fox.verifier.policy").joinpath("data/text_rules.toml").read_text("utf-8"))
SECTIONS = ("marks", "thresholds", "first", "forged")


@pytest.mark.parametrize("section", SECTIONS)
def test_a_pattern_finds_what_it_is_for_and_nothing_like_it(section: str) -> None:
    written = [row for messages in WRITTEN[section].values() for rows in messages.values() for row in rows]
    for rule, row in zip(rule_rows("text_rules", section), written, strict=True):
        assert row["yes"]
        assert all(rule.pattern.search(text) for text in row["yes"])
        assert row["no"]
        assert not any(rule.pattern.search(text) for text in row["no"])


def test_every_setting_has_a_key_and_a_way_that_is_known() -> None:
    assert {rule.becomes for rule in rule_rows("setting_rules")} <= set(get_args(Becomes))
    assert all(rule.key.pattern and rule.files for rule in rule_rows("setting_rules"))


def test_every_rule_about_lines_looks_into_files_by_a_pattern() -> None:
    assert all(rule.pattern.pattern and rule.files for rule in rule_rows("line_rules"))
    assert {rule.about for rule in rule_rows("line_rules")} == {"added", "removed"}
