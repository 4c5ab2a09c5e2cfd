"""Whether a PASS of a spec that is not proven counts for the tip: real state, a real repository, no processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.config import Settings
from agent_fox.core.policy import Policy
from agent_fox.engine.account.account import read_account
from agent_fox.engine.account.freshness import untouched
from agent_fox.system import git
from agent_fox.testing.worlds import commit_all, first_commit
from tests.engine.desk import Desk, small_spec

MEASURED = {"files": ["shop/part.py"], "folders": [], "below": ["tests"], "names": ["part"], "whole": ""}
WHOLE = {**MEASURED, "whole": "it asks the network"}
GONE = "0" * 40


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "shop").mkdir(parents=True)
    (root / "shop" / "part.py").write_text("PART = 1\n")
    first_commit(root)
    return root


def read(desk: Desk, tree: str, rests_on: object) -> None:
    """A report about this tree, in which one requirement fails; the other passes, and rests on this."""
    desk.end("01_x:1")
    desk.commit = tree
    rows = [
        {"requirement_id": "01-REQ-1.1", "verdict": "PASS", "evidence": "seen", "rests_on": rests_on},
        {"requirement_id": "01-REQ-1.2", "verdict": "FAIL", "evidence": "seen"},
    ]
    desk.end("01_x:2", output=json.dumps({"verdicts": rows}), is_trusted=True)


@pytest.mark.parametrize(
    ("rests_on", "path", "table", "is_proven"),
    [
        (MEASURED, "docs.md", {}, True),
        (MEASURED, "shop/part.py", {}, False),
        (MEASURED, "tests/test_new.py", {}, False),
        (WHOLE, "docs.md", {}, False),
        (None, "docs.md", {}, False),
        (MEASURED, "docs.md", {"workspace": {"setup": ["make gen"]}}, False),
        (MEASURED, "docs.md", {"evidence": {"freshness": "tree"}}, False),
        (MEASURED, "docs.md", None, False),
    ],
)
def test_a_pass_of_an_unproven_spec_counts_where_nothing_that_it_rests_on_differs(
    tmp_path: Path, repo: Path, rests_on: object, path: str, table: dict[str, object] | None, is_proven: bool
) -> None:
    desk = Desk.open(tmp_path, [small_spec("01_x", {1: ("1.1", "1.2")})], Policy(attempts=1))
    read(desk, git.tree_of(repo, "HEAD"), rests_on)
    (repo / path).parent.mkdir(exist_ok=True)
    (repo / path).write_text("another\n")
    commit_all(repo, "a landing of others")
    tip = git.tree_of(repo, "HEAD")
    settings = None if table is None else Settings.model_validate(table)
    holds = untouched(desk.db, repo, tip, lambda: settings)
    (spec,) = read_account(desk.db, tip_tree=tip, untouched=holds).specs
    assert (spec.proven, spec.stale) == ((("01-REQ-1.1",), ()) if is_proven else ((), ("01-REQ-1.1",)))
    assert spec.failing == ("01-REQ-1.2",)


def test_a_tree_that_is_not_there_any_more_is_not_believed(tmp_path: Path, repo: Path) -> None:
    desk = Desk.open(tmp_path, [small_spec("01_x", {1: ("1.1", "1.2")})], Policy(attempts=1))
    read(desk, GONE, MEASURED)
    tip = git.tree_of(repo, "HEAD")
    (spec,) = read_account(desk.db, tip_tree=tip, untouched=untouched(desk.db, repo, tip, Settings)).specs
    assert (spec.proven, spec.stale) == ((), ("01-REQ-1.1",))
