"""Trials of one verification that run at once, as many as there are processors for, and all ended with it.

Where two of them could meet (without a sandbox, or with a network), one runs after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from threading import Event
from typing import TYPE_CHECKING

from agent_fox.system.processes import processors
from agent_fox.system.sandbox import bubblewrap
from agent_fox.verifier.proof.lab import MEASURED, Lab, Seen

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.ground.order import CheckOrder
    from agent_fox.verifier.suites.suite import SuiteRun

MOST_AT_ONCE = 3
"""Each may take as much memory as the reading; the sealed reading, the twins and red before are three."""

Later = Callable[[], Seen]
"""What a run showed; waits for it, or makes it now."""


class Runner:
    """Starts runs in labs. `runs`: how many there were."""

    def __init__(self, order: CheckOrder, pool: ThreadPoolExecutor | None) -> None:
        self._order, self._pool = order, pool
        self.runs = 0

    def begin(
        self,
        lab: Lab,
        run: SuiteRun,
        tests: Sequence[Case] | None,
        texts: Mapping[str, bytes | str | None],
        *,
        is_recorded: bool = False,
    ) -> Later:
        """Begin now where others may run beside it; else when it is asked for, if it ever is."""
        if self._pool is None or not self._is_apart(run):
            return cache(partial(self.see, lab, run, tests, texts, is_recorded=is_recorded))
        self.runs += 1
        return self._pool.submit(lab.run, run, tests, texts, is_recorded=is_recorded).result

    def see(
        self,
        lab: Lab,
        run: SuiteRun,
        tests: Sequence[Case] | None,
        texts: Mapping[str, bytes | str | None],
        *,
        is_recorded: bool = False,
    ) -> Seen:
        self.runs += 1
        return lab.run(run, tests, texts, is_recorded=is_recorded)

    def _is_apart(self, run: SuiteRun) -> bool:
        """Whether nothing that a run of these tests does can be seen by another: neither files nor ports."""
        is_ours = run.call is not None and run.call.tool in MEASURED
        return is_ours and not self._order.network and bubblewrap.is_used(self._order.sandbox)


@contextmanager
def runner(order: CheckOrder, stop: Event) -> Iterator[Runner]:
    """Whatever still runs at the end is ended; `stop` is heeded by the labs' ground."""
    most = min(MOST_AT_ONCE, processors())
    if most == 1:
        yield Runner(order, None)
        return
    with ThreadPoolExecutor(most, "trial") as pool:
        try:
            yield Runner(order, pool)
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
