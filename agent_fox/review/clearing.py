"""The password that clears review tasks: its salted hash in a file outside of every workspace. Nothing is cleared here.

A person sets it. Each try is counted before it is looked at; after MOST_TRIES wrong ones nothing clears until a person
sets the password anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_fox.system.files import replace_file

FILE = "review-password.json"
MOST_TRIES = 5
SHORTEST = 8
LONGEST = 1024

COST, BLOCK, LANES = 2**15, 8, 1
MEMORY = 128 * 1024 * 1024

SET_ONE = "a person sets one by `agent-fox review password`"


class ClearingOff(Exception):
    """Nothing can be cleared: no password is set, or the file cannot be trusted. Its text says what to do."""


class Stored(BaseModel, defer_build=True):
    """The file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    salt: str = Field(pattern=r"^[0-9a-f]{32}$")
    hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    cost: int = Field(ge=2**14, le=2**17)
    failures: int = Field(default=0, ge=0)


def set_password(file: Path, password: str) -> None:
    """Keep a new password's hash; tries are counted from nothing. Raises ClearingOff for one that is too short."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise ClearingOff(f"a password has {SHORTEST} to {LONGEST} characters")
    salt = secrets.token_bytes(16)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(file):
        replace_file(
            file, Stored(salt=salt.hex(), hash=_hashed(password, salt, COST), cost=COST).model_dump_json(), 0o600
        )


def is_right(file: Path, password: str) -> bool:
    """Whether this is the password. Raises ClearingOff where none can be right."""
    if not file.exists():
        raise ClearingOff(f"todoClear is off: no password is set; {SET_ONE}")
    with _alone(file):
        stored = _read(file)
        if stored.failures >= MOST_TRIES:
            raise ClearingOff(f"todoClear is locked after {MOST_TRIES} wrong passwords; {SET_ONE}, and looks who tried")
        replace_file(file, stored.model_copy(update={"failures": stored.failures + 1}).model_dump_json(), 0o600)
        given = _hashed(password[:LONGEST], bytes.fromhex(stored.salt), stored.cost)
        if not hmac.compare_digest(given, stored.hash):
            return False
        replace_file(file, stored.model_copy(update={"failures": 0}).model_dump_json(), 0o600)
        return True


def _hashed(password: str, salt: bytes, cost: int) -> str:
    data = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(data, salt=salt, n=cost, r=BLOCK, p=LANES, maxmem=MEMORY, dklen=32).hex()


def _read(file: Path) -> Stored:
    if file.is_symlink() or file.stat().st_mode & 0o077 or file.stat().st_uid != os.getuid():
        raise ClearingOff(f"{file}: others may read or change it; check who did, run: chmod 600 {file}")
    try:
        return Stored.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise ClearingOff(f"{file}: damaged; {SET_ONE}") from error


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """One try at a time: several at once would be counted as one."""
    descriptor = os.open(file.with_name(f"{file.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
