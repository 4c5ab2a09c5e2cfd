"""Keys made, listed and trusted on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.program import said, start


def test_a_key_is_made_trusted_and_listed(tmp_path: Path) -> None:
    (tmp_path / "pass").write_text("correct horse\n")
    made = start(tmp_path, "keys", "new", "ledger", "--passphrase-file", "pass", "--json")
    assert made.returncode == 0, made
    key = json.loads(made.stdout)
    assert key["key"] == str(tmp_path / ".config" / "agent-fox" / "ledger.pem")
    trusted = start(
        tmp_path, "keys", "trust", "ledger", "--for", "ledger", "--for", "waiver", "--as", "alice", "--json"
    )
    assert json.loads(trusted.stdout) == {"name": "alice", "for": ["ledger", "waiver"], "id": key["id"]}
    listed = json.loads(start(tmp_path, "keys", "list", "--json").stdout)
    assert listed["keys"] == [{"name": "ledger", "file": key["key"], "id": key["id"], "is_locked": True}]
    assert listed["signers"] == [{"name": "alice", "for": ["ledger", "waiver"], "id": key["id"]}]


def test_alone_it_lists_and_says_what_to_do_first(tmp_path: Path) -> None:
    lines = start(tmp_path, "keys").stdout.splitlines()
    assert lines == [
        f"no keys in {tmp_path}/.config/agent-fox; `agent-fox keys new NAME` makes one",
        "nobody is trusted; `agent-fox keys trust NAME --for ledger` says who is",
    ]


def test_a_new_key_says_how_it_begins_to_count(tmp_path: Path) -> None:
    (tmp_path / "pass").write_text("correct horse\n")
    made = start(tmp_path, "keys", "new", "me", "--passphrase-file", "pass").stdout.splitlines()[-1]
    assert made == "next: agent-fox keys trust me --for ledger (it signs exports), or --for waiver (you waive with it)"
    elsewhere = str(tmp_path / "away" / "ci")
    made = start(tmp_path, "keys", "new", elsewhere, "--no-passphrase").stdout.splitlines()[-1]
    assert made == f"next: agent-fox keys trust {elsewhere}.pub --for ledger"
    assert start(tmp_path, *made.split()[2:]).returncode == 0


def test_a_key_for_a_machine_has_no_passphrase_and_says_so(tmp_path: Path) -> None:
    assert start(tmp_path, "keys", "new", "ci", "--no-passphrase").returncode == 0
    assert "no passphrase" in start(tmp_path, "keys").stdout


def test_a_public_key_from_elsewhere_is_trusted_by_its_file(tmp_path: Path) -> None:
    start(tmp_path, "keys", "new", "ci", "--no-passphrase")
    public = tmp_path / ".config" / "agent-fox" / "ci.pub"
    public.rename(tmp_path / "theirs.pub")
    assert start(tmp_path, "keys", "trust", "./theirs.pub", "--for", "ledger").stdout.startswith("theirs is trusted")
    assert "its public key is not here" in start(tmp_path, "keys").stdout


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    start(tmp_path, "keys", "new", "ledger", "--no-passphrase")
    again = start(tmp_path, "keys", "new", "ledger")
    assert (again.returncode, "never overwritten, choose another name" in said(again)) == (1, True)


def test_without_a_terminal_a_passphrase_is_not_made_up(tmp_path: Path) -> None:
    """A process of its own session has no terminal, whoever starts the tests."""
    done = start(tmp_path, "keys", "new", "ledger", "--passphrase-file", "none")
    assert "no passphrase can be read there" in said(done)
    (tmp_path / "pass").write_text("short\n")
    done = start(tmp_path, "keys", "new", "ledger", "--passphrase-file", "pass")
    assert "at least 8 characters" in said(done)
    assert not (tmp_path / ".config" / "agent-fox" / "ledger.pem").exists()


def test_keys_do_not_lie_where_agents_work(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    for arguments in (("keys",), ("keys", "new", "ledger", "--no-passphrase")):
        done = start(tmp_path / "repo", *arguments, AGENT_FOX_KEYS=str(tmp_path / "repo" / "keys"))
        assert (done.returncode, "where agents work" in said(done)) == (1, True)
    done = start(tmp_path / "repo", "keys", "new", "./ledger.pem", "--no-passphrase", HOME=str(tmp_path))
    assert "where agents work" in said(done)


def test_a_name_that_leads_elsewhere_is_no_name(tmp_path: Path) -> None:
    done = start(tmp_path, "keys", "new", "a b", "--no-passphrase")
    assert "is no name for a key" in said(done)


def test_a_list_of_signers_that_cannot_be_read_says_where(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "agent-fox"
    folder.mkdir(parents=True)
    (folder / "allowed_signers").write_text("nonsense\n")
    done = start(tmp_path, "keys")
    assert (done.returncode, f"{folder}/allowed_signers:1" in said(done)) == (1, True)
