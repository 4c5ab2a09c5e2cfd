"""What a coder's work is held to, and its judgement in the ledger and in its place for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.config import GateSettings, Settings
from agent_fox.core.ids import Archetype, Ticket
from agent_fox.core.ledger.close_out import CloseOut, Contract, FindingWaiver, RuleReport, Severity, judge
from agent_fox.core.ledger.close_out_scope import Boundary
from agent_fox.core.spec import Spec
from agent_fox.engine.launching.closing import REPORTS, closing_of, designs, publish_last, record_close_out
from agent_fox.session.order import ClosedOut
from agent_fox.store.sessions import SessionRow
from agent_fox.store.state import transaction
from tests.session.world import make_repo, sh, write
from tests.states import fresh_state

AT = "2030-01-01T00:00:00.000Z"
DESIGN = "specs/01_a/design.md"
SPEC = Spec("01_a", "agent-fox", "specs/01_a", documents={"design.md": DESIGN, "prd.md": "specs/01_a/prd.md"})
SESSION = SessionRow(
    7, 1, "01_a:1", "01_a", Archetype.CODER, None, Ticket("uid", 1), "running", "", "", 0, "p", "t", None, None, None,
    0.5, "", "", AT, None, None, "command", "[]",
)  # fmt: skip


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(fresh_state(tmp_path / "state.db")) as opened:
        yield opened


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", {DESIGN: "It is `src/a.py`.\n", "specs/01_a/prd.md": "`not/this.py`\n"})


def closed(*rules: str, task: str = "01_a:1@1") -> ClosedOut:
    given = CloseOut(task, rules=RuleReport(rules), contract=Contract(needs_feedback=False))
    return ClosedOut(given, judge(given), "tree", "commit")


def test_the_contract_is_what_the_settings_say_and_what_the_design_names(repo: Path) -> None:
    gate = GateSettings(allowed=["lib"], forbidden=[".env"], commands=["make check"], off_scope="warn", timeout=9)
    held = closing_of(Settings(gate=gate), repo, "HEAD", SPEC)
    bound = Boundary(("lib",), ("src/a.py",), (".env",))
    assert held.contract == Contract(bound, ("make check",), Severity.WARN, needs_feedback=False)
    assert (held.timeout, held.network, held.waivers) == (9, False, ())


def test_by_default_nothing_is_demanded_but_what_the_rules_say(repo: Path) -> None:
    held = closing_of(Settings(), repo, "HEAD", replace(SPEC, documents={}))
    assert held.contract == Contract(needs_feedback=False)


def test_a_design_is_read_as_it_was_pinned_and_from_the_files_where_it_was_never_committed(repo: Path) -> None:
    pinned = sh(repo, "git", "rev-parse", "HEAD")
    write(repo, {DESIGN: "changed\n", "specs/02_b/design.md": "loose\n"})
    assert list(designs(repo, pinned, SPEC)) == ["It is `src/a.py`.\n"]
    assert list(designs(repo, pinned, replace(SPEC, documents={"design.md": "specs/02_b/design.md"}))) == ["loose\n"]
    assert list(designs(repo, pinned, replace(SPEC, documents={"design.md": "nowhere/design.md"}))) == [""]


def test_a_close_out_is_recorded_with_its_session_and_published_where_git_does_not_see_it(
    repo: Path, db: Database
) -> None:
    with transaction(db):
        done = record_close_out(db, SESSION, closed("r"), AT)
    publish_last(db, repo, closed("r"))
    report = json.loads((repo / REPORTS / "01_a:1@1.json").read_text())
    assert (report["passed"], report["record"], report["tree"]) == (False, done.record, "tree")
    assert db.execute("SELECT session_id, status FROM ledger").fetchall() == [(7, "blocked")]
    assert sh(repo, "git", "status", "--porcelain") == ""


def test_nothing_is_recorded_where_the_transaction_is_not_carried_through(db: Database) -> None:
    with suppress(RuntimeError), transaction(db):
        record_close_out(db, SESSION, closed(), AT)
        raise RuntimeError("the disk broke")
    assert db.execute("SELECT count(*) FROM ledger").fetchone() == (0,)


def test_a_report_is_never_put_in_the_place_of_a_newer_one(repo: Path, db: Database) -> None:
    with transaction(db):
        record_close_out(db, SESSION, closed("old"), AT)
        record_close_out(db, replace(SESSION, id=8), closed(), AT)
    publish_last(db, repo, closed())
    publish_last(db, repo, closed("old"))
    assert json.loads((repo / REPORTS / "01_a:1@1.json").read_text())["passed"] is True


def test_a_report_that_cannot_be_written_does_not_stop_a_run(repo: Path, db: Database) -> None:
    with transaction(db):
        record_close_out(db, SESSION, closed(), AT)
    write(repo, {".agent-fox": "in the way"})
    publish_last(db, repo, closed())


def test_a_waiver_that_served_a_task_is_noted_once(db: Database) -> None:
    (finding,) = closed("r").verification.findings
    waiver = FindingWaiver(finding.check, finding.detail_hash, "w1", "ada", "why")
    columns = "id, kind, address, reason, signer, granted_at, expires_at, envelope"
    db.execute(
        f"INSERT INTO waivers ({columns}) VALUES ('w1', 'finding', '01_a:1', 'why', 'ada', ?, ?, '{{}}')", [AT, AT]
    )
    db.conn.commit()
    given = closed("r").given
    signed = ClosedOut(given, judge(given, (waiver,)), "tree", "commit")
    with transaction(db):
        record_close_out(db, SESSION, signed, AT)
        record_close_out(db, SESSION, signed, AT)
    events = db.execute("SELECT waiver_id, kind, subject FROM waiver_events").fetchall()
    assert events == [("w1", "used", "01_a:1@1")]
