"""The account of a run in words: one page for `status`, a run's screen and its end. Imports little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.issues.lines import issue_counts_line
from agent_fox.cli.place import near
from agent_fox.cli.screen import WHOLE, Line, ago, cut, duration, shown_time, wrapped
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.known import counts_in_words, grouped, told_apart
from agent_fox.core.words import counted, listed
from agent_fox.engine.account.overview import STANDINGS

if TYPE_CHECKING:
    from agent_fox.engine.account.account import Activity, Cost, RunAccount, SpecAccount
    from agent_fox.engine.account.overview import NeedsYou, Overview

SHORT = 12
LONGEST_NAME = 28
LONG_SILENCE = 30.0
"""Seconds without a sign of an agent from which the silence is shown."""
NEAR = 0.8
"""What part of the ceiling is spent where that is marked."""
LOST = "not running (it was ended from outside); `agent-fox run` goes on"
READ_AGAIN = "not proven now; the next run reads it again, as `[evidence] environment` has it"
UNTIMED = ", without the time of what was ended from outside"
COLOURS = {
    "verified": "green", "waived": "yellow", "escalated": "red", "waiver ended": "red", "blocked": "red",
    "left out": "red", "not believed": "red", "environment changed": "yellow", "running": "cyan",
}  # fmt: skip
SIGNS = {"verified": "✓", "waived": "✓", "running": "▶", "environment changed": "?"}
"""Beside a spec; one that is red has a cross, any other a dot."""
ANSWER_COLOURS = {"PROVEN": "green", "NOT PROVEN": "red", "RUNNING": "cyan"}
WORD_COLOURS = {"FAIL": "red", "UNKNOWN": "yellow"}
SHOWN_WORDS = {"unread": "not read", "stale": "outdated", "short": "short of", "away": "elsewhere"}
_ORDER = {"running": 0, "escalated": 1, "waiver ended": 1, "blocked": 2, "left out": 2, "not believed": 2, "waiting": 3}


@dataclass(frozen=True, slots=True)
class Most:
    """How much a screen shows of what may be long (`lines`: of one text); the rest is counted. 0: everything."""

    cards: int = 5
    specs: int = 10
    parts: int = 5
    quoted: int = 2
    lines: int = 4


ALL = Most(0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Page:
    """The first screen of a run as lines: `run`, its end and `status` say the same in the same order.

    `is_lost`: the run was ended from outside, so that nobody noted how long it ran; `ceiling_usd`: what the run may
    cost, None where it is not known or there is none; `more`: the command that shows what was left out.
    """

    root: Path
    account: RunAccount
    overview: Overview
    width: int
    most: Most = Most()
    is_lost: bool = False
    ceiling_usd: float | None = None
    more: str = "agent-fox status --all"

    def banner(self) -> Iterator[Line]:
        """The answer, and why."""
        answer, because = self.overview.banner.answer, self.overview.banner.because
        first, *rest = self._few(wrapped(because, self.width - len(answer) - 2)) or [""]
        yield (answer, ANSWER_COLOURS.get(answer, "yellow")), ("  ", ""), (first, "bold")
        yield from (((f"{' ' * (len(answer) + 2)}{line}", "bold"),) for line in rest)

    def run(self) -> Iterator[Line]:
        """Which run it is, and how it stands."""
        account, banner = self.account, self.overview.banner
        if account.run is None:
            return
        state = LOST if self.is_lost else account.status
        on = f", proven on {banner.commit[:SHORT]}" if banner.commit else ""
        exit_code = f", exit code {banner.exit_code}" if banner.exit_code is not None and not self.is_lost else ""
        is_told = banner.answer == "NOT PROVEN" and account.status == "ended" and account.reason
        is_so_now = account.exit_code in (None, banner.exit_code)
        then = ": " if is_so_now else f"; it ended with exit code {account.exit_code}, "
        reason = f"{then}{account.reason}" if is_told else ""
        spent = cost_words(account.cost.known_usd, account.cost.assumed_usd)
        cost = f"; {spent}" if spent and account.status != "running" else ""
        yield from self._wrapped(f"run {account.run}: {state}{exit_code}{on}{reason}{cost}", "  ")
        if account.known:
            yield from self._wrapped(f"how it is known: {counts_in_words(account.known)}", "  ")

    def needs_you(self) -> Iterator[Line]:
        """What only a person can settle, worst first."""
        cards, asked = self.overview.needs_you, self.account.asked
        shown = cards[: self.most.cards or None]
        for card in shown:
            yield from self._card(card)
        yield from (((f"  ? {request.line}", "yellow"),) for request in asked)
        rest = cards[len(shown) :]
        if rest:
            names = listed(card.node or card.spec or card.need for card in rest)
            yield from self._wrapped(f"  and {len(rest)} more: {names} ({self.more})", "    ")

    def _card(self, card: NeedsYou) -> Iterator[Line]:
        holds = f"; {listed(card.holds_specs)} {'wait' if len(card.holds_specs) > 1 else 'waits'} for it"
        spent = cost_words(card.known_usd, card.assumed_usd)
        what = f"{card.because}{holds if card.holds_specs else ''}{f'; {spent} on it' if spent else ''}"
        name = card.node or card.spec
        first, *rest = self._few(wrapped(f"{name} {what}" if name else what, self.width - 4))
        yield ("  ✗ ", "red"), (first[: len(name)], "bold"), (first[len(name) :], "")
        yield from ((("    " + line, ""),) for line in rest)
        shown = card.cited[: self.most.parts or None]
        for part in shown:
            yield from self._part(part.word, part.requirement, part.text)
            quoted = part.quoted[: self.most.quoted or None]
            yield from ((("            " + line, "dim"),) for line in quoted)
        hidden = len(card.cited) - len(shown) + card.more
        if hidden:
            yield ((f"      and {hidden} more that {'is' if hidden == 1 else 'are'} not proven", "dim"),)
        if card.decide:
            yield from self._wrapped(f"    you decide: {card.decide}", "      ")
        if card.issue:
            yield ("    issue: ", ""), (near(self.root, card.issue), card.issue)

    def _part(self, word: str, requirement: str, text: str) -> Iterator[Line]:
        yield (
            (f"      {SHOWN_WORDS.get(word, word):<9}", WORD_COLOURS.get(word, "")),
            (f"{requirement}  ", "bold"),
            (text, ""),
        )

    def specs(self) -> Iterator[Line]:
        """A line for each spec; below one that is not proven, what of it no card names."""
        shown, rest = chosen(self.account.specs, self.most.specs)
        cited = {(card.spec, part.requirement) for card in self.overview.needs_you for part in card.cited}
        for spec, line in zip(shown, spec_lines(self.account, shown), strict=True):
            yield line
            yield from self._open(spec, cited)
        if rest:
            yield ((f"  and {counted(len(rest), 'spec')} more: {_standings(rest)} ({self.more})", "dim"),)

    def _open(self, spec: SpecAccount, cited: set[tuple[str, str]]) -> Iterator[Line]:
        """What fails, is unclear or short of what was asked; with everything shown, all that is not proven."""
        if len(spec.known) > 1:
            how = {part: spec.how.get(part, "") for part in spec.proven}
            apart = (f"{word}: {listed(ids)}" for word, ids in told_apart(how).items())
            yield from (((f"      {line}", "dim"),) for line in apart)
        texts = self.overview.texts.get(spec.name, {})
        words = [("FAIL", spec.failing), ("UNKNOWN", spec.unclear), ("short", spec.short), ("away", spec.elsewhere)]
        words += [("stale", spec.stale), ("unread", spec.unread)] if not self.most.parts else []
        parts = [(word, part) for word, ids in words for part in ids if (spec.name, part) not in cited]
        shown = parts[: self.most.parts or None]
        for word, part in shown:
            yield from self._part(word, part, texts.get(part, ""))
        if len(parts) > len(shown):
            yield ((f"      and {len(parts) - len(shown)} more ({self.more})", "dim"),)

    def running(self) -> Iterator[Line]:
        for session in self.account.running:
            ticket = f"attempt {session.attempt}"
            ticket += f", reading {session.reading}" if session.archetype != "coder" and session.reading > 1 else ""
            about = f"{session.archetype}, {ticket}{_doing(session.activity)}"
            yield (f"  ▶ {ago(session.since)}  ", "cyan"), (session.node, "bold"), (f"  {about}", "")
        for wait in self.account.waits:
            about = f"waits until {shown_time(wait.until)}, then tries again: {wait.kind}"
            yield (f"  … {ago(wait.since)}  ", "yellow"), (wait.node, "bold"), (f"  {about}", "")

    def notes(self) -> Iterator[Line]:
        """What else is to be known of what counts: waivers in force, another environment, issues."""
        account = self.account
        if account.elsewhere and not account.disbelieved:
            is_left = any(spec.elsewhere for spec in account.specs)
            now = READ_AGAIN if is_left else 'it counts, as `[evidence] environment = "show"` has it'
            yield from self._wrapped(f"  proven in another environment ({'; '.join(account.elsewhere)}): {now}", "    ")
        yield from (line for waiver in account.waivers for line in self._wrapped(f"  {waiver.line}", "    "))
        named = {card.issue for card in self.overview.needs_you}
        issues = [issue for issue in account.issues if issue.state == "open" and issue.where not in named]
        for issue in issues[: self.most.parts or None]:
            where = near(self.root, issue.where) or "not delivered yet"
            yield ("  issue: ", ""), (f"{issue.title}  ", ""), (where, issue.where)
        counts = issue_counts_line(account.issue_counts)
        if counts:
            yield from self._wrapped(f"  {counts}", "    ")

    def money(self) -> Iterator[Line]:
        account = self.account
        ceiling = f" of at most ${self.ceiling_usd:.2f}" if self.ceiling_usd is not None else ""
        is_near = self.ceiling_usd is not None and account.cost.total_usd >= NEAR * self.ceiling_usd
        yield (f"  ${account.cost.known_usd:.2f} spent{ceiling}", "yellow" if is_near else "bold"), (
            "".join(f", {words}" for words in assumed_words(account.cost)), "yellow"
        )  # fmt: skip
        made = ((account.sessions, "session"), (account.retries, "retry"), (account.rereads, "reread"))
        ran = f"{account.seconds:.0f} s of running{UNTIMED if self.is_lost else ''}"
        yield ((f"  {', '.join(counted(*each) for each in made)}; {ran}", ""),)

    def next(self) -> Iterator[Line]:
        """What to type now."""
        steps = self.overview.next
        names = max((len(step.command) for step in steps), default=0)
        yield from (((f"  {step.command:<{names}}", WHOLE), (f"   {step.why}", "dim")) for step in steps)

    def sections(self) -> Iterator[tuple[str, list[Line]]]:
        """All but the banner, each with its name, in the order of every screen; those without a line are left out."""
        named = (
            ("needs you", self.needs_you()), ("specs", self.specs()), ("running", self.running()),
            ("also", self.notes()), ("money", self.money()),
        )  # fmt: skip
        yield from ((name, lines) for name, section in named if (lines := list(section)))

    def lines(self) -> Iterator[Line]:
        """The whole page but what to do next."""
        yield from self.banner()
        yield from self.run()
        for name, lines in self.sections():
            yield ()
            yield ((name, "bold"),)
            yield from lines

    def _wrapped(self, text: str, indent: str) -> Iterator[Line]:
        start = text[: len(text) - len(text.lstrip())]
        lines = self._few(wrapped(text, self.width - len(start), indent))
        yield from (((start + line, ""),) for line in lines)

    def _few(self, lines: Iterable[str]) -> list[str]:
        """The first lines of a long text, the last of which ends in `…` where there is more."""
        every = [*lines]
        if not self.most.lines or len(every) <= self.most.lines:
            return every
        last = cut(every[self.most.lines - 1], max(self.width - 16, 1)).rstrip("…")
        return [*every[: self.most.lines - 1], f"{last}…"]


def chosen(specs: Sequence[SpecAccount], most: int) -> tuple[list[SpecAccount], list[SpecAccount]]:
    """The specs that are shown, and the others: where they are too many, those that fail, hang or move come first."""
    if not most or len(specs) <= most:
        return list(specs), []
    worst = sorted(specs, key=lambda spec: _ORDER.get(spec.standing, len(_ORDER)))[: max(most - 1, 0)]
    names = {spec.name for spec in worst}
    return [spec for spec in specs if spec.name in names], [spec for spec in specs if spec.name not in names]


def spec_lines(account: RunAccount, specs: Sequence[SpecAccount]) -> Iterator[Line]:
    """One line a spec: name, how much is proven, how it stands; then what is open and how the rest is known."""
    waits = {node.partition(":")[0]: blocked.node for blocked in account.blocked for node in blocked.waiting}
    names = max((len(spec.name) for spec in specs), default=0)
    standings = {spec.name: _standing(spec, waits) for spec in specs}
    widest = max((len(standing) for standing in standings.values()), default=0)
    counts = max((len(_count(spec)) for spec in specs), default=0)
    for spec in specs:
        colour = COLOURS.get(spec.standing, "")
        sign = SIGNS.get(spec.standing, "✗" if colour == "red" else "·")
        name = cut(spec.name, LONGEST_NAME)
        yield (
            (f"  {sign} ", colour), (f"{name:<{min(names, LONGEST_NAME)}}  ", "bold"),
            (f"{_count(spec):<{counts}}  ", ""), (f"{standings[spec.name]:<{widest}}  ", colour),
            ("; ".join(_notes(spec)), ""),
        )  # fmt: skip


def _count(spec: SpecAccount) -> str:
    return f"{len(spec.proven)} of {spec.expected if spec.is_counted else '?'}"


def _standing(spec: SpecAccount, waits: Mapping[str, str]) -> str:
    root = waits.get(spec.name, "")
    if spec.standing == "blocked" and root and root.partition(":")[0] != spec.name:
        return f"waits for {root}"
    return STANDINGS.get(spec.standing, spec.standing)


def _notes(spec: SpecAccount) -> Iterator[str]:
    fails = "fail" if len(spec.failing) > 1 else "fails"
    counts = (
        (spec.waived, "waived"), (spec.failing, fails), (spec.unclear, "without a clear verdict"),
        (spec.stale, "passed, but code has changed since"), (spec.elsewhere, "passed in another environment"),
        (spec.short, "passed without the review or proof that is asked for"), (spec.unread, "not read yet"),
    )  # fmt: skip
    yield from (f"{len(ids)} {words}" for ids, words in counts if ids)
    if spec.known:
        yield counts_in_words(spec.known)
    if spec.commit and spec.is_proven:
        yield f"on {spec.commit[:SHORT]}"
    if spec.problem:
        yield spec.problem


def _standings(specs: Iterable[SpecAccount]) -> str:
    numbers: dict[str, int] = {}
    for spec in specs:
        word = STANDINGS.get(spec.standing, spec.standing)
        numbers[word] = numbers.get(word, 0) + 1
    return ", ".join(f"{number} {word}" for word, number in numbers.items())


def _doing(activity: Activity | None) -> str:
    if activity is None:
        return ""
    cost = "" if activity.cost_usd is None else f", ${activity.cost_usd:.2f}"
    silent = f", silent for {duration(activity.silent)}" if activity.silent >= LONG_SILENCE else ""
    return f"; {activity.cli}: {activity.turns} turns{cost}{silent}; {activity.last or 'no sign of it yet'}"


def assumed_words(cost: Cost) -> Iterator[str]:
    """What is assumed where no cost is known, apart from what was spent: it falls when a session reports less."""
    ended = cost.assumed_usd - cost.running_usd
    parts = ((ended, "where no cost is known"), (cost.running_usd, "for what runs"))
    return (f"${usd:.2f} assumed {why}" for usd, why in parts if usd > 0)


def cost_words(known_usd: float, assumed_usd: float) -> str:
    """`$1.20 spent, $0.40 assumed`; empty where nothing was."""
    parts = ((known_usd, "spent"), (assumed_usd, "assumed"))
    return ", ".join(f"${usd:.2f} {word}" for usd, word in parts if usd > 0)


def audit_lines(account: RunAccount) -> Iterator[str]:
    """What nobody on call needs: nodes by status, how each requirement is known, gates, the ledger's head."""
    yield f"nodes: {', '.join(f'{count} {status}' for status, count in account.nodes.items()) or 'none'}"
    for spec in account.specs:
        how = {part: spec.how.get(part, "") for part in (*spec.proven, *spec.waived)}
        yield from (f"{spec.name}: {word}: {', '.join(ids)}" for word, ids in grouped(how).items())
    gates = ", ".join(f"{count} {state}" for state, count in account.gates.items()) or "none"
    tip = account.ledger
    yield f"gates: {gates}; ledger: {counted(tip.position, 'record')}, head {tip.head}"
