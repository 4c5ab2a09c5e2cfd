"""The sandbox for commands that run untrusted code: bubblewrap with namespaces of its own and a system call filter, or
a container of the person's choice.

What a command sees inside is in `sandbox_view`; starting, limits and output are elsewhere.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.system.sandbox import seccomp
from agent_fox.system.sandbox.view import CLOSED as CLOSED
from agent_fox.system.sandbox.view import OPEN, View, made_up, mounts, namespaces
from agent_fox.system.sandbox.view import Container as Container

if TYPE_CHECKING:
    from pathlib import Path

    from agent_fox.system import outside, own_folders, programs
    from agent_fox.system.sandbox import containers
else:
    containers = late_module("agent_fox.system.sandbox.containers")
    outside = late_module("agent_fox.system.outside")
    own_folders = late_module("agent_fox.system.own_folders")
    programs = late_module("agent_fox.system.programs")

REMEDY = "install it (Debian: apt install bubblewrap)"
UNPROTECTED = "the command can read and change whatever the person who started it can"
PROBE_SECONDS = 20


class SandboxMode(StrEnum):
    """`auto`: where it can be had, and said where it cannot; `require`: or nothing runs; `off`: never."""

    AUTO = "auto"
    REQUIRE = "require"
    OFF = "off"


def container_of(text: str) -> Container:
    """Raises ValueError for a text that `spelled` did not make."""
    program, image, network, *owner = text.split(" ")
    if network not in (OPEN, CLOSED) or len(owner) > 1:
        raise ValueError(f"{text!r} names no container")
    return Container(program, image, network == OPEN, owner[0] if owner else "")


Mode = SandboxMode | Container
"""How commands are kept apart: as this machine can, or in a container."""


def mode_of(text: str) -> Mode:
    """The mode that an order or a setting names. Raises ValueError."""
    return container_of(text) if " " in text else SandboxMode(text)


def container_in(text: str) -> Container | None:
    """The container that an order or a setting names instead of a mode."""
    mode = mode_of(text)
    return mode if isinstance(mode, Container) else None


class SandboxMissing(RuntimeError):
    """A sandbox is required and there is none. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A command wrapped: what to start, the files it needs open, and where bubblewrap tells how it went, or the file
    that says that its container has begun.
    """

    argv: tuple[str, ...]
    descriptors: tuple[int, ...] = ()
    status: int | None = None
    begun: Path | None = None

    @property
    def is_apart(self) -> bool:
        return self.status is not None or self.begun is not None

    def is_command_started(self) -> bool:
        """Whether the command itself came to run: bubblewrap exits with 1 too where it could not start it.

        Ask once, when it has ended by itself.
        """
        if self.begun is not None:
            return self.begun.exists()
        if self.status is None:
            return True
        with contextlib.suppress(BlockingIOError):
            return any("exit-code" in json.loads(line) for line in os.read(self.status, 1 << 16).splitlines())
        return False


def is_used(mode: Mode) -> bool:
    """Whether commands run in the sandbox; SandboxMissing where they must and cannot."""
    if isinstance(mode, Container):
        trouble = containers.found(mode.program, mode.image).objection
        if trouble:
            raise SandboxMissing(f"a container is required, but {trouble}")
        return True
    if mode is SandboxMode.OFF:
        return False
    missing = why_missing()
    if missing and mode is SandboxMode.REQUIRE:
        raise SandboxMissing(f"a sandbox is required, but {missing}")
    return not missing


def in_words(mode: Mode, network: bool) -> str:
    """How a command is kept apart from the machine, for people."""
    if isinstance(mode, Container):
        return containers.in_words(mode, network)
    if not is_used(mode):
        return f"none: {'the sandbox is switched off' if mode is SandboxMode.OFF else why_missing()}; {UNPROTECTED}"
    filtering = "system calls filtered" if seccomp.program() else "system calls not filtered (pyseccomp is missing)"
    reach = "with network" if network else "no network"
    return f"bubblewrap: {reach}, own processes, own home and /tmp, system read-only, {filtering}"


@functools.cache
def why_missing() -> str:
    """Why there is no sandbox on this machine; empty where there is one. Tried out once, with a real command. Raises
    OSError where the machine is short of something: nothing runs unprotected for that.
    """
    if programs.of_the_machine("bwrap") is None:
        return f"bubblewrap is not installed: {REMEDY}"
    with own_folders.own_folder("sandbox") as folder:
        place = folder.resolve()
        return _why_failing(View(root=place, cwd=place, private=place, home=place))


def _why_failing(view: View) -> str:
    with enclosed(("true",), view) as trial:
        try:
            ended = outside.asked_again(lambda: programs.run(trial.argv, PROBE_SECONDS, descriptors=trial.descriptors))
        except OSError as error:
            if outside.trouble_of_system(error).is_of_the_world:
                raise
            return f"bubblewrap does not work here: {error}"
    complaint = ended.err.decode("utf-8", "replace").strip()
    return f"bubblewrap does not work here (are user namespaces allowed?): {complaint}" if ended.status else ""


@contextlib.contextmanager
def kept_apart(
    argv: tuple[str, ...], view: View, mode: Mode, environment: Mapping[str, str],
    ports: tuple[int, ...] = (), limits: tuple[str, ...] = (),
) -> Iterator[Enclosed]:  # fmt: skip
    """The command inside bubblewrap, or in the container of the mode, which is lent `ports` of our loopback."""
    if isinstance(mode, Container):
        with containers.contained(argv, view, mode, environment, ports, limits) as wrapped:
            yield Enclosed(wrapped.argv, begun=wrapped.begun)
        return
    with enclosed(argv, view) as inside:
        yield inside


@contextlib.contextmanager
def enclosed(argv: tuple[str, ...], view: View) -> Iterator[Enclosed]:
    """The command inside bubblewrap; the files it needs are closed when the block is left."""
    with contextlib.ExitStack() as files:
        status, written = _pipe(files)
        words = [programs.of_the_machine("bwrap", view.root) or "bwrap", *namespaces(view), *mounts(view)]
        held = [written]
        for path, text in made_up(view):
            held.append(_held(files, text.encode()))
            words += ["--perms", "0444", "--ro-bind-data", str(held[-1]), path]
        program = seccomp.program()
        if program is not None:
            held.append(_held(files, program))
            words += ["--seccomp", str(held[-1])]
        words += ["--json-status-fd", str(written), "--remount-ro", "/", "--chdir", str(view.cwd), "--"]
        yield Enclosed((*words, *argv), tuple(held), status)


def _pipe(files: contextlib.ExitStack) -> tuple[int, int]:
    reading, writing = os.pipe()
    files.callback(os.close, reading)
    files.callback(os.close, writing)
    os.set_blocking(reading, False)
    return reading, writing


def _held(files: contextlib.ExitStack, content: bytes) -> int:
    """An open file in memory with this content, at its beginning."""
    file = os.memfd_create("agent-fox")
    files.callback(os.close, file)
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file
