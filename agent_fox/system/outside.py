"""One policy for every call to the world outside: whose trouble a failure is, and whether the same call is tried again.

Transient: it goes by itself (a lock, a shortage). Infrastructure: the machine is in the way (disk, memory), and a run
pauses for it. A person's: something must be put right first. Unknown: nobody said why. What is called here may be
repeated: it asks, compares and swaps, or writes what has no other form. SQLite's own codes are in `store.faults`, what
an agent's program says of its model in `session.infrastructure`; spending a node's budget is none of this.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex

if TYPE_CHECKING:
    import tenacity
else:
    tenacity = late_module("tenacity")  # needed where something has failed only

TRIES, TRIES_UNKNOWN = 5, 3
FIRST_WAIT, LONGEST_WAIT = 0.05, 0.5
"""Seconds before a call is tried again; doubled each time."""


class Trouble(StrEnum):
    """Whose a failure is."""

    TRANSIENT = "transient"
    INFRASTRUCTURE = "infrastructure"
    PERSON = "a person's"
    UNKNOWN = "unknown"

    @property
    def is_of_the_world(self) -> bool:
        """Whether waiting may help: then a run pauses, and goes on another time."""
        return self in (Trouble.TRANSIENT, Trouble.INFRASTRUCTURE)


_SAID = (
    (
        Trouble.INFRASTRUCTURE,
        regex(
            r"No space left on device|File too large|Disk quota exceeded|Input/output error|Read-only file system"
            r"|write error"
        ),
    ),
    (
        Trouble.TRANSIENT,
        regex(
            r"Resource temporarily unavailable|Interrupted system call|Too many open files|Cannot allocate memory"
            r"|[Oo]ut of memory|Device or resource busy|Text file busy|Stale (?:NFS )?file handle|mmap failed"
            r"|cannot (?:fork|create async)|unable to (?:fork|create threaded)|Connection (?:reset|timed out)"
            r"|Unable to create '[^'\n]*\.lock': File exists|Unable to write new index|[Cc]ould not lock"
        ),
    ),
    (
        Trouble.PERSON,
        regex(
            r"not a git repository|[Pp]ermission denied|dubious ownership|Not a valid object|usage: git|pathspec"
            r"|(?:unknown|bad|ambiguous|[Ii]nvalid|Needed a single) (?:revision|argument|object|reference|option|path)"
            r"|is not a (?:commit|tree|blob)|does not (?:exist|point to a valid object|apply|have any commits)"
            r"|but expected|reference already exists|couldn't find remote|patch failed|unrelated histories|CONFLICT"
        ),
    ),
)
"""What programs print with a failure, the first that fits."""

_TRANSIENT = frozenset({errno.EAGAIN, errno.EINTR, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EBUSY, errno.ETXTBSY,
                        errno.ESTALE})  # fmt: skip
_INFRASTRUCTURE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EFBIG})
DIED = 128
"""A program's exit status that says that it gave up; above it, and below zero, it was ended by a signal."""


def trouble_of(status: int, printed: str) -> Trouble:
    """Whose the failure of a program is, by its exit status (negative: a signal) and what it printed."""
    trouble = next((kind for kind, words in _SAID if words.search(printed)), None)
    if trouble is None and (status < 0 or status > DIED or (status == DIED and not printed)):
        return Trouble.TRANSIENT  # killed, or died without a word: no answer of its own
    return trouble or Trouble.UNKNOWN


def trouble_of_system(error: OSError) -> Trouble:
    """Whose a failure of the system is."""
    if error.errno in _TRANSIENT:
        return Trouble.TRANSIENT
    return Trouble.INFRASTRUCTURE if error.errno in _INFRASTRUCTURE else Trouble.PERSON


class Answered(Protocol):
    """What came of a call: None where it was answered."""

    @property
    def trouble(self) -> Trouble | None: ...


_Answer = TypeVar("_Answer", bound=Answered)
_T = TypeVar("_T")


def tried(call: Callable[[], _Answer]) -> _Answer:
    """The answer of a call that may be repeated, tried again while its trouble may pass; the last one in any case."""
    answer = call()
    if not _is_worth_another(answer, 1):
        return answer
    again = tenacity.Retrying(
        wait=tenacity.wait_exponential(multiplier=2 * FIRST_WAIT, max=LONGEST_WAIT),
        retry=lambda state: (
            state.outcome is not None and _is_worth_another(state.outcome.result(), 1 + state.attempt_number)
        ),
    )
    again.sleep(FIRST_WAIT)
    return again(call)


def asked_again(call: Callable[[], _T]) -> _T:
    """What a call to the system gives, made again while its trouble may pass. Raises OSError, the last one."""
    for tries in range(TRIES - 1):
        try:
            return call()
        except OSError as error:
            if trouble_of_system(error) is not Trouble.TRANSIENT:
                raise
        time.sleep(min(FIRST_WAIT * 2**tries, LONGEST_WAIT))
    return call()


def _is_worth_another(answer: Answered, tries: int) -> bool:
    if answer.trouble is None or answer.trouble is Trouble.PERSON:
        return False
    return tries < (TRIES if answer.trouble.is_of_the_world else TRIES_UNKNOWN)
