"""Commands in a container of the person's choice, by podman or docker: the sandbox's fences, another system inside.

What a command sees of the machine is the View that bubblewrap has; system, toolchain and PATH are the image's. Of the
network it has nothing, but the ports of ours that it is lent (`lending`). Images are never fetched.
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.system import own_folders, programs
from agent_fox.system.sandbox import toolchains
from agent_fox.system.sandbox.lending import lent
from agent_fox.system.sandbox.view import TEMPORARY_BYTES, View, folders_of, made_up, needs_override

if TYPE_CHECKING:
    from agent_fox.system.sandbox.view import Container

LABEL = "agent-fox.launch"
"""The label by which containers of a launch are found again."""

ANSWER_SECONDS = 60.0

ENTRY = 'gate=$1; PATH=$2$PATH; shift 2; : > "$gate.begun"; while [ -e "$gate.shut" ]; do sleep 0.05; done; exec "$@"'
"""What a container runs, the workspace's programs before its own: it says that it has begun, and waits for ports."""

OWN_PLACES = ("PATH", "HOME", "LD_LIBRARY_PATH", *toolchains.VARIABLES)
"""Variables that name places of this machine's system: a container has its own."""

OF_THE_CLIENT = ("HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS")
OF_ITS_KIND = ("CONTAINER", "DOCKER_", "STORAGE_", "BUILDAH_", "REGISTRY_")
"""Variables, by name and by what their names begin with, that podman or docker itself is given."""


def in_words(container: Container, network: bool) -> str:
    reach = "with network" if network else "no network"
    return f"{container.program} {container.image}: {reach}, no capabilities, own processes, system read-only"


@dataclass(frozen=True, slots=True)
class Contained:
    """A command wrapped: what to start, and the file that says that the container has begun."""

    argv: tuple[str, ...]
    begun: Path


@contextlib.contextmanager
def contained(
    argv: tuple[str, ...], view: View, container: Container, environment: Mapping[str, str],
    ports: tuple[int, ...] = (), limits: tuple[str, ...] = (),
) -> Iterator[Contained]:  # fmt: skip
    """The command in a container of its own, which is removed when the block is left. `ports` of ours on loopback are
    lent to it; `limits` are further words, see `limits_of`.
    """
    name = f"agent-fox-{container.owner or 'command'}-{secrets.token_hex(6)}"
    gate = view.private / f".{name}"
    with contextlib.ExitStack() as stack:
        words = [_of_the_machine(container.program), "run", "--rm", "--interactive", "--pull", "never", "--name", name]
        words += ["--label", f"{LABEL}={container.owner}", *fences(container, view), *limits, *ulimits()]
        words += [*mounts(view, Path(stack.enter_context(own_folders.own_folder("container"))))]
        words += [*variables(view, environment), "--workdir", str(view.cwd), "--entrypoint", "sh", container.image]
        stack.callback(remove, container.program, name)
        for word in (".begun", ".shut"):
            stack.callback(gate.with_name(f"{gate.name}{word}").unlink, missing_ok=True)
        if ports:
            gate.with_name(f"{gate.name}.shut").touch()
            stack.enter_context(lent(container.program, name, gate.with_name(f"{gate.name}.shut"), ports))
        start = [_of_the_machine("env"), "-i", *client(environment), *words, "-c", ENTRY]
        start += ["container", str(gate), _of_the_workspace(view, environment)]
        yield Contained((*start, *argv), gate.with_name(f"{gate.name}.begun"))


def _of_the_workspace(view: View, environment: Mapping[str, str]) -> str:
    """The beginning of a PATH: of the entries of `environment`'s those that lie in the workspace."""
    own = (entry for entry in environment.get("PATH", "").split(os.pathsep) if Path(entry).is_relative_to(view.root))
    return "".join(f"{entry}{os.pathsep}" for entry in own)


def client(environment: Mapping[str, str]) -> Iterator[str]:
    """Assignments for `env`: what the program itself needs of our variables, and what it hands on by name."""
    ours = {name: value for name, value in os.environ.items() if name in OF_THE_CLIENT or name.startswith(OF_ITS_KIND)}
    handed = {name: value for name, value in environment.items() if name not in OWN_PLACES}
    path = {"PATH": programs.machine_path()}
    return (f"{name}={value}" for name, value in {**handed, **ours, **path}.items())


def _of_the_machine(program: str) -> str:
    return programs.of_the_machine(program) or program


def fences(container: Container, view: View) -> Iterator[str]:
    """Rootless, without capabilities, new privileges, devices, sockets or a system that can be written."""
    yield from ("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only", "--hostname", "localhost")
    yield from ("--user", f"{os.getuid()}:{os.getgid()}", "--ipc", "private")
    if container.program == "podman":
        yield from ("--security-opt", "label=disable")  # what is mounted keeps the labels that it has
        if os.getuid() != 0:
            yield from ("--userns", "keep-id")
    if needs_override(view):
        yield from ("--cap-add", "DAC_OVERRIDE")
    if not view.network:
        yield from ("--network", "none")
    yield from ("--tmpfs", f"/tmp:rw,mode=1777,size={TEMPORARY_BYTES}")


def limits_of(memory: int | None, processes: int | None) -> tuple[str, ...]:
    """Words for bytes of memory and a number of processes; None: no limit of ours."""
    most = ("--memory", str(memory)) if memory else ()
    return (*most, *(("--pids-limit", str(processes)) if processes else ()))


def ulimits() -> Iterator[str]:
    """Our own limits: the usual ones may be higher than anybody may set here."""
    for name, which, most in (("nofile", resource.RLIMIT_NOFILE, 1 << 20), ("nproc", resource.RLIMIT_NPROC, 1 << 15)):
        soft, hard = (
            most if limit == resource.RLIM_INFINITY else min(limit, most) for limit in resource.getrlimit(which)
        )
        yield from ("--ulimit", f"{name}={soft}:{hard}")


def mounts(view: View, folder: Path) -> Iterator[str]:
    """What of this machine it sees, at the same places. `folder` holds files that stand in for the machine's own."""
    for place, how in sorted(folders_of(view).items()):
        if how == "--tmpfs":
            yield from ("--tmpfs", f"{place}:rw,mode=1777,size={TEMPORARY_BYTES}")
            continue
        source = view.stand_in if view.stand_in and place == view.root else place
        yield from bind(source, place, is_readable_only=how == "--ro-bind")
    for number, (path, text) in enumerate(made_up(view)):
        if Path(path).is_relative_to(view.root):
            stand_in = folder / str(number)
            stand_in.write_text(text, encoding="utf-8")
            stand_in.chmod(0o444)
            yield from bind(stand_in, Path(path), is_readable_only=True)


def bind(source: Path, target: Path, *, is_readable_only: bool) -> tuple[str, str]:
    """Raises ValueError for a path that the words of a mount cannot hold."""
    if any(mark in f"{source}{target}" for mark in ',"\n'):
        raise ValueError(
            f"{source}: no container can be given a path with a comma, a quotation mark or a new line in it"
        )
    words = f"type=bind,source={source},target={target}{',readonly' if is_readable_only else ''}"
    return ("--mount", words)


def variables(view: View, environment: Mapping[str, str]) -> Iterator[str]:
    """By name alone: values would stand on a command line that everybody can read. HOME names a place and no secret."""
    yield from ("--env", f"HOME={view.home}")
    for name in environment:
        if name not in OWN_PLACES:
            yield from ("--env", name)


def remove(program: str, *names: str) -> None:
    """End containers and remove what is left of them; those that are gone are no error."""
    soon = ("--time", "0") if program == "podman" else ()
    with contextlib.suppress(OSError):
        programs.run([_of_the_machine(program), "rm", "--force", *soon, *names], ANSWER_SECONDS)


def remove_of(container: Container) -> int:
    """End and remove all that was started for its launch; how many there were."""
    asked = [
        _of_the_machine(container.program),
        "ps",
        "--all",
        "--quiet",
        "--filter",
        f"label={LABEL}={container.owner}",
    ]
    try:
        names = programs.run(asked, ANSWER_SECONDS).out.decode().split()
    except OSError:
        return 0
    if names:
        remove(container.program, *names)
    return len(names)


@dataclass(frozen=True, slots=True)
class Found:
    """What is here of a container: the image's `digest`; `trouble` says what is missing and `remedy` what to do."""

    digest: str = ""
    trouble: str = ""
    remedy: str = ""

    @property
    def objection(self) -> str:
        return f"{self.trouble}; {self.remedy}" if self.trouble else ""


@functools.cache
def found(program: str, image: str) -> Found:
    """Whether an image can be run here, asked once in a process."""
    own = programs.of_the_machine(program)
    if own is None:
        return Found("", f"{program} is not installed", f"install it (Debian: apt install {program})")
    try:
        asked = programs.run([own, "image", "inspect", "--format", "{{.Id}}", image], ANSWER_SECONDS)
    except OSError as error:
        return Found("", f"{program} does not answer: {error}", f"try `{program} info`")
    if asked.status == 0:
        return Found(f"sha256:{asked.out.decode().strip().removeprefix('sha256:')}")
    answer = asked.err.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason given"]
    return Found("", f"{program} has no image {image!r} here: {answer[0]}", f"{program} pull {image}, or build it")


def named_by_digest(program: str, image: str) -> str:
    """The image by what it is, where it is here; else as it is called."""
    return found(program, image).digest or image


def is_of_root(program: str) -> bool:
    """Whether its containers are started by root. Raises OSError where it does not answer."""
    words = {"podman": "{{.Host.Security.Rootless}}", "docker": "{{.SecurityOptions}}"}[program]
    answer = programs.run([_of_the_machine(program), "info", "--format", words], ANSWER_SECONDS).out.decode()
    return "true" not in answer and "rootless" not in answer
