"""The test commands of a project whose spec names none: by its manifests and profiles, as a person would type them.

Loaded where it is needed: most specs name their own.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.system.own_folders import own_folder
from agent_fox.verifier.ground.request import Prepared, Refused, Request
from agent_fox.verifier.ground.results import Tool
from agent_fox.verifier.profiles.loading import load_profile
from agent_fox.verifier.profiles.prepare import prepare
from agent_fox.verifier.projects.detect import detect

if TYPE_CHECKING:
    from agent_fox.verifier.projects.systems import BuildSystem

# By the words that log parsers go by: what follows the program.
_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "pytest": ("-m", "pytest"),
    "unittest": ("-m", "unittest", "discover"),
    "maven": ("-o", "test"),
    "gradle": ("--offline", "test"),
    "go": ("test", "./..."),
    "cargo": ("test", "--offline"),
    "node-test": ("--test",),
    "make": ("test",),
}


def planned_lines(workspace: Path) -> tuple[str, ...]:
    """One command line for each build system in the workspace's root that has tests and a runner that is known."""
    systems = (system for system in detect(workspace).systems if system.root == ".")
    return tuple(line for system in systems for line in _line(workspace, system))


def _line(workspace: Path, system: BuildSystem) -> Iterator[str]:
    with own_folder("plan") as reports:
        try:
            prepared = prepare(load_profile(system.profile), workspace, Request(Tool.UNIT_TESTS), Path(reports))
        except Refused:
            return
    if isinstance(prepared, Prepared) and prepared.parser in _ARGUMENTS:
        yield shlex.join([prepared.display[0], *_ARGUMENTS[prepared.parser]])
