"""The end of a run, for people and for programs: what is proven, what it cost, what to do next. Nothing is decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from agent_fox.cli.place import near
from agent_fox.cli.screen import plain, title
from agent_fox.cli.telling import counted, listed
from agent_fox.engine.account import RunAccount, SpecAccount
from agent_fox.engine.scheduler import RunExit, Stop
from agent_fox.system import git

MOST_FILES = 6
MOST_BLOCKED = 3


@dataclass(frozen=True, slots=True)
class Takeover:
    """How the work is taken over: the branch, how far it is ahead of HEAD, the difference in short, the command."""

    branch: str
    commits: int
    diffstat: str
    command: str


def takeover(root: Path, branch: str) -> Takeover | None:
    """None where there is nothing to take over."""
    if git.commit_of(root, branch) is None:
        return None
    ahead = int(git.call(root, "rev-list", "--count", f"HEAD..{branch}").text)
    stat = git.call(root, "diff", f"--stat=76,60,{MOST_FILES}", "--no-color", f"HEAD...{branch}", "--").text
    return Takeover(branch, ahead, stat, f"git merge {branch}") if ahead else None


@dataclass(frozen=True, slots=True)
class Summary:
    """All that the end of a run tells. `shell` is what a person may type next."""

    root: Path
    stop: Stop
    account: RunAccount
    work: Takeover | None

    @property
    def shell(self) -> list[str]:
        """What to do next, as commands."""
        roots = [blocked.node for blocked in self.account.blocked[:MOST_BLOCKED]]
        match self.stop.exit:
            case RunExit.PROVEN:
                return [self.work.command] if self.work else []
            case RunExit.NOT_PROVEN:
                return [f"agent-fox {word} {node}" for node in roots for word in ("explain", "reset")]
            case RunExit.CEILING:
                return ["agent-fox run --max-cost DOLLARS" if "cost" in self.stop.reason else "agent-fox run"]
            case RunExit.CANNOT_GO_ON:
                return ["agent-fox doctor", "agent-fox run"]
            case RunExit.INTERRUPTED:
                return ["agent-fox run"]

    def document(self) -> dict[str, object]:
        """The summary as one JSON object."""
        account = self.account
        return {
            "kind": "summary",
            "exit_code": int(self.stop.exit),
            "reason": self.stop.reason,
            "run": account.run,
            "status": account.status,
            "tip": account.tip,
            "requirements": totals(account),
            "specs": [spec_document(spec) for spec in account.specs],
            "sessions": account.sessions,
            "retries": account.retries,
            "rereads": account.rereads,
            "seconds": round(account.seconds, 3),
            "cost": cost_document(account),
            "blocked": [asdict(blocked) for blocked in account.blocked],
            "issues": [{**asdict(one), "where": near(self.root, one.where)} for one in account.issues],
            "undelivered": [asdict(one) for one in account.undelivered],
            "work": asdict(self.work) if self.work else None,
            "next": self.shell,
        }

    def lines(self) -> Iterator[str]:
        """The summary as text."""
        yield f"{title(f'run {self.account.run}')}: {plain(self.stop.reason)} (exit {int(self.stop.exit)})"
        yield ""
        yield from spec_lines(self.account.specs)
        yield ""
        yield from total_lines(self.account)
        yield from trouble_lines(self.root, self.account)
        yield from self._work()
        if self.shell:
            yield title("next")
            yield from (f"  {plain(command)}" for command in self.shell)

    def _work(self) -> Iterator[str]:
        if self.work is None:
            return
        ahead = counted(self.work.commits, "commit")
        yield f"{title('the work')} is on {self.work.branch}, {ahead} ahead of HEAD; to take it over: {self.work.command}"
        yield from (f"  {plain(line)}" for line in self.work.diffstat.splitlines())
        yield f"  see it with: git diff HEAD...{self.work.branch}"


def totals(account: RunAccount) -> dict[str, int]:
    return {"proven": account.proven, "not_proven": account.not_proven, "waived": account.waived}


def cost_document(account: RunAccount) -> dict[str, float]:
    cost = account.cost
    values = {"total_usd": cost.total_usd, "known_usd": cost.known_usd, "assumed_usd": cost.assumed_usd}
    return {key: round(value, 6) for key, value in values.items()}


def spec_document(spec: SpecAccount) -> dict[str, object]:
    return {**asdict(spec), "is_proven": spec.is_proven, "expected": spec.expected}


def spec_lines(specs: tuple[SpecAccount, ...]) -> Iterator[str]:
    """One line a spec: name, standing, how much is proven, on which commit, what is open."""
    names = max((len(spec.name) for spec in specs), default=0)
    standings = max((len(spec.standing) for spec in specs), default=0)
    for spec in specs:
        parts = f"{len(spec.proven) + len(spec.waived)} of {spec.expected} proven"
        yield plain(f"  {spec.name:<{names}}  {spec.standing:<{standings}}  {parts:<16}  {_more(spec)}").rstrip()


def _more(spec: SpecAccount) -> str:
    lists = (
        ("fails", spec.failing), ("no clear verdict on", spec.unclear), ("passed on an older tree:", spec.stale),
        ("waived", spec.waived),
    )  # fmt: skip
    on = [f"on {spec.commit[:12]}"] if spec.commit and spec.is_proven else []
    told = [f"{words} {listed(ids)}" for words, ids in lists if ids]
    return "; ".join([*on, *told, *([spec.problem] if spec.problem else [])])


def total_lines(account: RunAccount) -> Iterator[str]:
    yield f"{account.proven} proven, {account.not_proven} not proven, {account.waived} waived"
    made = (counted(account.sessions, "session"), counted(account.retries, "retry"), counted(account.rereads, "reread"))
    yield f"{', '.join(made)}; {cost_words(account)}; {account.seconds:.0f} s of running"


def cost_words(account: RunAccount) -> str:
    cost = account.cost
    assumed = f" (${cost.known_usd:.2f} told, ${cost.assumed_usd:.2f} assumed)" if cost.assumed_usd else ""
    return f"${cost.total_usd:.2f}{assumed}"


def trouble_lines(root: Path, account: RunAccount) -> Iterator[str]:
    """What needs a person: blocked nodes, open issues, effects not delivered."""
    for blocked in account.blocked:
        yield plain(f"blocked: {blocked.node}: {blocked.reason}")
        if blocked.waiting:
            yield plain(f"  {listed(blocked.waiting)} {'waits' if len(blocked.waiting) == 1 else 'wait'} for it")
    for issue in account.issues:
        if issue.state == "open":
            yield plain(f"issue: {near(root, issue.where) or 'not delivered yet'}  {issue.title}")
    for effect in account.undelivered:
        yield plain(f"not delivered: {effect.kind} {effect.title}: {effect.note or effect.state}")
