"""What stands now: the settings that a verdict is held against, by the agent that judged last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.config import Settings
from agent_fox.core.verdicts.verdict import Word
from agent_fox.engine.launching.current import now_of
from agent_fox.store import sessions
from tests.evidence.readings import TREE, begin, read
from tests.store.world import SPEC, writing

LADDER = {
    "agents": {"verifier": {"backend": "claude", "model": "small", "rungs": [{"model": "large"}]}},
}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with writing(tmp_path) as opened:
        begin(opened)
        yield opened


def test_the_tree_is_given_and_the_rest_is_worked_out_from_the_settings(db: Database) -> None:
    now = now_of(db, Settings(), SPEC, TREE)
    assert now.tree == TREE
    assert now == now_of(db, Settings(), SPEC, TREE)
    other = now_of(db, Settings.model_validate({"verify": {"commands": ["make test"]}}), SPEC, None)
    assert (other.tree, other.environment == now.environment) == (None, False)


def test_a_verifier_is_held_against_the_rung_that_judged_last(db: Database) -> None:
    settings = Settings.model_validate(LADDER)
    assert (sessions.last_judging_rung(db, SPEC), now_of(db, settings, SPEC, None).verifier) == (0, "1 claude:small")
    read(db, {"R1": Word.PASS})
    assert sessions.last_judging_rung(db, SPEC) == 0
    read(db, {"R1": Word.PASS}, attempt=2, rung=1)
    assert (sessions.last_judging_rung(db, SPEC), now_of(db, settings, SPEC, None).verifier) == (1, "1 claude:large")
