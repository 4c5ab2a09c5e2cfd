"""What a host can rely on: its transaction, its tables, its settings, and tickets that count once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils.db import TransactionError

from agent_fox.core.graph import Plan
from agent_fox.core.ids import Ticket
from agent_fox.core.retry.decision import Accept, Block, Ignore, Recode, Retry
from agent_fox.core.spec import Criterion, Group, Problem, Requirement, Severity, Spec
from agent_fox.core.verdicts.verdict import Report, Verdict, Word
from agent_fox.engine import hosting
from agent_fox.engine.hosting import HostError
from agent_fox.engine.record.docket import Docket, Handled, SpecShelf
from agent_fox.engine.record.library import read_files, sync_library
from agent_fox.specs.planner import PlanShape, plan_of
from agent_fox.store.hosted import guest
from agent_fox.store.state import StateError
from agent_fox.trackers.local import LocalTracker

AT = "2026-11-21T10:00:00Z"
PART = "01-REQ-1.1"


def plan(text: str = "THE gate SHALL open.", *, pre_review: bool = False) -> Plan:
    requirement = Requirement("01-REQ-1", "The gate", criteria=(Criterion(PART, text),))
    group = Group(1, "Build it", requirements=(PART,))
    spec = Spec("01_gate", "values", "specs/01_gate", requirements=(requirement,), groups=(group,))
    return plan_of([spec], (), PlanShape(pre_review=pre_review))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "host.db", isolation_level=None)) as connection:
        yield connection


@contextmanager
def begun(db: sqlite3.Connection) -> Iterator[None]:
    """The host's own transaction."""
    db.execute("BEGIN")
    with db:
        yield


def adopted(db: sqlite3.Connection) -> hosting.Adopted:
    with begun(db):
        return hosting.adopt_plan(db, plan(), AT)


def launched(db: sqlite3.Connection, node_id: str, commit: str = "c1") -> Ticket:
    with begun(db):
        return hosting.launch(db, node_id, commit, AT)


def coded(db: sqlite3.Connection, failure: str = "") -> Handled:
    ticket = launched(db, "01_gate:1", "base")
    landed = None if failure else "c1"
    with begun(db):
        return hosting.coder_ended(db, ticket, landed=landed, at=AT, failure=failure)


def report(word: Word) -> Report:
    return Report({PART: Verdict(PART, word, word.value, "seen")})


def handed_in(db: sqlite3.Connection, ticket: Ticket, word: Word, commit: str = "c1") -> Handled:
    with begun(db):
        return hosting.hand_in(db, ticket, report(word), commit=commit, tree=f"tree {commit}", at=AT)


def waiting_for_a_verdict(db: sqlite3.Connection) -> Ticket:
    adopted(db)
    coded(db)
    return launched(db, "01_gate:2")


def dump(db: sqlite3.Connection) -> list[str]:
    return list(db.iterdump())


def test_a_plan_is_adopted_with_uids_that_edges_and_jobs_share(db: sqlite3.Connection) -> None:
    found = adopted(db)
    assert [node.id for node in found.nodes] == ["01_gate:1", "01_gate:2"]
    assert {uid for edge in found.edges for uid in (edge.source, edge.target)} == {node.uid for node in found.nodes}
    assert found.changes == ()


def test_a_plan_adopted_again_tells_what_changed_and_reads_it_again(db: sqlite3.Connection) -> None:
    handed_in(db, waiting_for_a_verdict(db), Word.PASS)
    with begun(db):
        changes = hosting.adopt_plan(db, plan("THE gate SHALL stay shut."), AT).changes
    assert f"changed requirement: {PART} of 01_gate loses its verdict" in changes
    assert hosting.awaited(db, "01_gate:1").attempt == 2


def test_a_plan_with_errors_is_not_adopted(db: sqlite3.Connection) -> None:
    broken = replace(plan(), problems=(Problem(Severity.ERROR, "specs/01_gate/tasks.md:3", "two groups 1"),))
    with pytest.raises(HostError, match=r"tasks\.md:3: two groups 1"), begun(db):
        hosting.adopt_plan(db, broken, AT)
    assert dump(db) == ["BEGIN TRANSACTION;", "COMMIT;"]


def test_a_host_that_rolls_back_has_none_of_our_tables(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE jobs (name TEXT)")
    before = dump(db)
    db.execute("BEGIN")
    hosting.adopt_plan(db, plan(), AT)
    db.execute("ROLLBACK")
    assert dump(db) == before


def test_a_decision_that_the_host_rolls_back_never_was(db: sqlite3.Connection) -> None:
    ticket = waiting_for_a_verdict(db)
    before = dump(db)
    db.execute("BEGIN")
    hosting.hand_in(db, ticket, report(Word.FAIL), commit="c1", tree="t1", at=AT)
    db.execute("ROLLBACK")
    assert dump(db) == before
    assert isinstance(handed_in(db, ticket, Word.FAIL).decision, Recode)


def test_without_an_open_transaction_nothing_is_written(db: sqlite3.Connection) -> None:
    with pytest.raises(HostError, match="begin a transaction first"):
        hosting.adopt_plan(db, plan(), AT)
    ticket = waiting_for_a_verdict(db)
    before = dump(db)
    with pytest.raises(HostError, match="begin a transaction first"):
        hosting.launch(db, "01_gate:2", "c1", AT)
    with pytest.raises(HostError, match="begin a transaction first"):
        hosting.hand_in(db, ticket, report(Word.PASS), commit="c1", tree="t1", at=AT)
    assert dump(db) == before


def test_a_connection_whose_transactions_python_runs_itself_works_too(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "host.db")) as db:
        db.execute("CREATE TABLE jobs (name TEXT)")
        db.execute("INSERT INTO jobs VALUES ('mine')")
        hosting.adopt_plan(db, plan(), AT)
        assert db.in_transaction
        db.commit()
        assert hosting.awaited(db, "01_gate:1") == Ticket("01_gate:coder:1", 1)


@pytest.mark.skipif(not hasattr(sqlite3, "LEGACY_TRANSACTION_CONTROL"), reason="autocommit came with Python 3.12")
def test_a_connection_that_cannot_be_shared_is_refused(tmp_path: Path) -> None:
    options: dict[str, bool] = {"autocommit": False}
    with closing(sqlite3.connect(tmp_path / "host.db", **options)) as db, pytest.raises(TransactionError):  # type: ignore[call-overload]
        hosting.adopt_plan(db, plan(), AT)


def test_a_table_of_the_host_with_our_name_is_refused_before_anything_is_made(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE Runs (id INTEGER)")
    db.execute("CREATE TABLE events (id INTEGER)")
    before = dump(db)
    with pytest.raises(StateError, match="has Runs, events already"), begun(db):
        hosting.adopt_plan(db, plan(), AT)
    assert dump(db) == before


def test_tables_of_a_newer_version_are_refused(db: sqlite3.Connection) -> None:
    adopted(db)
    db.execute("UPDATE agent_fox_format SET version = version + 1")
    with pytest.raises(StateError, match="newer agent-fox"):
        adopted(db)


def test_the_hosts_own_settings_are_left_alone(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA user_version = 7")
    db.row_factory, db.text_factory = sqlite3.Row, bytes
    pragmas = ("user_version", "recursive_triggers", "foreign_keys", "journal_mode", "synchronous")
    before = [tuple(db.execute(f"PRAGMA {name}").fetchone()) for name in pragmas]
    handed_in(db, waiting_for_a_verdict(db), Word.PASS)
    assert [tuple(db.execute(f"PRAGMA {name}").fetchone()) for name in pragmas] == before
    assert (db.row_factory, db.text_factory) == (sqlite3.Row, bytes)


def test_a_report_handed_in_twice_counts_once(db: sqlite3.Connection) -> None:
    ticket = waiting_for_a_verdict(db)
    assert isinstance(handed_in(db, ticket, Word.FAIL).decision, Recode)
    counts = db.execute("SELECT count(*) FROM decisions").fetchone()
    assert isinstance(handed_in(db, ticket, Word.FAIL).decision, Ignore)
    assert db.execute("SELECT count(*) FROM decisions").fetchone() == counts


def test_a_report_about_another_commit_is_ignored_and_the_right_one_still_counts(db: sqlite3.Connection) -> None:
    ticket = waiting_for_a_verdict(db)
    assert isinstance(handed_in(db, ticket, Word.PASS, commit="c0").decision, Ignore)
    assert isinstance(handed_in(db, ticket, Word.PASS).decision, Accept)


def test_a_lost_launch_is_launched_again_under_the_same_ticket_and_pinned_anew(db: sqlite3.Connection) -> None:
    ticket = waiting_for_a_verdict(db)
    assert launched(db, "01_gate:2", "c2") == ticket
    assert isinstance(handed_in(db, ticket, Word.PASS, commit="c1").decision, Ignore)
    assert isinstance(handed_in(db, ticket, Word.PASS, commit="c2").decision, Accept)


def test_a_coder_that_failed_is_tried_again_and_told_why(db: sqlite3.Connection) -> None:
    adopted(db)
    assert isinstance(coded(db, failure="time out after 60 s").decision, Retry)
    again = launched(db, "01_gate:1")
    assert again.attempt == 2
    assert "time out after 60 s" in hosting.brief(db, again).markdown


def test_the_brief_of_a_retry_has_the_evidence_in_both_forms(db: sqlite3.Connection) -> None:
    handed_in(db, waiting_for_a_verdict(db), Word.FAIL)
    brief = hosting.brief(db, launched(db, "01_gate:1"))
    assert PART in brief.markdown
    failing = brief.document["failing"]
    assert isinstance(failing, list)
    assert [row["id"] for row in failing] == [PART]


def test_a_reviewer_with_critical_findings_holds_the_first_coder(db: sqlite3.Connection) -> None:
    with begun(db):
        hosting.adopt_plan(db, plan(pre_review=True), AT)
    ticket = launched(db, "01_gate:0:reviewer:pre-review", "base")
    said = '{"findings": [{"severity": "critical", "description": "no gate is named"}]}'
    with begun(db):
        handled = hosting.reviewer_ended(db, ticket, said, at=AT)
    assert isinstance(handled.decision, Block)
    assert db.execute("SELECT status FROM plan_nodes WHERE id = '01_gate:1'").fetchone() == ("blocked",)


def test_effects_are_carried_out_after_the_commit_and_once(db: sqlite3.Connection, tmp_path: Path) -> None:
    ticket = waiting_for_a_verdict(db)
    policy = replace(hosting.USUAL, attempts=1)
    tracker = LocalTracker(tmp_path / "issues")
    db.execute("BEGIN")
    handled = hosting.hand_in(db, ticket, report(Word.FAIL), commit="c1", tree="t1", at=AT, policy=policy)
    with pytest.raises(HostError, match="commit your transaction first"):
        hosting.deliver(db, tracker)
    db.execute("COMMIT")
    assert [effect.id for effect in hosting.effects(db, AT)] == list(handled.effects)
    assert (hosting.deliver(db, tracker), hosting.deliver(db, tracker)) == (1, 0)
    assert hosting.effects(db, AT) == []
    assert len(list((tmp_path / "issues").iterdir())) == 1


@pytest.mark.parametrize("node_id", ["01_gate:9", "nonsense"])
def test_a_node_that_is_not_in_the_plan_is_named(db: sqlite3.Connection, node_id: str) -> None:
    adopted(db)
    with pytest.raises(HostError, match=f"{node_id}: there is no such node"):
        launched(db, node_id)


def test_a_settled_node_is_not_launched(db: sqlite3.Connection) -> None:
    waiting_for_a_verdict(db)
    with pytest.raises(HostError, match="01_gate:1 is completed"):
        launched(db, "01_gate:1")


def test_an_end_without_a_launch_or_of_another_archetype_is_refused(db: sqlite3.Connection) -> None:
    ticket = waiting_for_a_verdict(db)
    with pytest.raises(HostError, match="is a verifier, not a coder"), begun(db):
        hosting.coder_ended(db, ticket, landed="c2", at=AT)
    with pytest.raises(HostError, match="never launched"):
        handed_in(db, replace(ticket, attempt=5), Word.PASS)


# Gates and the library

LIBRARY = """
[[specification]]
name = "opens"
kind = "assertion"
text = "It opens."
requirements = ["all"]
tests = ["tests/test_gate.py::test_opens"]
"""


def test_a_host_moves_gates_by_handing_in(db: sqlite3.Connection) -> None:
    ticket = waiting_for_a_verdict(db)
    assert db.execute("SELECT state FROM gates").fetchall() == [("proposed",)]
    handed_in(db, ticket, Word.PASS)
    assert db.execute("SELECT state FROM gates").fetchall() == [("tested",)]


def brought_in_line(db: sqlite3.Connection, root: Path, *, end: str) -> tuple[str, ...]:
    """What changed of the library when the host brought it in line with the files, in a transaction that ends so."""
    folder = root / "specs/01_gate"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "specifications.toml").write_text(LIBRARY)
    db.execute("BEGIN")
    with guest(db) as ours:
        lines = sync_library(Docket(ours, AT, hosting.USUAL, SpecShelf()), read_files(plan().specs, root))
    db.execute(end)
    return lines


def test_a_host_brings_the_library_in_line_with_files_in_its_own_transaction(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    adopted(db)
    for end in ("ROLLBACK", "COMMIT"):
        assert brought_in_line(db, tmp_path, end=end) == ("01_gate/opens (assertion) is adopted",)
    assert db.execute("SELECT address, state FROM specifications").fetchall() == [("01_gate/opens", "adopted")]


def test_what_a_host_adopted_holds_nothing_back_by_itself(db: sqlite3.Connection, tmp_path: Path) -> None:
    adopted(db)
    brought_in_line(db, tmp_path, end="COMMIT")
    coder = launched(db, "01_gate:1", "base")
    assert "bound" not in hosting.brief(db, coder).document
    with begun(db):
        hosting.coder_ended(db, coder, landed="c1", at=AT)
    assert isinstance(handed_in(db, launched(db, "01_gate:2"), Word.PASS).decision, Accept)
