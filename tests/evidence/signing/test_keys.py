"""Keys and trusted signers: made once, read strictly, never trusted for more than was written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent_fox.evidence.signing import keys
from agent_fox.evidence.signing.keys import KeyTrouble, PublicKey, Signer


def test_keys_lie_in_the_home_of_the_person(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert keys.folder(home) == tmp_path / ".config" / "agent-fox"
    assert keys.folder({**home, "XDG_CONFIG_HOME": "/x"}) == Path("/x/agent-fox")
    assert keys.folder({**home, "XDG_CONFIG_HOME": "relative"}) == tmp_path / ".config" / "agent-fox"
    assert keys.folder({**home, "AGENT_FOX_KEYS": "/keys"}) == Path("/keys")


def test_a_folder_of_keys_is_never_relative_to_a_workspace() -> None:
    with pytest.raises(KeyTrouble, match="whole path"):
        keys.folder({"AGENT_FOX_KEYS": "keys"})


@pytest.mark.parametrize("passphrase", [None, "correct horse"])
def test_a_key_that_was_made_signs(tmp_path: Path, passphrase: str | None) -> None:
    path = tmp_path / "inner" / "ledger.pem"
    public = keys.new_key(path, passphrase)
    private = keys.load_key(path, passphrase)
    assert keys.is_locked(path) is (passphrase is not None)
    assert public.verify(b"data", private.sign(b"data"))
    assert not public.verify(b"date", private.sign(b"data"))
    assert keys.public_of(private).bare == public.bare
    assert keys.read_public(path.with_suffix(".pub")) == public


def test_a_private_key_is_its_owners_alone_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "ledger.pem"
    keys.new_key(path, None)
    before = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(KeyTrouble, match="choose another name"):
        keys.new_key(path, None)
    path.with_suffix(".pub").unlink()
    with pytest.raises(KeyTrouble, match="never overwritten"):
        keys.new_key(path, None)
    assert path.read_bytes() == before


def test_a_key_that_cannot_be_used_says_why(tmp_path: Path) -> None:
    locked, free = tmp_path / "locked.pem", tmp_path / "free.pem"
    keys.new_key(locked, "secret")
    keys.new_key(free, None)
    for path, passphrase, why in (
        (tmp_path / "none.pem", None, "there is no such key; make one with `agent-fox keys new none`"),
        (locked, None, "is locked"),
        (locked, "wrong", "the passphrase is wrong"),
        (free, "one too many", "give none"),
    ):
        with pytest.raises(KeyTrouble, match=why):
            keys.load_key(path, passphrase)
    free.chmod(0o644)
    with pytest.raises(KeyTrouble, match="others may read"):
        keys.load_key(free, None)


def test_what_is_no_ed25519_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.touch(0o600)
    with pytest.raises(KeyTrouble, match="no private key"):
        keys.load_key(path, None)
    path.unlink()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    with pytest.raises(KeyTrouble, match="ssh-keygen only"):
        keys.load_key(path, None)


def test_a_fingerprint_is_the_one_that_ssh_keygen_shows(tmp_path: Path) -> None:
    public = keys.new_key(tmp_path / "key.pem", None)
    shown = subprocess.run(["ssh-keygen", "-l", "-f", tmp_path / "key.pub"], check=True, capture_output=True, text=True)
    assert shown.stdout.split()[1] == public.id


@pytest.mark.parametrize(
    "line",
    [
        "",
        "ssh-ed25519",
        "ssh-ed25519 !!!",
        "ssh-ed25519 AAAA",
        "word AAAA",
        "ssh-rsa " + "AAAAC3NzaC1lZDI1NTE5" + "AAAA",
    ],
)
def test_a_line_that_is_no_public_key_is_refused(line: str) -> None:
    with pytest.raises(KeyTrouble):
        PublicKey(line)


def test_a_trusted_signer_is_read_back_and_added_once(tmp_path: Path) -> None:
    file = tmp_path / "config" / keys.SIGNERS
    signer = Signer("person@example.org", (keys.WAIVERS, keys.LEDGER), keys.new_key(tmp_path / "p.pem", None))
    other = Signer("machine", (keys.LEDGER,), keys.new_key(tmp_path / "m.pem", None))
    assert keys.read_signers(file) == ()
    for one in (signer, other, signer):
        keys.trust(file, one)
    assert keys.read_signers(file) == (signer, other)


def test_ssh_keygen_understands_the_list_of_signers(tmp_path: Path) -> None:
    key = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    keys.trust(tmp_path / "signers", Signer("me", (keys.WAIVERS,), keys.read_public(tmp_path / "id.pub")))
    (tmp_path / "data").write_text("x")
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", keys.WAIVERS, tmp_path / "data"], check=True)
    argv = ["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "me", "-n", keys.WAIVERS, "-s", "data.sig"]
    assert subprocess.run(argv, cwd=tmp_path, input=b"x", capture_output=True).returncode == 0


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMPfCgt7PuMX/dLR+G10E+KWgQXceapEwsFGPIWAnyYA me"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"* {KEY}", "no name of a signer"),
        (f"one,two {KEY}", "no name of a signer"),
        (f"me cert-authority {KEY}", "not supported"),
        (f'me namespaces="a",valid-before="20200101" {KEY}', "not supported"),
        (f'me valid-before="20200101" {KEY}', "not supported"),
        ('me namespaces="a', "not supported"),
        ("me", "not supported"),
    ],
)
def test_a_line_of_signers_that_means_more_than_we_check_is_refused(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "signers").write_text(f"# people\n\n{line}\n")
    with pytest.raises(KeyTrouble, match=why) as caught:
        keys.read_signers(tmp_path / "signers")
    assert "signers:3" in str(caught.value)


def test_a_signer_without_a_namespace_is_trusted_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "signers").write_text(f"me {KEY}\n")
    assert keys.read_signers(tmp_path / "signers")[0].namespaces == ()


def test_a_name_that_would_break_the_line_is_not_trusted(tmp_path: Path) -> None:
    with pytest.raises(KeyTrouble, match="no name of a signer"):
        keys.trust(tmp_path / "signers", Signer('me" x', (keys.LEDGER,), PublicKey(KEY)))
    assert not (tmp_path / "signers").exists()
