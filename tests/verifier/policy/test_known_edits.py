"""Edits that once passed, or were wrongly stopped: each with its siblings in other libraries and languages."""

from __future__ import annotations

import tomllib

import pytest

from agent_fox.verifier.policy.check import check_change
from agent_fox.verifier.policy.values import Change, FileChange, PolicyContext
from tests.verifier.policy.cases import FOLDER

pytest.importorskip("tree_sitter", reason="the extra `policy` is not installed")

CASES = tomllib.loads((FOLDER / "known_edits.toml").read_text(encoding="utf-8"))["case"]


def ruling_on(path: str, before: str, edit: tuple[str, str]) -> str:
    assert before.count(edit[0]) == 1
    change = FileChange(before.encode(), before.replace(*edit).encode())
    return check_change(Change({path: change}), PolicyContext()).verdict.value


def test_an_edit_is_stopped_or_passes_by_what_it_does() -> None:
    rulings = {case["name"]: ruling_on(case["path"], case["before"], case["edit"]) for case in CASES}
    assert rulings == {case["name"]: case["ruling"] for case in CASES}
    assert len(rulings) == len(CASES) == 187
