"""Rows of waivers and of what happened to them: written once, never changed; and who asked for one."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.ledger.evidence import Evidence, Kind, Outcome, SpecRef
from agent_fox.core.ledger.gates import Gate, Role
from agent_fox.core.ledger.waivers import Columns
from agent_fox.store import plan, waivers
from agent_fox.store.gates import GateMove, record_moves
from agent_fox.store.ledger import ledger
from agent_fox.store.plan import StoredPart
from agent_fox.store.sessions import set_session, start_run
from agent_fox.store.waivers import Asked, WaiverRow
from tests.store.world import AT, CODER, SPEC, add_nodes, add_session, writing

COLUMNS = Columns("requirement", SPEC, "R1", "v1", "", "", "a reason", "alice", AT, "2030")
ROW = WaiverRow("a" * 20, COLUMNS, "{}")


def test_a_waiver_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        waivers.insert_waiver(db, ROW)
        assert waivers.waivers_of(db, "requirement", SPEC) == [ROW]
        assert waivers.waivers_of(db, "finding") == []
        assert waivers.waiver_by_prefix(db, "aaa") == [ROW]


def test_an_id_is_granted_once(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        waivers.insert_waiver(db, ROW)
        with pytest.raises(sqlite3.IntegrityError):
            waivers.insert_waiver(db, replace(ROW, envelope="[]"))
        waivers.record_waiver_event(db, AT, "granted", ROW.id)
        with pytest.raises(sqlite3.IntegrityError):
            waivers.record_waiver_event(db, AT, "granted", ROW.id)


@pytest.mark.parametrize("again", ["revoked", "expired", "over"])
def test_a_waiver_ends_once_and_says_how(tmp_path: Path, again: str) -> None:
    with writing(tmp_path) as db:
        waivers.insert_waiver(db, ROW)
        assert waivers.over(db, ROW.id) == ""
        waivers.record_waiver_event(db, AT, "revoked", ROW.id, note="a mistake")
        assert waivers.over(db, ROW.id) == f"it was revoked at {AT}: a mistake"
        with pytest.raises(sqlite3.IntegrityError):
            waivers.record_waiver_event(db, AT, again, ROW.id)


def test_an_ending_that_only_the_ledger_has_is_one(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        waivers.insert_waiver(db, ROW)
        ledger.append(db, [record("revoked", "")], SPEC)
        assert waivers.over(db, ROW.id) == f"the ledger says that it was revoked at {AT}"


def record(kind: str, envelope: str) -> Evidence:
    identity = waivers.identity(ROW.id, kind)
    return Evidence(Kind.WAIVER, identity, AT, Outcome(kind), SpecRef(), body={"envelope": envelope})


def test_a_gate_that_has_left_waived_has_used_its_waiver_up(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        plan.save_parts(db, [StoredPart(SPEC, "R1", "R1", "text", "v1")])
        waivers.insert_waiver(db, ROW)
        waive = GateMove("R1", "v1", Gate.PROPOSED, Gate.WAIVED, Role.PERSON, ROW.id)
        record_moves(db, AT, SPEC, [waive])
        assert waivers.over(db, ROW.id) == ""
        record_moves(db, AT, SPEC, [GateMove("R1", "v1", Gate.WAIVED, Gate.PROPOSED, Role.ENGINE)])
        assert "has left" in waivers.over(db, ROW.id)
        with pytest.raises(sqlite3.IntegrityError, match="nothing that was recorded"):
            record_moves(db, AT, SPEC, [waive])


def test_a_grant_is_on_record_with_its_very_envelope(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        waivers.insert_waiver(db, ROW)
        assert not waivers.is_recorded(db, ROW)
        ledger.append(db, [record("granted", ROW.envelope)], SPEC)
        assert waivers.is_recorded(db, ROW)
        assert not waivers.is_recorded(db, replace(ROW, envelope='{"other": 1}'))


def test_petitions_and_sessions_that_ask_are_counted_by_requirement(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        add_nodes(db, CODER)
        plan.save_parts(db, [StoredPart(SPEC, part, part, "text", "v1") for part in ("R1", "R1.1")])
        run = start_run(db, AT, "c0ffee")
        for number, summary in enumerate(("please waive R1.1", "all done", "a waiver is needed", "waive nothing"), 1):
            session = add_session(db, run, attempt=number)
            set_session(db, session, {"summary": summary, "status": "completed"})
        waivers.record_waiver_event(db, AT, "asked", None, subject=f"{SPEC}/R1", note="hard")
        waivers.record_waiver_event(db, AT, "asked", None, subject=f"{SPEC}/R1", note="harder")
        assert waivers.asked(db) == [Asked(SPEC, "", 0, 1), Asked(SPEC, "R1", 2, 0), Asked(SPEC, "R1.1", 0, 1)]
