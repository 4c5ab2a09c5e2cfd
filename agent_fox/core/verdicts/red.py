"""What is known of a requirement's tests before anybody works on it: red as they should be, green, vacuous, or none.

Pure: which word follows from what was seen. Source of the words: `docs/proof.md`, "Before an agent is paid".
"""

from __future__ import annotations

from enum import StrEnum

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.proof import Shown


class Now(StrEnum):
    """What a requirement's tests do on the tree that the work begins from."""

    RED = "red now"
    GREEN = "green already"
    CANNOT_FAIL = "cannot fail"
    NO_TEST = "no test names it"
    UNKNOWN = "not known"

    @property
    def can_fail(self) -> bool:
        """Whether a test of the requirement was seen to fail, for want of the work or because something was broken."""
        return self in (Now.RED, Now.GREEN)


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of the tests of one requirement.

    `is_red`: a test of its own failed, or could not be run though its file is about it. `is_green`: one passed, and
    none failed. `is_named`: a test names it. `is_held`: what was to be run could not be run.
    """

    is_named: bool
    is_red: bool = False
    is_green: bool = False
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class RedWord:
    """The word for one requirement. `why`: in words, with the test that shows it."""

    requirement_id: str
    now: Now
    why: str = ""
    tests: tuple[str, ...] = ()


def now_of(seen: Seen, shown: Shown | None = None) -> Now:
    """The word that fits. `shown`: what breaking the product came to, of tests that are green.

    What could not be run or decided is not known, and never said to be well.
    """
    if seen.is_red:
        return Now.RED
    if seen.is_green:
        if shown is Shown.VACUOUS:
            return Now.CANNOT_FAIL
        return Now.GREEN if shown is not None and shown.how is not None else Now.UNKNOWN
    if seen.is_held:
        return Now.UNKNOWN
    return Now.UNKNOWN if seen.is_named else Now.NO_TEST
