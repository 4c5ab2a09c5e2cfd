"""The ledger of a state file: whoever changed it, by whatever means, is found."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.core.formal.specification import Author, Change, ChosenTests, Specification, SpecKind, State, Who
from agent_fox.core.ids import Ticket
from agent_fox.core.ledger.evidence import (
    Evidence,
    Json,
    Kind,
    Link,
    Outcome,
    canonical,
    content_of,
    head_after,
    record_id,
)
from agent_fox.core.ledger.gates import Gate, Role
from agent_fox.core.verdicts.verdict import Word
from agent_fox.evidence.documents import at_path, document, evidence_of
from agent_fox.evidence.faults import MOST_FAULTS, Fault, Findings
from agent_fox.evidence.granting import petition
from agent_fox.evidence.verify import verify
from agent_fox.evidence.walk import Entry, Walk, step
from agent_fox.evidence.witness import Witness
from agent_fox.review.tasks import register
from agent_fox.store import library
from agent_fox.store.gates import gates_of
from agent_fox.store.ledger import ledger
from agent_fox.store.records import NewDecision, StepRow, record_block, record_decision
from agent_fox.store.reviews import TaskRow
from agent_fox.store.state import transaction
from tests.evidence.ledgers import HAPPENINGS, NOW, VERSION, at, check, decided, grown, move, opened
from tests.store.world import SPEC, VERIFIER

MOMENTS = 12
TASK = "afx-0123456789ab"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grown(tmp_path_factory.mktemp("sound"), MOMENTS)


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copy(sound, tmp_path / "state.db"))


def without_guards(path: Path, *statements: str) -> None:
    """What a program with the whole file may do: take the guards away, write, and put them back."""
    with closing(sqlite3.connect(path)) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        script = "".join(f"DROP TRIGGER {name};\n" for name, _ in guards)
        connection.executescript(script + "".join(f"{one};\n" for one in statements))
        connection.executescript("".join(f"{sql};\n" for _, sql in guards))


def faults(path: Path) -> list[str]:
    return [fault.what for fault in check(path).findings.faults]


def test_a_ledger_that_nobody_touched_is_sound(sound: Path) -> None:
    checked = check(sound)
    assert checked.findings == Findings()
    assert checked.count == checked.walk.position > 3 * MOMENTS


def test_an_empty_ledger_is_sound(tmp_path: Path) -> None:
    with opened(tmp_path / "state.db"):
        pass
    assert check(tmp_path / "state.db").findings.is_sound


def test_gates_by_the_records_alone_are_those_of_the_state_file(sound: Path) -> None:
    with opened(sound) as db:
        stand = {(row.spec_name, row.requirement_id, row.version, row.state, row.role) for row in gates_of(db)}
    folded = check(sound).fold.gates().values()
    assert {(gate.spec, gate.requirement, gate.version, gate.state, gate.role) for gate in folded} == stand
    assert len(stand) == 2


def test_a_gate_that_never_moved_is_proposed_as_planned(tmp_path: Path) -> None:
    gates = check(grown(tmp_path, 1)).fold.gates()
    assert {(key, gate.state, gate.version) for key, gate in gates.items()} == {
        ((SPEC, "R1"), Gate.PROPOSED, VERSION), ((SPEC, "R2"), Gate.PROPOSED, VERSION)
    }  # fmt: skip


def positions(path: Path) -> range:
    with opened(path) as db:
        return range(1, ledger.tip_of(db).position + 1)


def test_a_record_that_was_removed_is_found_wherever_it_stood(sound: Path, tmp_path: Path) -> None:
    for position in positions(sound)[::9]:
        path = Path(shutil.copy(sound, tmp_path / f"{position}.db"))
        without_guards(path, f"DELETE FROM ledger WHERE position = {position}")
        assert faults(path), position


def test_a_record_that_was_moved_is_found(path: Path) -> None:
    without_guards(
        path,
        "UPDATE ledger SET position = 1000 WHERE position = 7",
        "UPDATE ledger SET position = 7 WHERE position = 8",
        "UPDATE ledger SET position = 8 WHERE position = 1000",
    )
    assert "record 8 follows record 7" not in faults(path)
    assert "it is not chained to the record in front of it" in faults(path)


COLUMNS = {
    "identity": "'another'", "kind": "'verdict'", "spec_name": "'02_other'", "address": "'x/y'", "version": "'v'",
    "status": "'PASS '", "tree": "'t'", "decision_id": "9", "session_id": "9", "at": "'2026-03-01T00:00:00.001Z'",
    "record_id": "'" + "0" * 64 + "'", "previous": "'x'", "head": "'y'", "content": "'{}'",
}  # fmt: skip


@pytest.mark.parametrize("column", COLUMNS)
def test_a_change_of_any_column_is_found(path: Path, column: str) -> None:
    without_guards(path, f"UPDATE ledger SET {column} = {COLUMNS[column]} WHERE position = 21")
    assert faults(path)


def reforged(path: Path, position: int, change: str) -> None:
    """Change the content of a record in SQL and make the whole chain behind it anew, as one who knows the format."""
    without_guards(path, f"UPDATE ledger SET content = {change} WHERE position = {position}")
    with opened(path) as db:
        kept = list(ledger.records(db, "position >= ?", [position]))
        (previous,) = db.execute("SELECT head FROM ledger WHERE position = ?", [position - 1]).fetchone()
    script = []
    for one in kept:
        content = canonical(json.loads(one.content))
        name = record_id(content)
        head = head_after(previous, name)
        script.append(
            f"UPDATE ledger SET record_id = '{name}', previous = '{previous}', head = '{head}', "
            f"content = '{content}' WHERE position = {one.link.position}"
        )
        previous = head
    without_guards(path, *reversed(script))


def first(path: Path, kind: str) -> int:
    with opened(path) as db:
        return int(db.execute("SELECT min(position) FROM ledger WHERE kind = ?", [kind]).fetchone()[0])


def test_a_chain_that_was_made_anew_is_found_by_the_heads_of_runs(path: Path) -> None:
    position = first(path, "close-out")
    assert faults(path) == []
    reforged(path, position, "json_set(content, '$.body.share', 0.75)")
    assert faults(path) == ["the head noted when run 1 ended is not in the chain"]


def test_and_by_the_witness_where_the_runs_were_changed_too(path: Path) -> None:
    with opened(path) as db:
        tip = ledger.tip_of(db)
    note = Witness(tip.position, tip.head, tip.at)
    assert check(path, note).findings.is_sound
    reforged(path, first(path, "close-out"), "json_set(content, '$.body.share', 0.75)")
    with opened(path) as db:
        head = ledger.tip_of(db).head
    without_guards(path, f"UPDATE runs SET ledger_head = '{head}'")
    assert faults(path) == []
    (fault,) = check(path, note).findings.faults
    assert fault.meaning == "records were cut off or rewritten, and the chain was made anew"


def test_an_end_that_was_cut_off_is_found_by_the_run(path: Path) -> None:
    with opened(path) as db:
        tip = ledger.tip_of(db)
    without_guards(path, f"DELETE FROM ledger WHERE position = {tip.position}")
    assert "the head noted when run 1 ended is not in the chain" in faults(path)


def test_what_was_cut_off_behind_the_last_run_is_found_by_the_witness_alone(path: Path) -> None:
    with opened(path) as db, transaction(db):
        ledger.append(db, [Evidence(Kind.CHECK, "check:1", NOW, Outcome("PASS"))])
        tip = ledger.tip_of(db)
    without_guards(path, f"DELETE FROM ledger WHERE position = {tip.position}")
    assert faults(path) == []
    assert len(check(path, Witness(tip.position, tip.head, tip.at)).findings.faults) == 1


def test_without_a_witness_nobody_knows_whether_the_end_was_cut_off(sound: Path) -> None:
    with opened(sound) as db, transaction(db):
        findings = verify(db, witness=None, signers=(), now=NOW).findings
    assert (findings.faults, findings.is_sound) == ([], False)
    assert [doubt.what for doubt in findings.unchecked] == [
        "whether the end of the ledger was cut off, or an older one put back"
    ]


def test_a_clock_that_stands_before_the_last_record_is_noted(sound: Path) -> None:
    with opened(sound) as db, transaction(db):
        findings = verify(db, witness=None, signers=(), now=at(0), asks_witness=False).findings
    assert findings.is_sound
    assert "before the last record" in findings.remarks[0]


ROWS = {
    "UPDATE decisions SET kind = 'Block' WHERE id = 2": "row 2 of decisions and its record differ in result.status",
    "UPDATE decisions SET facts = '{}' WHERE id = 2": "row 2 of decisions and its record differ in body.facts_sha256",
    "UPDATE verification_results SET verdict = 'PASS' WHERE verdict = 'FAIL'": "differ in result.status",
    "UPDATE verification_results SET evidence = 'none'": "differ in body.evidence_sha256",
    "UPDATE gate_history SET finish = 'accepted' WHERE id = 1": "row 1 of gate_history and its record differ",
    "UPDATE sessions SET backend = 'other' WHERE id = 1": "row 1 of sessions and its record differ in body.backend",
    "UPDATE runs SET exit_code = 0, reason = 'all proven'": "row 1 of runs and its record differ in body.reason",
    "DELETE FROM decisions WHERE id = 2": "there is no row any more for decision:2",
    "DELETE FROM gate_history WHERE id = 1": "there is no row any more for gate:1",
    "DELETE FROM verification_results WHERE id = 1": "there is no row any more for verdict:1",
    "UPDATE plan_parts SET text = 'nothing'": f"the text of {SPEC}/R1 is not that of its version",
    "UPDATE plan_parts SET version = 'v2'": f"the plan has {SPEC}/R1 otherwise than was recorded",
    "DELETE FROM plan_parts WHERE id = 'R2'": f"the plan has not {SPEC}/R2 any more",
    "DELETE FROM gate_transitions": "the fixed table gate_transitions is not ours",
    "UPDATE legal_transitions SET needs_decision = 0": "the fixed table legal_transitions is not ours",
    "CREATE TRIGGER kind AFTER INSERT ON verification_results BEGIN SELECT 1; END": "the trigger kind is not ours",
}


@pytest.mark.parametrize("statement", ROWS)
def test_a_row_that_says_something_else_than_its_record_is_found(path: Path, statement: str) -> None:
    without_guards(path, statement)
    assert any(ROWS[statement] in what for what in faults(path)), faults(path)


BESIDE = {
    "UPDATE specifications SET text = 'less'": "row 1 of specifications and its record differ in body.text",
    "UPDATE specifications SET state = 'adopted', envelope = '{}'": "and its record differ in result.status",
    "UPDATE specifications SET spec_name = ''": "row 1 of specifications and its record differ in spec_ref.address",
    "UPDATE specifications SET requirements = '[]'": "of specifications and its record differ in body.requirements",
    "UPDATE specifications SET lane = '{}'": "row 1 of specifications and its record differ in body.check",
    "DELETE FROM specifications": "there is no row any more for specification:1",
    "UPDATE review_tasks SET description = 'easy'": f"row {TASK} of review_tasks and its record differ",
    "UPDATE review_tasks SET repositories = '[1]'": "and its record differ in body.repositories",
    "UPDATE review_events SET kind = 'verified'": "row 1 of review_events and its record differ in result.status",
    "DELETE FROM review_events": f"there is no row any more for review:{TASK}:1",
    "UPDATE waiver_events SET subject = 'R9'": "row 1 of waiver_events and its record differ in body.subject",
    "DELETE FROM waiver_events": "there is no row any more for waiver:asked:1",
    "UPDATE blocking_history SET reason = ''": "row 1 of blocking_history and its record differ in body.reason",
    "DELETE FROM blocking_history": "there is no row any more for block:1",
    "INSERT INTO review_events SELECT 2, at, task_id, 'verified', data FROM review_events":
        "row 2 of review_events has no record",
    "INSERT INTO waiver_events SELECT 2, at, waiver_id, kind, subject, decision_id, note FROM waiver_events":
        "row 2 of waiver_events has no record",
}  # fmt: skip


@pytest.fixture
def beside(path: Path) -> Path:
    """The same, with something proposed for the library, a review task, a petition, and a block."""
    tests = Specification(
        f"{SPEC}/rings", SpecKind.ASSERTION, "It rings.", (f"{SPEC}/R1",), ChosenTests(("test_a.py",))
    )
    with opened(path) as db, transaction(db):
        library.add(db, NOW, [Change(tests, State.PROPOSED, Author(Who.AGENT, "somebody"))])
        register(db, NOW, TaskRow(TASK, NOW, "A task", "[]"), [])
        petition(db, NOW, f"{SPEC}/R1", "it is hard")
        node = {"archetype": "verifier", "node_id": VERIFIER.id, "node_uid": VERIFIER.uid, "spec_name": SPEC}
        record_block(db, NOW, None, 1, node, "attempts spent", "it fails", VERIFIER.id, ["R1"])
    assert faults(path) == []
    return path


@pytest.mark.parametrize("statement", BESIDE)
def test_a_row_of_library_reviews_or_petitions_that_has_not_its_record_is_found(beside: Path, statement: str) -> None:
    without_guards(beside, "PRAGMA foreign_keys = OFF", statement)
    assert any(BESIDE[statement] in what for what in faults(beside)), faults(beside)


def test_a_guard_that_was_taken_away_is_found(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER ledger_no_delete")
        connection.execute("DROP TRIGGER ledger_next")
        connection.execute("CREATE TRIGGER ledger_next BEFORE INSERT ON ledger BEGIN SELECT 1; END")
    assert faults(path) == ["guards of the state file are gone or changed: ledger_next, ledger_no_delete"]


def insert_gate(path: Path, **changes: object) -> None:
    """A gate moved, with a row and a record as the engine writes them, by one who took the guards away meanwhile."""
    row: dict[str, object] = {
        "id": 1000, "at": at(MOMENTS + 2), "spec_name": SPEC, "requirement_id": "R1", "version": VERSION,
        "start": "rejected", "finish": "proposed", "role": "builder", "decision_id": 1, "waiver_id": None,
        "tree": "", "commit_id": "", "reason": "",
    }  # fmt: skip
    row.update(changes)
    names = ", ".join(row)
    with closing(sqlite3.connect(path)) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        connection.executescript("".join(f"DROP TRIGGER {name};\n" for name, _ in guards))
        connection.execute(f"INSERT INTO gate_history ({names}) VALUES ({', '.join('?' * len(row))})", [*row.values()])
        connection.commit()
        connection.executescript("".join(f"{sql};\n" for _, sql in guards))


def test_a_gate_that_was_moved_without_a_record_is_found(path: Path) -> None:
    insert_gate(path)
    assert faults(path) == ["row 1000 of gate_history has no record", "row 1000 of gate_history is in no record"]


FORGED: dict[str, tuple[dict[str, Json], str]] = {
    "by an old decision": ({"decision": 4}, "it was not moved when its decision was made"),
    "by no decision": ({"decision": None}, "no decision Land is recorded by which a builder moves a gate there"),
    "by another's decision": ({"decision": 2}, "no decision Land is recorded"),
    "past the table": ({"finish": "accepted", "role": "reviewer"}, "a gate cannot go from rejected to accepted"),
    "from elsewhere": ({"start": "tested", "finish": "rejected", "role": "evaluator"}, "that gate stood at rejected"),
    "anew": ({"start": None, "role": "engine"}, "a gate began again where none can"),
    "by nobody's waiver": ({"finish": "waived", "role": "person", "waiver": "w"}, "no waiver is recorded"),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_gate_that_was_moved_with_a_record_past_the_engine_is_found(path: Path, how: str) -> None:
    changes, why = FORGED[how]
    told: dict[str, Json] = {
        "spec": SPEC, "requirement": "R1", "version": VERSION, "start": "rejected", "finish": "proposed",
        "role": "builder", "waiver": None, "reason": "",
    }  # fmt: skip
    body: dict[str, Json] = {**told, **{name: value for name, value in changes.items() if name in told}}
    forge(path, body, changes.get("decision"))
    assert any(why in what for what in faults(path)), faults(path)


def forge(path: Path, body: dict[str, Json], decision: Json) -> None:
    """Append a record of a gate as the engine would, without the row: nothing keeps a program from that."""
    from_engine: dict[str, Json] = {
        "kind": "gate", "identity": "gate:1000", "timestamp": at(MOMENTS + 2),
        "result": {"status": body["finish"], "counterexample": "", "diff_ref": "", "log_ref": ""},
        "spec_ref": {"kind": "requirement", "address": f"{SPEC}/R1", "version": VERSION},
    }  # fmt: skip
    blank = content_of(Evidence(Kind.GATE, "", "", Outcome("")))
    context = blank["run_context"]
    assert isinstance(context, dict)
    content = canonical({**blank, **from_engine, "body": body, "run_context": {**context, "decision": decision}})
    with opened(path) as db, transaction(db):
        ledger.append(db, [evidence_of(content)], SPEC)


def test_a_gate_whose_requirement_never_passed_is_not_tested(tmp_path: Path) -> None:
    path = grown(tmp_path, 3)
    body: dict[str, Json] = {
        "spec": SPEC, "requirement": "R1", "version": VERSION, "start": "rejected", "finish": "tested",
        "role": "evaluator", "waiver": None, "reason": "",
    }  # fmt: skip
    forge(path, body, 3)
    assert "the last verdict that is recorded about it is no PASS of this version" in faults(path)


def test_rows_that_are_older_than_the_ledger_are_no_faults(tmp_path: Path) -> None:
    path = grown(tmp_path, 3)
    without_guards(path, "DELETE FROM ledger", "UPDATE runs SET ledger_begin = '', ledger_head = ''")
    with opened(path) as db, transaction(db):
        HAPPENINGS[1](db, 1, 4)
    findings = check(path).findings
    assert any("rows are older than the ledger" in remark for remark in findings.remarks)
    assert not any("has no record" in fault.what for fault in findings.faults)


def test_a_row_that_claims_to_be_older_than_the_ledger_is_found(path: Path) -> None:
    without_guards(
        path,
        "INSERT INTO decisions SELECT 1000, '2020-01-01T00:00:00.000Z', run_id, node_uid, node_id, spec_name, kind, "
        "cause, attempt, reading, session_id, commit_id, steps, facts, note FROM decisions WHERE id = 1",
    )
    assert "row 1000 of decisions has no record" in faults(path)


def test_an_event_that_is_recorded_twice_is_found(path: Path) -> None:
    """The schema refuses it; here it was made anew without its rule."""
    with opened(path) as db:
        (sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'ledger'").fetchone()
        old = next(ledger.records(db, "kind = 'verdict'"))
    without_guards(
        path,
        "ALTER TABLE ledger RENAME TO kept",
        sql.replace("identity TEXT NOT NULL UNIQUE", "identity TEXT NOT NULL").replace(
            "record_id TEXT NOT NULL UNIQUE", "record_id TEXT NOT NULL"
        ),
        "INSERT INTO ledger SELECT * FROM kept",
        "DROP TABLE kept",
    )
    again = json.loads(old.content)
    again["timestamp"] = at(MOMENTS + 2)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER ledger_no_replace")
    with opened(path) as db, transaction(db):
        ledger.append(db, [evidence_of(canonical(again))], SPEC)
    assert f"the event {old.document['identity']} is recorded already" in faults(path)


def test_a_damaged_file_is_said_to_be_damaged(path: Path) -> None:
    without_guards(path, "PRAGMA writable_schema = 1", "DELETE FROM sqlite_master WHERE name = 'ledger_address'")
    assert any("damaged" in what for what in faults(path))


def test_faults_are_counted_beyond_those_that_are_kept() -> None:
    findings = Findings()
    findings.add(*(Fault(number, "", "") for number in range(MOST_FAULTS + 5)))
    assert (len(findings.faults), findings.left_out) == (MOST_FAULTS, 5)


TEXTS = st.text(max_size=20)
RECORDS = st.builds(
    lambda name, status, text, number: Evidence(
        Kind.CHECK, name, at(5), Outcome(status), body={"text": text, "number": number, "list": [text, None, True]}
    ),
    TEXTS, TEXTS, TEXTS, st.integers() | st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip


@given(RECORDS)
def test_a_record_is_read_back_as_it_was_written(record: Evidence) -> None:
    assert evidence_of(canonical(content_of(record))) == record


@settings(max_examples=300)
@given(RECORDS, st.data())
def test_any_change_of_one_character_of_any_field_of_a_record_is_found(record: Evidence, data: st.DataObject) -> None:
    content = canonical(content_of(record))
    name = record_id(content)
    start = Walk()
    head = head_after(start.head, name)
    fields = {"content": content, "record_id": name, "previous": start.head, "head": head}
    which = data.draw(st.sampled_from(sorted(fields)))
    place = data.draw(st.integers(0, len(fields[which]) - 1))
    letter = data.draw(st.characters(codec="ascii").filter(lambda one: one != fields[which][place]))
    changed = {**fields, which: fields[which][:place] + letter + fields[which][place + 1 :]}
    assert step(start, Entry(Link(1, name, start.head, head), content)).faults == ()
    link = Link(1, changed["record_id"], changed["previous"], changed["head"])
    assert step(start, Entry(link, changed["content"])).faults
    assert step(start, Entry(Link(2, name, start.head, head), content)).faults


@pytest.mark.parametrize("text", ["", "{}", "[]", "nonsense", "[" * 100_000, '{"format": 2}'])
def test_what_is_no_record_is_not_read(text: str) -> None:
    with pytest.raises(ValueError):
        evidence_of(text)


def test_another_spelling_of_a_record_is_not_the_record() -> None:
    content = canonical(content_of(Evidence(Kind.CHECK, "one", at(1), Outcome("PASS"))))
    for other in (content.replace(":", ": ", 1), content.replace("}", ',"x":1}'), content + " "):
        with pytest.raises(ValueError):
            evidence_of(other)


def test_a_path_that_leads_nowhere_finds_nothing() -> None:
    assert at_path(document('{"a": {"b": 1}}'), ("a", "b")) == 1
    assert at_path(document('{"a": 1}'), ("a", "b")) is None


BEHIND_THE_ENGINE = {
    "a node is done that no decision ended": "UPDATE plan_nodes SET status = 'completed', outcome = 'verified'",
    "an old verdict counts again": (
        "UPDATE verification_results SET superseded_by = NULL WHERE id = (SELECT min(id) FROM verification_results)"
    ),
    "every requirement of a spec is gone": "DELETE FROM plan_parts",
    "what a session was judged with": "UPDATE sessions SET environment = 'another', verifier = 'another'",
}


@pytest.mark.parametrize("what", BEHIND_THE_ENGINE)
def test_a_table_that_says_more_than_was_recorded_is_found(path: Path, what: str) -> None:
    gives_way = "DROP INDEX verification_results_current"
    without_guards(path, gives_way, BEHIND_THE_ENGINE[what])
    assert faults(path)


def test_a_verdict_and_a_gate_that_our_own_functions_wrote_past_the_engine_are_found(tmp_path: Path) -> None:
    path = grown(tmp_path, 1)
    with opened(path) as db, transaction(db):
        number = decided(db, 1, 2, VERIFIER, "Accept", {}, Word.PASS)
        move(db, 2, number, Gate.PROPOSED, Gate.TESTED, Role.EVALUATOR)
    assert "the decision Accept by which it was moved did not accept or waive its node" in faults(path)


def test_a_decision_that_says_a_step_which_the_plan_has_not_is_found(tmp_path: Path) -> None:
    path = grown(tmp_path, 1)
    with opened(path) as db, transaction(db):
        step: StepRow = {"uid": VERIFIER.uid, "step": "accept", "rung": None}
        new = NewDecision(VERIFIER.uid, VERIFIER.id, SPEC, "Accept", Ticket(VERIFIER.uid, 1, 1), (step,))
        record_decision(db, at(2), 1, new)
    assert f"the plan has {VERIFIER.id} as pending, and its last decision made it verified" in faults(path)
