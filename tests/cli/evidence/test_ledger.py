"""The ledger on the command line: shown, checked here and from an export on another machine."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from agent_fox.testing.worlds import git, run_cli
from tests.cli.conftest import Finished


@dataclass(frozen=True)
class Desk:
    """Somebody at a machine with a home of its own, in the repository of the finished run or in a copy of it."""

    home: Path
    root: Path

    def do(self, *arguments: str) -> CompletedProcess[str]:
        home = str(self.home)
        return run_cli(
            self.root, *arguments, HOME=home, XDG_STATE_HOME=f"{home}/state", XDG_CONFIG_HOME=f"{home}/config"
        )

    def tell(self, *arguments: str, ends: int = 0) -> str:
        done = self.do(*arguments)
        assert (done.returncode, done.stderr) == (ends, ""), done
        return done.stdout

    def ask(self, *arguments: str, ends: int = 0) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.tell(*arguments, "--json", ends=ends))
        return found

    def error(self, *arguments: str, ends: int = 1) -> str:
        done = self.do(*arguments)
        assert (done.returncode, len(done.stderr.splitlines())) == (ends, 1), done
        return done.stderr


@pytest.fixture
def desk(finished: Finished, tmp_path: Path) -> Desk:
    return Desk(tmp_path, finished.root)


@pytest.fixture
def copied(finished: Finished, tmp_path: Path) -> Desk:
    """A copy of the repository, to be changed."""
    return Desk(tmp_path, Path(shutil.copytree(finished.root, tmp_path / "copy")))


def change(desk: Desk, *statements: str) -> None:
    """What a program with the whole file may do."""
    with closing(sqlite3.connect(desk.root / ".agent-fox" / "state.db")) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        connection.executescript("".join(f"DROP TRIGGER {name};\n" for name, _ in guards))
        connection.executescript("".join(f"{statement};\n" for statement in statements))
        connection.executescript("".join(f"{sql};\n" for _, sql in guards))


@pytest.fixture(scope="module")
def exported(finished: Finished, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A machine with a key for the ledger, trusted there; its home has `e.jsonl`, and `ledger.pub` to give away."""
    desk = Desk(tmp_path_factory.mktemp("exporter"), finished.root)
    desk.tell("keys", "new", "ledger", "--no-passphrase")
    desk.tell("keys", "trust", "ledger", "--for", "ledger")
    desk.tell("ledger", "export", str(desk.home / "e.jsonl"), "--key", "ledger")
    shutil.copy(desk.home / "config" / "agent-fox" / "ledger.pub", desk.home)
    return desk


def test_the_last_records_are_shown_oldest_first(desk: Desk) -> None:
    lines = desk.tell("ledger", "show").splitlines()
    assert len(lines) == 20
    (ended,) = (line for line in lines[-2:] if line.split()[3] != "rows")
    assert ended.split()[-3:] == ["run", "ended", "1"]
    everything = desk.tell("ledger", "show", "--all").splitlines()
    assert everything[-20:] == lines
    assert everything[0].split()[-3:] == ["run", "begun", "1"]


def test_records_of_one_kind_are_shown(desk: Desk) -> None:
    lines = desk.tell("ledger", "show", "--kind", "gate").splitlines()
    assert {line.split()[3] for line in lines} == {"gate"}
    assert desk.tell("ledger", "show", "--kind", "waiver") == "no records\n"


def test_a_record_is_shown_by_its_position_or_the_beginning_of_its_id(desk: Desk) -> None:
    shown = desk.ask("ledger", "show", "3")
    assert shown["position"] == 3
    assert desk.ask("ledger", "show", str(shown["record_id"])[:12]) == shown
    assert desk.tell("ledger", "show", "3").splitlines()[0] == f"record 3  {shown['record_id']}"


def test_a_record_that_there_is_none_of_is_named_with_what_there_is(desk: Desk) -> None:
    assert "there is no such record; the last is" in desk.error("ledger", "show", "999")
    assert "there is no such record" in desk.error("ledger", "show", "0" * 12)


def test_a_requirement_is_shown_with_its_chain(desk: Desk) -> None:
    assert "01_calc/01-REQ-1.1" in desk.tell("ledger", "show", "01-REQ-1.1")


def test_the_ledger_of_a_run_is_sound(desk: Desk) -> None:
    assert "sound: every record is as it was written" in desk.tell("ledger", "verify", "--no-witness")
    found = desk.ask("ledger", "verify", "--no-witness")
    assert (found["is_sound"], found["faults"], found["unchecked"]) == (True, [], [])


def test_without_a_witness_it_is_not_called_sound(desk: Desk) -> None:
    told = desk.tell("ledger", "verify", ends=2)
    assert "not checked: whether the end of the ledger was cut off" in told


def test_a_changed_row_is_found(copied: Desk) -> None:
    change(copied, "UPDATE verification_results SET verdict = 'PASS' WHERE verdict = 'FAIL'")
    told = copied.tell("ledger", "verify", "--no-witness", ends=2)
    assert "NOT SOUND" in told
    assert "its record differ in result.status: 'PASS' and 'FAIL'" in told


def test_a_state_that_is_put_back_is_found(copied: Desk) -> None:
    from_before = (copied.root / ".agent-fox" / "state.db").read_bytes()
    assert copied.do("waive", "--ask", "02-REQ-1.1", "--reason", "please").returncode == 0
    assert copied.ask("ledger", "verify")["is_sound"]
    (copied.root / ".agent-fox" / "state.db").write_bytes(from_before)
    assert "records were cut off or rewritten" in copied.tell("ledger", "verify", ends=2)


def test_a_ledger_that_was_here_before_is_told_of(copied: Desk) -> None:
    copied.do("waive", "--ask", "02-REQ-1.1", "--reason", "please")
    (note,) = (copied.home / "state" / "agent-fox").glob("*/ledger-head.json")
    shutil.copy(note, note.with_name("ledger-head.1.json"))
    assert "note: a ledger that was here before is gone" in copied.tell("ledger", "verify")


def test_a_damaged_note_is_a_doubt(desk: Desk, copied: Desk) -> None:
    copied.do("waive", "--ask", "02-REQ-1.1", "--reason", "please")
    (note,) = (copied.home / "state" / "agent-fox").glob("*/ledger-head.json")
    note.write_text("{")
    assert "not checked: what was noted of this ledger" in copied.tell("ledger", "verify", ends=2)


def test_an_export_is_checked_on_another_machine_by_the_public_key(exported: Desk, tmp_path: Path) -> None:
    other = Desk(tmp_path, tmp_path)
    for name in ("e.jsonl", "ledger.pub"):
        shutil.copy(exported.home / name, tmp_path)
    found = other.ask("ledger", "verify", "--export", "e.jsonl", "--key", "ledger.pub")
    assert found["is_sound"]
    assert "sound" in other.tell("ledger", "verify", "--export", "e.jsonl", "--key", "ledger.pub")


def test_an_export_is_checked_by_the_name_of_a_key_that_is_here(exported: Desk) -> None:
    assert exported.ask("ledger", "verify", "--export", str(exported.home / "e.jsonl"), "--key", "ledger")["is_sound"]


def test_a_shortened_head_is_a_slip_of_the_hand_not_a_fault(exported: Desk) -> None:
    file = str(exported.home / "e.jsonl")
    assert "give all of its 64 hex digits" in exported.error("ledger", "verify", "--export", file, "--head", "06dc1dc7")


def test_the_answer_of_the_gates_is_that_of_the_state_file(exported: Desk) -> None:
    here, there = (
        exported.ask("ledger", "verify", *options)
        for options in (("--no-witness",), ("--export", str(exported.home / "e.jsonl")))
    )
    assert here["gates"] == there["gates"]
    with closing(sqlite3.connect(exported.root / ".agent-fox" / "state.db")) as connection:
        rows = set(connection.execute("SELECT spec_name, requirement_id, version, state FROM gates"))
    assert isinstance(there["gates"], list)
    assert {(one["spec"], one["requirement"], one["version"], one["state"]) for one in there["gates"]} == rows
    assert {state for *_, state in rows} == {"tested", "proposed"}


def test_without_a_trusted_key_its_maker_is_unknown(exported: Desk, tmp_path: Path) -> None:
    other = Desk(tmp_path, tmp_path)
    told = other.tell("ledger", "verify", "--export", str(exported.home / "e.jsonl"), ends=2)
    assert "not checked: who made this export: no public key of a signer was given, or is trusted here" in told


def test_another_key_is_found(exported: Desk, tmp_path: Path) -> None:
    other = Desk(tmp_path, tmp_path)
    other.tell("keys", "new", "mine", "--no-passphrase")
    key = str(tmp_path / "config" / "agent-fox" / "mine.pub")
    told = other.tell("ledger", "verify", "--export", str(exported.home / "e.jsonl"), "--key", key, ends=2)
    assert "NOT SOUND" in told
    assert "its signature is not one of" in told


def test_a_line_that_is_missing_is_found(exported: Desk, tmp_path: Path) -> None:
    lines = (exported.home / "e.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "cut.jsonl").write_text("".join(lines[:4] + lines[5:]))
    told = exported.tell("ledger", "verify", "--export", str(tmp_path / "cut.jsonl"), ends=2)
    assert "record 6: record 6 follows record 4" in told


def test_a_list_of_signers_may_be_given(exported: Desk, tmp_path: Path) -> None:
    signers = exported.home / "config" / "agent-fox" / "allowed_signers"
    other = Desk(tmp_path, tmp_path)
    assert other.ask("ledger", "verify", "--export", str(exported.home / "e.jsonl"), "--signers", str(signers))[
        "is_sound"
    ]
    missing = other.error("ledger", "verify", "--export", str(exported.home / "e.jsonl"), "--signers", "none")
    assert "there is no such file" in missing


def test_a_head_that_was_noted_must_be_in_the_export(exported: Desk) -> None:
    file = str(exported.home / "e.jsonl")
    head = str(exported.ask("ledger", "verify", "--export", file)["head"])
    assert exported.ask("ledger", "verify", "--export", file, "--head", head)["is_sound"]
    told = exported.tell("ledger", "verify", "--export", file, "--head", "f" * 64, ends=2)
    assert "that was noted is not in the chain" in told


def test_nothing_is_exported_without_saying_who_vouches_for_it(desk: Desk) -> None:
    assert "--key NAME" in desk.error("ledger", "export", str(desk.home / "e.jsonl"))
    assert "there is no such key" in desk.error("ledger", "export", str(desk.home / "e.jsonl"), "--key", "none")
    assert not (desk.home / "e.jsonl").exists()


def test_an_export_without_a_signature_is_told_as_such(desk: Desk) -> None:
    told = desk.tell("ledger", "export", str(desk.home / "u.jsonl"), "--unsigned")
    assert "not signed" in told
    found = desk.tell("ledger", "verify", "--export", str(desk.home / "u.jsonl"), ends=2)
    assert "it is not signed: anybody can have written it" in found


def test_an_export_says_what_its_maker_could_not_check(copied: Desk) -> None:
    """A clone without its whole history does not know the repository's first commit."""
    head = git(copied.root, "rev-parse", "HEAD")
    (copied.root / ".git" / "shallow").write_text(f"{head}\n")
    told = copied.tell("ledger", "export", str(copied.home / "u.jsonl"), "--unsigned")
    assert "not checked: whether the ledger is of this repository: this clone has not the whole history" in told
    document = copied.ask("ledger", "export", str(copied.home / "u.jsonl"), "--unsigned")
    assert "whether the ledger is of this repository" in json.dumps(document["unchecked"])


def test_a_key_with_a_passphrase_signs(desk: Desk) -> None:
    (desk.home / "pass").write_text("correct horse\n")
    (desk.home / "wrong").write_text("correct house\n")
    file = str(desk.home / "e.jsonl")
    desk.tell("keys", "new", "person", "--passphrase-file", str(desk.home / "pass"))
    refused = desk.error("ledger", "export", file, "--key", "person", "--passphrase-file", str(desk.home / "wrong"))
    assert "the passphrase is wrong" in refused
    made = desk.ask("ledger", "export", file, "--key", "person", "--passphrase-file", str(desk.home / "pass"))
    assert str(made["signer"]).startswith("SHA256:")


def test_a_ledger_that_is_not_sound_is_not_exported_and_an_older_export_stays(copied: Desk) -> None:
    file = copied.home / "e.jsonl"
    copied.tell("ledger", "export", str(file), "--unsigned")
    before = file.read_bytes()
    change(copied, "DELETE FROM ledger WHERE position = 4")
    said = copied.error("ledger", "export", str(file), "--unsigned", ends=2)
    assert "record 5 follows record 3" in said
    assert file.read_bytes() == before
    assert [path.name for path in copied.home.glob(".e.jsonl*")] == []


def test_rows_that_say_something_else_than_the_records_are_not_vouched_for(copied: Desk) -> None:
    change(copied, "UPDATE verification_results SET verdict = 'PASS', evidence = 'none' WHERE id = 1")
    said = copied.error("ledger", "export", str(copied.home / "e.jsonl"), "--unsigned", ends=2)
    assert "row 1 of verification_results and its record differ" in said
    assert not (copied.home / "e.jsonl").exists()


@pytest.mark.parametrize("data", [b"", b"\n", b"nonsense\n", b"\xff\xfe\n", b"{}\n{}\n", b"[" * 100_000 + b"\n"])
def test_what_is_no_export_is_found_out(desk: Desk, data: bytes) -> None:
    (desk.home / "bad.jsonl").write_bytes(data)
    assert "NOT SOUND" in desk.tell("ledger", "verify", "--export", str(desk.home / "bad.jsonl"), ends=2)


def test_a_file_that_cannot_be_read_or_written_is_named(desk: Desk) -> None:
    assert "No such file" in desk.error("ledger", "verify", "--export", str(desk.home / "none.jsonl"))
    assert "Is a directory" in desk.error("ledger", "verify", "--export", str(desk.home))
    assert "No such file" in desk.error("ledger", "export", str(desk.home / "no" / "e.jsonl"), "--unsigned")


def test_a_key_belongs_to_an_export(desk: Desk) -> None:
    assert "name it with --export FILE" in desk.error("ledger", "verify", "--key", "x.pub")


def test_a_repository_without_a_run_says_so(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    desk = Desk(tmp_path / "home", tmp_path)
    for command in ("show", "verify"):
        assert "there is no state yet" in desk.error("ledger", command)
