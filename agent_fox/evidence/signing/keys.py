"""Keys that sign evidence and waivers, and whose signatures are trusted: files outside of every workspace.

Public keys and `allowed_signers` have OpenSSH's format, so that `ssh-keygen` and agents know them. A private key is a
PEM file (PKCS8, Ed25519). What is signed is not here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519
else:
    exceptions = late_module("cryptography.exceptions")
    ed25519 = late_module("cryptography.hazmat.primitives.asymmetric.ed25519")
    serialization = late_module("cryptography.hazmat.primitives.serialization")

SIGNERS = "allowed_signers"
KEY_SUFFIX, PUBLIC_SUFFIX = ".pem", ".pub"
WAIVERS, LEDGER, WORKERS = "agent-fox-waiver", "agent-fox-ledger", "agent-fox-worker"
"""The namespaces that a signer can be trusted for."""

PRINCIPAL = regex(r"[A-Za-z0-9][A-Za-z0-9_.@+-]*")
TYPES = regex(r"(sk-)?(ssh|ecdsa)-[a-z0-9@.-]+")
LINE = regex(r'(\S+)\s+(?:namespaces="([^"]*)"\s+)?((?:sk-|ssh-|ecdsa-)\S+\s.+)')
FOR_OTHERS = 0o077
ED25519_BYTES = 4 + 32
"""What follows the type in an Ed25519 public key: a length, and the key."""


class KeyTrouble(Exception):
    """A key, or the list of trusted ones, cannot be used. Its text says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key as OpenSSH writes it: `ssh-ed25519 AAAA... comment`. Raises KeyTrouble for anything else."""

    line: str

    def __post_init__(self) -> None:
        _blob(self.line)

    @property
    def id(self) -> str:
        """The fingerprint, as `ssh-keygen -l` shows it."""
        digest = hashlib.sha256(_blob(self.line)).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")

    @property
    def pem(self) -> str:
        """The key as PEM (SubjectPublicKeyInfo). Raises KeyTrouble for one that is not Ed25519 (a key in hardware)."""
        key = _ed25519(self.line)
        if key is None:
            raise KeyTrouble(f"{self.id}: only an Ed25519 key has a form as PEM here; give its OpenSSH form away")
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return key.public_bytes(serialization.Encoding.PEM, form).decode("ascii")

    @property
    def bare(self) -> str:
        """Type and key, without the comment."""
        return " ".join(self.line.split()[:2])

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether this key made the Ed25519 signature over the data; never for a key of another type."""
        key = _ed25519(self.line)
        if key is None:
            return False
        try:
            key.verify(signature, data)
        except exceptions.InvalidSignature:
            return False
        return True


@lru_cache(maxsize=64)
def _blob(line: str) -> bytes:
    """The key itself, which begins with its own type."""
    fields = line.split()
    if "\n" in line.strip() or len(fields) < 2 or not TYPES.fullmatch(fields[0]):
        raise KeyTrouble(f"{line.strip()[:40]!r} is no public key; it looks like `ssh-ed25519 AAAA... name`")
    try:
        blob = base64.b64decode(fields[1], validate=True)
    except (binascii.Error, ValueError) as error:
        raise KeyTrouble(f"the public key {fields[1][:16]!r}... is damaged ({error}); copy it again") from error
    named = len(fields[0]).to_bytes(4, "big") + fields[0].encode()
    if not blob.startswith(named):
        raise KeyTrouble(f"the public key {fields[1][:16]!r}... is not of type {fields[0]}; copy it again")
    if fields[0] == "ssh-ed25519" and len(blob) != len(named) + ED25519_BYTES:
        raise KeyTrouble(f"the public key {fields[1][:16]!r}... is too short or too long; copy it again")
    return blob


@lru_cache(maxsize=64)
def _ed25519(line: str) -> ed25519.Ed25519PublicKey | None:
    try:
        key = serialization.load_ssh_public_key(" ".join(line.split()[:2]).encode())
    except (ValueError, exceptions.UnsupportedAlgorithm):
        return None
    return key if isinstance(key, ed25519.Ed25519PublicKey) else None


@dataclass(frozen=True, slots=True)
class Signer:
    """Whose key it is, and what it is trusted for: without a namespace, for nothing."""

    principal: str
    namespaces: tuple[str, ...]
    key: PublicKey

    def line(self) -> str:
        """The line of `allowed_signers`."""
        return f'{self.principal} namespaces="{",".join(self.namespaces)}" {self.key.line}'


def folder(environ: Mapping[str, str]) -> Path:
    """Where keys and trusted signers are: `$AGENT_FOX_KEYS`, else the folder of our settings in the person's home."""
    named = environ.get("AGENT_FOX_KEYS")
    if named:
        if not Path(named).is_absolute():
            raise KeyTrouble(f"AGENT_FOX_KEYS={named}: name a folder by its whole path, outside of every repository")
        return Path(named)
    base = environ.get("XDG_CONFIG_HOME", "")
    home = Path(environ.get("HOME", "~")).expanduser() / ".config"
    return (Path(base) if Path(base).is_absolute() else home) / "agent-fox"


def public_of(private: ed25519.Ed25519PrivateKey) -> PublicKey:
    return PublicKey(
        private.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH).decode()
    )


def new_key(path: Path, passphrase: str | None) -> PublicKey:
    """Make a key pair: the private key in `path`, for its owner only, the public one beside it (`.pub`).

    Raises KeyTrouble where a file is there already, or none can be made.
    """
    private = ed25519.Ed25519PrivateKey.generate()
    locked = serialization.BestAvailableEncryption(passphrase.encode()) if passphrase else serialization.NoEncryption()
    public = PublicKey(f"{public_of(private).line} {path.stem}")
    _make_folder(path.parent)
    if path.with_suffix(PUBLIC_SUFFIX).exists():
        raise KeyTrouble(f"{path.with_suffix(PUBLIC_SUFFIX)}: there is one already; choose another name")
    _write_new(path, private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked))
    _write_new(path.with_suffix(PUBLIC_SUFFIX), f"{public.line}\n".encode(), mode=0o644)
    return public


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise KeyTrouble(f"{path}: cannot be made ({error.strerror}); check what is there") from error


def _write_new(path: Path, data: bytes, mode: int = 0o600) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError as error:
        raise KeyTrouble(f"{path}: there is one already; it is never overwritten, choose another name") from error
    except OSError as error:
        raise KeyTrouble(f"{path}: cannot be written ({error.strerror}); check the folder") from error
    with os.fdopen(handle, "wb") as file:
        file.write(data)


def is_locked(path: Path) -> bool:
    """Whether a private key needs a passphrase. Raises KeyTrouble where it cannot be read."""
    return b"BEGIN ENCRYPTED PRIVATE KEY" in _read_private(path)


def load_key(path: Path, passphrase: str | None) -> ed25519.Ed25519PrivateKey:
    """The private key in a file. Raises KeyTrouble: missing, readable by others, wrong passphrase, another type."""
    data = _read_private(path)
    try:
        key = serialization.load_pem_private_key(data, passphrase.encode() if passphrase else None)
    except TypeError as error:  # cryptography's word for a passphrase too many or too few
        wanted = "has no passphrase: give none" if passphrase else "is locked: its passphrase is needed"
        raise KeyTrouble(f"{path}: the key {wanted}") from error
    except (ValueError, exceptions.UnsupportedAlgorithm) as error:
        raise KeyTrouble(f"{path}: {_unreadable(data)}") from error
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise KeyTrouble(f"{path}: not an Ed25519 key; make one with `agent-fox keys new NAME`")
    return key


def _unreadable(data: bytes) -> str:
    if b"BEGIN ENCRYPTED PRIVATE KEY" in data:
        return "the passphrase is wrong, or the file is damaged; try again"
    if b"BEGIN OPENSSH PRIVATE KEY" in data:
        return "a key of OpenSSH signs through ssh-keygen only; here make one with `agent-fox keys new NAME`"
    return "no private key (PEM, PKCS8); make one with `agent-fox keys new NAME`"


def _read_private(path: Path) -> bytes:
    try:
        if path.stat().st_mode & FOR_OTHERS:
            raise KeyTrouble(f"{path}: others may read this private key; `chmod 600` it, or make a new one")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise KeyTrouble(f"{path}: there is no such key; make one with `agent-fox keys new {path.stem}`") from error
    except OSError as error:
        raise KeyTrouble(f"{path}: cannot be read ({error.strerror}); check what is there") from error


def read_public(path: Path) -> PublicKey:
    """The public key in a file, its first line. Raises KeyTrouble."""
    text = _read_text(path)
    if text is None or not text.strip():
        raise KeyTrouble(f"{path}: there is no public key; `agent-fox keys list` shows where keys are")
    return PublicKey(text.strip().splitlines()[0])


def _read_text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise KeyTrouble(f"{path}: cannot be read ({error}); check what is there") from error


def read_signers(path: Path) -> tuple[Signer, ...]:
    """The trusted signers in a file of the form of `allowed_signers`; none where there is no file.

    Options beside `namespaces`, and patterns for principals, are refused: KeyTrouble, with the line.
    """
    lines = enumerate((_read_text(path) or "").splitlines(), 1)
    wanted = ((number, line.strip()) for number, line in lines)
    return tuple(_signer(line, f"{path}:{number}") for number, line in wanted if line and not line.startswith("#"))


def _signer(line: str, where: str) -> Signer:
    match = LINE.fullmatch(line)
    if match is None:
        raise KeyTrouble(
            f'{where}: not supported; write `NAME namespaces="{LEDGER}" ssh-ed25519 AAAA...`, nothing else'
        )
    principal, names, key = match.groups(default="")
    _check_principal(principal, where)
    try:
        return Signer(principal, tuple(part.strip() for part in names.split(",") if part.strip()), PublicKey(key))
    except KeyTrouble as error:
        raise KeyTrouble(f"{where}: {error}") from error


def _check_principal(principal: str, where: str) -> None:
    if not PRINCIPAL.fullmatch(principal):
        raise KeyTrouble(f"{where}: {principal!r} is no name of a signer; use letters, digits and . _ @ + -, one name")


def trust(path: Path, signer: Signer) -> None:
    """Add a signer to `allowed_signers`; one that is there already stays as it is. Raises KeyTrouble."""
    _check_principal(signer.principal, str(path))
    trusted = read_signers(path)
    if any(
        (known.principal, known.namespaces, known.key.bare) == (signer.principal, signer.namespaces, signer.key.bare)
        for known in trusted
    ):
        return
    _make_folder(path.parent)
    old = _read_text(path) or ""
    gap = "" if not old or old.endswith("\n") else "\n"
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{gap}{signer.line()}\n")
    except OSError as error:
        raise KeyTrouble(f"{path}: cannot be written ({error.strerror}); check the folder") from error
