"""The sandbox around an agent's program: what it sees of the machine, and nothing of a person's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.session.agents.runner import stop_hook
from agent_fox.session.agents.task import AgentTask, Role
from agent_fox.system.sandbox import bubblewrap, toolchains
from agent_fox.system.sandbox.bubblewrap import Container, Enclosed, Mode, SandboxMode
from agent_fox.system.sandbox.view import View

if TYPE_CHECKING:
    from agent_fox.session.agents.command_line import Start


def program_folders(program: Path) -> tuple[Path, ...]:
    """What must be seen to run a program that a package manager has put together: all that its links lead through.

    Of a program that lies in a person's home itself, above it, or in a repository's root, only its file is shown.
    """
    hops = tuple(_hops(program))
    folders = [hop if _is_bare(hop.parent) else hop.parent for hop in hops]
    roots = [_root_of(hop.parent) for hop in hops]
    return tuple(dict.fromkeys(path for path in (*folders, *roots) if not _is_bare(path)))


def _hops(program: Path) -> Iterator[Path]:
    seen = program
    for _ in range(toolchains.LONGEST_CHAIN):
        yield seen
        if not seen.is_symlink():
            return
        seen = Path(os.path.normpath(seen.parent / seen.readlink()))


def _root_of(folder: Path) -> Path:
    """The folder of packages that this one lies in, else itself: a program reads its neighbours."""
    names = [part for part in (folder, *folder.parents) if part.name in {"node_modules", "site-packages"}]
    return names[-1] if names else folder


def _is_bare(folder: Path) -> bool:
    """Whether showing it would show a person's home, a repository with its state, or the whole machine."""
    return toolchains.home().is_relative_to(folder) or folder == Path("/") or (folder / ".git").exists()


@contextmanager
def enclosed(
    task: AgentTask, start: Start, environment: Mapping[str, str], ports: tuple[int, ...] = ()
) -> Iterator[Enclosed]:
    """The process as it is started: in the sandbox where one is asked for and can be had. `ports` of our loopback are
    what one without network reaches.

    Raises SandboxMissing where it must be and cannot.
    """
    mode = bubblewrap.mode_of(task.sandbox)
    if not bubblewrap.is_used(mode):
        yield Enclosed(start.argv)
        return
    view = view_of(task, start.argv[0], environment, mode)
    with bubblewrap.kept_apart(start.argv, view, mode, environment, ports) as wrapped:
        yield wrapped


def view_of(task: AgentTask, program: str, environment: Mapping[str, str], mode: Mode = SandboxMode.AUTO) -> View:
    """A coder may write its workspace; who judges may not write anything there. Of this machine is seen what runs the
    program and the hooks of ours that it asks; a container has tools of its own.
    """
    tools: tuple[Path, ...] = ()
    if not isinstance(mode, Container):
        starts = (program, sys.executable)
        theirs = (folder for start in starts for folder in toolchains.folders(start, task.workspace, environment))
        tools = (*theirs, *program_folders(Path(program)))
    hooks = Path(stop_hook.__file__).parents[1]  # those of each agent stand in its own folder
    shown = (*tools, hooks, *map(Path, task.readable))
    outside = tuple(dict.fromkeys(folder for folder in shown if not folder.is_relative_to(task.workspace)))
    return View(
        root=task.workspace,
        cwd=task.workspace,
        private=task.home.parent,
        home=task.home,
        writable=None if task.role is Role.CODER else (),
        readable=outside,
        network=not isinstance(mode, Container) or mode.network,
        is_git_writable=task.role is Role.CODER,
    )
