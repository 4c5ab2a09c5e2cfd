"""The live screen of a run: fills the terminal, and can be read from across the room. The words are in `story`."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from agent_fox.cli.account_lines import Most, Page
from agent_fox.cli.opening import reading, state_file, waivers_of
from agent_fox.cli.screen import WHOLE, Line, duration, plain, shown_time
from agent_fox.engine.account.account import RunAccount, read_account
from agent_fox.engine.account.overview import Overview, read_overview
from agent_fox.store.state import NoState, OlderState, StateError
from agent_fox.system import clock

if TYPE_CHECKING:
    from agent_fox.cli.story import Story
    from agent_fox.engine.record.watch import RunEvent

KEPT_LINES = 200
REFRESHES = 4  # a second
READ_EVERY = 0.5  # seconds between readings of the state, at least
READ_SHARE = 20  # times what a reading took: a large plan must not be held up by being watched
WIDE = 60  # columns from which a line of the story has its time
TALL = 20  # lines from which the sections have titles
SHORTENED = ("needs you", "running")
MOST = Most(cards=3, parts=1, quoted=1)


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
    overview: Overview | None = None
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
                account = read_account(db, in_force=waivers_of(self.story.root, db))
                overview = read_overview(db, account, is_alive=True, work=lambda: None)
            self.account, self.overview = account, overview
            self.trouble = ""
        except (NoState, OlderState):
            return  # the run is just making it, or bringing it up to date
        except StateError as error:
            self.trouble = str(error)
            return
        now = clock.monotonic()
        self._read_next = now + max(READ_EVERY, READ_SHARE * (now - begun))

    def rows(self, lines: list[str], width: int, height: int) -> list[Text]:
        """The screen as at most `height` lines of at most `width` columns: the page of `status`, then the story."""
        account, overview = self.account, self.overview
        if account is None or overview is None:
            kept = lines[-max(height - 1, 0) :]
            return cropped([Text("agent-fox: preparing the run"), *map(Text, kept)], width, height)
        account = replace(account, seconds=account.seconds + clock.monotonic() - self.started)
        most = replace(MOST, specs=max(height // 3, 2))
        page = Page(self.story.root, account, overview, width, most, False, self.ceiling_usd, "agent-fox status")
        foot = [Text(line, style="bold yellow") for line in (self.said, self.trouble) if line]
        head = [*self.banner(page)[: max(height // 4, 1)], big_bar(account, width)]
        room = max(height - len(head) - len(foot), 0)
        body = sections(page, room - min(len(lines), max(room // 4, 1)), has_titles=height >= TALL)
        story = [Text(fitting(line, width), style="dim") for line in lines[-max(room - len(body), 1) :]]
        return cropped([*head, *body, *story, *foot], width, height)

    def banner(self, page: Page) -> list[Text]:
        """The answer and why; at the right of its first line which run it is, and for how long it has gone on."""
        right = f"run {page.account.run}  {duration(clock.monotonic() - self.started)}"
        first, *rest = map(drawn, replace(page, width=max(page.width - len(right) - 2, 1)).banner())
        gap = " " * max(page.width - first.cell_len - len(right), 2)
        return [first.append(f"{gap}{right}"), *rest]


def sections(page: Page, room: int, *, has_titles: bool) -> list[Text]:
    """The page's sections in at most `room` lines. Cards and sessions get a third each at most; fewer specs are shown
    until all fits, then the longest section gives way. What is left out is counted."""
    third = max(room // 3, 1)
    named = []
    for name, section in page.sections():
        lines = [*map(drawn, section)]
        kept = lines[:third] if name in SHORTENED else lines
        named += [(name, kept, len(lines) - len(kept))] * (name != "also")
    for most in range(page.most.specs - 1, 1, -1):
        if _size(named, has_titles) <= room:
            break
        fewer = [*map(drawn, replace(page, most=replace(page.most, specs=most)).specs())]
        named = [(name, fewer if name == "specs" else lines, left_out) for name, lines, left_out in named]
    while _size(named, has_titles) > room and any(len(lines) > 1 for _, lines, _ in named):
        at = max(range(len(named)), key=lambda number: len(named[number][1]))
        name, lines, left_out = named[at]
        named[at] = (name, lines[:-1], left_out + 1)
    rows: list[Text] = []
    for name, lines, left_out in named:
        rows += [Text(name, style="bold")] * has_titles
        rows += lines if not left_out else [*lines[:-1], _cut_off(lines[-1], left_out, page, is_last=len(lines) == 1)]
    return rows[: max(room, 0)]


def _size(named: list[tuple[str, list[Text], int]], has_titles: bool) -> int:
    return sum(len(lines) + has_titles for _, lines, _ in named)


def _cut_off(last: Text, left_out: int, page: Page, *, is_last: bool) -> Text:
    """In place of the last line that there was room for: how many are missing. The only one stays, and says so."""
    if not is_last:
        return Text(f"  … {left_out + 1} lines more: {page.more}", style="dim")
    count = f" … {left_out} lines more"
    last.truncate(max(page.width - len(count), 1), overflow="ellipsis")
    return last.append(count, style="dim")


def drawn(line: Line) -> Text:
    return Text.assemble(*((plain(text), _style(style)) for text, style in line))


def _style(style: str) -> str:
    return f"link {style}" if "://" in style else "bold" if style == WHOLE else style


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


def fitting(line: str, width: int) -> str:
    """On a narrow terminal the time of day and the columns give way to the words."""
    return line if width >= WIDE else " ".join(line.split()[1:])


def cropped(rows: list[Text], width: int, height: int) -> list[Text]:
    for row in rows:
        row.no_wrap, row.overflow = True, "ellipsis"
        row.truncate(max(width, 1), overflow="ellipsis")
    return rows[: max(height, 1)]
