"""A run whose issues go to GitHub: our fake of it on loopback, a double for the service alone. No test is here."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from agent_fox.testing.github import GitHubFake, serve
from agent_fox.testing.worlds import World, rows, run_cli
from tests.stories import scene

REPOSITORY, TOKEN = "octo/project", "ghp_fake"
TRACKER = '[tracker]\nkind = "github"\nrepository = "{}"\nbase_url = "{}"\ncredentials = "environment"\nlabels = {}\n'


@dataclass(frozen=True)
class GitHubScene:
    """A fake GitHub at `url`, and somebody with `token` and a home of their own under `folder`."""

    fake: GitHubFake
    url: str
    folder: Path
    token: str = TOKEN

    @property
    def environ(self) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        found = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
        found["AGENT_FOX_GITHUB_HOST"] = "127.0.0.1"
        return {**found, **({"AGENT_FOX_GITHUB_TOKEN": self.token} if self.token else {})}

    def build(self, world: World, labels: str = "[]") -> Path:
        """The repository of a world whose issues go there. `labels` as TOML: each is a write, and writes are slow."""
        tracker = TRACKER.format(REPOSITORY, self.url, labels)
        return replace(world, settings=f"{world.settings}\n{tracker}").build(self.folder / "world")

    def run(self, root: Path, *options: str, ends: int) -> subprocess.CompletedProcess[str]:
        return scene.run(root, *options, ends=ends, **self.environ)

    def cli(self, root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        done = run_cli(root, *arguments, timeout=120, data=None, **self.environ, **variables)
        assert "Traceback" not in done.stderr, done.stderr
        return done


@contextmanager
def github(folder: Path) -> Iterator[GitHubScene]:
    fake = GitHubFake()
    with serve(fake) as url:
        yield GitHubScene(fake, url, folder)


def nobody_listens() -> str:
    """An address on loopback that refuses connections."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def outbox(root: Path) -> list[tuple[object, ...]]:
    """Kind and state of every effect, in the order in which they were decided."""
    return rows(root, "SELECT kind, state FROM outbox ORDER BY position")
