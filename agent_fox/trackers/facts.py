"""What an issue is made from: what is not proven, how to see it, what was tried, how it stands now. Writes no text.

Secrets must be masked before the facts get here.
"""

from __future__ import annotations

from itertools import islice

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

MOST_PLACES = 20

_PARENT = ".."
_PLACE = regex(
    r'File "(?P<quoted>(?:\./)?[^"/\\\n:<][^"\\\n:]{0,300})", line (?P<row>\d{1,7})'
    r"|(?<![\w./\\@+:~-])(?P<path>(?:\./)?\.?\w[\w./@+-]{0,300}\.[A-Za-z]\w{0,9})(?::|\()(?P<line>\d{1,7})(?![\d/])"
)


@dataclass(frozen=True, slots=True)
class Unproven:
    """One requirement that failed, in its own words: what was seen, the command that shows it again, and the end of
    the log of what the judge ran. `doubt`: that its owner was guessed, and who comes next; empty where it was not."""

    id: str
    text: str
    evidence: str = ""
    command: str = ""
    log: str = ""
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt at the work: `commit` and `cost_usd` where known, what failed after it, and what was done.

    `failed` names only what the work of this attempt is for; empty where nothing of that failed.
    """

    attempt: int
    commit: str = ""
    cost_usd: float | None = None
    failed: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What the evidence ledger holds about one requirement: the record of its verdict, and what that is about.

    `gate` is where the requirement stands; `session` the ticket of who said it.
    """

    requirement: str
    verdict: str
    record: str = ""
    session: str = ""
    commit: str = ""
    environment: str = ""
    verifier: str = ""
    gate: str = ""


@dataclass(frozen=True, slots=True)
class ChangedTest:
    """A committed test that fails although the tests of the tree pass: both its versions, and the reason, if any."""

    requirement: str
    test: str
    reason: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class LedgerEnd:
    """The ledger when the issue was written: its head, and how many records stand before it."""

    head: str
    records: int


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file at the commit that the evidence is about."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class StatusPart:
    """One requirement of an issue (empty: the spec as a whole), what it asks for, and how it stands, in words.

    `seen` is the first line of what was seen where it is open, the assertion.
    """

    spec: str
    requirement: str
    text: str
    state: str
    is_open: bool = True
    seen: str = ""


@dataclass(frozen=True, slots=True)
class IssueStatus:
    """What an issue's title and the block at its top say now; both are kept current while nobody else edits them.

    `headline` says in a sentence or two where it stands, `spent` what its specs have cost so far, `at` when this was
    written (ISO 8601, UTC).
    """

    title: str
    headline: str
    parts: tuple[StatusPart, ...] = ()
    commit: str = ""
    run: str = ""
    spent: str = ""
    at: str = ""
    is_digest: bool = False
    """Whether the issue lists causes that have no issue of their own."""


@dataclass(frozen=True, slots=True)
class IssueFacts:
    """Everything an issue says. `cause` in words (`attempts spent`), `commit` what the evidence is about.

    `blocked` names the nodes that wait for it, `reason` says more than the cause where there is more to say. `exhibits`
    are the records behind what is not proven, `waivers` those in force, in words. `repaired` failed when the issue was
    last spoken of and pass now; `places` are lines of code that the evidence names. `best` says where the branch stands
    when the last attempt was worse than an earlier one, `lost` what it lost. `changed_tests`: what a person could agree
    to.
    """

    title: str
    spec: str
    node: str
    cause: str
    run: str = ""
    commit: str = ""
    failing: tuple[Unproven, ...] = ()
    unknown: tuple[str, ...] = ()
    attempts: tuple[AttemptRow, ...] = ()
    blocked: tuple[str, ...] = ()
    reason: str = ""
    exhibits: tuple[Exhibit, ...] = ()
    ledger: LedgerEnd | None = None
    waivers: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    best: str = ""
    lost: tuple[Unproven, ...] = ()
    changed_tests: tuple[ChangedTest, ...] = ()
    known: tuple[str, ...] = ()
    """How what does hold of the spec is known, a line for each word."""

    before_waiving: tuple[str, ...] = ()
    """Commands without which nobody could sign anything here; empty where somebody is trusted to."""


def places_in(text: str) -> tuple[Place, ...]:
    """Lines of code that an output names, as test runners, compilers and tracebacks write them; each once, in order.

    Only what may be a file below the root; whether there is one, the commit must tell.
    """
    places = (
        Place((match["quoted"] or match["path"]).removeprefix("./"), int(match["row"] or match["line"]))
        for match in _PLACE.finditer(text)
    )
    is_fit = (place for place in places if place.line and _PARENT not in place.path.split("/"))
    return tuple(islice(dict.fromkeys(is_fit), MOST_PLACES))
