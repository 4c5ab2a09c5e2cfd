"""The live screen of a run: fills the terminal, and can be read from across the room. The words are in `story`."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from agent_fox.cli.opening import reading, state_file, waivers_of
from agent_fox.cli.screen import ago, duration, plain, shown_time
from agent_fox.core.words import counted, listed
from agent_fox.engine.account.account import RunAccount, RunningSession, SpecAccount, read_account
from agent_fox.store.state import NoState, OlderState, StateError
from agent_fox.system import clock

if TYPE_CHECKING:
    from agent_fox.cli.story import Story
    from agent_fox.engine.record.watch import RunEvent

KEPT_LINES = 200
REFRESHES = 4  # a second
READ_EVERY = 0.5  # seconds between readings of the state, at least
READ_SHARE = 20  # times what a reading took: a large plan must not be held up by being watched
WIDE = 60  # columns from which a spec's line has a bar
BAR = 16
COLOURS = {
    "verified": "green", "waived": "yellow", "escalated": "red", "waiver ended": "red", "blocked": "red",
    "left out": "red", "running": "cyan",
}  # fmt: skip
SIGNS = {"green": "✓", "yellow": "✓", "red": "✗", "cyan": "▶"}


@dataclass
class LiveScreen:
    """What a run looks like now. Events come from the running thread, drawing from the screen's own.

    `said` is the last notice of the run; `trouble` why the state could not be read when it was tried last.
    """

    story: Story
    ceiling_usd: float | None
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_LINES))
    said: str = ""
    trouble: str = ""
    account: RunAccount | None = None
    started: float = field(default_factory=clock.monotonic)
    _read_next: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def show(self, event: RunEvent) -> None:
        now = shown_time(clock.now())
        with self._lock:
            self.lines.extend(plain(f"{now}  {line}") for line in self.story.lines(event))

    def notice(self, text: str) -> None:
        self.said = text

    @contextmanager
    def on(self) -> Iterator[None]:
        with Live(self, console=Console(), screen=True, refresh_per_second=REFRESHES, redirect_stderr=False):
            yield

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.refresh()
        with self._lock:
            lines = list(self.lines)
        height = options.height or options.size.height
        yield Text("\n").join(self.rows(lines, options.max_width, height))

    def refresh(self) -> None:
        """Read the state again, if that was not just done. Each reading has a connection of its own."""
        begun = clock.monotonic()
        if begun < self._read_next or not state_file(self.story.root).exists():
            return
        try:
            with reading(self.story.root) as db:
                self.account = read_account(db, in_force=waivers_of(self.story.root, db))
            self.trouble = ""
        except (NoState, OlderState):
            return  # the run is just making it, or bringing it up to date
        except StateError as error:
            self.trouble = str(error)
            return
        now = clock.monotonic()
        self._read_next = now + max(READ_EVERY, READ_SHARE * (now - begun))

    def rows(self, lines: list[str], width: int, height: int) -> list[Text]:
        """The screen as at most `height` lines of at most `width` columns."""
        account = self.account
        if account is None:
            return cropped(
                [Text("agent-fox: preparing the run"), *map(Text, lines[-max(height - 1, 0) :])], width, height
            )
        head = [self.headline(account, width), big_bar(account, width), self.money(account)]
        foot = [Text(line, style="bold yellow") for line in (self.said, self.trouble) if line]
        room = max(height - len(head) - len(foot), 0)
        running = [running_row(session) for session in account.running][: max(room // 3, 1)]
        room = max(room - len(running), 0)
        specs = spec_rows(account.specs, width, max(room - min(len(lines), max(room // 3, 1)), 1))
        story = [Text(fitting(line, width), style="dim") for line in lines[-max(room - len(specs), 1) :]]
        return cropped([*head, *specs, *running, *story, *foot], width, height)

    def headline(self, account: RunAccount, width: int) -> Text:
        left = f"agent-fox run {account.run}"
        right = duration(clock.monotonic() - self.started)
        return Text(f"{left}{right:>{max(width - len(left), len(right) + 1)}}", style="bold")

    def money(self, account: RunAccount) -> Text:
        total = account.cost.total_usd
        limit = f" of ${self.ceiling_usd:.2f}" if self.ceiling_usd is not None else ""
        assumed = f", ${account.cost.assumed_usd:.2f} assumed" if account.cost.assumed_usd else ""
        is_near = self.ceiling_usd is not None and total >= 0.8 * self.ceiling_usd
        text = Text(f"${account.cost.known_usd:.2f} spent{limit}{assumed}", style="bold yellow" if is_near else "bold")
        opened = sum(issue.state == "open" for issue in account.issues)
        made = [counted(account.sessions, "session"), counted(account.retries, "retry"), counted(opened, "issue")]
        return text.append(f"  {', '.join(made)}", style="none")


def big_bar(account: RunAccount, width: int) -> Text:
    """The whole width, and the numbers in it: proven, waived, passed but not yet confirmed, failing, open."""
    proven, waived = account.proven, account.waived
    passed = sum(len(spec.stale) for spec in account.specs)
    failing = sum(len(spec.failing) for spec in account.specs)
    total = proven + waived + account.not_proven
    more = ((waived, "waived"), (passed, "passed before"), (failing, "failing"))
    label = ", ".join([f" {proven} of {total} proven", *(f"{count} {words}" for count, words in more if count)])
    text = Text(label[:width].ljust(width), style="bold white on grey30")
    at = 0
    styles = ("black on green", "black on yellow", "white on dark_green", "white on red")
    for count, style in zip((proven, waived, passed, failing), styles, strict=True):
        end = at + -(-width * count // max(total, 1))
        text.stylize(f"bold {style}", at, min(end, width))
        at = end
    return text


def spec_rows(specs: tuple[SpecAccount, ...], width: int, room: int) -> list[Text]:
    """One line a spec; where there are too many, those that move or hang come first, and the rest is a number."""
    if len(specs) <= room:
        return [spec_row(spec, specs, width) for spec in specs]
    order = {"running": 0, "escalated": 1, "blocked": 2, "left out": 2, "waiting": 3}
    first = sorted(specs, key=lambda spec: order.get(spec.standing, 4))[: max(room - 1, 0)]
    kept = [spec for spec in specs if spec in first]
    rest = [spec for spec in specs if spec not in first]
    waived = sum(spec.is_proven and bool(spec.waived) for spec in rest)
    proven = f"{sum(spec.is_proven for spec in rest) - waived} proven{f', {waived} waived' if waived else ''}"
    more = Text(f"  and {counted(len(rest), 'spec')} more, {proven}", style="dim")
    return [*(spec_row(spec, specs, width) for spec in kept), more][:room]


def spec_row(spec: SpecAccount, specs: tuple[SpecAccount, ...], width: int) -> Text:
    colour = COLOURS.get(spec.standing, "none")
    names = min(max(len(other.name) for other in specs), max(width // 3, 8))
    text = Text(f"{SIGNS.get(colour, '·')} ", style=colour).append(f"{spec.name[:names]:<{names}}", style="none")
    if width >= WIDE:
        done = BAR * spec.nodes_done // max(spec.nodes, 1)
        text.append("  ").append("━" * done, style=colour).append("━" * (BAR - done), style="grey30")
    text.append(f"  {len(spec.proven):>3}/{spec.expected:<3}  ", style="bold")
    text.append(f"{len(spec.waived)} " if spec.waived else "", style=colour)
    return text.append(spec.standing, style=colour).append(f"  {listed(spec.failing)}", style="red")


def running_row(one: RunningSession) -> Text:
    ticket = f"attempt {one.attempt}" + (f", reading {one.reading}" if one.archetype != "coder" else "")
    return Text(f"▶ {ago(one.since)}  {one.node}  {one.archetype}, {ticket}", style="bold cyan")


def fitting(line: str, width: int) -> str:
    """On a narrow terminal the time of day and the columns give way to the words."""
    return line if width >= WIDE else " ".join(line.split()[1:])


def cropped(rows: list[Text], width: int, height: int) -> list[Text]:
    for row in rows:
        row.no_wrap, row.overflow = True, "ellipsis"
        row.truncate(max(width, 1), overflow="ellipsis")
    return rows[: max(height, 1)]
