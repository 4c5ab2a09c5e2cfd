"""The person's own settings of the review: where they are read, and that their page has them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_fox.config import ConfigError, ReviewSettings, load_review, own_folder

PAGE = Path(__file__).resolve().parents[2] / "docs" / "review.md"


def test_they_lie_outside_of_every_workspace() -> None:
    assert own_folder({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}) == Path("/c/agent-fox")
    assert own_folder({"HOME": "/h"}) == Path("/h/.config/agent-fox")


def test_without_a_file_there_is_no_reviewer(tmp_path: Path) -> None:
    assert load_review({"XDG_CONFIG_HOME": str(tmp_path)}) == ReviewSettings()
    assert ReviewSettings().command == []


def test_a_file_is_read_and_a_wrong_key_is_named(tmp_path: Path) -> None:
    file = tmp_path / "agent-fox" / "review.toml"
    file.parent.mkdir()
    file.write_text('[review]\ncommand = ["judge", "-q"]\ndiff_kib = 7\n')
    assert load_review({"XDG_CONFIG_HOME": str(tmp_path)}) == ReviewSettings(command=["judge", "-q"], diff_kib=7)
    file.write_text("[review]\ndif_kib = 7\n")
    with pytest.raises(ConfigError, match=r"review\.diff_kib"):
        load_review({"XDG_CONFIG_HOME": str(tmp_path)})


def test_the_page_has_every_setting_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    fields = ReviewSettings.model_fields
    assert set(rows) >= set(fields)
    shown = {name: field.default for name, field in fields.items() if field.default}
    assert {name: float(rows[name]) for name in shown} == shown
    assert all(rows[name] == "none" for name in fields.keys() - shown.keys())


def test_the_page_shows_a_reviewer_without_tools() -> None:
    shown = 'command = ["claude", "--print", "--model", "sonnet", "--tools", ""]'
    assert shown in PAGE.read_text(encoding="utf-8")
