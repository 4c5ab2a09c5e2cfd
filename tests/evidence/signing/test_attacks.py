"""Statements, signers and keys that somebody bent: none of them counts for more than was signed, by whom, for what."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agent_fox.core.ledger.waivers import PAYLOAD_TYPE, AboutRequirement, Statement
from agent_fox.evidence import granting, waivers
from agent_fox.evidence.signing import dsse, keys
from agent_fox.evidence.signing.keys import LEDGER, WAIVERS, WORKERS, KeyTrouble, PublicKey, Signer

ALICE = Ed25519PrivateKey.from_private_bytes(bytes([1] * 32))
BOB = Ed25519PrivateKey.from_private_bytes(bytes([2] * 32))
PUBLIC = keys.public_of(ALICE)
TRUSTED = (Signer("alice", (WAIVERS,), PUBLIC), Signer("machine", (LEDGER, WORKERS), keys.public_of(BOB)))
SAID = Statement(
    "0123456789abcdef0123", "c" * 40, AboutRequirement("04_gateway", "04-REQ-1.2", "v" * 16), (), "a reason",
    "2099-12-01T00:00:00.000Z", "2100-02-01T00:00:00.000Z", "alice", PUBLIC.id,
)  # fmt: skip
SIGNED = granting.sign_with_key(SAID, ALICE)
ORDER = 2**252 + 27742317777372353535851937790883648493

Parts = dict[str, object]


def changed(**parts: object) -> str:
    return json.dumps({**json.loads(SIGNED), **parts})


def first_signature(**parts: object) -> str:
    document = json.loads(SIGNED)
    return json.dumps({**document, "signatures": [{**document["signatures"][0], **parts}]})


def sig(change: Callable[[bytes], bytes]) -> str:
    raw = base64.b64decode(json.loads(SIGNED)["signatures"][0]["sig"])
    return first_signature(sig=base64.b64encode(change(raw)).decode())


def resigned(private: Ed25519PrivateKey, kind: str = PAYLOAD_TYPE, **changes: object) -> str:
    """What somebody signs with their own key, saying what they like."""
    said = replace(SAID, **changes)  # type: ignore[arg-type]
    return dsse.sign(kind, waivers.payload_of(said), private).to_json()


PAYLOAD = json.loads(SIGNED)["payload"]
ENVELOPES: dict[str, str] = {
    "signed by a key of another role": resigned(BOB, signer="machine", key=keys.public_of(BOB).id),
    "signed by a key of another role in a trusted name": resigned(BOB),
    "signed by a trusted key in another name": resigned(ALICE, signer="machine"),
    "signed by a trusted key that names another": resigned(ALICE, key=keys.public_of(BOB).id),
    "a name in letters that look alike": resigned(ALICE, signer="\u0430lice"),
    "a name with a letter that nobody sees": resigned(ALICE, signer="alice\u200b"),
    "a statement of another kind": resigned(ALICE, kind="application/vnd.in-toto+json"),
    "a statement of another kind in capitals": resigned(ALICE, kind=PAYLOAD_TYPE.upper()),
    "an end that is no time": resigned(ALICE, expires_at="9999"),
    "an end in another zone": resigned(ALICE, expires_at="2100-02-01T00:00:00.000+14:00"),
    "an end in other digits": resigned(ALICE, expires_at="\u0662100-02-01T00:00:00.000Z"),
    "no reason": resigned(ALICE, reason=""),
    "a reason without end": resigned(ALICE, reason="x" * 100_000),
    "an id that is a path": resigned(ALICE, id="../../../../x0123456"),
    "no repository": resigned(ALICE, repository=""),
    "another kind beside the same bytes": changed(payloadType="text/plain"),
    "no signature": changed(signatures=[]),
    "a signature of nothing": first_signature(sig=""),
    "a signature of zeros": sig(lambda raw: bytes(64)),
    "a signature that is cut": sig(lambda raw: raw[:-1]),
    "a signature that is longer": sig(lambda raw: raw + b"\0"),
    "a signature that adds the order of the curve": sig(
        lambda raw: raw[:32] + (int.from_bytes(raw[32:], "little") + ORDER).to_bytes(32, "little")
    ),
    "a signature of ssh that is none": first_signature(form="sshsig"),
    "a signature in an unknown form": first_signature(form="none"),
    "a signature in another alphabet": first_signature(
        sig=json.loads(SIGNED)["signatures"][0]["sig"].replace("+", "-")
    ),
    "a payload with spaces": changed(payload=f" {PAYLOAD}"),
    "a payload with lines": changed(payload=f"{PAYLOAD[:40]}\n{PAYLOAD[40:]}"),
    "a payload without its end": changed(payload=PAYLOAD.rstrip("=") + "A"),
    "a payload that is a list": changed(payload=[PAYLOAD]),
    "a payload that is nothing": changed(payload=""),
    "two payloads": SIGNED.replace('{"payload"', '{"payload":"e30=","payload"', 1)[:-1] + ',"payload":"e30="}',
    "more than an envelope": changed(trusted=True),
    "two envelopes": SIGNED + SIGNED,
    "an envelope in a list": f"[{SIGNED}]",
    "an envelope in two letters for one": SIGNED.encode("utf-16").decode("latin-1"),
    "an envelope that is nested without end": "[" * 100_000,
    "a number that is none": '{"payload":NaN}',
    "nothing": "",
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_what_was_not_signed_so_by_who_may_is_no_waiver(name: str) -> None:
    statement, why = waivers.signed(ENVELOPES[name], TRUSTED)
    assert statement is None
    assert why
    assert len(why) < 1_000


def test_the_one_that_was_bent_is_one() -> None:
    assert waivers.signed(SIGNED, TRUSTED) == (SAID, "")
    document = json.loads(SIGNED)
    beside = {"keyid": keys.public_of(BOB).id, "sig": base64.b64encode(bytes(64)).decode()}
    assert waivers.signed(changed(signatures=[beside, *document["signatures"]]), TRUSTED) == (SAID, "")
    assert waivers.signed(SIGNED, TRUSTED[1:])[0] is None
    assert waivers.signed(SIGNED, (Signer("alice", (LEDGER,), PUBLIC),))[0] is None


KEY = PUBLIC.bare
SIGNERS = {
    "everybody": f'* namespaces="{WAIVERS}" {KEY}',
    "two people": f'alice,bob namespaces="{WAIVERS}" {KEY}',
    "letters that look alike": f'\u0430lice namespaces="{WAIVERS}" {KEY}',
    "a letter that nobody sees": f'ali\u200bce namespaces="{WAIVERS}" {KEY}',
    "an authority": f'alice cert-authority namespaces="{WAIVERS}" {KEY}',
    "a time": f'alice namespaces="{WAIVERS}",valid-after="20200101" {KEY}',
    "a name that is an option": f'-alice namespaces="{WAIVERS}" {KEY}',
    "a name that is a path": f'../alice namespaces="{WAIVERS}" {KEY}',
    "a key that is broken": f'alice namespaces="{WAIVERS}" ssh-ed25519 AAAA',
    "a key under another type": f'alice namespaces="{WAIVERS}" ssh-rsa {KEY.split()[1]}',
    "a private key": f'alice namespaces="{WAIVERS}" -----BEGIN',
    "a line that goes on": f'alice namespaces="{WAIVERS}" \\\n{KEY}',
}


@pytest.mark.parametrize("name", SIGNERS)
def test_a_list_of_signers_that_says_more_than_one_name_and_one_key_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "signers").write_text(f"{SIGNERS[name]}\n", encoding="utf-8")
    with pytest.raises(KeyTrouble, match="signers:1"):
        keys.read_signers(tmp_path / "signers")


@pytest.mark.parametrize(
    "namespaces",
    [
        "",
        "*",
        f"{WAIVERS}2",
        f"x{WAIVERS}",
        WAIVERS.upper(),
        f"{WAIVERS} {LEDGER}",
        f"!{WAIVERS}",
        "agent-fox-*",
        f"{WAIVERS};",
    ],
)
def test_a_signer_is_trusted_for_what_is_named_in_full_alone(tmp_path: Path, namespaces: str) -> None:
    (tmp_path / "signers").write_text(f'alice namespaces="{namespaces}" {KEY}\n')
    assert waivers.signed(SIGNED, keys.read_signers(tmp_path / "signers"))[0] is None


def pem(key: object) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    made: bytes = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())  # type: ignore[attr-defined]
    return made


OWN = pem(ALICE)
PRIVATE_KEYS: dict[str, Callable[[], bytes]] = {
    "RSA": lambda: pem(rsa.generate_private_key(65537, 1024)),
    "a curve of NIST": lambda: pem(ec.generate_private_key(ec.SECP256R1())),
    "X25519": lambda: pem(x25519.X25519PrivateKey.generate()),
    "Ed448": lambda: pem(ed448.Ed448PrivateKey.generate()),
    "a public key": lambda: PUBLIC.pem.encode(),
    "a public key of OpenSSH": lambda: PUBLIC.line.encode(),
    "a certificate's frame": lambda: OWN.replace(b"PRIVATE KEY", b"CERTIFICATE"),
    "a key that is cut": lambda: OWN[:60],
    "a key behind nothing": lambda: OWN.replace(b"BEGIN", b"BEG1N"),
    "a key of nothing": lambda: b"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
    "text": lambda: b"correct horse battery staple",
    "bytes": lambda: bytes(range(256)),
    "nothing": lambda: b"",
}


@pytest.mark.parametrize("kind", PRIVATE_KEYS)
def test_a_key_of_another_kind_signs_nothing_and_is_not_repeated(tmp_path: Path, kind: str) -> None:
    file, content = tmp_path / "key.pem", PRIVATE_KEYS[kind]()
    file.touch(0o600)
    file.write_bytes(content)
    with pytest.raises(KeyTrouble) as refused:
        keys.load_key(file, None)
    assert not any(line and line in str(refused.value) for line in content.decode("latin-1").splitlines()[1:-1])


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o610, 0o777])
def test_a_key_that_others_reach_signs_nothing_by_whatever_name(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "key.pem"
    file.write_bytes(OWN)
    file.chmod(mode)
    (tmp_path / "link.pem").symlink_to(file)
    for path in (file, tmp_path / "link.pem"):
        with pytest.raises(KeyTrouble, match="others may read"):
            keys.load_key(path, None)


@pytest.mark.parametrize(
    "line",
    [
        "", "ssh-ed25519", KEY.replace("ssh-ed25519", "ssh-dss"), KEY[:-8], f"{KEY.split()[0]} {KEY.split()[1]}AAAA",
        f"from=* {KEY}", f"{KEY}\nssh-ed25519 AAAA", KEY.replace("ssh-ed25519 ", "ssh-ed25519-cert-v01@openssh.com "),
        KEY[:-4],
    ],
)  # fmt: skip
def test_what_is_no_public_key_is_none(line: str) -> None:
    with pytest.raises(KeyTrouble):
        PublicKey(line)
