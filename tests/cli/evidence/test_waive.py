"""`agent-fox waive`: what it prints, what it asks for, and one line for everything that a person may get wrong."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_fox.evidence.signing import keys, ssh
from agent_fox.testing.worlds import Req, World, rows
from tests.evidence.waiver_world import HOPELESS, PASSPHRASE, Person, person
from tests.stories.scene import begin, wait_for_sessions

REQ, PROVEN = "01-REQ-1.1", "01-REQ-1.2"
WHY = ("--reason", "the vendor mends it", "--expires", "30d")


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Person]:
    """A run has ended with REQ unmet."""
    folder = tmp_path_factory.mktemp("waive")
    alice = person(folder / "people")
    root = HOPELESS.build(folder / "w")
    alice.run(root, 2)
    return root, alice


@pytest.fixture
def root(ended: tuple[Path, Person], tmp_path: Path) -> Path:
    shutil.copytree(ended[0].parent, tmp_path / "w", symlinks=True)
    return tmp_path / "w" / "repo"


@pytest.fixture
def alice(ended: tuple[Path, Person], tmp_path: Path) -> Person:
    shutil.copytree(ended[1].home, tmp_path / "alice", symlinks=True)
    return Person(tmp_path / "alice", "alice")


def refused(done: subprocess.CompletedProcess[str], *words: str, code: int = 1) -> None:
    """It failed in one line that has these words, and granted nothing."""
    assert (done.returncode, len(done.stderr.splitlines()), done.stdout) == (code, 1, ""), done
    for word in words:
        assert word in done.stderr


def test_a_grant_tells_what_was_signed_what_moved_and_what_to_do(root: Path, alice: Person) -> None:
    lines = alice.waive(root, REQ).splitlines()
    assert lines[0].startswith("01_calc/01-REQ-1.1 waived by alice until 20")
    assert lines[0].endswith(": the vendor mends it")
    assert "waived: 01_calc:2" in lines
    assert lines[-2].startswith("id ")
    assert lines[-1] == "next: agent-fox run"


def test_json_has_the_waiver_and_what_moved(root: Path, alice: Person) -> None:
    told = json.loads(alice.waive(root, REQ, "--depends-on", "README.md", "--json"))
    assert (told["in_force"], told["why_not"], told["signer"], told["address"]) == (True, "", "alice", REQ)
    assert list(told["dependencies"]) == ["file:README.md"]
    assert {"node": "01_calc:2", "step": "waive", "status": "completed", "outcome": "waived"} in told["moved"]
    (listed,) = json.loads(alice.cli(root, "waive", "--list", "--json").stdout)["waivers"]
    assert listed == {name: value for name, value in told.items() if name != "moved"}


def test_a_spec_may_stand_before_the_requirement_or_behind_an_option(root: Path, alice: Person) -> None:
    refused(alice.cli(root, "waive", REQ, "--spec", "02_top", *WHY, *alice.signing), "in spec 02_top", "02-REQ-1.1")
    alice.waive(root, f"01_calc/{REQ}")


def test_the_passphrase_is_asked_for_at_the_terminal(root: Path, alice: Person) -> None:
    argv, environ = alice.command("waive", REQ, *WHY, "--key", "alice")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(root)
        os.execve(argv[0], argv, environ)
    shown = b""
    try:
        while b"passphrase of" not in shown:
            shown += os.read(terminal, 1024)
        os.write(terminal, f"{PASSPHRASE}\n".encode())
        while chunk := os.read(terminal, 1024):
            shown += chunk
    except OSError:
        pass  # the other side of the terminal has gone
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, shown
    assert PASSPHRASE.encode() not in shown
    assert rows(root, "SELECT outcome FROM plan_nodes WHERE id = '01_calc:2'") == [("waived",)]


def test_without_a_terminal_the_passphrase_comes_from_a_file_outside_of_the_repository(
    root: Path, alice: Person
) -> None:
    argv, environ = alice.command("waive", REQ, *WHY, "--key", str(alice.key))
    done = subprocess.run(
        argv, cwd=root, env=environ, capture_output=True, text=True, check=False, start_new_session=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    refused(done, "no terminal to ask for its passphrase", "--passphrase-file")
    (root / "secret").write_text(PASSPHRASE)
    inside = ("--key", str(alice.key), "--passphrase-file", "secret")
    refused(alice.cli(root, "waive", REQ, *WHY, *inside), "where agents work")


def test_the_only_key_that_may_waive_need_not_be_named(root: Path, alice: Person) -> None:
    keys.new_key(alice.keys / "ledger.pem", "another")
    file = ("--passphrase-file", str(alice.passphrase))
    done = alice.cli(root, "waive", REQ, *WHY, *file)
    assert (done.returncode, "waived by alice" in done.stdout) == (0, True), done
    second = keys.new_key(alice.keys / "second.pem", PASSPHRASE)
    keys.trust(alice.keys / keys.SIGNERS, keys.Signer("alice", (keys.WAIVERS,), second))
    refused(alice.cli(root, "waive", "02-REQ-1.1", *WHY, *file), "--key FILE or with --ssh-key FILE")


def test_an_ssh_key_with_a_passphrase_signs(root: Path, alice: Person, tmp_path: Path) -> None:
    path, ask = alice.home / "id_ed25519", alice.home / "ask"
    subprocess.run([ssh.program(), "-q", "-t", "ed25519", "-N", PASSPHRASE, "-f", path], check=True)
    ask.write_text(f"#!/bin/sh\necho '{PASSPHRASE}'\n")
    ask.chmod(0o700)
    public = keys.read_public(path.with_name("id_ed25519.pub"))
    keys.trust(alice.keys / keys.SIGNERS, keys.Signer("alice-by-ssh", (keys.WAIVERS,), public))
    asked = {"SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}
    done = alice.cli(root, "waive", REQ, *WHY, "--ssh-key", str(path), **asked)
    assert (done.returncode, "waived by alice-by-ssh" in done.stdout) == (0, True), done
    alice.run(root, 0)


def test_keys_that_anybody_could_use_are_refused(root: Path, alice: Person) -> None:
    bare = alice.home / "bare"
    subprocess.run([ssh.program(), "-q", "-t", "ed25519", "-N", "", "-f", bare], check=True)
    refused(alice.cli(root, "waive", REQ, *WHY, "--ssh-key", str(bare)), "has no passphrase", "ssh-keygen -p")
    keys.new_key(alice.keys / "open.pem", None)
    refused(alice.cli(root, "waive", REQ, *WHY, "--key", "open"), "has no passphrase", "agent-fox keys new")
    shutil.copy(alice.key, root / "alice.pem")
    refused(alice.cli(root, "waive", REQ, *WHY, "--key", "alice.pem"), "where agents work")
    (alice.home / "linked.pem").symlink_to(root / "alice.pem")
    refused(alice.cli(root, "waive", REQ, *WHY, "--key", str(alice.home / "linked.pem")), "where agents work")


def test_keys_that_are_missing_wrong_or_not_trusted_are_told_apart(root: Path, alice: Person) -> None:
    refused(alice.cli(root, "waive", REQ, *WHY, "--key", "nobody"), "there is no such key", "agent-fox keys new nobody")
    refused(alice.cli(root, "waive", REQ, *WHY, "--ssh-key", "/nowhere/id"), "there is no such key")
    both = (*alice.signing, "--ssh-key", "/nowhere/id")
    refused(alice.cli(root, "waive", REQ, *WHY, *both), "--key FILE or with --ssh-key FILE")
    wrong = alice.home / "wrong"
    wrong.write_text("no\n")
    signing = ("--key", str(alice.key), "--passphrase-file", str(wrong))
    refused(alice.cli(root, "waive", REQ, *WHY, *signing), "the passphrase is wrong")
    keys.new_key(alice.keys / "new.pem", PASSPHRASE)
    signing = ("--key", "new", "--passphrase-file", str(alice.passphrase))
    refused(alice.cli(root, "waive", REQ, *WHY, *signing), "is not trusted to waive", "agent-fox keys trust")


def test_without_trusted_signers_nothing_can_be_waived(root: Path, alice: Person) -> None:
    (alice.keys / keys.SIGNERS).unlink()
    refused(alice.cli(root, "waive", REQ, *WHY, *alice.signing), "nobody is trusted to waive", "agent-fox keys trust")
    (alice.keys / keys.SIGNERS).write_text("* cert-authority nonsense\n")
    refused(alice.cli(root, "waive", REQ, *WHY, *alice.signing), "allowed_signers:1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((REQ, "--expires", "30d"), ("--reason: say why",)),
        ((REQ, "--reason", "  ", "--expires", "30d"), ("--reason: say why",)),
        ((REQ, "--reason", "x"), ("--expires: say how long",)),
        ((REQ, "--reason", "x", "--expires", "2001-01-01"), ("this is past",)),
        ((REQ, "--reason", "x", "--expires", "soon"), ("not understood", "30d")),
        ((REQ, "--reason", "x", "--expires", "900d"), ("366 days at most",)),
        (("--reason", "x", "--expires", "30d"), ("name what is waived",)),
        ((REQ, PROVEN, *WHY), ("a waiver is about one",)),
        (("01-REQ-1.9", *WHY), ("there is no such requirement", "did you mean 01-REQ-1.")),
        (("01-REQ-1", *WHY), ("waive one of them: 01-REQ-1.1, 01-REQ-1.2",)),
        ((PROVEN, *WHY), ("has passed: there is nothing to waive",)),
        ((REQ, *WHY, "--depends-on", "no.txt"), ("no such file at the tip",)),
        (("--list", "--ask"), ("give one",)),
        (("--revoke", "abc", "--reason", "x"), ("no waiver has this id", "--list")),
        (("--revoke", "abc"), ("--reason: say why",)),
        (("--ask", REQ), ("--reason: say why",)),
        (("--ask", "01-REQ-9.9", "--reason", "x"), ("no such requirement",)),
        (("--finding", "01_calc:1", *WHY), ("TASK CHECK [DETAIL_HASH]",)),
        (("--finding", "01_calc:1", "rule_block", "xyz", *WHY), ("16 hex digits",)),
        (("--finding", "09_x:1", "rule_block", *WHY), ("no such finding in the ledger",)),
    ],
)
def test_what_a_person_may_get_wrong_is_said_in_one_line(
    ended: tuple[Path, Person], arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    signing = () if {"--list", "--revoke", "--ask"} & set(arguments) else ended[1].signing
    refused(ended[1].cli(ended[0], "waive", *arguments, *signing), *words)


def test_what_is_waived_already_is_revoked_first(root: Path, alice: Person) -> None:
    alice.waive(root, REQ)
    refused(alice.cli(root, "waive", REQ, *WHY, *alice.signing), "is waived until", "--revoke")
    (number,) = (str(one) for (one,) in rows(root, "SELECT id FROM waivers"))
    assert alice.cli(root, "waive", "--revoke", number, "--reason", "no").returncode == 0
    refused(alice.cli(root, "waive", "--revoke", number, "--reason", "no"), "is over already", "it was revoked")
    first, text, by = alice.cli(root, "waive", "--list").stdout.splitlines()
    assert "does not count: it was revoked" in first
    assert text == "  WHEN its proof is read, THE proof SHALL be right."
    assert by.startswith("  by ")


def test_a_finding_is_waived_by_its_task_check_and_hash(root: Path, alice: Person) -> None:
    alice.waive(root, "--finding", "01_calc:1", "off_scope_write", "0123456789abcdef")
    told = alice.cli(root, "waive", "--list").stdout
    assert "01_calc:1 off_scope_write 0123456789abcdef  in force" in told
    assert rows(root, "SELECT outcome FROM plan_nodes WHERE id = '01_calc:2'") == [("escalated",)]


def test_a_session_cannot_waive_but_may_ask(root: Path, alice: Person) -> None:
    done = alice.cli(root, "waive", REQ, *WHY, *alice.signing, AGENT_FOX_LAUNCH="1")
    refused(done, "a session cannot waive", "--ask")
    told = alice.cli(root, "waive", "--ask", REQ, "--reason", "x", "--json", AGENT_FOX_LAUNCH="1")
    assert json.loads(told.stdout) == {"asked": f"01_calc/{REQ}", "times": 1, "reason": "x", "is_waived": False}
    _, text = alice.cli(root, "waive", "--list").stdout.splitlines()[-2:]
    assert text == "  WHEN its proof is read, THE proof SHALL be right."
    assert alice.cli(root, "ledger", "verify").returncode == 0


def test_without_a_state_nothing_is_made(tmp_path: Path, alice: Person) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "new")
    for arguments in ((REQ, *WHY, *alice.signing), ("--list",), ("--ask", REQ, "--reason", "x")):
        refused(alice.cli(root, "waive", *arguments), "there is no state yet")
    assert not (root / ".agent-fox" / "state.db").exists()


def test_nothing_is_waived_while_a_run_is_on(tmp_path: Path, alice: Person) -> None:
    done = tmp_path / "done"
    waiting = World({"01_calc": [Req(REQ)]}, coder_does={"01_calc:1/1": f"wait {done}"})
    root = waiting.build(tmp_path / "busy")
    running = begin(root, **alice.environ)
    wait_for_sessions(root, 1)
    refused(alice.cli(root, "waive", REQ, *WHY, *alice.signing), "is writing this state", code=4)
    assert alice.cli(root, "waive", "--list").returncode == 0
    done.touch()
    assert running.wait(120) == 0


def test_a_finding_of_a_task_without_any_run_is_waived_and_the_state_begins_there(
    tmp_path: Path, alice: Person
) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "new")
    told = alice.waive(root, "--finding", "T-17", "rule_block", "0123456789abcdef").splitlines()
    assert told[0].startswith("T-17 rule_block 0123456789abcdef waived by alice until 20")
    assert told[-1] == "next: agent-fox gate --task-id T-17"
    (held,) = json.loads(alice.cli(root, "waive", "--list", "--json").stdout)["waivers"]
    assert held["in_force"]


def test_who_is_not_trusted_begins_no_state(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "new")
    somebody = Person(tmp_path / "somebody", "somebody")
    done = somebody.cli(root, "waive", "--finding", "T-17", "rule_block", "0123456789abcdef", *WHY)
    refused(done, "there is no state yet")
    assert not (root / ".agent-fox" / "state.db").exists()


def test_a_review_asked_for_after_a_spec_ended_unproven_stalls_nothing(root: Path, alice: Person) -> None:
    again = alice.cli(root, "run", AGENT_FOX__POLICY__REQUIRED_STATE="reviewed")
    assert (again.returncode, "stalled" in again.stdout + again.stderr) == (2, False), again


def test_the_hash_of_a_finding_is_looked_up_and_the_gate_takes_the_waiver(root: Path, alice: Person) -> None:
    inputs = root / "outputs"
    inputs.mkdir()
    for words in (("checkout", "-q", "-b", "work"), ("commit", "-q", "--allow-empty", "-m", "work")):
        subprocess.run(["git", *words], cwd=root, check=True)
    (inputs / "feedback_record.jsonl").write_text('{"command": "make test", "exit_code": 0}\n')
    scope: dict[str, list[str]] = {"allowed_files": [], "forbidden_writes": ["secrets.env"], "off_scope_writes": []}
    (inputs / "scope_report.json").write_text(json.dumps(scope))
    (inputs / "rule_report.json").write_text('{"block_failures": [], "warn_failures": []}')
    gate = ("gate", "--task-id", "T-17", "--input-dir", "outputs", "--output-dir", "outputs/verification")
    assert alice.cli(root, *gate).returncode == 2
    told = json.loads(alice.waive(root, "--finding", "T-17", "forbidden_write", "--json"))
    assert (told["address"], told["check_name"], len(told["detail_hash"])) == ("T-17", "forbidden_write", 16)
    done = alice.cli(root, *gate)
    assert (done.returncode, "alice" in done.stdout) == (0, True), done
