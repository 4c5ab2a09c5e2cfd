"""A runner as a plugin: `agent-fox run --engine nice://10` runs sessions here, and lets everything else go first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_fox.plugins import hookimpl
from agent_fox.session.backends import Backend
from agent_fox.session.local_runner import LocalRunner
from agent_fox.session.order import Agent, LaunchOrder, Paths


@dataclass(frozen=True)
class Nice:
    """A backend whose program is started by `nice`."""

    inner: Backend
    level: str

    @property
    def name(self) -> str:
        return self.inner.name

    def missing(self, agent: Agent, root: Path) -> str | None:
        return self.inner.missing(agent, root)

    def argv(self, order: LaunchOrder, paths: Paths) -> list[str]:
        return ["nice", "-n", self.level, *self.inner.argv(order, paths)]

    def environment(self, order: LaunchOrder, paths: Paths) -> dict[str, str]:
        return self.inner.environment(order, paths)


@dataclass(frozen=True)
class AllNice(Mapping[str, Backend]):
    backends: Mapping[str, Backend]
    level: str

    def __getitem__(self, name: str) -> Backend:
        return Nice(self.backends[name], self.level)

    def __iter__(self) -> Iterator[str]:
        return iter(self.backends)

    def __len__(self) -> int:
        return len(self.backends)


def nice_runner(address: str, root: Path, backends: Mapping[str, Backend]) -> LocalRunner:
    level = str(int(address.partition("://")[2]))
    return LocalRunner(AllNice(backends, level), name=address)


@hookimpl
def agent_fox_runners() -> dict[str, Callable[[str, Path, Mapping[str, Backend]], LocalRunner]]:
    return {"nice": nice_runner}
