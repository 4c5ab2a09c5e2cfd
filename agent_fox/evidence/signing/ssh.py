"""Signing with OpenSSH: keys that an agent, a hardware token or a passphrase guards. Checking is in `dsse`."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Mapping
from pathlib import Path

from agent_fox.evidence.signing import dsse
from agent_fox.evidence.signing.dsse import SYSTEM, Envelope, Signature
from agent_fox.evidence.signing.keys import KeyTrouble, PublicKey, read_public
from agent_fox.system import programs

OPENSSH, UNLOCKED = b"openssh-key-v1\0", b"\0\0\0\4none"
"""How a private key of OpenSSH begins, and how the name of its cipher reads where there is none."""
INHERITED = ("HOME", "SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "SSH_SK_PROVIDER", "DISPLAY", "TERM")
SECONDS = 120.0
"""For a person to type a passphrase, or to touch a token."""


def program() -> str:
    """The system's own ssh-keygen. Raises KeyTrouble where there is none."""
    path = shutil.which("ssh-keygen", path=SYSTEM)
    if path is None:
        raise KeyTrouble("ssh-keygen is not installed (Debian: apt install openssh-client); or sign with --key FILE")
    return path


def public_key(path: Path) -> PublicKey:
    """The public key of a key file: itself, or `.pub` beside it. Raises KeyTrouble."""
    return read_public(path if path.suffix == ".pub" else path.with_name(f"{path.name}.pub"))


def is_guarded(path: Path) -> bool:
    """Whether something stands between who reads the file and a signature: a passphrase, an agent, a token."""
    text = path.read_bytes()
    body = b"".join(line for line in text.splitlines() if not line.startswith(b"-----"))
    if path.suffix == ".pub" or b"ENCRYPTED" in text:
        return True
    try:
        raw = base64.b64decode(body)
    except ValueError:
        return False
    return raw.startswith(OPENSSH) and (not raw[len(OPENSSH) :].startswith(UNLOCKED) or b"sk-ssh-" in raw)


def sign(
    payload_type: str, payload: bytes, path: Path, namespace: str, environ: Mapping[str, str], seconds: float = SECONDS
) -> Envelope:
    """An envelope signed by `ssh-keygen -Y sign`, which asks its person by itself. `path` ends in `.pub` for an agent.

    Raises KeyTrouble: no such key, no program, no agent, refused, or no answer in time.
    """
    if not path.is_file():
        raise KeyTrouble(
            f"{path}: there is no such key; name a private key, or the .pub file of one that your agent has"
        )
    public = public_key(path)
    argv = (program(), "-Y", "sign", "-q", "-f", str(path), "-n", namespace)
    environment = {name: environ[name] for name in INHERITED if name in environ} | {"PATH": SYSTEM}
    try:
        done = programs.run(argv, seconds, data=dsse.pae(payload_type, payload), environment=environment)
    except TimeoutError as error:
        raise KeyTrouble(f"{path}: ssh-keygen did not sign within {seconds:g} s; nothing was granted") from error
    if done.status != 0 or not done.out.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        lines = done.err.decode("utf-8", "replace").strip().splitlines()
        raise KeyTrouble(
            f"{path}: ssh-keygen did not sign ({lines[-1] if lines else 'it said nothing'}); nothing was granted"
        )
    return Envelope(payload_type, payload, (Signature(public.id, done.out, "sshsig"),))
