"""One session from its order to its end: prepare, run under the shim, harvest, clean up. Decides nothing,
stores nothing.

Everything is repeatable: an interrupted preparation is made again from nothing, and the end of a session that
ended while nobody looked is worked out from what its shim wrote down.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.session.agents.backend import without_keys
from agent_fox.session.agents.report import read_report
from agent_fox.session.backends import Backend, base_environment
from agent_fox.session.built_in.registry import BACKENDS
from agent_fox.session.endings import end_of, infrastructure_end, interrupted_end
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.order import LaunchOrder, Paths, SessionEnd, StopSignal
from agent_fox.session.workspaces.workspace import Stopped, WorkspaceError, launch_ref, prepare, write_briefs
from agent_fox.system import git
from agent_fox.system.files import remove_tree
from agent_fox.system.processes import (
    Command,
    ProcessEnd,
    Running,
    kill_leftover,
    kill_marked,
    read_end,
    started,
)

if TYPE_CHECKING:
    from agent_fox.system.sandbox import bubblewrap, containers
else:
    bubblewrap = late_module("agent_fox.system.sandbox.bubblewrap")
    containers = late_module("agent_fox.system.sandbox.containers")

Started = Callable[[int, str], None]
"""Told the shim's pid and start time before anything of the session runs."""


@dataclass(slots=True)
class Lease:
    """For whoever may lose a session to another: `renew` keeps it for so many `seconds`, else its process is killed.
    `end` ends its process; what one that ended by itself has done is taken all the same. Neither raises, in any thread.
    """

    seconds: float
    held: list[Running] = field(default_factory=list)
    is_over: bool = False

    def renew(self) -> None:
        for running in tuple(self.held):
            running.beat()

    def end(self) -> None:
        self.is_over = True
        for running in tuple(self.held):
            running.stop()


def run_session(
    order: LaunchOrder,
    started: Started,
    stop: StopSignal,
    backends: Mapping[str, Backend] = BACKENDS,
    lease: Lease | None = None,
) -> SessionEnd:
    """Run the session and return its end; blocks. Trouble of ours is an INFRASTRUCTURE end, not an exception.

    What `started` raises is passed on, after the session's process was ended.
    """
    if stop.is_set():
        return interrupted_end(order)
    environment = base_environment(order, Paths(order.state), os.environ)
    try:
        prepare(order, without_keys(order.agent, environment), stop)
        write_briefs(order)
        command = _command(order, environment, backends[order.agent.backend])
    except Stopped:
        return interrupted_end(order)
    except (WorkspaceError, git.GitError) as error:
        return infrastructure_end(order, Infrastructure.WORKSPACE, str(error), environment)
    except OSError as error:
        return infrastructure_end(order, trouble_of(error), f"preparing the workspace: {error}", environment)
    return _run(order, command if lease is None else replace(command, lease=lease.seconds), started, stop, lease)


def trouble_of(error: OSError) -> Infrastructure:
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return Infrastructure.DISK_FULL if is_full else Infrastructure.WORKSPACE


def _command(order: LaunchOrder, environment: Mapping[str, str], backend: Backend) -> Command:
    paths = Paths(order.state)
    argv = tuple(backend.argv(order, paths))
    whole = {**environment, **backend.environment(order, paths)}
    return Command(argv, whole, paths.workspace, paths.session, order.agent.timeout)


def _run(
    order: LaunchOrder, command: Command, tell: Started, stop: StopSignal, lease: Lease | None = None
) -> SessionEnd:
    with started(command) as running:
        remembered(order, running)
        tell(running.pid, running.start_time)
        with stop.calling(running.stop):
            running.go()
            with kept_alive(running, lease):
                end = running.wait()
    end_containers(order)
    return _finish(order, end, command.environment, stop)


@contextmanager
def kept_alive(running: Running, lease: Lease | None) -> Iterator[None]:
    """Within the block the lease, where there is one, keeps the process."""
    if lease is None:
        yield
        return
    lease.held.append(running)
    if lease.is_over:
        running.stop()
    try:
        yield
    finally:
        lease.held.remove(running)


def remembered(order: LaunchOrder, running: Running) -> None:
    """Write down who supervises the launch, so that what is left of it can be ended after a crash."""
    known = {"pid": running.pid, "start_time": running.start_time}
    Paths(order.state).shim.write_text(json.dumps(known), encoding="utf-8")


def _finish(order: LaunchOrder, end: ProcessEnd | None, environment: Mapping[str, str], stop: StopSignal) -> SessionEnd:
    if end is None:
        end_leftovers(order.launch)
        reason = "the session was ended from outside before its end could be written down"
        return infrastructure_end(order, Infrastructure.LOST, reason, environment)
    try:
        return end_of(order, end, environment, stop)
    except (WorkspaceError, git.GitError) as error:
        return infrastructure_end(order, Infrastructure.WORKSPACE, f"taking the work: {error}", environment)
    except OSError as error:
        return infrastructure_end(order, trouble_of(error), f"taking the work: {error}", environment)


def harvest(order: LaunchOrder) -> SessionEnd | None:
    """The end of a launch that another orchestrator started: what it came to, or None where it never ended.

    Whatever of it still runs is ended first, by pid and start time; then the launch may be made again.
    """
    paths = Paths(order.state)
    end_unwatched(order)
    end = read_end(paths.session)
    if end is None or end.stopped:
        return None
    return _finish(order, end, base_environment(order, paths, os.environ), StopSignal())


def end_unwatched(order: LaunchOrder) -> None:
    """End what still runs of a launch whose orchestrator is gone."""
    paths = Paths(order.state)
    if read_end(paths.session) is None:
        _end_leftovers(order, paths.shim)


def known_cost(order: LaunchOrder) -> float | None:
    """Dollars that a launch has cost so far, by what its agent's runner wrote down; None where nothing is known."""
    report = read_report(Paths(order.state).report)
    return report.cost_usd if report is not None else None


def _end_leftovers(order: LaunchOrder, shim: Path) -> None:
    known = None
    with suppress(OSError, ValueError, KeyError, TypeError):  # never started, or written half
        document = json.loads(shim.read_bytes())
        known = int(document["pid"]), str(document["start_time"])
    if known is not None:
        kill_leftover(*known)
    end_leftovers(order.launch)
    end_containers(order)


def end_leftovers(launch: str) -> None:
    """End whatever was started for a launch and outlived who watched it."""
    kill_marked("AGENT_FOX_LAUNCH", launch)


def end_containers(order: LaunchOrder) -> None:
    """End what a launch runs in containers: some of it is nobody's child here."""
    container = bubblewrap.container_in(order.sandbox)
    if container is not None:
        containers.remove_of(container)


def clean_up(order: LaunchOrder) -> None:
    """Remove the launch's reference and folder; to be called after its result is safe. Repeatable.

    The folder goes last: by it, what was killed in between is found and swept.
    """
    _end_leftovers(order, Paths(order.state).shim)
    git.delete_ref(order.repo, launch_ref(order.launch))
    remove_tree(order.state)
