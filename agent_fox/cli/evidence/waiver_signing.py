"""With which key a person signs a waiver, and where its passphrase comes from. What is signed is not here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.errors import UserError
from agent_fox.cli.evidence import passphrases
from agent_fox.core.values import dataclass
from agent_fox.evidence import granting
from agent_fox.evidence.signing import keys, ssh, trust

if TYPE_CHECKING:
    from agent_fox.core.ledger.waivers import Statement
    from agent_fox.evidence.waivers import Grounds


@dataclass(frozen=True, slots=True)
class Signing:
    """Who signs, and how."""

    principal: str
    key_id: str
    sign: Callable[[Statement], str]


def signing_of(key: str | None, ssh_key: str | None, passphrase_file: Path | None, grounds: Grounds) -> Signing:
    """The key that was named, which must be a trusted one. Raises UserError, KeyTrouble."""
    if key is None and ssh_key is None:
        key = only_key(grounds)
    if (key is None) == (ssh_key is None):
        raise UserError(
            "sign with --key FILE or with --ssh-key FILE, one of them; `agent-fox keys new NAME` makes a key"
        )
    if ssh_key is not None:
        return by_ssh(Path(ssh_key).expanduser(), grounds)
    return by_file(key_path(key or "", grounds), passphrase_file, grounds)


def only_key(grounds: Grounds) -> str | None:
    """The key that a person means who names none: the only one in the folder of keys that may waive."""
    trusted = {signer.key.bare for signer in grounds.signers}
    files = sorted(keys.folder(grounds.environ).glob(f"*{keys.KEY_SUFFIX}"))
    mine = [path for path in files if _public(path) in trusted]
    return str(mine[0]) if len(mine) == 1 else None


def _public(path: Path) -> str:
    try:
        return keys.read_public(path.with_suffix(keys.PUBLIC_SUFFIX)).bare
    except keys.KeyTrouble:
        return ""


def by_ssh(path: Path, grounds: Grounds) -> Signing:
    trust.refuse_workplace(path, grounds.places)
    if not path.is_file():
        raise UserError(
            f"{path}: there is no such key; name a private key, or the .pub file of one that your agent has"
        )
    if not ssh.is_guarded(path):
        raise UserError(
            f"{path}: has no passphrase, so that whoever reads it can waive; `ssh-keygen -p -f {path}` sets one"
        )
    public = ssh.public_key(path)
    principal = granting.principal_of(grounds, public)
    return Signing(principal, public.id, lambda statement: granting.sign_with_ssh(statement, path, grounds))


def key_path(name: str, grounds: Grounds) -> Path:
    """A file, or the name of a key in the folder of keys."""
    path = Path(name).expanduser()
    if path.is_absolute() or len(path.parts) > 1 or path.exists():
        return path
    return keys.folder(grounds.environ) / f"{path.name.removesuffix(keys.KEY_SUFFIX)}{keys.KEY_SUFFIX}"


def by_file(path: Path, passphrase_file: Path | None, grounds: Grounds) -> Signing:
    trust.refuse_workplace(path, grounds.places)
    if not keys.is_locked(path):
        raise UserError(
            f"{path}: has no passphrase, so that whoever reads it can waive; make one that has: agent-fox keys new NAME"
        )
    private = keys.load_key(path, passphrase(path, passphrase_file, grounds))
    public = keys.public_of(private)
    principal = granting.principal_of(grounds, public)
    return Signing(principal, public.id, lambda statement: granting.sign_with_key(statement, private))


def passphrase(path: Path, file: Path | None, grounds: Grounds) -> str:
    """From the terminal, or from a file outside of where agents work; never from a variable or an argument."""
    if file is not None:
        trust.refuse_workplace(file, grounds.places)
    return passphrases.asked(path, file)
