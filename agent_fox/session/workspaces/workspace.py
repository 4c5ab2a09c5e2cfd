"""A launch's own checkout: made at the pinned commit, provided with what the settings name, and removed
again.

It is a small repository of its own that borrows the objects of the person's (alternates): no worktree, no
remote, none of their configuration. What an agent left in it is read by `snapshot`, never here.
"""

from __future__ import annotations

import json
import shlex
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.late import adapter, late_module
from agent_fox.core.values import dataclass
from agent_fox.session.order import LaunchOrder, Paths, Provisions, StopSignal
from agent_fox.session.workspaces.unfinished_merge import lay, lay_tree, name_sides
from agent_fox.system import git, git_objects
from agent_fox.system.files import last_lines, remove_tree
from agent_fox.system.processes import Command, ProcessEnd, started

if TYPE_CHECKING:
    import pydantic
else:
    pydantic = late_module("pydantic")

BRANCH = "attempt"
"""The branch that is checked out in a workspace; it means nothing to anybody else."""

SETUP_LIMIT = 1800.0
"""Seconds that one setup command may take."""

QUOTED_LINES = 5
"""How many last lines of a failed setup command its error shows."""

SETUP_FAILED = "[workspace] setup: "
"""What the error of a failed setup command begins with."""


class WorkspaceError(Exception):
    """The workspace could not be made ready. The message names the setting, the command or path, and what
    was wrong.
    """


class Stopped(Exception):
    """We were asked to stop while the workspace was being made ready."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """What was done to the workspace before the session: `brought` are the paths that copy and link put
    there.

    `baseline` is the tree that the workspace held then; the pinned commit's own tree where there is no setup.
    """

    baseline: str
    brought: tuple[str, ...] = ()

    def has_brought(self, path: str) -> bool:
        """Whether `path` is one of the paths brought in, or lies below one."""
        return any(path.rstrip("/") == own or path.startswith(f"{own}/") for own in self.brought)


_PREPARATION = adapter(lambda: pydantic.TypeAdapter(Preparation))


def launch_ref(launch: str) -> str:
    """The reference that keeps a launch's commits alive in the person's repository."""
    return f"refs/agent-fox/launches/{launch}"


def prepare(order: LaunchOrder, environment: Mapping[str, str], stop: StopSignal) -> Preparation:
    """Make the workspace from nothing, whatever an interrupted launch left. Raises WorkspaceError,
    GitError, Stopped.
    """
    paths = Paths(order.state)
    remove_tree(order.state)
    for folder in (paths.state, paths.temporary):
        folder.mkdir(parents=True, mode=0o700)
    git.set_ref(order.repo, launch_ref(order.launch), order.pinned)
    _clone(order, paths.workspace)
    if order.unmerged:
        name_sides(order, order.unmerged, paths.workspace)
    brought = _bring_in(order, paths.workspace)
    _run_setup(order, environment, stop)
    done = Preparation(_baseline(order, brought), brought)
    paths.preparation.write_bytes(_PREPARATION.dump_json(done))
    if order.unmerged:
        lay(order, order.unmerged, paths.workspace)
    if order.resume:
        lay_tree(order, order.resume, paths.workspace)
    if not order.writes:
        _make_read_only(paths.workspace, git_objects.files_under(order.repo, order.pinned))
    return done


def read_preparation(order: LaunchOrder) -> Preparation:
    """What `prepare` did, for the harvest of a launch that another process made. Raises WorkspaceError,
    OSError.
    """
    try:
        return _PREPARATION.validate_json(Paths(order.state).preparation.read_bytes())
    except pydantic.ValidationError as error:
        raise WorkspaceError("the session changed what was written down about its workspace") from error


def lacks(wanted: Provisions, repo: Path, commits: Iterable[str], path: str | None) -> list[str]:
    """What the settings name and a workspace would not get, a sentence each; nothing is run or changed.

    `path` is the PATH that setup commands see, `commits` what a workspace may be made from.
    """
    sentences: list[str] = []
    for setting, patterns in (("copy", wanted.copy), ("link", wanted.link)):
        for pattern in patterns:
            with _noted(sentences):
                _matches(repo, setting, [pattern])
    for number, line in enumerate(wanted.setup):
        with _noted(sentences):
            _check_program(_argv(line)[0], repo, commits, path, is_first=number == 0)
    return sentences


@contextmanager
def _noted(found: list[str]) -> Iterator[None]:
    try:
        yield
    except WorkspaceError as error:
        found.append(str(error))


def _check_program(word: str, repo: Path, commits: Iterable[str], path: str | None, *, is_first: bool) -> None:
    """A relative path counts from the repository's root. One that is not there may be made by an earlier command."""
    if "/" not in word or Path(word).is_absolute() or (repo / word).exists():
        program = str(repo / word) if "/" in word else word
        is_there = shutil.which(program, path=path) is not None
    else:
        inside = PurePosixPath(word).as_posix()
        is_there = not is_first or any(git.show(repo, commit, inside) is not None for commit in commits)
    if not is_there:
        raise WorkspaceError(f"{SETUP_FAILED}{word!r} is not an executable; install it or correct the command")


def _clone(order: LaunchOrder, workspace: Path) -> None:
    """A repository that borrows the person's objects and knows one branch, at the pinned commit."""
    common = git.common_folder(order.repo)
    kind = git.object_format(order.repo)
    workspace.mkdir(mode=0o755)
    ours = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    inside = workspace / ".git"
    git_objects.lay_out(inside, common, kind, BRANCH)
    (inside / "objects/info/alternates").write_text(f"{common / 'objects'}\n", encoding="utf-8")
    who = git.identity(order.repo)
    with (inside / "config").open("a", encoding="utf-8") as file:
        file.write(f"[user]\n\tname = {_quoted(who.name)}\n\temail = {_quoted(who.email)}\n")
        file.write("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
    git.call(workspace, "reset", "--quiet", "--hard", order.pinned, extra=ours)


def _quoted(value: str) -> str:
    """A value as git's settings write it: see git-config(1), "Syntax"."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def _bring_in(order: LaunchOrder, workspace: Path) -> tuple[str, ...]:
    copied = _matches(order.repo, "copy", order.workspace.copy)
    linked = _matches(order.repo, "link", order.workspace.link)
    for path in copied:
        _copy(order.repo / path, _destination(workspace, path))
    for path in linked:
        _link(order.repo / path, _destination(workspace, path))
    brought = tuple(dict.fromkeys(copied + linked))
    _hide(workspace, brought)
    return brought


def _matches(repo: Path, setting: str, patterns: Iterable[str]) -> list[str]:
    """The paths below the repository's root that the patterns name; each must name one, and none may lead
    outside.
    """
    matches: list[str] = []
    for pattern in patterns:
        parts = PurePosixPath(pattern).parts
        if not parts or PurePosixPath(pattern).is_absolute() or ".." in parts or ".git" in map(str.lower, parts):
            raise WorkspaceError(f"[workspace] {setting}: {pattern!r} must be a path inside the repository")
        paths = _glob(repo, pattern)
        if not paths:
            raise WorkspaceError(
                f"[workspace] {setting}: {pattern!r} names nothing in {repo}; create it or remove the entry"
            )
        matches += paths
    return matches


def _glob(repo: Path, pattern: str) -> list[str]:
    try:
        return sorted(path.relative_to(repo).as_posix() for path in repo.glob(pattern))
    except ValueError as error:
        raise WorkspaceError(f"[workspace] {pattern!r}: {error}") from error


def _destination(workspace: Path, path: str) -> Path:
    """Where `path` goes, its folder made. Raises WorkspaceError where a link in the checkout leads
    elsewhere.
    """
    destination = workspace / path
    if not destination.parent.resolve().is_relative_to(workspace.resolve()):
        raise WorkspaceError(f"[workspace] {path!r} would be put outside of the checkout by a link in it")
    destination.parent.mkdir(parents=True, exist_ok=True)
    return destination


def _copy(source: Path, destination: Path) -> None:
    if destination.is_symlink():
        destination.unlink()
    if source.is_dir():
        shutil.copytree(source, destination, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy2(source, destination)


def _link(source: Path, destination: Path) -> None:
    if destination.is_symlink() or destination.exists():
        raise WorkspaceError(
            f"[workspace] link: {source} is in the checkout already; only untracked paths can be linked"
        )
    destination.symlink_to(source.absolute())


def _hide(workspace: Path, brought: Iterable[str]) -> None:
    """Keep what was brought in out of the agent's own `git status` and `git add`."""
    exclude = workspace / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    escaped = ("".join(f"\\{char}" if char in "\\*?[!# " else char for char in path) for path in brought)
    exclude.write_text("".join(f"/{path}\n" for path in escaped), encoding="utf-8", errors="surrogateescape")


def _run_setup(order: LaunchOrder, environment: Mapping[str, str], stop: StopSignal) -> None:
    paths = Paths(order.state)
    for number, line in enumerate(order.workspace.setup, start=1):
        argv = _argv(line)
        folder = paths.state / f"setup-{number}"
        end = _run(Command(argv, environment, paths.workspace, folder, SETUP_LIMIT), stop)
        if end is None or end.exit_status != 0:
            printed = "\n".join(
                last_lines(folder / "stdout", QUOTED_LINES) + last_lines(folder / "stderr", QUOTED_LINES)
            )
            raise WorkspaceError(f"{SETUP_FAILED}{shlex.join(argv)!r} {_how(end)}\n{printed}".rstrip())


def _argv(line: str | tuple[str, ...]) -> tuple[str, ...]:
    try:
        argv = tuple(shlex.split(line) if isinstance(line, str) else line)
    except ValueError as error:
        raise WorkspaceError(f"[workspace] setup: {line!r} cannot be split into words: {error}") from error
    if not argv:
        raise WorkspaceError("[workspace] setup: an empty command")
    return argv


def _run(command: Command, stop: StopSignal) -> ProcessEnd | None:
    with started(command) as running, stop.calling(running.stop):
        running.go()
        end = running.wait()
    if stop.is_set():
        raise Stopped
    return end


def _how(end: ProcessEnd | None) -> str:
    match end:
        case None:
            return "was killed from outside"
        case ProcessEnd(start_error=str(error)) if error:
            return f"could not be started: {error}"
        case ProcessEnd(timed_out=True):
            return f"did not end within {SETUP_LIMIT:.0f} s"
        case ProcessEnd(signal=int(number)):
            return f"was killed by signal {number}"
    return f"ended with exit status {end.exit_status}"


def _baseline(order: LaunchOrder, brought: tuple[str, ...]) -> str:
    """The tree that the session starts from: setup may have changed tracked files or left new ones."""
    if not order.workspace.setup:
        return git.tree_of(order.repo, order.pinned)
    with git_objects.store(order.repo, Paths(order.state).workspace) as store:
        store.read_tree(order.pinned)
        store.add_all(leaving_out=brought)
        return store.write_tree()


def _make_read_only(workspace: Path, tracked: Iterable[str]) -> None:
    for path in tracked:
        file = workspace / path
        if not file.is_symlink() and file.is_file():
            file.chmod(stat.S_IMODE(file.stat().st_mode) & ~0o222)


def write_briefs(order: LaunchOrder) -> None:
    """The brief as Markdown and as JSON, beside the workspace, and what it hands on."""
    paths = Paths(order.state)
    paths.brief.write_text(order.brief_markdown, encoding="utf-8")
    paths.brief_json.write_text(json.dumps(order.brief_json, ensure_ascii=False, indent=1), encoding="utf-8")
    if order.handoff:
        paths.handoff.write_text(order.handoff, encoding="utf-8")
