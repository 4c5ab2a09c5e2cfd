"""Signed envelopes: made, spelled in one way, checked against the trusted alone."""

from __future__ import annotations

import base64
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.evidence.signing import dsse, keys
from agent_fox.evidence.signing.dsse import Envelope, Signature
from agent_fox.evidence.signing.keys import LEDGER, WAIVERS, KeyTrouble, Signer

TYPE = "application/vnd.in-toto+json"
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(32))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes([1] * 32))
ME = Signer("me", (LEDGER,), keys.public_of(PRIVATE))
SIGNED = dsse.sign(TYPE, b'{"a":1}', PRIVATE)


def test_what_is_signed_is_spelled_as_dsse_says() -> None:
    assert dsse.pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_a_signature_counts_for_the_trusted_and_their_namespace_only() -> None:
    others = Signer("other", (LEDGER,), keys.public_of(OTHER))
    assert dsse.verified_by(SIGNED, (others, ME), LEDGER) == (ME,)
    assert dsse.verified_by(SIGNED, (others, ME), WAIVERS) == ()
    assert dsse.verified_by(SIGNED, (others,), LEDGER) == ()


@given(st.text(), st.binary())
def test_an_envelope_is_read_back_as_it_was_written(kind: str, payload: bytes) -> None:
    kind = kind.encode(errors="replace").decode()
    envelope = dsse.sign(kind, payload, PRIVATE)
    assert Envelope.from_json(envelope.to_json()) == envelope
    assert dsse.verified_by(envelope, (ME,), LEDGER) == (ME,)


@pytest.mark.parametrize("position", range(len(SIGNED.payload)))
def test_any_change_of_the_payload_is_found(position: int) -> None:
    changed = bytearray(SIGNED.payload)
    changed[position] ^= 1
    assert dsse.verified_by(replace(SIGNED, payload=bytes(changed)), (ME,), LEDGER) == ()


def test_the_type_of_the_payload_is_signed_too() -> None:
    assert dsse.verified_by(replace(SIGNED, payload_type="text/plain"), (ME,), LEDGER) == ()


def spelled(**changes: object) -> str:
    return json.dumps({**json.loads(SIGNED.to_json()), **changes})


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "nonsense", spelled(payload=1), spelled(payload="a"), spelled(payload="YQ"), spelled(more=1),
        spelled(payload="YR=="), spelled(signatures=[{"sig": "!"}]), spelled(signatures=[{"sig": "", "form": "rsa"}]),
    ],
)  # fmt: skip
def test_what_is_no_envelope_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no signed envelope"):
        Envelope.from_json(text)


def ssh_signed(folder: Path, kind: str, namespace: str) -> tuple[Envelope, Signer]:
    key = folder / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", key], check=True)
    argv = ("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace)
    done = subprocess.run(argv, input=dsse.pae(TYPE, b"payload"), check=True, capture_output=True)
    signer = Signer("me", (WAIVERS, LEDGER), keys.read_public(folder / "id.pub"))
    return Envelope(TYPE, b"payload", (Signature(signer.key.id, done.stdout, "sshsig"),)), signer


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_a_signature_of_ssh_keygen_counts_in_its_namespace(tmp_path: Path, kind: str) -> None:
    envelope, signer = ssh_signed(tmp_path, kind, WAIVERS)
    again = Envelope.from_json(envelope.to_json())
    assert dsse.verified_by(again, (ME, signer), WAIVERS) == (signer,)
    assert dsse.verified_by(again, (ME, signer), LEDGER) == ()
    assert dsse.verified_by(replace(again, payload=b"Payload"), (signer,), WAIVERS) == ()


def test_without_ssh_keygen_nothing_is_taken_on_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    envelope, signer = ssh_signed(tmp_path, "ed25519", WAIVERS)
    monkeypatch.setattr(dsse, "SYSTEM", str(tmp_path))
    with pytest.raises(KeyTrouble, match="cannot be checked"):
        dsse.verified_by(envelope, (signer,), WAIVERS)


def test_a_program_of_the_same_name_in_front_of_it_vouches_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    envelope, signer = ssh_signed(tmp_path, "ed25519", WAIVERS)
    (tmp_path / "ssh-keygen").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "ssh-keygen").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert dsse.verified_by(replace(envelope, payload=b"other"), (signer,), WAIVERS) == ()


def test_the_payload_travels_as_base64() -> None:
    assert base64.b64decode(json.loads(SIGNED.to_json())["payload"]) == b'{"a":1}'
