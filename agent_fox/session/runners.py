"""Who runs a launch: an order goes in by value, its end comes out. What this machine does is in `local_runner`.

A runner decides nothing and stores nothing: the scheduler alone writes what came of a launch.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from agent_fox.core.late import late_module

if TYPE_CHECKING:
    from agent_fox.session import endings
    from agent_fox.session.order import LaunchOrder, SessionEnd, StopSignal
else:
    endings = late_module("agent_fox.session.endings")

HERE = ""
"""The name of the runner on this machine, as launches are recorded."""

LOOK_SECONDS = 1.0
"""How long one look for an end waits at most."""


class Unreachable(Exception):
    """A runner cannot say what became of a launch, and has waited as long as it may: the launch stays open, and whoever
    goes on with the run asks again. Its text says who did not answer, and what to do.
    """


@runtime_checkable
class Job(Protocol):
    """A launch that a runner has taken: its order, and all that the runner needs to know it again."""

    @property
    def order(self) -> LaunchOrder: ...


@runtime_checkable
class Runner(Protocol):
    """Where launches run. Every commit that an end names is in the repository of its order when `collect` returns.

    `name` is recorded with each launch before it starts, so that whoever goes on with the run finds it again.
    `outlives`: a launch goes on when the orchestrator dies. `agent_fox.testing.runners` holds what all keep to.
    """

    @property
    def name(self) -> str: ...

    @property
    def outlives(self) -> bool: ...

    def start(self, order: LaunchOrder) -> Job:
        """Have the launch run. A launch that it has already is attached to, never run a second time."""
        ...

    def found(self, order: LaunchOrder) -> Job | None:
        """A launch that another orchestrator started, under way or ended; None where it is lost: nothing of it runs."""
        ...

    def poll(self, job: Job, seconds: float) -> bool:
        """Whether it has ended, waited for so long at most."""
        ...

    def cancel(self, job: Job) -> None:
        """Ask it to end. Returns at once and never raises, from any thread."""
        ...

    def collect(self, job: Job) -> SessionEnd:
        """The end of a launch that has ended. Repeatable. Trouble of ours is an INFRASTRUCTURE end, not an exception.

        Raises Unreachable where it cannot be told whether the launch still runs.
        """
        ...

    def clean_up(self, order: LaunchOrder) -> None:
        """Remove what is left of a launch, after its result is safe. Repeatable."""
        ...

    def close(self) -> None:
        """The run ends, or pauses: say what is still to be said. Never raises."""
        ...


def attended(runner: Runner, order: LaunchOrder, stop: StopSignal) -> SessionEnd:
    """Have the launch run and wait for its end; blocks. Raises Unreachable."""
    if stop.is_set():
        return endings.interrupted_end(order)
    job = runner.start(order)
    with stop.calling(partial(cancel_unless_left, runner, job, stop)):
        while not runner.poll(job, LOOK_SECONDS):
            if runner.outlives and stop.is_left():
                raise Unreachable(f"{order.node_id} goes on without us; run again to hear of it")
    return runner.collect(job)


def cancel_unless_left(runner: Runner, job: Job, stop: StopSignal) -> None:
    if not (runner.outlives and stop.is_left()):
        runner.cancel(job)
