"""What a host may launch, and what it may claim: the database says so, by the rules of our own run."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest

from agent_fox.core.graph import Plan
from agent_fox.core.ids import Ticket
from agent_fox.core.policy import Policy
from agent_fox.core.retry.decision import Accept, Block, Ignore, Recode
from agent_fox.engine import hosting
from agent_fox.engine.hosting import HostError
from agent_fox.engine.record.docket import Handled
from agent_fox.evidence import granting
from agent_fox.evidence.signing import keys
from agent_fox.evidence.waivers import Grounds
from agent_fox.specs.planner import PlanShape, plan_of
from agent_fox.testing.worlds import git
from tests.engine.desk import answer, small_spec
from tests.evidence.waiver_world import PASSPHRASE, person

AT = "2026-03-01T12:00:00.000Z"
SPECS = (small_spec("01_a", {1: ("1.1",), 2: ("1.2",)}), small_spec("02_b", {1: ("1.1",)}, after="01_a"))
GOLDEN = Path(__file__).with_name("hosting_signatures.txt")


def plan() -> Plan:
    return plan_of(SPECS, (), PlanShape(pre_review=False, audit_review=False))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A host's database that has adopted two specs, the second of which depends on the first."""
    with closing(sqlite3.connect(tmp_path / "host.db", isolation_level=None)) as connection:
        with connection:
            connection.execute("BEGIN")
            hosting.adopt_plan(connection, plan(), AT)
        yield connection


@contextmanager
def begun(db: sqlite3.Connection) -> Iterator[None]:
    """The host's own transaction."""
    db.execute("BEGIN")
    with db:
        yield


def launched(db: sqlite3.Connection, node_id: str, commit: str = "c1", policy: Policy = hosting.USUAL) -> Ticket:
    with begun(db):
        return hosting.launch(db, node_id, commit, AT, policy)


def coded(db: sqlite3.Connection, ticket: Ticket, landed: str = "c1") -> Handled:
    with begun(db):
        return hosting.coder_ended(db, ticket, landed=landed, at=AT)


def judged(
    db: sqlite3.Connection, ticket: Ticket, words: dict[str, str], commit: str = "c1", policy: Policy = hosting.USUAL,
    tree: str = "", grounds: Grounds | None = None,
) -> Handled:  # fmt: skip
    with begun(db):
        tree = tree or f"tree of {commit}"
        return hosting.hand_in(
            db, ticket, answer(words), commit=commit, tree=tree, at=AT, policy=policy, grounds=grounds
        )


def ready(db: sqlite3.Connection, policy: Policy = hosting.USUAL) -> list[str]:
    return [node.id for node in hosting.ready(db, policy)]


def coded_both(db: sqlite3.Connection) -> None:
    for node in ("01_a:1", "01_a:2"):
        coded(db, launched(db, node))


GOOD = {"01-REQ-1.1": "PASS", "01-REQ-1.2": "PASS"}
BAD = {"01-REQ-1.1": "FAIL", "01-REQ-1.2": "PASS"}


def test_a_verifier_whose_coders_never_ran_gets_no_ticket(db: sqlite3.Connection) -> None:
    with pytest.raises(HostError, match=r"^01_a:3 is not ready: it waits for 01_a:2 \(pending\)$"):
        launched(db, "01_a:3")
    coded(db, launched(db, "01_a:1"))
    launched(db, "01_a:2")
    with pytest.raises(HostError, match=r"it waits for 01_a:2 \(running\)"):
        launched(db, "01_a:3")
    assert db.execute("SELECT count(*) FROM sessions WHERE archetype = 'verifier'").fetchone() == (0,)


def test_a_verifier_whose_coder_was_just_sent_back_gets_no_ticket(db: sqlite3.Connection) -> None:
    coded_both(db)
    assert isinstance(judged(db, launched(db, "01_a:3"), BAD).decision, Recode)
    with pytest.raises(HostError, match=r"01_a:3 is not ready: it waits for 01_a:1 \(pending\)"):
        launched(db, "01_a:3", "c2")
    assert ready(db) == ["01_a:1"]
    coded(db, launched(db, "01_a:1"), "c2")
    assert isinstance(judged(db, launched(db, "01_a:3", "c2"), GOOD, "c2").decision, Accept)


def test_a_spec_waits_for_the_gate_of_the_one_it_depends_on_as_the_policy_says(db: sqlite3.Connection) -> None:
    once, goes_on = Policy(attempts=1), Policy(attempts=1, goes_on_after_escalation=True)
    with pytest.raises(HostError, match=r"02_b:1 is not ready: it waits for 01_a:2 \(pending\), 01_a:3 \(pending\)"):
        launched(db, "02_b:1")
    coded_both(db)
    assert isinstance(judged(db, launched(db, "01_a:3"), BAD, policy=goes_on).decision, Block)
    assert [node.id for node in hosting.waits_for(db, "02_b:1", once)] == ["01_a:3"]
    assert ready(db, goes_on) == ["02_b:1"]
    assert launched(db, "02_b:1", policy=goes_on).attempt == 1


def test_what_is_ready_is_what_can_be_launched_and_nothing_else(db: sqlite3.Connection) -> None:
    every = [name for (name,) in db.execute("SELECT id FROM plan_nodes ORDER BY position")]
    for _ in range(20):
        offered = ready(db)
        for node in set(every) - set(offered):
            with pytest.raises(HostError, match=f"^{node} is "):
                launched(db, node)
        if not offered:
            break
        ticket = launched(db, offered[0])
        end = judged(db, ticket, GOOD | {"02-REQ-1.1": "PASS"}) if "verifier" in str(ticket) else coded(db, ticket)
        assert end.decision_id is not None
    assert hosting.is_proven(db, "tree of c1")


def test_an_overtaken_verifier_is_ignored_and_its_ticket_launched_again_free(db: sqlite3.Connection) -> None:
    coded_both(db)
    ticket = launched(db, "01_a:3")
    with begun(db):
        hosting.reset(db, "01_a:1", AT, reason="the wrong library")
    assert isinstance(judged(db, ticket, GOOD).decision, Ignore)
    coded(db, launched(db, "01_a:1"), "c2")
    late = judged(db, ticket, GOOD).decision
    assert isinstance(late, Ignore)
    assert "overtaken" in str(late)
    assert not hosting.is_proven(db, "tree of c1")
    assert launched(db, "01_a:3", "c2") == ticket
    assert isinstance(judged(db, ticket, GOOD, "c2").decision, Accept)


def test_a_session_that_was_launched_before_its_spec_changed_counts_no_more(db: sqlite3.Connection) -> None:
    coded_both(db)
    ticket = launched(db, "01_a:3")
    (first,) = SPECS[0].requirements
    criteria = (replace(first.criteria[0], text="another text"), *first.criteria[1:])
    changed = (replace(SPECS[0], requirements=(replace(first, criteria=criteria),)), SPECS[1])
    with begun(db):
        hosting.adopt_plan(db, plan_of(changed, (), PlanShape(pre_review=False, audit_review=False)), AT)
    waits = [node.id for node in hosting.waits_for(db, "01_a:3")]
    assert (waits, isinstance(judged(db, ticket, GOOD).decision, Ignore)) == (["01_a:1"], True)


def test_specs_take_turns_also_over_many_calls(tmp_path: Path) -> None:
    specs = [small_spec(f"0{n}_x", {1: ("1.1",), 2: ("1.2",)}) for n in (1, 2)]
    with closing(sqlite3.connect(tmp_path / "host.db", isolation_level=None)) as db:
        with begun(db):
            hosting.adopt_plan(db, plan_of(specs, (), PlanShape(pre_review=False, audit_review=False)), AT)
        coded(db, launched(db, ready(db)[0]))
        assert ready(db) == ["02_x:1", "01_x:2"]


def test_a_launch_costs_the_edges_of_its_node_whatever_the_size_of_the_plan(tmp_path: Path) -> None:
    steps = {size: launch_steps(tmp_path / f"{size}.db", size) for size in (4, 150)}
    assert steps[150] <= 1.3 * steps[4]


def launch_steps(path: Path, size: int) -> int:
    """How many hundreds of SQLite's instructions one launch takes in a plan of so many specs."""
    specs = [small_spec(f"{n:02}_x", {1: ("1.1",)}) for n in range(1, size + 1)]
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        with begun(db):
            hosting.adopt_plan(db, plan_of(specs, (), PlanShape(pre_review=False, audit_review=False)), AT)
            ticket = hosting.launch(db, "02_x:1", "c1", AT)
        coded(db, ticket)
        db.set_progress_handler(count, 20)
        launched(db, "02_x:2")
    return counted


# Proven, or not


def test_the_account_says_what_is_proven_and_why_the_rest_is_not(db: sqlite3.Connection) -> None:
    assert not hosting.is_proven(db, "tree of c1")
    coded_both(db)
    judged(db, launched(db, "01_a:3"), GOOD)
    found = hosting.account(db, "tree of c1")
    assert {spec.name: (spec.standing, spec.proven) for spec in found.specs} == {
        "01_a": ("verified", ("01-REQ-1.1", "01-REQ-1.2")),
        "02_b": ("waiting", ()),
    }
    assert found.why_not == ("stalled: nothing runs, but 2 node(s) wait, such as 02_b:1, 02_b:2",)


def test_what_was_proven_on_another_tree_is_not_proven_and_the_final_check_reopens_it(db: sqlite3.Connection) -> None:
    coded_both(db)
    judged(db, launched(db, "01_a:3"), GOOD)
    coded(db, launched(db, "02_b:1"), "c2")
    judged(db, launched(db, "02_b:2", "c2"), {"02-REQ-1.1": "PASS"}, "c2")
    assert hosting.account(db, "tree of c2").why_not == (
        "01_a was proven on another tree; `final_check` has it read again",
    )
    with begun(db):
        reopened = hosting.final_check(db, commit="c2", tree="tree of c2", at=AT)
    assert [moved.node_id for one in reopened for moved in one.transitions] == ["01_a:3"]
    judged(db, launched(db, "01_a:3", "c2"), GOOD, "c2")
    with begun(db):
        assert hosting.final_check(db, commit="c2", tree="tree of c2", at=AT) == ()
    assert hosting.is_proven(db, "tree of c2")


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("DELETE FROM plan_parts WHERE id = '02-REQ-1.1'", "the plan, its verdicts or its gates are not those"),
        ("UPDATE sessions SET cost_usd = 0.5", "the state is not that of the ledger"),
    ],
)
def test_rows_that_were_changed_past_the_ledger_prove_nothing(db: sqlite3.Connection, statement: str, why: str) -> None:
    coded_both(db)
    judged(db, launched(db, "01_a:3"), GOOD)
    coded(db, launched(db, "02_b:1"))
    judged(db, launched(db, "02_b:2"), {"02-REQ-1.1": "PASS"})
    assert hosting.is_proven(db, "tree of c1")
    for (name,) in db.execute("SELECT name FROM temp.sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER temp.{name}")
    guards = db.execute("SELECT name FROM main.sqlite_master WHERE type = 'trigger' AND name LIKE 'sessions%'")
    for (name,) in guards.fetchall():
        db.execute(f"DROP TRIGGER main.{name}")
    db.execute(statement)
    found = hosting.account(db, "tree of c1").why_not
    assert (len(found), why in found[0]) == (1, True), found


def test_an_empty_plan_is_not_proven(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "host.db", isolation_level=None)) as db:
        with begun(db):
            hosting.adopt_plan(db, plan_of([], (), PlanShape()), AT)
        assert not hosting.is_proven(db, "tree of c1")


def test_a_reset_that_makes_no_sense_is_refused_with_the_reason(db: sqlite3.Connection) -> None:
    with pytest.raises(HostError, match="it runs anyway; there is nothing to reset"), begun(db):
        hosting.reset(db, "01_a:1", AT)


def test_a_signed_waiver_completes_a_spec_in_the_hosts_database(db: sqlite3.Connection, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "start")
    alice, once = person(tmp_path / "people"), Policy(attempts=1)
    grounds = Grounds(root, alice.environ, "main")
    private = keys.load_key(alice.key, PASSPHRASE)
    coded_both(db)
    judged(db, launched(db, "01_a:3"), BAD, policy=once)
    draft = hosting.draft_waiver(
        db, "01_a/01-REQ-1.1", reason="next year", expires="30d", key=keys.public_of(private), at=AT, grounds=grounds
    )
    mallory = keys.load_key(person(tmp_path / "people", "mallory", is_trusted=False).key, PASSPHRASE)
    with pytest.raises(HostError, match="nobody who is trusted"), begun(db):
        hosting.waive(db, granting.sign_with_key(draft, mallory), at=AT, grounds=grounds)
    with begun(db):
        hosting.waive(db, granting.sign_with_key(draft, private), at=AT, grounds=grounds)
    assert ready(db, once) == ["02_b:1"]
    (spec, _) = hosting.account(db, "tree of c1", at=AT, grounds=grounds).specs
    assert (spec.standing, spec.waived, spec.proven) == ("waived", ("01-REQ-1.1",), ("01-REQ-1.2",))
    ended = hosting.account(db, "tree of c1")
    assert "01_a: a waiver that it rests on does not count any more: 01-REQ-1.1" in ended.why_not


# The promise


def signatures() -> str:
    """Every public name with its signature, or its fields."""
    lines = []
    for name in sorted(hosting.__all__):
        value = getattr(hosting, name)
        if is_dataclass(value) and isinstance(value, type):
            shown = ", ".join(f"{field.name}: {field.type}" for field in fields(value))
            lines.append(f"{name}({shown})")
        elif inspect.isfunction(value):
            shown = str(inspect.signature(value)).replace(repr(hosting.USUAL), "USUAL").replace("'", "")
            lines.append(f"{name}{shown}")
        elif isinstance(value, type):
            lines.append(f"{name}({value.__mro__[1].__name__})")
        else:
            lines.append(f"{name}: {type(value).__name__}")
    return "".join(f"{line}\n" for line in lines)


def test_what_is_promised_to_hosts_is_what_is_there() -> None:
    """The golden file may only gain names, and arguments with a default; else see docs/hosting.md."""
    assert signatures() == GOLDEN.read_text(encoding="utf-8")


def test_every_promised_name_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "hosting.md").read_text(encoding="utf-8")
    assert [name for name in hosting.__all__ if f"`{name}" not in page] == []
