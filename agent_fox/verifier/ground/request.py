"""What is asked of a profile and what comes back, as values. How one becomes the other is in `prepare`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import Scope, Tool


class Why(StrEnum):
    """What a capability lacks."""

    NO_COMMAND = "no_command"  # the profile has no command for it
    NOT_CONFIGURED = "not_configured"  # the project does not use such a tool
    NO_PROGRAM = "no_program"  # the program is not on this machine
    NO_DATA = "no_data"  # what it would compare with is not there, such as advisories
    NO_PROJECT = "no_project"  # no project of the profile's kind was found


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks for. `module` is a folder as detection names it, `selector` a test as its runner names it."""

    tool: Tool
    module: str | None = None
    selector: str | None = None


class Refused(ValueError):
    """A request that is not carried out: `code` for programs, the text for people. Nothing of it has run."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A capability that this project or machine has no command for: a result of it is unknown, never a pass."""

    reason: str
    kind: Why


@dataclass(frozen=True, slots=True)
class Prepared:
    """A command that may run.

    before: argvs to run first, in order, in the same folder under the same limits; the first that fails is the result.
    cwd: absolute, inside the workspace. display: argv without paths of this machine.
    parser: a word that `logs.registry` knows. reports: globs, absolute below the report folder, else relative to the
    workspace's root; the command is taken to have written them, so files that are older are not its own.
    seconds, output_bytes: limits for all of it. environment: to be added to the minimal one.
    fails_on_output: the tool exits with 0 whatever it finds; failures that are read from its log count.
    idle: for tests that nobody counts: a line like this pattern says that none ran. None: no count, no pass.
    readable: folders beside the workspace that it has to read.
    products: files that the build makes beside the sources, and which git does not track; they are no source.
    missing: what of the tool's work is left undone, such as for a program that is not there; the rest alone is no pass.
    guess: why the runner may be the wrong one; that none of its tests passes is no failure of theirs then.
    only_reads: it changes nothing in the workspace, and may run beside what does.
    expands: globs among its words, and those of `before`, become the names of the files that they match, in order.
    notes: what a reader of the result must know, such as settings of the project that leave tests out.
    """

    argv: tuple[str, ...]
    cwd: Path
    display: tuple[str, ...]
    parser: str
    reports: tuple[str, ...] = ()
    seconds: float = 600.0
    output_bytes: int = 50_000_000
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    network: bool = False
    scope: Scope | None = None
    notes: tuple[str, ...] = ()
    before: tuple[tuple[str, ...], ...] = ()
    fails_on_output: bool = False
    products: tuple[str, ...] = ()
    idle: str | None = None
    missing: str = ""
    guess: str = ""
    readable: tuple[Path, ...] = ()
    only_reads: bool = False
    expands: bool = False
