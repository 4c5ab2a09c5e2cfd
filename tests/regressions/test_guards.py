"""Defects seen elsewhere in what may happen to a node: illegal moves that are applied, blocks that are overwritten."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World
from tests.stories.scene import NOT_PROVEN, causes, coders, run

BASE = {"01_base": [Req("01-REQ-1.1", 1, NEVER)], "02_top": [Req("02-REQ-1.1", 1)]}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that ended with completed and blocked nodes."""
    world = World(BASE, depends={"02_top": "01_base"}, settings="[retry]\nattempts = 1\n")
    root = world.build(tmp_path_factory.mktemp("ended"))
    run(root, ends=NOT_PROVEN)
    return root


def refuses(root: Path, sql: str) -> bool:
    """Whether the state file itself refuses a change, whoever makes it."""
    with closing(sqlite3.connect(root / ".agent-fox" / "state.db")) as db:
        try:
            db.execute(sql)
        except sqlite3.IntegrityError:
            return True
        db.rollback()
        return False


def test_no_node_goes_back_to_pending_without_a_recorded_decision(ended: Path) -> None:
    """Elsewhere completed → pending was illegal by the program's own table, warned about, and applied."""
    reopen = "UPDATE plan_nodes SET status = 'pending', outcome = NULL"
    assert refuses(ended, f"{reopen} WHERE id = '01_base:2'")
    assert refuses(ended, f"{reopen} WHERE id = '01_base:1'")
    assert refuses(ended, f"{reopen} WHERE id = '02_top:1'")


def test_a_success_cannot_overwrite_a_block(ended: Path) -> None:
    """Elsewhere the path of a success wrote "completed" over whatever stood there, a block too."""
    assert refuses(ended, "UPDATE plan_nodes SET status = 'completed', outcome = 'landed' WHERE id = '02_top:1'")


@pytest.mark.parametrize("table", ["verification_results", "decisions", "blocking_history"])
def test_history_is_not_edited_replaced_or_removed(ended: Path, table: str) -> None:
    """Elsewhere verdicts and the reasons of blocks were cut, replaced and cleaned up."""
    with closing(sqlite3.connect(ended / ".agent-fox" / "state.db")) as db:
        columns = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
    text = next(name for name in columns if name in {"evidence", "note", "reason"})
    assert refuses(ended, f"UPDATE {table} SET {text} = 'fine' WHERE id = 1")
    assert refuses(ended, f"DELETE FROM {table} WHERE id = 1")
    assert refuses(ended, f"INSERT OR REPLACE INTO {table} SELECT * FROM {table} WHERE id = 1")


def test_the_whole_reason_of_a_block_is_kept(ended: Path) -> None:
    """Elsewhere reasons were cut at 60 characters, and the history was empty although nodes were blocked."""
    with closing(sqlite3.connect(ended / ".agent-fox" / "state.db")) as db:
        (reason,) = db.execute("SELECT reason FROM blocking_history WHERE node_id = '01_base:2'").fetchone()
    assert reason == "attempts spent; 1 requirement fails: 01-REQ-1.1"


@pytest.mark.parametrize("said", ["fail something broke", "no idea", '{"findings": 3}'])
def test_a_gate_that_breaks_stays_shut(tmp_path: Path, said: str) -> None:
    """Elsewhere any error while a gate was evaluated meant "do not block"."""
    holder = "01_calc:0:reviewer:pre-review"
    says = {f"{holder}/1/{n}": said for n in (1, 2, 3)}
    world = World({"01_calc": [Req("01-REQ-1.1", 1)]}, reviewer_says=says, settings="[plan]\naudit_review = false\n")
    root = world.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {}
    assert causes(root)[0] == (holder, "no clear verdict")
