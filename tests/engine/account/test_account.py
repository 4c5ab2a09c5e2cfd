"""The account of a run agrees with what the run did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.engine.account.account import Cost, RunAccount, read_account, read_session_logs
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


@pytest.fixture(scope="module")
def left_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """02_b has a conflict in its tasks, 03_c waits for it, and the requirements of 04_d cannot be read."""
    names = ("01_a", "02_b", "03_c", "04_d")
    specs = {name: [Req(f"{name[:2]}-REQ-1.1"), Req(f"{name[:2]}-REQ-1.2")] for name in names}
    root = World(specs, depends={"03_c": "02_b"}).build(tmp_path_factory.mktemp("left") / "w")
    folder = root / ".agent-fox" / "specs"
    (folder / "02_b" / "tasks.md").write_text("<<<<<<< ours\n- [ ] 1. A\n>>>>>>> theirs\n")
    (folder / "04_d" / "requirements.md").write_bytes(b"\xff\xfe\x00" * 9)
    assert run_cli(root, "run", "--skip-broken").returncode == 2
    return root


class TestLeftOut:
    def test_their_known_requirements_count_as_not_proven(self, left_out: Path) -> None:
        with closing(read_state(left_out / ".agent-fox" / "state.db")) as db:
            account = read_account(db)
        told = {spec.name: (spec.standing, spec.unread, spec.is_counted) for spec in account.specs}
        assert told == {
            "01_a": ("verified", (), True),
            "02_b": ("left out", ("02-REQ-1.1", "02-REQ-1.2"), True),
            "03_c": ("left out", ("03-REQ-1.1", "03-REQ-1.2"), True),
            "04_d": ("left out", (), False),
        }
        assert (account.proven, account.not_proven, account.uncounted) == (2, 4, 1)

    @pytest.mark.parametrize("command", [["run", "--skip-broken"], ["status"]])
    def test_people_see_the_reason_and_a_question_mark(self, left_out: Path, command: list[str]) -> None:
        said = run_cli(left_out, *command).stdout
        assert "✗ 03_c depends on 02_b, which is left out" in said
        assert "0 of ?  left out" in said
        assert "4 not read yet, 1 spec not readable; 2 of 6 proven" in said

    def test_programs_see_that_the_number_is_unknown(self, left_out: Path) -> None:
        document = json.loads(run_cli(left_out, "status", "--json").stdout)
        assert {spec["name"]: spec["expected"] for spec in document["specs"]} == {
            "01_a": 2, "02_b": 2, "03_c": 2, "04_d": None,
        }  # fmt: skip

    def test_what_was_proven_before_a_spec_broke_does_not_count(self, tmp_path: Path) -> None:
        world = World({"01_a": [Req("01-REQ-1.1")], "02_b": [Req("02-REQ-1.1")]})
        root = world.build(tmp_path)
        assert run_cli(root, "run").returncode == 0
        tasks = root / ".agent-fox" / "specs" / "02_b" / "tasks.md"
        tasks.write_text("<<<<<<< ours\n- [ ] 1. A\n>>>>>>> theirs\n")
        assert run_cli(root, "run", "--skip-broken").returncode == 2
        assert "1 of 2 proven" in run_cli(root, "status").stdout
        world.write_spec(root, "02_b")
        assert run_cli(root, "run").returncode == 0
        assert "2 of 2 proven" in run_cli(root, "status").stdout

    def test_a_spec_that_is_repaired_or_removed_later_is_planned_as_if_it_were_new(self, tmp_path: Path) -> None:
        world = World({name: [Req(f"{name[:2]}-REQ-1.1")] for name in ("01_a", "02_b", "03_c")})
        root = world.build(tmp_path)
        folder = root / ".agent-fox" / "specs"
        for name in ("02_b", "03_c"):
            (folder / name / "tasks.md").write_text("<<<<<<< ours\n- [ ] 1. A\n>>>>>>> theirs\n")
        assert run_cli(root, "run", "--skip-broken").returncode == 2
        world.write_spec(root, "02_b")
        (folder / "03_c").rename(tmp_path / "gone")
        assert run_cli(root, "run").returncode == 0
        assert "2 of 2 proven" in run_cli(root, "status").stdout
