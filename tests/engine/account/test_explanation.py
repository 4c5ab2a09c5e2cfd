"""Why a node is where it is: budgets and remedies."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from agent_fox.core.policy import Policy
from agent_fox.core.retry.decision import Cause
from agent_fox.core.spec import Criterion, Group, Requirement, Spec
from agent_fox.engine.account.explanation import Explanation, PartEvidence, Spent, explain
from agent_fox.store.plan import node_by_id
from agent_fox.store.state import read_state
from agent_fox.system.state_folders import STATE
from agent_fox.testing.worlds import Req, World, run_cli
from tests.engine.desk import Desk

Ask = Callable[[str], Explanation]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """A world whose first coder crashed once and was then blocked by its spent attempts."""
    world = World(
        {"01_a": [Req("01-REQ-1.1")], "02_b": [Req("02-REQ-1.1")]},
        depends={"02_b": "01_a"},
        coder_does={"01_a:1/1": "crash", "01_a:1/2": "crash"},
        settings="[retry]\nattempts = 2\n",
    )
    root = world.build(tmp_path_factory.mktemp("explained") / "w")
    assert run_cli(root, "run").returncode == 2
    return lambda name: asked(root, name)


def asked(root: Path, name: str) -> Explanation:
    with closing(read_state(root / STATE)) as db:
        planned = node_by_id(db, name)
        assert planned is not None
        return explain(db, planned, Policy(attempts=2))


def test_a_blocked_coder_has_spent_its_attempts_and_says_why_each_failed(ask: Ask) -> None:
    told = ask("01_a:1")
    assert told.status == "blocked"
    assert told.why.startswith("attempts spent: ")
    assert told.budgets == (Spent("01_a:1", "attempts", 2, 2),)
    assert told.budgets[0].left == 0
    assert [one.kind for one in told.rulings] == ["Retry", "Block"]
    assert all("exit" in one.reason for one in told.sessions)
    assert told.remedies == (Cause.ATTEMPTS_SPENT.remedy, "agent-fox reset 01_a:1")
    assert told.evidence == (
        PartEvidence(
            "01-REQ-1.1", "proposed", "", "", "", "", "", text="WHEN its proof is read, THE proof SHALL be right."
        ),
    )


def test_what_waits_for_it_has_spent_nothing_and_names_it(ask: Ask) -> None:
    for name in ("01_a:2", "02_b:1"):
        told = ask(name)
        assert told.budgets[0].spent == 0
        assert "01_a:1" in told.why
        assert told.remedies == ("nothing here: it unblocks itself when 01_a:1 passes: agent-fox explain 01_a:1",)


def test_every_cause_that_stops_a_node_has_a_remedy() -> None:
    assert {cause for cause in Cause if cause.remedy} == set(Cause) - {Cause.CASCADE}


NOTES = "001_notes"
OLD = Criterion("1.1", "Notes older than a year SHALL move into the archive")
ARCHIVE = Group(1, "Archive", text="Move older notes into the archive")
GUESSED = Spec(
    NOTES,
    "kiro",
    f"specs/{NOTES}",
    requirements=(Requirement("1", "Old notes", "", (OLD,)),),
    groups=(ARCHIVE, Group(2, "Search", text="Find notes by words"), Group(3, "Look", text="Choose colours")),
)
DOUBT = (
    "That this is the work of group 1. Archive is a guess, for no task names it: both say archive, move, older, notes."
    " If it is not, it would next be that of group 2. Search."
)


def test_a_decision_and_an_issue_say_that_the_owner_was_guessed_and_who_comes_next(tmp_path: Path) -> None:
    desk = Desk.open(tmp_path, (GUESSED,), Policy(attempts=2))
    for group in (1, 2, 3):
        desk.end(f"{NOTES}:{group}")
    desk.report(f"{NOTES}:4", {"1.1": "FAIL"})
    for node in (f"{NOTES}:1", f"{NOTES}:4"):
        told = explain(desk.db, desk.node(node), desk.policy)
        assert (told.rulings[-1].blamed, told.doubts) == ((f"{NOTES}:1",), {"1.1": DOUBT})
    assert explain(desk.db, desk.node(f"{NOTES}:2"), desk.policy).doubts == {}
    desk.end(f"{NOTES}:1")
    desk.report(f"{NOTES}:4", {"1.1": "FAIL"})
    ((payload,),) = desk.rows("SELECT payload FROM outbox")
    (facts,) = json.loads(str(payload))["facts"]
    assert [part["doubt"] for part in facts["failing"]] == [DOUBT]
    desk.db.close()
