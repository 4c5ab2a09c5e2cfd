"""Parts that came from plugins, behind guards: whatever one raises or gives instead of a result names the plugin.

The engine meets only these; a built-in part has no guard, so that a defect of ours stays one.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.engine.planning.plugin_hooks import refuse
from agent_fox.plugins import PluginError, blamed_on
from agent_fox.store.light import is_of_the_world
from agent_fox.trackers.protocol import Delivery, Done, Effect, Held, Retry, Tracker, Unsure

if TYPE_CHECKING:
    from agent_fox.core.ids import Archetype
    from agent_fox.engine.handlers.handling import EndedSession, ResultHandler
    from agent_fox.engine.record import docket as dockets
    from agent_fox.session import order as orders
    from agent_fox.session import runners
    from agent_fox.session.backends import Backend
    from agent_fox.session.order import Agent, LaunchOrder, Paths, SessionEnd
    from agent_fox.session.runners import Job, Runner
else:
    orders = late_module("agent_fox.session.order")
    runners = late_module("agent_fox.session.runners")
    dockets = late_module("agent_fox.engine.record.docket")


@dataclass(frozen=True, slots=True)
class GuardedBackend:
    """A plugin's backend. Raises PluginError for everything that it raises."""

    plugin: str
    name: str
    inner: Backend

    def missing(self, agent: Agent, root: Path) -> str | None:
        with blamed_on(self.plugin, f"backend {self.name!r}"):
            return self.inner.missing(agent, root)

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]:
        with blamed_on(self.plugin, f"backend {self.name!r}"):
            return [*self.inner.argv(order, paths)]

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        with blamed_on(self.plugin, f"backend {self.name!r}"):
            return {**self.inner.environment(order, paths)}


@dataclass(frozen=True, slots=True)
class GuardedRunner:
    """A plugin's runner. Raises PluginError for everything that it raises but Unreachable, which is an answer."""

    plugin: str
    inner: Runner

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def outlives(self) -> bool:
        return self.inner.outlives

    def start(self, order: LaunchOrder) -> Job:
        with self.blamed():
            return self.inner.start(order)

    def found(self, order: LaunchOrder) -> Job | None:
        with self.blamed():
            return self.inner.found(order)

    def poll(self, job: Job, seconds: float) -> bool:
        with self.blamed():
            return bool(self.inner.poll(job, seconds))

    def cancel(self, job: Job) -> None:
        with self.blamed():
            self.inner.cancel(job)

    def collect(self, job: Job) -> SessionEnd:
        with self.blamed():
            end = self.inner.collect(job)
            if not isinstance(end, orders.SessionEnd):
                raise refuse(end, "a SessionEnd")
            return end

    def clean_up(self, order: LaunchOrder) -> None:
        with self.blamed():
            self.inner.clean_up(order)

    def close(self) -> None:
        with self.blamed():
            self.inner.close()

    def blamed(self) -> AbstractContextManager[None]:
        return blamed_on(self.plugin, f"runner {self.inner.name!r}", is_unreachable)


def is_unreachable(error: BaseException) -> bool:
    return isinstance(error, runners.Unreachable)


@dataclass(frozen=True, slots=True)
class GuardedTracker:
    """A plugin's tracker. Where it fails, the effect may be out already: it is Unsure, and nothing is lost."""

    plugin: str
    name: str
    inner: Tracker

    def newest(self) -> str:
        try:
            with blamed_on(self.plugin, f"tracker {self.name!r}"):
                return str(self.inner.newest())
        except PluginError:
            return ""  # as the protocol says for one that cannot tell: delivering says what is wrong

    def deliver(self, effect: Effect) -> Delivery:
        try:
            with blamed_on(self.plugin, f"tracker {self.name!r}"):
                delivery = self.inner.deliver(effect)
                if not isinstance(delivery, Done | Held | Retry | Unsure):
                    raise refuse(delivery, "a Delivery")
                return delivery
        except PluginError as error:
            return Unsure(str(error))


@dataclass(frozen=True, slots=True)
class GuardedHandler:
    """A plugin's result handler. Raises PluginError, which rolls the session's transaction back as a whole.

    A full disk or a broken state file under it is not its fault, and passes.
    """

    plugin: str
    archetype: Archetype
    inner: ResultHandler

    def handle_session(self, docket: dockets.Docket, ended: EndedSession) -> dockets.Handled:
        with blamed_on(self.plugin, f"the result handler of {self.archetype}s, at {ended.ticket}", is_of_the_world):
            handled = self.inner.handle_session(docket, ended)
            if not isinstance(handled, dockets.Handled):
                raise refuse(handled, "a Handled")
            return handled
