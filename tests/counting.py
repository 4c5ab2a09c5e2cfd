"""Counts what the tests start, over all workers, and holds it against `budgets.toml`: numbers that only go down.

Time differs between machines and days; the number of processes does not, and it is what a suite's time is made of.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

BUDGETS = Path(__file__).with_name("budgets.toml")
KEY = "agent_fox_started"


class Counting:
    """A pytest plugin. Each worker counts for itself; the process that controls them adds up."""

    def __init__(self, *, is_held: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.is_held = is_held
        self.is_in_test = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.is_in_test and event == "subprocess.Popen":
            words = arguments[1]
            self.counts[kind_of([str(word) for word in words] if isinstance(words, Sequence) else [str(words)])] += 1

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self.is_in_test = True
        answer = yield
        self.is_in_test = False
        return answer

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[KEY] = dict(self.counts)
        elif self.is_held and session.exitstatus == pytest.ExitCode.OK and over(self.counts, budgets()):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        self.counts.update(getattr(node, "workeroutput", {}).get(KEY, {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.is_held:
            return
        shown = ", ".join(f"{self.counts[kind]} of {most} {kind}" for kind, most in budgets().items())
        terminalreporter.write_line(f"started, of what the budget allows: {shown}")
        for told in over(self.counts, budgets()):
            terminalreporter.write_line(f"OVER BUDGET: {told}")


def kind_of(words: Sequence[str]) -> str:
    """What a process is counted as."""
    program = Path(words[0]).name
    if program == "git":
        return "worlds" if "init" in words[1:4] or "clone" in words[1:4] else "git"
    if program.startswith("python"):
        return "agent-fox" if any(word.startswith("agent_fox.cli") for word in words) else "python"
    return "other"


def budgets() -> dict[str, int]:
    return {str(kind): int(most) for kind, most in tomllib.loads(BUDGETS.read_text(encoding="utf-8")).items()}


def over(counts: Counter[str], most: dict[str, int]) -> list[str]:
    """A sentence for each kind of which more was started than its budget, or that has none."""
    kinds = sorted({*counts, *most})
    return [
        f"{counts[kind]} {kind} processes, {most.get(kind, 0)} allowed (tests/budgets.toml, which only goes down)"
        for kind in kinds
        if counts[kind] > most.get(kind, 0)
    ]
