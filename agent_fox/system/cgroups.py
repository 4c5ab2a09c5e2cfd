"""Control groups that hold one command's memory and processes within bounds. Version 1 and 2, where they are writable.

What happens where they are not is the caller's affair.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from agent_fox.core.values import dataclass

MOUNTS, OWN = Path("/proc/self/mountinfo"), Path("/proc/self/cgroup")
PROBE = 1 << 20
"""A bound that every resource can have."""

LONGEST_REMOVING = 1.0
"""Seconds that a group gets to become empty: the kernel buries its last processes a little later."""


@dataclass(frozen=True, slots=True)
class Resource:
    """What one controller bounds: the file for the bound, files that must not undo it, and the counter of refusals."""

    controller: str
    bound: str
    beside: tuple[tuple[str, str], ...]
    events: str
    counter: str


MEMORY = {
    1: Resource(
        "memory", "memory.limit_in_bytes", (("memory.memsw.limit_in_bytes", "{}"),), "memory.oom_control", "oom_kill"
    ),
    2: Resource("memory", "memory.max", (("memory.swap.max", "0"),), "memory.events", "oom_kill"),
}
PROCESSES = {version: Resource("pids", "pids.max", (), "pids.events", "max") for version in (1, 2)}


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in which groups for one resource can be made."""

    version: int
    resource: Resource
    folder: Path


@dataclass(frozen=True, slots=True)
class Group:
    """The groups of one command, one for each place; a process joins by its number in every `cgroup.procs`."""

    made: tuple[tuple[Place, Path], ...] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(folder for _, folder in self.made))

    def is_bounding(self, controller: str) -> bool:
        return any(place.resource.controller == controller for place, _ in self.made)

    def is_out_of_memory(self) -> bool:
        """Whether the kernel killed one of its processes for the memory they took."""
        return self._refusals("memory") > 0

    def is_process_limit_hit(self) -> bool:
        """Whether one of them was refused another process or thread."""
        return self._refusals("pids") > 0

    def kill(self) -> None:
        """Kill every process in it, once."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split():
                    os.kill(int(pid), signal.SIGKILL)

    def _refusals(self, controller: str) -> int:
        return sum(
            _count(folder / place.resource.events, place.resource.counter)
            for place, folder in self.made
            if place.resource.controller == controller
        )


@contextlib.contextmanager
def grouped(memory_bytes: int | None, processes: int | None) -> Iterator[Group]:
    """Groups with these bounds, as far as the machine lets us make them; removed when the block is left.

    Only what is asked for and can be held is in the group: ask `is_bounding`.
    """
    wanted = {"memory": memory_bytes, "pids": processes}
    name = f"agent-fox-{os.getpid()}-{secrets.token_hex(4)}"
    made: list[tuple[Place, Path]] = []
    try:
        for place in places():
            limit = wanted[place.resource.controller]
            if limit is not None and _is_made(place, place.folder / name, limit):
                made.append((place, place.folder / name))
        yield Group(tuple(made))
    finally:
        for folder in {place.folder / name for place in places()}:
            _remove(folder)


@functools.cache
def places() -> tuple[Place, ...]:
    """Where this process can make groups, tried out once: at most one place for each resource."""
    places_of: dict[str, Place] = {}
    for place in _candidates():
        if place.resource.controller not in places_of and _is_usable(place):
            places_of[place.resource.controller] = place
    return tuple(places_of.values())


def _candidates() -> Iterator[Place]:
    own = _own_paths()
    for kind, options, mounted_from, mount in _mounts():
        if kind == "cgroup2":
            folder = _inside(mount, mounted_from, own.get("", "/"))
            for each in (folder, folder.parent) if folder != mount else (folder,):
                yield from (Place(2, resources[2], each) for resources in (MEMORY, PROCESSES))
        for resources in (MEMORY, PROCESSES):
            if kind == "cgroup" and resources[1].controller in options:
                controller = resources[1].controller
                yield Place(1, resources[1], _inside(mount, mounted_from, own.get(controller, "/")))


def _own_paths() -> dict[str, str]:
    """The group that this process is in, by controller; version 2 has no controller's name."""
    own: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in OWN.read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            own |= dict.fromkeys(controllers.split(","), path)
    return own


def _mounts() -> Iterator[tuple[str, list[str], str, Path]]:
    """(kind, options, the path in the hierarchy that is mounted, where) of every hierarchy of groups."""
    with contextlib.suppress(OSError):
        for line in MOUNTS.read_text(encoding="utf-8").splitlines():
            before, _, after = line.partition(" - ")
            kind, _, options = after.split(" ", 2)
            if kind.startswith("cgroup"):
                yield kind, options.split(","), before.split()[3], Path(before.split()[4])


def _inside(mount: Path, mounted_from: str, path: str) -> Path:
    """Where the group `path` is seen; the mount itself where it is not seen at all, as in some containers."""
    folder = mount / path.removeprefix(mounted_from.rstrip("/")).lstrip("/")
    return folder if folder.is_dir() else mount


def _is_usable(place: Place) -> bool:
    folder = place.folder / f"agent-fox-probe-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        return _is_made(place, folder, PROBE)
    finally:
        _remove(folder)


def _is_made(place: Place, folder: Path, limit: int) -> bool:
    """Make the group if it is not there yet, and set its bound."""
    try:
        folder.mkdir(exist_ok=True)
        (folder / place.resource.bound).write_text(str(limit), encoding="ascii")
        os.close(os.open(folder / "cgroup.procs", os.O_WRONLY))
    except OSError:
        return False
    for name, template in place.resource.beside:
        with contextlib.suppress(OSError):  # a kernel that does not count swap
            (folder / name).write_text(template.format(limit), encoding="ascii")
    return True


def _remove(folder: Path) -> None:
    give_up = time.monotonic() + LONGEST_REMOVING
    while folder.exists():
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > give_up:
                return
            time.sleep(0.01)


def _count(file: Path, name: str) -> int:
    """The number beside `name` in a file of `name number` lines; 0 where it is not told."""
    try:
        counted = dict(line.split(None, 1) for line in file.read_text(encoding="ascii").splitlines())
    except (OSError, ValueError):
        return 0
    return int(counted.get(name, "0"))
