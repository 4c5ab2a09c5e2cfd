"""The end of a run, for people and for programs: the page of `status`, the work, what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.account_lines import Page
from agent_fox.cli.screen import columns, plain, styled, title
from agent_fox.core.values import dataclass, to_document
from agent_fox.core.words import counted
from agent_fox.engine.account.document import account_document, overview_document

if TYPE_CHECKING:
    from agent_fox.engine.account.account import RunAccount
    from agent_fox.engine.account.overview import Overview, Takeover
    from agent_fox.engine.record.ending import Stop


@dataclass(frozen=True, slots=True)
class Summary:
    """All that the end of a run tells."""

    root: Path
    stop: Stop
    account: RunAccount
    overview: Overview
    work: Takeover | None
    ceiling_usd: float | None = None

    def document(self) -> dict[str, object]:
        """The summary as one JSON object."""
        ended = {"exit_code": int(self.stop.exit), "reason": self.stop.reason, "work": to_document(self.work)}
        document = {**account_document(self.root, self.account), **overview_document(self.overview)}
        return {"kind": "summary", **document, **ended}

    def lines(self) -> Iterator[str]:
        """The summary as text."""
        page = Page(self.root, self.account, self.overview, columns(), ceiling_usd=self.ceiling_usd)
        yield from styled(page.lines(), page.width)
        if self.work is not None:
            yield from ("", *self._work(self.work))
        steps = [*page.next()]
        if steps:
            yield from ("", title("next"), *styled(steps, page.width))

    def _work(self, work: Takeover) -> Iterator[str]:
        ahead = counted(work.commits, "commit")
        yield f"{title('the work')} is on {work.branch}, {ahead} ahead of HEAD"
        yield from (f"  {plain(line.strip())}" for line in work.diffstat.splitlines())
        yield f"  look at it:   git diff HEAD...{work.branch}"
        yield f"  take it over: {work.command}"
