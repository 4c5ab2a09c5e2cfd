"""With which key a person adopts a specification, or speaks of what is remembered: the keys that waive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agent_fox.cli.errors import UserError
from agent_fox.cli.evidence.waiver_signing import key_path, only_key, passphrase
from agent_fox.core.values import dataclass
from agent_fox.evidence import granting
from agent_fox.evidence.library import NAMESPACE, PAYLOAD_TYPE
from agent_fox.evidence.signing import dsse, keys, ssh, trust

if TYPE_CHECKING:
    from agent_fox.evidence.waivers import Grounds


class Signable(Protocol):
    """What can be signed."""

    def payload(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Signing:
    """Who signs, and how."""

    principal: str
    key_id: str
    sign: Callable[[Signable], str]


def signing_of(
    key: str | None, ssh_key: str | None, passphrase_file: Path | None, grounds: Grounds,
    payload_type: str = PAYLOAD_TYPE,
) -> Signing:  # fmt: skip
    """The key that was named, which must be a trusted one; else the only one that is. Raises UserError, KeyTrouble."""
    if key is None and ssh_key is None:
        key = only_key(grounds)
    if (key is None) == (ssh_key is None):
        raise UserError("sign with --key FILE or with --ssh-key FILE; `agent-fox keys new NAME` makes a key")
    if ssh_key is not None:
        return by_ssh(Path(ssh_key).expanduser(), grounds, payload_type)
    path = key_path(key or "", grounds)
    trust.refuse_workplace(path, grounds.places)
    if not keys.is_locked(path):
        raise UserError(f"{path}: has no passphrase, so anybody who can read it can sign; use a key with one")
    private = keys.load_key(path, passphrase(path, passphrase_file, grounds))
    public = keys.public_of(private)
    principal = granting.principal_of(grounds, public)
    return Signing(
        principal, public.id, lambda statement: dsse.sign(payload_type, statement.payload(), private).to_json()
    )


def by_ssh(path: Path, grounds: Grounds, payload_type: str) -> Signing:
    trust.refuse_workplace(path, grounds.places)
    if path.is_file() and not ssh.is_guarded(path):
        raise UserError(f"{path}: has no passphrase, so anybody who can read it can sign; `ssh-keygen -p` sets one")
    public = ssh.public_key(path)

    def sign(statement: Signable) -> str:
        return ssh.sign(payload_type, statement.payload(), path, NAMESPACE, grounds.environ).to_json()

    return Signing(granting.principal_of(grounds, public), public.id, sign)
