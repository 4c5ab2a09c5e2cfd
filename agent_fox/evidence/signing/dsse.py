"""Signed statements: the DSSE envelope (github.com/secure-systems-lab/dsse, v1), made and checked.

What is signed is the type of the payload and its bytes. Two forms of signature: raw Ed25519, and OpenSSH's SSHSIG,
which agents and hardware keys make. Which keys are trusted is in `keys`.
"""

from __future__ import annotations

import base64
import binascii
import json
import shutil
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.evidence.signing.keys import KeyTrouble, Signer, public_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from agent_fox.system import own_folders, programs
else:
    own_folders = late_module("agent_fox.system.own_folders")
    programs = late_module("agent_fox.system.programs")

Form = Literal["ed25519", "sshsig"]
SYSTEM = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin:/run/current-system/sw/bin"
"""Where ssh-keygen is looked for: another program of that name on PATH has no say, nor a library to preload."""
SECONDS = 20.0
"""What `ssh-keygen` gets to check one signature."""


@dataclass(frozen=True, slots=True)
class Signature:
    """`keyid` is the fingerprint, a hint only. `sig`: 64 bytes of Ed25519, or the text that ssh-keygen writes."""

    keyid: str
    sig: bytes
    form: Form = "ed25519"


@dataclass(frozen=True, slots=True)
class Envelope:
    payload_type: str
    payload: bytes
    signatures: tuple[Signature, ...]

    def to_json(self) -> str:
        """One line of JSON with keys in order: one spelling for one envelope."""
        signatures = [_signature_json(signature) for signature in self.signatures]
        payload = base64.b64encode(self.payload).decode()
        document = {"payload": payload, "payloadType": self.payload_type, "signatures": signatures}
        return json.dumps(document, sort_keys=True, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> Envelope:
        """Raises ValueError for anything that is not one envelope, spelled as `to_json` spells it or with spaces."""
        try:
            return _EnvelopeForm.model_validate_json(text).value()
        except (ValidationError, binascii.Error) as error:
            raise ValueError(f"no signed envelope: {_first(error)}") from error


def _signature_json(signature: Signature) -> dict[str, str]:
    shown = {"keyid": signature.keyid, "sig": base64.b64encode(signature.sig).decode()}
    return shown if signature.form == "ed25519" else {**shown, "form": signature.form}


def _first(error: ValidationError | binascii.Error) -> str:
    if isinstance(error, binascii.Error):
        return f"base64 is damaged ({error})"
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'text'}: {first['msg']}"


class _SignatureForm(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="forbid")
    keyid: str = ""
    sig: str
    form: Form = "ed25519"


class _EnvelopeForm(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="forbid")
    payload_type: str = Field(alias="payloadType")
    payload: str
    signatures: list[_SignatureForm]

    def value(self) -> Envelope:
        signatures = (
            Signature(signature.keyid, _decoded(signature.sig), signature.form) for signature in self.signatures
        )
        return Envelope(self.payload_type, _decoded(self.payload), tuple(signatures))


def _decoded(text: str) -> bytes:
    """The bytes of canonical base64 only: no second spelling of the same bytes is taken."""
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise binascii.Error("not in its one canonical form")
    return data


def pae(payload_type: str, payload: bytes) -> bytes:
    """What is signed (pre-authentication encoding): lengths and contents, so that no two pairs read the same."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(payload_type: str, payload: bytes, private: Ed25519PrivateKey) -> Envelope:
    signature = Signature(public_of(private).id, private.sign(pae(payload_type, payload)))
    return Envelope(payload_type, payload, (signature,))


def verified_by(envelope: Envelope, signers: tuple[Signer, ...], namespace: str) -> tuple[Signer, ...]:
    """Those who are trusted for this namespace and whose signature holds. Raises KeyTrouble without `ssh-keygen`."""
    data = pae(envelope.payload_type, envelope.payload)
    trusted = [signer for signer in signers if namespace in signer.namespaces]
    return tuple(
        signer
        for signer in trusted
        if any(_holds(signature, signer, data, namespace) for signature in envelope.signatures)
    )


def _holds(signature: Signature, signer: Signer, data: bytes, namespace: str) -> bool:
    if signature.form == "ed25519":
        return signer.key.verify(data, signature.sig)
    return signature.keyid == signer.key.id and ssh_holds(signature.sig, signer, data, namespace)


def ssh_holds(signature: bytes, signer: Signer, data: bytes, namespace: str) -> bool:
    """Whether `ssh-keygen -Y verify` takes the signature as this signer's, over this data, in this namespace."""
    program = shutil.which("ssh-keygen", path=SYSTEM)
    if program is None:
        raise KeyTrouble("ssh-keygen is not installed, so a signature made with an SSH key cannot be checked")
    with own_folders.own_folder("sign") as made:
        signers, file = made / "signers", made / "signature"
        signers.write_text(f'{signer.principal} namespaces="{namespace}" {signer.key.bare}\n', encoding="utf-8")
        file.write_bytes(signature)
        argv = (program, "-Y", "verify", "-f", str(signers), "-I", signer.principal, "-n", namespace, "-s", str(file))
        try:
            return programs.run(argv, SECONDS, data=data, environment={"PATH": SYSTEM}).status == 0
        except TimeoutError as error:
            raise KeyTrouble(f"ssh-keygen did not answer within {SECONDS:g} s; the signature is not checked") from error
