"""Which version of an agent's program is there: asked once for each state of its file, and not for long.

A program is asked with `--version`, in an empty home of its own, so that asking changes nothing of a person's.
"""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.markdown import one_line
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system import programs
from agent_fox.system.own_folders import own_folder

if TYPE_CHECKING:
    from agent_fox.session.agents.command_line import Facts

SECONDS = 60.0
"""How long a program may take to tell its version. Usual is less than ten, on a busy machine."""

LONGEST_OUTPUT = 64 * 1024
"""Bytes of each stream that are read; who prints more has not answered the question."""

LONGEST_QUOTE = 200

_NUMBERS = r"v?(\d+(?:\.\d+){1,3})(?![\w.]*\.\d)"
_ANYWHERE = regex(rf"(?<![\w.]){_NUMBERS}")
_NAMED = regex(rf"\bversion:? {_NUMBERS}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Probe:
    """What a program says it is. One of the two is empty: `problem` says why there is no version."""

    version: str = ""
    problem: str = ""

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.version.split(".")) if self.version else ()


def probe(program: str, seconds: float = SECONDS) -> Probe:
    """The version of a program, by its path or its name on PATH. Asked anew only where its file has changed."""
    path = shutil.which(program)
    if path is None:
        is_file = "/" in program and Path(program).is_file()
        why = "there is no such file" if "/" in program else "it is not on PATH"
        return Probe(problem=f"{program} is not {'executable' if is_file else f'installed: {why}'}")
    try:
        state = Path(path).stat()
        return Probe(_version_of(str(Path(path).absolute()), state.st_mtime_ns, state.st_size, seconds))
    except OSError as error:
        return Probe(problem=f"{path} cannot be run: {error.strerror or error}")
    except _Silent as silence:
        return Probe(problem=str(silence))


def problem_of(facts: Facts, program: str, seconds: float = SECONDS) -> str | None:
    """Why this program cannot be used as the agent's, and what to do about it; None where it can."""
    probed = probe(program, seconds)
    if probed.problem:
        return f"{probed.problem}; install it: {facts.install}"
    if probed.numbers < facts.least:
        needed = ".".join(map(str, facts.least))
        old = f"{facts.program} {probed.version} ({program}) is too old: {needed} or newer is needed"
        return f"{old}; update it: {facts.install}"
    return None


def bare_environment(home: Path) -> dict[str, str]:
    """What a program is asked with: nothing of a person's but where programs are."""
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "TMPDIR": str(home), "NO_COLOR": "1"}


class _Silent(RuntimeError):
    """The program gave no version; the message says what it gave. An exception, so that it is not cached."""


@cache
def _version_of(path: str, changed: int, size: int, seconds: float) -> str:
    """The version that the program gives. `changed` and `size` are the key of the cache."""
    try:
        exit_status, output = _asked(path, seconds)
    except TimeoutError:
        raise _Silent(f"`{path} --version` did not end within {seconds:g} s; try it by hand") from None
    version = (_ANYWHERE if exit_status == 0 else _NAMED).search(output)
    if version is None:
        words = one_line(output.strip(), LONGEST_QUOTE)
        output_shown = f"it said: {words}" if words else "it said nothing"
        raise _Silent(f"`{path} --version` told no version (exit {exit_status}, {output_shown})")
    return version[1]


def _asked(path: str, seconds: float) -> tuple[int, str]:
    """Exit status and the words: standard output before standard error. Raises OSError, _Silent."""
    with own_folder("probe") as home:
        own = bare_environment(home)
        done = programs.run_bounded([path, "--version"], seconds, LONGEST_OUTPUT, environment=own, cwd=home)
    if done.is_cut:
        raise _Silent(f"`{path} --version` printed more than {LONGEST_OUTPUT:,} bytes; try it by hand")
    return done.status, "\n".join(stream.decode("utf-8", "replace") for stream in (done.out, done.err))
