"""What signals ask of a run: first to launch nothing more, then to end what runs."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_fox.engine.running.scheduler import Orders

FIRST = "finishing what runs; press again to stop now"
NOW = "stopping what runs; what it has done is not lost, and the next run goes on"


@contextmanager
def listening(orders: Orders, say: Callable[[str], None]) -> Iterator[None]:
    """Within the block, SIGINT stops in two stages, SIGTERM and SIGHUP at once. Earlier handlers come back after it.

    SIGINT is set explicitly: a shell starts what runs in its background with SIGINT ignored.
    """

    def interrupted(number: int, frame: FrameType | None) -> None:
        orders.interrupt()
        say(FIRST if orders.asked == 1 else NOW)

    def terminated(number: int, frame: FrameType | None) -> None:
        orders.terminate()
        say(NOW)

    handlers = {signal.SIGINT: interrupted, signal.SIGTERM: terminated, signal.SIGHUP: terminated}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
