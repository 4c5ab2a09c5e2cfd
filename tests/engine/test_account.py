"""The account of a run agrees with what the run did."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.engine.account import Cost, RunAccount, read_account, read_session_logs
from agent_fox.store.sessions import run_cost
from agent_fox.store.state import read_state
from agent_fox.system import git
from agent_fox.testing.worlds import NEVER, Req, World, log, run_cli

WORLD = World(
    {
        "01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", right_at=2)],
        "02_b": [Req("02-REQ-1.1", right_at=NEVER), Req("02-REQ-1.2")],
        "03_c": [Req("03-REQ-1.1")],
    },
    depends={"02_b": "01_a", "03_c": "02_b"},
    verifier_says={"01_a/1/1": "unsure"},
    coder_does={"01_a:1/1": "crash"},
    settings="[retry]\nattempts = 4\n",
    cost=0.25,
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = WORLD.build(tmp_path_factory.mktemp("account") / "w")
    assert run_cli(root, "run", "--parallel", "1").returncode == 2
    return root


@pytest.fixture
def db(root: Path) -> Iterator[Database]:
    with closing(read_state(root / ".agent-fox" / "state.db")) as db:
        yield db


@pytest.fixture
def account(root: Path, db: Database) -> RunAccount:
    tip = git.commit_of(root, "agent-fox/integration")
    assert tip is not None
    return read_account(db, tip_tree=git.tree_of(root, tip))


def test_sessions_retries_and_rereads_are_those_that_were_made(root: Path, account: RunAccount) -> None:
    made = log(root)
    coders = [row for row in made if row["role"] == "coder"]
    assert account.sessions == len(made)
    assert account.retries == len(coders) - len({row["node"] for row in coders})
    assert account.rereads == 1


def test_known_and_assumed_cost_are_told_apart_and_add_up_to_what_ceilings_count(
    root: Path, db: Database, account: RunAccount
) -> None:
    coders = sum(row["role"] == "coder" for row in log(root))
    assert account.cost == Cost(0.25 * coders, 0.5 * (account.sessions - coders))
    assert account.run is not None
    assert account.cost.total_usd == run_cost(db, account.run)


def test_each_expected_id_is_in_one_list(account: RunAccount) -> None:
    told = {spec.name: (spec.standing, spec.proven, spec.failing, spec.unread) for spec in account.specs}
    assert told == {
        "01_a": ("verified", ("01-REQ-1.1", "01-REQ-1.2"), (), ()),
        "02_b": ("escalated", ("02-REQ-1.2",), ("02-REQ-1.1",), ()),
        "03_c": ("blocked", (), (), ("03-REQ-1.1",)),
    }
    assert (account.proven, account.not_proven, account.waived) == (3, 2, 0)


def test_a_pass_of_an_unproven_spec_counts_only_on_the_tree_of_the_tip(db: Database) -> None:
    (unproven,) = [spec for spec in read_account(db, tip_tree="another").specs if spec.name == "02_b"]
    assert (unproven.proven, unproven.stale) == ((), ("02-REQ-1.2",))


def test_blocked_nodes_stand_with_what_waits_for_them(account: RunAccount) -> None:
    (blocked,) = account.blocked
    assert (blocked.node, blocked.cause, blocked.waiting) == ("02_b:2", "no progress", ("03_c:1", "03_c:2"))


def test_open_issues_stand_with_where_they_are(root: Path, account: RunAccount) -> None:
    (issue,) = account.issues
    assert (issue.state, issue.cause) == ("open", "no progress")
    assert issue.where.startswith((root / ".agent-fox" / "issues").resolve().as_uri())
    assert account.undelivered == ()


def test_only_the_specs_in_scope_are_counted(db: Database) -> None:
    assert [spec.name for spec in read_account(db, only=["01_a"]).specs] == ["01_a"]


def test_a_run_that_there_is_none_of_is_an_error(db: Database) -> None:
    with pytest.raises(KeyError):
        read_account(db, run_id=99)


def test_logs_are_found_by_the_nodes_name(db: Database) -> None:
    found = [(one.attempt, one.reading, one.status) for one in read_session_logs(db, "01_a:1")]
    assert found == [(1, 1, "failed"), (2, 1, "completed")]
