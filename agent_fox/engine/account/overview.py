"""What a person wants of a run in ten seconds: is it proven, what needs them, what now. Every screen renders this.

Made from the account and the state, by plain SQL: `status` must be there at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.core.retry.standing import Cause
from agent_fox.core.values import dataclass
from agent_fox.core.words import counted, listed, quote
from agent_fox.store import account as rows

if TYPE_CHECKING:
    from pathlib import Path

    from sqlite_utils import Database

    from agent_fox.engine.account.account import BlockedNode, RunAccount, SpecAccount
    from agent_fox.store.issue_view import IssueView
    from agent_fox.system import git
else:
    git = late_module("agent_fox.system.git")

MOST_FILES = 6
MOST_NEXT = 3
MOST_QUOTED = 3
"""Lines of evidence beside a requirement."""
MOST_CITED = 5
"""Requirements on one card; the rest is a number."""
NEVER_TEXT = "no run yet"
RESET = "agent-fox reset"
CITED = ("requirement fails", "requirements fail", "have no clear verdict")
"""How those parts of a reason begin, before their colon, that list requirements."""


STANDINGS = {"verified": "proven", "escalated": "not proven"}
"""What the standing of a spec, or the outcome of its verifier, is called on a screen where that is another word."""

STATES = {
    "proven": "proven",
    "failing": "fails",
    "unclear": "no clear verdict",
    "stale": "passed, but code has changed since",
    "elsewhere": "passed in another environment",
    "short": "passed without the review or proof asked for",
    "waived": "waived",
    "unread": "not read yet",
}
"""How a requirement stands, in words."""


class Answer(StrEnum):
    """The first word of every screen. Only PROVEN means that `run` would exit with 0."""

    PROVEN = "PROVEN"
    NOT_PROVEN = "NOT PROVEN"
    RUNNING = "RUNNING"
    STOPPED = "STOPPED"
    NEVER = "NOT RUN YET"


@dataclass(frozen=True, slots=True)
class Banner:
    """The answer and why, in a sentence. `exit_code` is what `run` would say of the state as it is now, None while it
    runs; `commit` the one that everything proven was read on, empty where specs differ.
    """

    answer: Answer
    because: str
    exit_code: int | None
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Cited:
    """A requirement in its own words, in one line, and what its last reading said (PASS, FAIL, UNKNOWN, unread).

    `quoted` are the first lines of the evidence, the assertion first; `attempt` is the one that was read, 0 for none.
    """

    requirement: str
    text: str
    word: str
    quoted: tuple[str, ...] = ()
    attempt: int = 0


class Need(StrEnum):
    """Why a person is needed, worst first."""

    DISBELIEVED = "state not believed"
    FAILING = "failing"
    UNCLEAR = "no clear verdict"
    BLOCKED = "blocked"
    LEFT_OUT = "spec left out"
    WAIVER_ENDED = "waiver ended"
    UNDELIVERED = "issue not delivered"


@dataclass(frozen=True, slots=True)
class NeedsYou:
    """One thing that only a person can settle.

    `node` stopped, empty where it is no node; `because` says why in words; `cited` are its requirements that are not
    proven, worst first, at most MOST_CITED, and `more` counts the others; `holds` are nodes that wait for it,
    `holds_specs` their specs. Dollars are those of its spec, over all runs. `decide` says what the person must decide,
    `commands` can be typed as they stand.
    """

    need: Need
    spec: str
    node: str
    because: str
    cited: tuple[Cited, ...] = ()
    more: int = 0
    holds: tuple[str, ...] = ()
    holds_specs: tuple[str, ...] = ()
    known_usd: float = 0.0
    assumed_usd: float = 0.0
    issue: str = ""
    issue_title: str = ""
    decide: str = ""
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NextStep:
    """A command to type, and what it is for."""

    command: str
    why: str


@dataclass(frozen=True, slots=True)
class Takeover:
    """How the work is taken over: the branch, how far it is ahead of HEAD, the difference in short, the command."""

    branch: str
    commits: int
    diffstat: str
    command: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The first screen. `needs_you` is complete, worst first; a screen that cuts it says how many it left out."""

    banner: Banner
    needs_you: tuple[NeedsYou, ...]
    next: tuple[NextStep, ...]
    texts: dict[str, dict[str, str]]
    """By spec, then by id: the text of every requirement that is not proven, in one line."""


def takeover(root: Path, branch: str) -> Takeover | None:
    """None where there is nothing to take over."""
    if git.commit_of(root, branch) is None or git.head(root) is None:
        return None
    ahead = int(git.call(root, "rev-list", "--count", f"HEAD..{branch}").text)
    span = f"HEAD...{branch}" if git.merge_base(root, "HEAD", branch) else f"HEAD..{branch}"
    stat = git.call(root, "diff", f"--stat=76,60,{MOST_FILES}", "--no-color", span, "--").text
    return Takeover(branch, ahead, stat, f"git merge {branch}") if ahead else None


def read_overview(
    db: Database, account: RunAccount, *, is_alive: bool, work: Callable[[], Takeover | None],
    can_sign: Callable[[], bool] = lambda: False,
) -> Overview:  # fmt: skip
    """`work` is asked for what can be taken over where all is proven; `can_sign` whether somebody is trusted to sign a
    waiver here, where something could be waived.
    """
    banner = banner_of(account, is_alive=is_alive)
    needs = tuple(needs_you(db, account, can_sign))
    names = [spec.name for spec in account.specs if spec.open_ids]
    return Overview(banner, needs, tuple(next_steps(account, banner, needs, work)), rows.texts(db, names))


def banner_of(account: RunAccount, *, is_alive: bool) -> Banner:
    """What the account comes to in one word."""
    if account.run is None:
        return Banner(Answer.NEVER, because(account) if account.specs else NEVER_TEXT, None)
    if is_alive:
        return Banner(Answer.RUNNING, because(account), None)
    if account.disbelieved:
        return Banner(Answer.NOT_PROVEN, account.disbelieved, 2)
    is_proven = bool(account.specs) and all(spec.is_proven for spec in account.specs) and not account.not_proven
    if is_proven and account.status == "ended":
        commits = {spec.commit for spec in account.specs}
        commit = commits.pop() or "" if len(commits) == 1 else ""
        return Banner(Answer.PROVEN, because(account), 0, commit)
    if account.status == "ended":
        return Banner(Answer.NOT_PROVEN, because(account), 2)
    is_lost = account.status == "running"
    reason = "ended from outside" if is_lost else account.reason
    return Banner(Answer.STOPPED, f"{reason}; {because(account)}", (None if is_lost else account.exit_code) or 4)


def because(account: RunAccount) -> str:
    """`1 requirement fails, 4 passed before the code changed, 2 not read yet; 1 spec waits; 12 of 19 proven`."""
    counts = (
        (sum(len(spec.failing) for spec in account.specs), "requirement{s} fail{v}"),
        (sum(len(spec.unclear) for spec in account.specs), "without a clear verdict"),
        (sum(len(spec.stale) for spec in account.specs), "passed before the code changed"),
        (sum(len(spec.elsewhere) for spec in account.specs), "passed in another environment"),
        (sum(len(spec.short) for spec in account.specs), "passed without the review or proof asked for"),
        (sum(len(spec.unread) for spec in account.specs), "not read yet"),
        (account.uncounted, "spec{s} not readable"),
    )
    open_parts = [f"{n} {words.format(s='s' * (n != 1), v='s' * (n == 1))}" for n, words in counts if n]
    waiting = len({spec for blocked in account.blocked for spec in specs_of(blocked.waiting)} - own_specs(account))
    every = account.proven + account.waived + account.not_proven
    return "; ".join(
        part
        for part in (
            ", ".join(open_parts),
            f"{counted(waiting, 'spec')} wait{'s' * (waiting == 1)} for that" if waiting else "",
            f"{account.proven} of {every} proven" + (f", {account.waived} waived" if account.waived else ""),
        )
        if part
    )


def specs_of(nodes: Iterable[str]) -> set[str]:
    """The specs of nodes, by the nodes' names: `SPEC:GROUP...`."""
    return {name.partition(":")[0] for name in nodes}


def own_specs(account: RunAccount) -> set[str]:
    """The specs that hold others back."""
    return specs_of(blocked.node for blocked in account.blocked)


def needs_you(db: Database, account: RunAccount, can_sign: Callable[[], bool]) -> Iterator[NeedsYou]:
    """Everything that waits for a person, worst first, in plan order within."""
    yield from sorted(_cards(db, account, can_sign), key=lambda card: tuple(Need).index(card.need))


def _cards(db: Database, account: RunAccount, can_sign: Callable[[], bool]) -> Iterator[NeedsYou]:
    if account.disbelieved:
        yield NeedsYou(
            Need.DISBELIEVED, "", "", account.disbelieved,
            decide="Find out who changed the state file; then restore it, or begin anew.",
            commands=("agent-fox ledger verify",),
        )  # fmt: skip
    specs = {spec.name: spec for spec in account.specs}
    about = rows.nodes(db, [name for node in account.blocked for name in (node.node, *node.waiting)])
    spent = rows.spent(db)
    for blocked in account.blocked:
        yield _stopped(db, account, blocked, specs, about, spent, can_sign)
    for spec in account.specs:
        if spec.problem:
            yield NeedsYou(
                Need.LEFT_OUT, spec.name, "", spec.problem, decide="Correct the files of the spec, then run again.",
                commands=("agent-fox lint", "agent-fox run"),
            )  # fmt: skip
        elif spec.standing == "waiver ended":
            yield NeedsYou(
                Need.WAIVER_ENDED, spec.name, spec.verifier or "", "a waiver that it rests on does not count any more",
                tuple(_cited(db, spec.name, 0)), decide="Sign a new waiver, or have the work done.",
                commands=("agent-fox waive --list", "agent-fox run"),
            )  # fmt: skip
    held = [effect for effect in account.undelivered if effect.state == "held"]
    if held:
        yield NeedsYou(
            Need.UNDELIVERED, "", "", f"{counted(len(held), 'issue update')} held back: {held[0].note}",
            commands=("agent-fox issues doctor", "agent-fox issues sync"),
        )  # fmt: skip


def _stopped(
    db: Database, account: RunAccount, blocked: BlockedNode, specs: dict[str, SpecAccount],
    about: dict[str, rows.NodeRow], spent: dict[str, tuple[float, float]], can_sign: Callable[[], bool],
) -> NeedsYou:  # fmt: skip
    """A node that stopped for good: its requirements where it judges any, who waits for it, and what may be done."""
    node = about[blocked.node]
    parts = list(_cited(db, node.spec, MOST_CITED)) if node.archetype == "verifier" else []
    spec = specs.get(node.spec)
    open_count = len(spec.open_ids) if spec and node.archetype == "verifier" else len(parts)
    need = (
        Need.FAILING if any(part.word == "FAIL" for part in parts) else Need.UNCLEAR if parts else Need.BLOCKED
    )  # fmt: skip
    issue = _issue_of(account, node.spec)
    known, assumed = spent.get(node.spec, (0.0, 0.0))
    holds_specs = tuple(dict.fromkeys(about[name].spec for name in blocked.waiting if about[name].spec != node.spec))
    commands = [f"agent-fox explain {quote(blocked.node)}", f"agent-fox reset {quote(blocked.node)}"]
    if parts and can_sign():
        commands.append(
            f"agent-fox waive {quote(parts[0].requirement)} --spec {quote(node.spec)} --reason '...' --expires 30d"
        )
    return NeedsYou(
        need=need,
        spec=node.spec,
        node=blocked.node,
        because=stopped_because(blocked, node.attempt),
        cited=tuple(parts),
        more=max(open_count - len(parts), 0),
        holds=blocked.waiting,
        holds_specs=holds_specs,
        known_usd=known,
        assumed_usd=assumed,
        issue=issue.where if issue else "",
        issue_title=issue.title if issue else "",
        decide=decision_asked(blocked.cause),
        commands=tuple(commands),
    )


def stopped_because(blocked: BlockedNode, attempt: int) -> str:
    """`stopped after 3 attempts`, and what else its reason says beside the requirements that are cited anyway."""
    match blocked.cause:
        case Cause.ATTEMPTS_SPENT:
            first = f"stopped after {counted(attempt, 'attempt')}"
        case Cause.NO_PROGRESS:
            first = f"stopped after {counted(attempt, 'attempt')}: the same requirements kept failing"
        case Cause.NO_CLEAR_VERDICT:
            first = "stopped: the verifier gave no clear verdict"
        case _:
            first = f"stopped: {blocked.cause}"
    parts = (part for part in blocked.reason.split("; ") if part != blocked.cause)
    return "; ".join((first, *(part for part in parts if not part.partition(": ")[0].endswith(CITED))))


def decision_asked(cause: str) -> str:
    """What a person must decide, as a sentence; the remedy of the decision table's row."""
    try:
        remedy = Cause(cause).remedy
    except ValueError:
        return ""
    end = "" if remedy.endswith(RESET) else "."
    return f"{remedy[:1].upper()}{remedy[1:]}{end}" if remedy else ""


def _cited(db: Database, spec: str, most: int) -> Iterator[Cited]:
    """What of a spec is not proven; what fails first. `most` 0: all."""
    for part, word, text, evidence, attempt in rows.open_parts(db, spec, most):
        yield Cited(part, text, word, quoted(evidence), attempt)


_COMMAND = regex(r"^`[^`]{1,2000}` \([^()]{1,60}\): ")
"""The command before an assertion: all before "assert" in "`pytest -q` (exit 1): assert 1"; nothing in "(1): 2"."""


def quoted(evidence: str) -> tuple[str, ...]:
    """The first lines of evidence, the assertion first: no address of a log, no command, nothing blank."""
    lines = (line.strip() for line in evidence.splitlines()[: 10 * MOST_QUOTED])
    kept = [line for line in lines if line and not line.startswith("log: artifact://")]
    if kept:
        kept[0] = _COMMAND.sub("", kept[0])
    return tuple(kept[:MOST_QUOTED])


def _issue_of(account: RunAccount, spec: str) -> IssueView | None:
    """The open issue about a spec, the newest."""
    about = (issue for issue in account.issues if issue.state == "open" and spec in issue.specs)
    return max(about, key=lambda issue: issue.updated_at, default=None)


def next_steps(
    account: RunAccount, banner: Banner, needs: Sequence[NeedsYou], work: Callable[[], Takeover | None]
) -> Iterator[NextStep]:
    """What to type now, at most MOST_NEXT and one more for each."""
    match banner.answer:
        case Answer.NEVER:
            yield NextStep("agent-fox run", "run the plan")
        case Answer.RUNNING:
            return
        case Answer.PROVEN:
            if taken := work():
                yield NextStep(taken.command, f"take over the work, {counted(taken.commits, 'commit')} ahead")
        case Answer.STOPPED:
            yield from _going_on(account)
        case Answer.NOT_PROVEN:
            steps = [
                NextStep(command, _why(command, card)) for card in needs[:MOST_NEXT] for command in card.commands[:2]
            ]
            yield from {step.command: step for step in steps}.values()
            if not needs:
                yield NextStep("agent-fox run", "go on: nothing waits for you")


def _going_on(account: RunAccount) -> Iterator[NextStep]:
    if account.exit_code == 3 and "cost" in account.reason:
        yield NextStep("agent-fox run --max-cost DOLLARS", "go on with a higher ceiling")
        return
    if account.exit_code == 4:
        yield NextStep("agent-fox doctor", "see what is missing")
    yield NextStep("agent-fox run", "go on from here")


def _why(command: str, card: NeedsYou) -> str:
    word = command.split()[1]
    about = listed(part.requirement for part in card.cited[:2]) or card.node or card.spec
    return {
        "explain": f"see why {about} stopped", "reset": "give it new attempts", "lint": "see what is wrong in the spec",
        "run": "go on, when that is done", "waive": "see which waivers count", "ledger": "see what was changed",
        "issues": "see what holds issue updates back" if command.endswith("doctor") else "send them",
    }.get(word, "")  # fmt: skip
