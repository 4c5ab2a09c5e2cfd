"""The first screen says what the state says: the answer, who needs a person and why, what to type next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.engine.account.account import RunAccount, Undelivered, read_account
from agent_fox.engine.account.overview import (
    Answer,
    Need,
    NextStep,
    Overview,
    Takeover,
    quoted,
    read_overview,
)
from agent_fox.store.state import read_state
from agent_fox.system import git
from agent_fox.testing.worlds import NEVER, Req, World, run_cli

WORLD = World(
    {
        "01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2")],
        "02_b": [Req("02-REQ-1.1", right_at=NEVER), Req("02-REQ-1.2")],
        "03_c": [Req("03-REQ-1.1")],
        "04_d": [Req("04-REQ-1.1")],
    },
    depends={"02_b": "01_a", "03_c": "02_b"},
    verifier_says={"04_d/1/1": "unsure", "04_d/1/2": "unsure"},
    settings="[retry]\nattempts = 2\nreadings = 2\n",
    cost=0.25,
)
WORK = Takeover("agent-fox/integration", 3, "", "git merge agent-fox/integration")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = WORLD.build(tmp_path_factory.mktemp("overview") / "w")
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


Look = Callable[..., Overview]


@pytest.fixture
def look(db: Database, account: RunAccount) -> Look:
    def read(*, is_alive: bool = False, can_sign: bool = False, **changes: object) -> Overview:
        changed = replace(account, **changes)  # type: ignore[arg-type]
        return read_overview(db, changed, is_alive=is_alive, work=lambda: WORK, can_sign=lambda: can_sign)

    return read


def test_the_banner_says_what_is_not_proven_and_what_waits(look: Look) -> None:
    banner = look().banner
    assert banner.answer is Answer.NOT_PROVEN
    assert banner.exit_code == 2
    assert banner.because == (
        "1 requirement fails, 1 without a clear verdict, 1 not read yet; 1 spec waits for that; 3 of 6 proven"
    )


def test_cards_are_worst_first_and_say_why_and_what_waits(look: Look) -> None:
    failing, unclear = look().needs_you
    assert (failing.need, failing.node, failing.because) == (Need.FAILING, "02_b:2", "stopped after 2 attempts")
    assert [(part.requirement, part.word, part.attempt) for part in failing.cited] == [("02-REQ-1.1", "FAIL", 2)]
    assert "02-REQ-1.1" not in failing.cited[0].text
    assert failing.cited[0].text
    assert failing.cited[0].quoted
    assert failing.holds == ("03_c:1", "03_c:2")
    assert failing.holds_specs == ("03_c",)
    assert failing.issue_title
    assert failing.decide
    assert (unclear.need, unclear.spec, unclear.holds) == (Need.UNCLEAR, "04_d", ())


def test_the_money_on_a_card_is_that_of_its_spec(look: Look, account: RunAccount, db: Database) -> None:
    failing, unclear = look().needs_you
    every = "SELECT spec_name, sum(cost_usd) FROM sessions GROUP BY 1"
    by_spec = dict(db.execute(every).fetchall())
    assert failing.known_usd == pytest.approx(by_spec["02_b"])
    assert unclear.known_usd == pytest.approx(by_spec["04_d"])
    assert sum(by_spec.values()) == pytest.approx(account.cost.known_usd)


def test_waiving_is_offered_where_somebody_is_trusted_to_sign(look: Look) -> None:
    assert not any("waive" in command for command in look().needs_you[0].commands)
    assert "agent-fox waive 02-REQ-1.1 --spec 02_b --reason '...' --expires 30d" in (
        look(can_sign=True).needs_you[0].commands
    )


def test_every_command_on_the_screen_runs(root: Path, look: Look) -> None:
    commands = {step.command for step in look().next} | {c for card in look().needs_you for c in card.commands}
    assert {c.split()[1] for c in commands} == {"explain", "reset"}
    for command in commands:
        if "explain" in command:
            assert run_cli(root, *command.split()[1:]).returncode == 0


def test_what_is_not_proven_has_its_text(look: Look, account: RunAccount) -> None:
    texts = look().texts
    for spec in account.specs:
        assert set(spec.open_ids) <= set(texts.get(spec.name, {}))


@pytest.mark.parametrize(
    ("changes", "answer", "code", "steps"),
    [
        ({"status": "running", "is_alive": True}, Answer.RUNNING, None, []),
        ({"status": "running", "reason": ""}, Answer.STOPPED, 4, ["agent-fox run"]),
        (
            {"status": "paused", "exit_code": 3, "reason": "cost: $5.00 spent"},
            Answer.STOPPED, 3, ["agent-fox run --max-cost DOLLARS"],
        ),
        ({"status": "paused", "exit_code": 4, "reason": "x"}, Answer.STOPPED, 4, ["agent-fox doctor", "agent-fox run"]),
        ({"status": "interrupted", "exit_code": 130, "reason": "x"}, Answer.STOPPED, 130, ["agent-fox run"]),
        ({"run": None}, Answer.NEVER, None, ["agent-fox run"]),
    ],
)  # fmt: skip
def test_each_way_a_run_stands_has_its_word(
    look: Look, changes: dict[str, object], answer: Answer, code: int | None, steps: list[str]
) -> None:
    seen = look(**changes)
    assert (seen.banner.answer, seen.banner.exit_code) == (answer, code)
    assert [step.command for step in seen.next] == steps


def test_a_state_that_is_not_believed_comes_first_and_proves_nothing(look: Look) -> None:
    seen = look(disbelieved="rows differ")
    assert seen.banner.answer is Answer.NOT_PROVEN
    assert seen.needs_you[0].need is Need.DISBELIEVED
    assert "rows differ" in seen.banner.because


def test_where_all_is_proven_the_work_is_taken_over(look: Look, account: RunAccount) -> None:
    proven = account.specs[0]
    assert proven.is_proven
    seen = look(specs=(proven,), blocked=())
    assert (seen.banner.answer, seen.banner.exit_code, seen.banner.commit) == (Answer.PROVEN, 0, proven.commit)
    assert seen.needs_you == ()
    assert seen.next == (NextStep("git merge agent-fox/integration", "take over the work, 3 commits ahead"),)


def test_a_spec_that_could_not_be_read_and_held_issues_need_a_person(look: Look, account: RunAccount) -> None:
    left_out = replace(account.specs[3], standing="left out", problem="no tasks.md")
    seen = look(
        specs=(left_out,), blocked=(),
        undelivered=(Undelivered("file", "x", "held", "no token"), Undelivered("file", "y", "pending", "")),
    )  # fmt: skip
    assert [(card.need, card.because) for card in seen.needs_you] == [
        (Need.LEFT_OUT, "no tasks.md"), (Need.UNDELIVERED, "1 issue update held back: no token"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("evidence", "lines"),
    [
        (
            "`pytest -q` (exit 1): assert 1 == 2\nlog: artifact://a/1\n\ntests/test_a.py::test_x\n>   assert 1 == 2\nE",
            ("assert 1 == 2", "tests/test_a.py::test_x", ">   assert 1 == 2"),
        ),
        ("it does not round (exit 1): down", ("it does not round (exit 1): down",)),
        ("", ()),
        ("\n \n", ()),
    ],
)
def test_evidence_is_quoted_from_its_assertion_on(evidence: str, lines: tuple[str, ...]) -> None:
    assert quoted(evidence) == lines
