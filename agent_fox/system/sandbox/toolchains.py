"""Where compilers, interpreters and downloaded packages lie outside the system's folders: what a sandbox must show.

Nothing here is a person's own file: only folders that look like an installed tool, and caches of public packages.
"""

from __future__ import annotations

import functools
import os
import pwd
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_fox.core.values import dataclass

SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")))
"""Folders of the system that hold programs and libraries; a sandbox shows them whole."""

_SYSTEM = frozenset(SYSTEM)

PROGRAMS = ("bin", "sbin", "shims")
"""What folders of programs are called."""

MARKS = ("lib", "lib64", "libexec", "pyvenv.cfg", "VERSION")
"""One of these beside a `bin` tells an installed tool from a folder of scripts."""

VARIABLES = ("JAVA_HOME", "GOROOT", "MAVEN_HOME", "GRADLE_HOME")
"""Variables that say which of several installed tools is meant."""

LONGEST_CHAIN = 16
"""Symbolic links and `#!` lines that are followed from one program."""


@dataclass(frozen=True, slots=True)
class Cache:
    """Downloaded packages of a language: `parts` of the folder that `variable` names, or of `folder` in the person's
    home.

    Tokens and settings lie beside the parts, so that only the parts are ever shown.
    """

    language: str
    variable: str
    folder: str
    parts: tuple[str, ...]


CACHES = (
    Cache("rust", "CARGO_HOME", ".cargo", ("registry", "git")),
    Cache("rust", "RUSTUP_HOME", ".rustup", (".",)),
    Cache("go", "GOPATH", "go", ("pkg/mod",)),
    Cache("java", "GRADLE_USER_HOME", ".gradle", ("wrapper/dists",)),
    Cache("java", "", ".m2", ("repository",)),
    Cache("javascript", "", ".npm", ("_cacache",)),
)


def home() -> Path:
    """The home of the person who runs us."""
    return _resolved(os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)


@functools.cache
def _resolved(path: str) -> Path:
    return Path(path).resolve()


def caches(environment: Mapping[str, str], language: str | None = None) -> Iterator[tuple[str, Path]]:
    """(place below a home, where it lies here) of every cache that exists, or those of a language; `environment` is
    ours."""
    for cache in (each for each in CACHES if language in (None, each.language)):
        folder = Path(environment.get(cache.variable) or home() / cache.folder)
        for part in cache.parts:
            if folder.is_absolute() and (folder / part).exists():
                yield str(Path(cache.folder, part)), (folder / part).resolve()


def folders(argv0: str, cwd: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """What must be seen to run `argv0` in `cwd`, and all that its search path and VARIABLES offer: existing folders."""
    entries = [Path(entry) for entry in environment["PATH"].split(os.pathsep) if entry]
    tools = {folder for entry in entries for folder in _tool(entry)}
    return _worth_showing(_with_bases(tools) | _started(argv0, cwd, environment))


def started(argv0: str, cwd: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Of `folders` those that belong to `argv0` and VARIABLES, whatever else the search path offers."""
    return _worth_showing(_started(argv0, cwd, environment))


def _started(argv0: str, cwd: Path, environment: Mapping[str, str]) -> set[Path]:
    tools = {Path(environment[name]) for name in VARIABLES if name in environment}
    program = executable(argv0, cwd, environment["PATH"])
    return _with_bases(tools | (_along(program) if program is not None else set()))


def _with_bases(tools: set[Path]) -> set[Path]:
    """The tools, and the installations of Python that virtual environments among them were made from."""
    prefixes = [folder for folder in tools if (folder / "pyvenv.cfg").is_file()]
    return tools.union(*(_along(prefix / "bin/python") for prefix in prefixes))


def _worth_showing(tools: set[Path]) -> tuple[Path, ...]:
    shown = {folder for folder in tools if _is_worth_showing(folder)}
    return tuple(sorted(folder for folder in shown if shown.isdisjoint(folder.parents)))


def executable(argv0: str, cwd: Path, search_path: str) -> Path | None:
    """The file that runs as `argv0`, or None."""
    program = shutil.which(cwd / argv0 if "/" in argv0 else argv0, path=search_path)
    return Path(program) if program else None


def _along(program: Path) -> set[Path]:
    """The tools that a program's links and `#!` lines lead to.

    A workspace can write such a line: nothing is shown for it but what is called and looks like an installed tool.
    """
    return {folder for hop in _chain(program) if hop.parent.name in PROGRAMS for folder in _tool(hop.parent)}


def _tool(folder: Path) -> Iterator[Path]:
    """A folder of programs under every name it has, each with what was installed around it; none of the system's."""
    for name in {Path(os.path.normpath(folder)), folder.resolve()}:
        if _is_of_the_system(name):
            continue
        yield name
        if name.name in PROGRAMS and _is_installed(name.parent):
            yield name.parent
        if name == home() / ".local/bin":
            yield home() / ".local/lib"


def _is_installed(prefix: Path) -> bool:
    return prefix != home() / ".local" and any((prefix / mark).exists() for mark in MARKS)


def _is_of_the_system(folder: Path) -> bool:
    return not _SYSTEM.isdisjoint((folder, *folder.parents))


def _is_worth_showing(folder: Path) -> bool:
    if _is_of_the_system(folder) or not folder.is_absolute() or not folder.is_dir():
        return False
    real = folder.resolve()
    return not home().is_relative_to(real) and not real.is_relative_to(home() / ".config")


def _chain(program: Path) -> Iterator[Path]:
    """The program, what its links lead to step by step, and the interpreter of its `#!` line, likewise."""
    for _ in range(LONGEST_CHAIN):
        yield program
        following = program.parent / program.readlink() if program.is_symlink() else _interpreter(program)
        if following is None:
            return
        program = following


def _interpreter(script: Path) -> Path | None:
    try:
        with script.open("rb") as file:
            line = file.readline(256)
    except OSError:
        return None
    words = line.removeprefix(b"#!").split()
    return Path(os.fsdecode(words[0])) if line.startswith(b"#!") and words else None
