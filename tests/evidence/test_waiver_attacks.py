"""Attacks on waivers: by a shell in the real sandbox of a coder's session, and on the state file by who can write it.

Each ends with the requirement not waived, and says how it was refused. The second kind stands for a process outside of
the sandbox, which may change the file: what was not signed by a trusted key does not count all the same.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import agent_fox
from agent_fox.config import load
from agent_fox.core.ledger.waivers import PAYLOAD_TYPE, AboutFinding, AboutRequirement, Statement, columns_of
from agent_fox.engine.handlers import waiving
from agent_fox.engine.handlers.dockets import with_waivers
from agent_fox.engine.planning.from_settings import policy_of
from agent_fox.engine.record.docket import Docket, SpecShelf
from agent_fox.evidence import granting, waivers
from agent_fox.evidence.signing import dsse, keys
from agent_fox.evidence.waivers import Grounds
from agent_fox.session.agents.runner.enclosure import view_of
from agent_fox.store import waivers as stored
from agent_fox.store.ledger import ledger
from agent_fox.store.plan import load_parts
from agent_fox.store.state import open_state, transaction
from agent_fox.system import git
from agent_fox.system.sandbox import bubblewrap
from agent_fox.testing.worlds import NEVER, Req, World
from tests.evidence.attack_scripts import EXPECTED, NOT_SEEN, SCRIPTS
from tests.evidence.waiver_world import HOPELESS, ONE_TRY, PASSPHRASE, Person, person
from tests.session.agents.toy import make_task

SPEC, REQ, OTHER = "01_calc", "01-REQ-1.1", "01-REQ-1.2"
NOW = "2100-01-01T00:00:00.000Z"
SOON = "2100-02-01T00:00:00.000Z"


@dataclass(frozen=True)
class Place:
    """A repository whose run ended with REQ unmet, and the person who may waive it."""

    root: Path
    alice: Person

    @property
    def state(self) -> Path:
        return self.root / ".agent-fox" / "state.db"

    def grounds(self) -> Grounds:
        return waivers.grounds_of(self.root, load(self.root, {}), self.alice.environ)

    def copy(self, folder: Path) -> Place:
        """The same elsewhere, to be spoilt."""
        shutil.copytree(self.root.parent, folder / "w", symlinks=True)
        shutil.copytree(self.alice.home, folder / "alice", symlinks=True)
        return Place(folder / "w" / "repo", Person(folder / "alice", "alice"))


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The tests only look at it, or copy it."""
    folder = tmp_path_factory.mktemp("attacked")
    alice = person(folder / "people")
    root = HOPELESS.build(folder / "w")
    alice.run(root, 2)
    return Place(root, alice)


@pytest.fixture
def place(ended: Place, tmp_path: Path) -> Place:
    return ended.copy(tmp_path)


def verdict(place: Place, at: str = NOW) -> tuple[str, str, str]:
    """How the engine sees it now: the outcome of the verifier, the state of the gate, and why no waiver counts.

    The state is settled as at the beginning and the end of every run.
    """
    with closing(open_state(place.state)) as db:
        told = "; ".join(one.why_not for one in waivers.held(db, place.grounds(), at, stored.waivers_of(db)))
        policy = policy_of(load(place.root, {}))
        with transaction(db):
            docket = with_waivers(Docket(db, at, policy, SpecShelf()), place.grounds)
            waiving.settle(docket, place.grounds())
        (outcome,) = db.execute("SELECT outcome FROM plan_nodes WHERE id = ?", [f"{SPEC}:2"]).fetchone()
        (gate,) = db.execute("SELECT state FROM gates WHERE requirement_id = ?", [REQ]).fetchone()
        assert waivers.waived_now(db, place.grounds(), at, SPEC) == frozenset()
    return outcome, gate, told


def refused(place: Place, why: str, at: str = NOW) -> None:
    """The requirement is not waived, and that is why."""
    outcome, gate, told = verdict(place, at)
    assert (outcome, gate in {"proposed", "rejected"}) == ("escalated", True)
    assert why in told


# --- by an agent, in the sandbox of its session


@dataclass(frozen=True)
class Cell:
    """The sandbox of a coder's session: a workspace of its own, cloned from the person's repository."""

    place: Place
    folder: Path

    def run(self, script: str) -> str:
        """What the script prints, run by the shell of the session."""
        task = make_task(self.folder)
        shown = (str(self.place.root / ".git" / "objects"), str(Path(agent_fox.__file__).parent))
        task = replace(
            task, sandbox="require", program="/bin/sh", readable=shown, environment=self.environment(task.home)
        )
        view = view_of(task, "/bin/sh", task.environment)
        with bubblewrap.enclosed(("/bin/sh", "-c", script), view) as wrapped:
            done = subprocess.run(
                wrapped.argv, pass_fds=wrapped.descriptors, cwd=task.workspace, env=task.environment, timeout=120,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
        return done.stdout.decode("utf-8", "replace")

    def environment(self, home: Path) -> dict[str, str]:
        source = Path(agent_fox.__file__).parent
        own = {"HOME": str(home), "TMPDIR": str(home.parent / "tmp"), "AGENT_FOX_LAUNCH": "cell"}
        known = {"STATE": self.place.state, "KEYS": self.place.alice.keys, "REPO": self.place.root, "SOURCE": source}
        ours = {"PYTHON": sys.executable, "PYTHONPATH": str(source.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        told = {"REQ": REQ, "PARENT": str(os.getpid()), **{name: str(path) for name, path in known.items()}}
        return {"PATH": os.environ["PATH"], **own, **ours, **told}


@pytest.fixture
def cell(ended: Place, tmp_path: Path) -> Cell:
    folder = tmp_path / "session"
    folder.mkdir()
    git.call(tmp_path, "clone", "-q", "--shared", str(ended.root), str(folder / "workspace"))
    return Cell(ended, folder)


def everything(place: Place) -> dict[str, object]:
    """What an attack would have to change: keys, trust, texts, policy, state, the person's branches."""
    files = [*place.alice.home.rglob("*"), *(place.root / ".agent-fox").rglob("*"), place.root / ".git" / "config"]
    read = {str(path): path.read_bytes() for path in files if path.is_file() and "state.db-" not in path.name}
    return {**read, "refs": git.call(place.root, "for-each-ref").text}


@pytest.mark.skipif(
    bool(bubblewrap.why_missing()), reason="no sandbox here: bubblewrap is what these attacks are against"
)
@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_a_shell_in_the_sandbox_cannot(cell: Cell, name: str) -> None:
    before = everything(cell.place)
    said = cell.run(SCRIPTS[name])
    assert any(word in said for word in EXPECTED.get(name, NOT_SEEN)), said[-3000:]
    assert "PRIVATE KEY" not in said
    assert PASSPHRASE not in said
    assert everything(cell.place) == before
    with closing(sqlite3.connect(f"file:{cell.place.state}?mode=ro", uri=True)) as db:
        assert db.execute("SELECT count(*) FROM waivers").fetchone() == (0,)
        assert db.execute("SELECT state FROM gates WHERE requirement_id = ?", [REQ]).fetchone() == ("proposed",)


def test_at_least_twenty_five_scripts_are_tried() -> None:
    assert len(SCRIPTS) >= 25


@pytest.mark.skipif(bool(bubblewrap.why_missing()), reason="no sandbox here")
def test_what_an_agent_commits_adds_no_trust_when_it_lands(place: Place) -> None:
    """Signers, keys and settings in the repository itself, as a coder's landed work would leave them there."""
    mallory = person(place.root / ".agent-fox" / "inside", "alice")
    envelope = signed(place, statement(place), mallory)
    insert(place, envelope)
    variables = {**place.alice.environ, "AGENT_FOX_KEYS": str(mallory.keys)}
    done = place.alice.cli(place.root, "waive", "--list", **variables)
    assert "where agents work" in done.stdout
    refused(place, "nobody who is trusted")


# --- on the state file, by whoever can write it


def statement(place: Place, **changes: object) -> Statement:
    """What a person could sign about REQ."""
    with closing(open_state(place.state)) as db:
        version = next(part.version for part in load_parts(db) if part.id == REQ)
    grounds = place.grounds()
    made = Statement(
        "0123456789abcdef0123", grounds.repository, AboutRequirement(SPEC, REQ, version), (), "a reason", NOW, SOON,
        "alice", keys.read_public(place.alice.key.with_suffix(".pub")).id,
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def signed(place: Place, said: Statement, by: Person | None = None) -> str:
    """The envelope; `by` somebody else than alice, with their own key."""
    who = by or place.alice
    private = keys.load_key(who.key, PASSPHRASE)
    return granting.sign_with_key(replace(said, key=keys.public_of(private).id), private)


def insert(place: Place, envelope: str, *, recorded: bool = True, **columns: str) -> None:
    """Write a row as a stranger would, `columns` as they like, and the record of its grant with a right hash."""
    said = columns_of(statement_in(envelope))
    row = {
        **{name: getattr(said, name) for name in said.__dataclass_fields__},
        "id": statement_in(envelope).id,
        **columns,
    }
    with closing(open_state(place.state)) as db, transaction(db):
        marks = ", ".join("?" * (len(row) + 1))
        values = [*row.values(), envelope]
        db.execute(f"INSERT INTO waivers ({', '.join(row)}, envelope) VALUES ({marks})", values)
        if recorded:
            made = replace(statement_in(envelope), id=row["id"])
            ledger.append(db, [granting.granted_record(made, envelope, NOW)], SPEC)


def statement_in(envelope: str) -> Statement:
    return waivers.statement_of(dsse.Envelope.from_json(envelope))


def waive_gate(place: Place, waiver_id: str | None, role: str = "person") -> None:
    """Take REQ's gate to `waived`, by SQL."""
    with closing(sqlite3.connect(place.state, isolation_level=None)) as db:
        version = db.execute("SELECT version FROM plan_parts WHERE id = ?", [REQ]).fetchone()[0]
        number = db.execute("SELECT coalesce(max(id), 0) + 1 FROM gate_history").fetchone()[0]
        state = db.execute("SELECT state FROM gates WHERE requirement_id = ?", [REQ]).fetchone()[0]
        db.execute(
            "INSERT INTO gate_history (id, at, spec_name, requirement_id, version, start, finish, role, waiver_id) "
            "VALUES (?, ?, ?, ?, ?, ?, 'waived', ?, ?)",
            [number, NOW, SPEC, REQ, version, state, role, waiver_id],
        )


def write(place: Place, *statements: str) -> None:
    """SQL by any program that opens the file."""
    with closing(sqlite3.connect(place.state, isolation_level=None)) as db:
        for sql in statements:
            db.execute(sql)


def without_guards(place: Place) -> None:
    """Drop every trigger of the file, as root could."""
    with closing(sqlite3.connect(place.state, isolation_level=None)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        for name in names:
            db.execute(f"DROP TRIGGER {name}")


def test_a_waiver_that_a_trusted_person_signed_counts(place: Place) -> None:
    """The same helpers, with nothing forged: so that what is refused below is refused for the fault alone."""
    insert(place, signed(place, statement(place)))
    with closing(open_state(place.state)) as db:
        assert waivers.waived_now(db, place.grounds(), NOW, SPEC) == {REQ}


def test_a_forged_row_with_an_invented_envelope(place: Place) -> None:
    envelope = dsse.Envelope(PAYLOAD_TYPE, waivers.payload_of(statement(place)), (dsse.Signature("x", bytes(64)),))
    insert(place, envelope.to_json())
    refused(place, "nobody who is trusted")


@pytest.mark.parametrize("envelope", ["{}", "[]", '"waived"', '{"payload": "", "payloadType": "x", "signatures": []}'])
def test_a_forged_row_with_no_envelope_at_all(place: Place, envelope: str) -> None:
    row = "'aaaaaaaaaaaaaaaaaaaa', 'requirement', '01_calc', '01-REQ-1.1', '', '', '', 'r', 'alice', '2020', '2199'"
    write(place, f"INSERT INTO waivers VALUES ({row}, '{envelope}')")
    refused(place, "envelope")


def test_a_forged_row_that_moves_the_gate_is_taken_back(place: Place) -> None:
    """The schema cannot check a signature; whoever reads can, and puts the gate right."""
    mallory = person(place.root.parent, "mallory")
    insert(place, signed(place, statement(place), mallory))
    waive_gate(place, "0123456789abcdef0123")
    refused(place, "nobody who is trusted")


def test_a_signature_of_somebody_else_in_a_trusted_name(place: Place) -> None:
    insert(place, signed(place, replace(statement(place), signer="alice"), person(place.root.parent, "mallory")))
    refused(place, "nobody who is trusted")


def test_a_signature_of_one_trusted_person_in_the_name_of_another(place: Place) -> None:
    bob = person(place.root.parent, "bob")
    public = keys.read_public(bob.key.with_suffix(".pub"))
    keys.trust(place.alice.keys / keys.SIGNERS, keys.Signer("bob", (keys.WAIVERS,), public))
    insert(place, signed(place, statement(place), bob))
    refused(place, "nobody who is trusted")


def test_a_key_that_is_trusted_for_the_ledger_only(place: Place) -> None:
    robot = person(place.root.parent, "robot")
    public = keys.read_public(robot.key.with_suffix(".pub"))
    keys.trust(place.alice.keys / keys.SIGNERS, keys.Signer("robot", (keys.LEDGER,), public))
    insert(place, signed(place, replace(statement(place), signer="robot"), robot))
    refused(place, "nobody who is trusted")


@pytest.mark.parametrize(
    "changes",
    [{"reason": "another"}, {"expires_at": "2199-01-01T00:00:00.000Z"}, {"signer": "bob"}, {"repository": "x"}],
)
def test_a_signed_statement_that_was_edited(place: Place, changes: dict[str, str]) -> None:
    envelope = dsse.Envelope.from_json(signed(place, statement(place)))
    edited = replace(envelope, payload=waivers.payload_of(replace(statement(place), **changes)))  # type: ignore[arg-type]
    insert(place, edited.to_json())
    refused(place, "nobody who is trusted")


def test_columns_that_say_more_than_what_was_signed(place: Place) -> None:
    about = AboutRequirement(SPEC, OTHER, "v")
    insert(place, signed(place, statement(place, subject=about)), address=REQ)
    refused(place, "something else than what was signed")


def test_the_waiver_of_another_requirement_under_a_new_id(place: Place) -> None:
    about = AboutRequirement(SPEC, OTHER, "v")
    insert(place, signed(place, statement(place, subject=about)), address=REQ, id="b" * 20)
    refused(place, "belongs to waiver 0123456789ab")


def test_a_gate_moved_by_the_waiver_of_another_requirement(place: Place) -> None:
    with closing(open_state(place.state)) as db:
        version = next(part.version for part in load_parts(db) if part.id == OTHER)
    insert(place, signed(place, statement(place, subject=AboutRequirement(SPEC, OTHER, version))))
    with pytest.raises(sqlite3.IntegrityError, match="nothing that was recorded lets this role"):
        waive_gate(place, "0123456789abcdef0123")
    without_guards(place)
    waive_gate(place, "0123456789abcdef0123")
    assert after_settling(place) == ("escalated", "proposed")


def after_settling(place: Place) -> tuple[str, str]:
    """The outcome of the verifier and the state of REQ's gate, once the state was settled."""
    with closing(open_state(place.state)) as db:
        with transaction(db):
            docket = Docket(db, NOW, policy_of(load(place.root, {})), SpecShelf())
            waiving.settle(with_waivers(docket, place.grounds), place.grounds())
        (outcome,) = db.execute("SELECT outcome FROM plan_nodes WHERE id = ?", [f"{SPEC}:2"]).fetchone()
        (gate,) = db.execute("SELECT state FROM gates WHERE requirement_id = ?", [REQ]).fetchone()
    return outcome, gate


def test_a_waiver_of_an_older_text(place: Place) -> None:
    insert(place, signed(place, statement(place, subject=AboutRequirement(SPEC, REQ, "0" * 16))))
    refused(place, "the text of the requirement has changed")


def test_a_waiver_of_another_repository(place: Place, tmp_path: Path) -> None:
    other = World({SPEC: [Req(REQ, right_at=NEVER)]}, settings=ONE_TRY).build(tmp_path / "other")
    foreign = waivers.grounds_of(other, load(other, {}), place.alice.environ).repository
    assert foreign != place.grounds().repository
    insert(place, signed(place, statement(place, repository=foreign)))
    refused(place, "another repository")


def test_an_expired_waiver_with_the_clock_set_back(place: Place) -> None:
    insert(place, signed(place, statement(place)))
    with closing(open_state(place.state)) as db, transaction(db):
        granting.petition(db, SOON, f"{SPEC}/{REQ}", "time goes by")
    refused(place, "expired", at=NOW)


def test_a_waiver_granted_in_a_future_that_the_clock_has_not_come_to(place: Place) -> None:
    insert(place, signed(place, statement(place, granted_at=SOON, expires_at="2100-03-01T00:00:00.000Z")))
    refused(place, "the clock stands before that")


def test_a_waiver_without_a_record_of_its_grant(place: Place) -> None:
    """An envelope that somebody found, such as in a backup or another checkout of the same repository."""
    insert(place, signed(place, statement(place)), recorded=False)
    refused(place, "no record that it was granted")


def revoked(place: Place) -> str:
    """A waiver that was granted and revoked, by the command line; its id."""
    place.alice.waive(place.root, REQ)
    (number,) = (str(row[0]) for row in read(place, "SELECT id FROM waivers"))
    done = place.alice.cli(place.root, "waive", "--revoke", number, "--reason", "no")
    assert done.returncode == 0, done
    return number


def read(place: Place, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(place.state)) as db:
        return db.execute(sql).fetchall()


def later(place: Place) -> str:
    """A little after the last record: waivers granted by the command line have begun, and not ended."""
    return str(read(place, "SELECT max(at) FROM ledger")[0][0])


def test_a_revoked_waiver_that_is_inserted_again(place: Place) -> None:
    number = revoked(place)
    with pytest.raises(sqlite3.IntegrityError, match="cannot be replaced"):
        write(place, f"INSERT OR REPLACE INTO waivers SELECT * FROM waivers WHERE id = '{number}'")
    write_as(place, "b" * 20, number)
    refused(place, "belongs to waiver", at=later(place))


def write_as(place: Place, name: str, number: str) -> None:
    columns = (
        "kind, spec_name, address, version, check_name, detail_hash, reason, signer, granted_at, expires_at, envelope"
    )
    write(place, f"INSERT INTO waivers (id, {columns}) SELECT '{name}', {columns} FROM waivers WHERE id = '{number}'")


def test_a_revocation_that_is_removed_from_the_events(place: Place) -> None:
    revoked(place)
    with pytest.raises(sqlite3.IntegrityError, match="cannot be deleted"):
        write(place, "DELETE FROM waiver_events")
    without_guards(place)
    write(place, "DELETE FROM waiver_events WHERE kind = 'revoked'")
    refused(place, "the ledger says that it was revoked", at=later(place))


def test_a_revocation_that_is_removed_from_the_ledger_too(place: Place) -> None:
    """Its gate has left `waived`; where that is removed as well, the ledger is not the one that was noted outside."""
    number = revoked(place)
    without_guards(place)
    write(
        place,
        "DELETE FROM waiver_events WHERE kind = 'revoked'",
        f"DELETE FROM ledger WHERE identity = 'waiver:{number}:revoked'",
    )
    refused(place, "has left", at=later(place))
    write(
        place, "DELETE FROM waiver_events WHERE kind <> 'granted'",
        f"DELETE FROM gate_history WHERE id > (SELECT id FROM gate_history WHERE waiver_id = '{number}')",
        "DELETE FROM ledger WHERE position > (SELECT min(position) FROM ledger WHERE kind = 'waiver')",
    )  # fmt: skip
    outcome, _, told = verdict(place, later(place))
    assert (outcome, "the ledger cannot be believed" in told) == ("escalated", True)
    done = place.alice.cli(place.root, "ledger", "verify")
    assert done.returncode == 2, done


def test_a_state_file_put_back_to_before_the_revocation(place: Place) -> None:
    place.alice.waive(place.root, REQ)
    kept = place.state.with_suffix(".kept")
    with closing(sqlite3.connect(place.state)) as db, closing(sqlite3.connect(kept)) as copy:
        db.backup(copy)
    (number,) = (str(row[0]) for row in read(place, "SELECT id FROM waivers"))
    assert place.alice.cli(place.root, "waive", "--revoke", number, "--reason", "no").returncode == 0
    for path in place.state.parent.glob("state.db*"):
        if path != kept:
            path.unlink()
    kept.rename(place.state)
    done = place.alice.cli(place.root, "waive", "--list")
    assert "the ledger cannot be believed" in done.stdout, done
    gate = place.alice.cli(place.root, "gate", "--task-id", "some-task").stdout
    assert ("the ledger cannot be believed" in gate, "agent-fox ledger verify" in gate) == (True, True)
    assert "waive --finding" not in gate
    with closing(open_state(place.state)) as state:
        assert waivers.waived_now(state, place.grounds(), later(place), SPEC) == frozenset()
    assert place.alice.cli(place.root, "run").returncode != 0


def test_a_waiver_used_a_second_time(place: Place) -> None:
    number = revoked(place)
    with pytest.raises(sqlite3.IntegrityError, match="nothing that was recorded lets this role"):
        waive_gate(place, number)
    without_guards(place)
    waive_gate(place, number)
    refused(place, "it was revoked", at=later(place))


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("UPDATE gates SET state = 'waived'", "cannot modify gates because it is a view"),
        ("UPDATE gate_history SET finish = 'waived'", "cannot be changed"),
        ("UPDATE waivers SET address = '01-REQ-1.1'", "cannot be changed"),
        ("UPDATE waivers SET expires_at = '2199'", "cannot be changed"),
        ("DELETE FROM waivers", "cannot be deleted"),
        ("UPDATE waiver_events SET kind = 'granted'", "cannot be changed"),
        ("UPDATE decisions SET kind = 'Accept'", "cannot be changed"),
        ("UPDATE ledger SET content = '{}'", "cannot be changed"),
        ("UPDATE plan_nodes SET outcome = 'waived' WHERE id = '01_calc:2'", "not legal|no decision"),
        ("INSERT INTO gate_transitions VALUES ('proposed', 'waived', 'builder')", "fixed"),
    ],
)  # fmt: skip
def test_history_that_is_rewritten(place: Place, sql: str, why: str) -> None:
    revoked(place)
    with pytest.raises(sqlite3.DatabaseError, match=why):
        write(place, sql)
    refused(place, "it was revoked", at=later(place))


@pytest.mark.parametrize("role", ["person", "engine", "builder", "evaluator", "reviewer", "formal", "king"])
def test_a_role_that_is_only_claimed(place: Place, role: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match=r"not legal|nothing that was recorded"):
        waive_gate(place, None, role)
    refused(place, "")


def forge_outcome(place: Place) -> None:
    """Recorded decisions and a verifier completed as waived, by hand, past every guard of nodes."""
    uid = read(place, f"SELECT uid FROM plan_nodes WHERE id = '{SPEC}:2'")[0][0]
    row = f"'{NOW}', '{uid}', '{SPEC}:2', '{SPEC}', '{{}}', 1, 1, '[]'"
    columns = "at, node_uid, node_id, spec_name, facts, attempt, reading, steps"
    for kind, status, outcome in (("Reopen", "pending", "NULL"), ("Accept", "completed", "'waived'")):
        write(place, f"INSERT INTO decisions (kind, {columns}) VALUES ('{kind}', {row})")
        decided = "decision_id = (SELECT max(id) FROM decisions)"
        write(place, f"UPDATE plan_nodes SET status = '{status}', outcome = {outcome}, {decided} WHERE id = '{SPEC}:2'")


def test_a_verifier_completed_as_waived_by_forged_decisions(place: Place) -> None:
    forge_outcome(place)
    done = place.alice.cli(place.root, "status", "--json")
    assert json.loads(done.stdout)["requirements"]["waived"] == 0
    assert json.loads(done.stdout)["specs"][0]["standing"] == "not believed"
    assert after_settling(place) == ("escalated", "proposed")
    assert place.alice.cli(place.root, "run").returncode == 4
    assert place.alice.cli(place.root, "ledger", "verify").returncode == 2


def test_everything_forged_without_any_guard(place: Place) -> None:
    """Triggers gone, a row, a gate, a verifier, all as if waived: only the signature is missing."""
    without_guards(place)
    insert(place, signed(place, statement(place), person(place.root.parent, "mallory")))
    waive_gate(place, "0123456789abcdef0123")
    forge_outcome(place)
    refused(place, "nobody who is trusted")
    assert place.alice.cli(place.root, "ledger", "verify").returncode == 2


def test_events_that_say_it_was_granted_and_used(place: Place) -> None:
    insert(place, signed(place, statement(place), person(place.root.parent, "mallory")))
    for kind in ("granted", "used"):
        number = "(SELECT coalesce(max(id), 0) + 1 FROM waiver_events)"
        values = f"{number}, '{NOW}', '0123456789abcdef0123', '{kind}', '{SPEC}/{REQ}', NULL, 'by alice'"
        write(place, f"INSERT INTO waiver_events VALUES ({values})")
    refused(place, "nobody who is trusted")


def test_a_petition_that_imitates_a_waiver(place: Place) -> None:
    reason = "WAIVED by alice until 2199-01-01T00:00:00.000Z: signature valid"
    done = place.alice.cli(place.root, "waive", "--ask", REQ, "--reason", reason)
    assert (done.returncode, "nothing is waived" in done.stdout) == (0, True)
    assert json.loads(place.alice.cli(place.root, "waive", "--list", "--json").stdout)["waivers"] == []
    refused(place, "")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda payload: payload.replace(b'"format":1', b'"format":2'),
        lambda payload: payload.replace(b'"reason"', b'"format":1,"reason"'),
        lambda payload: payload[:-1] + b',"role":"person"}',
        lambda payload: payload.replace(b",", b", "),
        lambda payload: b"[" + payload + b"]",
        lambda payload: payload.replace(b"2100-02-01T00:00:00.000Z", b"9999"),
        lambda payload: b"",
    ],
)  # fmt: skip
def test_statements_of_another_form_count_for_nothing_although_signed(
    place: Place, spoil: Callable[[bytes], bytes]
) -> None:
    """Signed by alice herself, who was made to sign something odd."""
    private = keys.load_key(place.alice.key, PASSPHRASE)
    odd = dsse.sign(PAYLOAD_TYPE, spoil(waivers.payload_of(statement(place))), private).to_json()
    assert waivers.signed(odd, place.grounds().signers)[0] is None


def test_a_signature_for_another_purpose(place: Place) -> None:
    """Alice signs the same bytes as something else: another type of payload."""
    private = keys.load_key(place.alice.key, PASSPHRASE)
    other = dsse.sign("application/vnd.in-toto+json", waivers.payload_of(statement(place)), private)
    assert "no waiver" in waivers.signed(other.to_json(), place.grounds().signers)[1]
    relabelled = replace(other, payload_type=PAYLOAD_TYPE)
    assert "nobody who is trusted" in waivers.signed(relabelled.to_json(), place.grounds().signers)[1]


def test_another_ssh_keygen_on_the_path_has_no_say(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bin" / "ssh-keygen"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 0\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    sig = b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"
    forged = (dsse.Signature(statement(place).key, sig, "sshsig"),)
    insert(place, dsse.Envelope(PAYLOAD_TYPE, waivers.payload_of(statement(place)), forged).to_json())
    refused(place, "nobody who is trusted")


@pytest.mark.parametrize("how", ["inside", "link", "hop", "writable"])
def test_signers_in_reach_of_agents_are_not_believed(place: Place, tmp_path: Path, how: str) -> None:
    """`AGENT_FOX_KEYS` leads into the repository, to a link through it, or to a file that others may write."""
    inside = place.root / "keys"
    shutil.copytree(place.alice.keys, inside)
    folder = inside
    if how == "link":
        folder = tmp_path / "linked"
        folder.symlink_to(inside)
    elif how == "hop":
        folder = tmp_path / "hopped"
        (place.root / "hop").symlink_to(place.alice.keys)
        folder.symlink_to(place.root / "hop")
    elif how == "writable":
        folder = place.alice.keys
        (folder / keys.SIGNERS).chmod(0o666)
    insert(place, signed(place, statement(place)))
    grounds = replace(place.grounds(), environ={**place.alice.environ, "AGENT_FOX_KEYS": str(folder)})
    with closing(open_state(place.state)) as db:
        assert waivers.waived_now(db, grounds, NOW, SPEC) == frozenset()
        assert ("where agents work" if how != "writable" else "others may write") in grounds.why_unusable(db)


def test_settings_of_the_repository_that_claim_trust(place: Place) -> None:
    insert(place, signed(place, statement(place), person(place.root.parent, "mallory")))
    config = place.root / ".agent-fox" / "config.toml"
    config.write_text(config.read_text() + '\n[waivers]\ntrust = ["mallory"]\n')
    done = place.alice.cli(place.root, "run")
    assert (done.returncode, "waivers" in done.stderr) == (1, True)


def test_a_waiver_of_a_finding_is_none_of_a_requirement(place: Place) -> None:
    about = AboutFinding(f"{SPEC}:1", "off_scope_write", "0" * 16)
    insert(place, signed(place, statement(place, subject=about)))
    with closing(open_state(place.state)) as db:
        assert waivers.waived_now(db, place.grounds(), NOW, SPEC) == frozenset()
        for task, found in (
            (f"{SPEC}:1@1", 1),
            (f"{SPEC}:1", 1),
            (f"{SPEC}:11@1", 0),
            (f"{SPEC}:2@1", 0),
            (f"x{SPEC}:1", 0),
        ):
            assert len(waivers.finding_waivers(db, place.grounds(), NOW, task)) == found, task
    assert after_settling(place) == ("escalated", "proposed")


def test_a_key_that_is_trusted_no_more_takes_its_waivers_along(place: Place) -> None:
    place.alice.waive(place.root, REQ)
    assert read(place, f"SELECT outcome FROM plan_nodes WHERE id = '{SPEC}:2'") == [("waived",)]
    bob = person(place.root.parent, "bob")
    (place.alice.keys / keys.SIGNERS).write_text((bob.keys / keys.SIGNERS).read_text())
    refused(place, "nobody who is trusted", at=later(place))


def test_signers_that_are_missing_altogether_end_no_waiver_but_nothing_counts(place: Place) -> None:
    """A run started with another HOME must not spoil what a person granted; it ends unproven."""
    place.alice.waive(place.root, REQ)
    signers = place.alice.keys / keys.SIGNERS
    signers.rename(signers.with_suffix(".away"))
    assert place.alice.cli(place.root, "run").returncode == 2
    signers.with_suffix(".away").rename(signers)
    place.alice.run(place.root, 0)
