"""The end of a run, for people and for programs: what is proven, what it cost, what to do next. Nothing is decided."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.account_lines import account_document, spec_lines, total_lines, trouble_lines
from agent_fox.cli.screen import plain, title
from agent_fox.core.values import dataclass, to_document
from agent_fox.core.words import counted
from agent_fox.engine.record.ending import RunExit, Stop

if TYPE_CHECKING:
    from agent_fox.engine.account.account import RunAccount
    from agent_fox.engine.account.overview import Takeover

MOST_BLOCKED = 3


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
        ended = {
            "exit_code": int(self.stop.exit),
            "reason": self.stop.reason,
            "work": to_document(self.work),
            "next": self.shell,
        }
        return {"kind": "summary", **account_document(self.root, self.account), **ended}

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
        yield f"{title('the work')} is on {self.work.branch}, {ahead} ahead of HEAD"
        yield from (f"  {plain(line.strip())}" for line in self.work.diffstat.splitlines())
        yield f"  look at it:   git diff HEAD...{self.work.branch}"
        yield f"  take it over: {self.work.command}"
