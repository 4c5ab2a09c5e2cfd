"""The backend `command` in the sandbox, where `sandbox = "require"` asks for it: a process of ours between it and the
shim, which hands on its output, its exit status and its result file.

It sees its workspace (a coder may write there), a home and a temporary folder of its own, the brief, the system, the
tools on PATH, and the files that its own command line names.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.session.agents.backend import readable
from agent_fox.session.agents.runner.enclosure import program_folders
from agent_fox.session.result import LARGEST_RESULT
from agent_fox.system import programs
from agent_fox.system.files import read_regular
from agent_fox.system.sandbox import bubblewrap, toolchains
from agent_fox.system.sandbox.bubblewrap import Container
from agent_fox.system.sandbox.view import View

if TYPE_CHECKING:
    from agent_fox.session.order import LaunchOrder, Paths
    from agent_fox.system.sandbox.bubblewrap import Mode

NOT_STARTED = 126
RESULT = "AGENT_FOX_RESULT"


def write_document(order: LaunchOrder, paths: Paths, argv: Sequence[str]) -> None:
    """What this module's own process reads: the command, and what it may see."""
    document = {
        "argv": list(argv), "sandbox": order.agent.sandbox,
        "workspace": str(paths.workspace.resolve()), "private": str(paths.agent.resolve()),
        "result": str(paths.result.resolve()), "writes": order.writes,
        "readable": [*readable(order, paths), *[word for word in argv if word.startswith('/') and Path(word).exists()]],
    }  # fmt: skip
    paths.document.write_text(json.dumps(document), encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Run the command of a document in the sandbox. The exit status is the command's own."""
    document = json.loads(Path(arguments[0]).read_bytes())
    private, workspace = Path(document["private"]), Path(document["workspace"])
    for name in ("home", "tmp"):
        (private / name).mkdir(parents=True, exist_ok=True)
    own = {"HOME": str(private / "home"), "TMPDIR": str(private / "tmp"), RESULT: str(private / "result.json")}
    environment = {**os.environ, **own}
    mode = bubblewrap.mode_of(document["sandbox"])
    view = view_of(
        document["argv"][0], workspace, private, document["readable"], environment, mode, writes=document["writes"]
    )
    try:
        with bubblewrap.kept_apart(tuple(document["argv"]), view, mode, environment) as wrapped:
            status = programs.hand_over(wrapped.argv, environment, workspace, wrapped.descriptors)
            is_started = wrapped.is_command_started()
    except OSError as error:
        sys.stderr.write(f"Error: the sandbox could not be started: {error}\n")
        return NOT_STARTED
    if status and not is_started:
        return NOT_STARTED
    written = read_regular(private / "result.json", LARGEST_RESULT + 1)
    if written is not None:
        Path(document["result"]).write_bytes(written)
    return status if status >= 0 else 128 - status


def view_of(
    program: str, workspace: Path, private: Path, shown: Sequence[str], environment: Mapping[str, str], mode: Mode, *,
    writes: bool,
) -> View:  # fmt: skip
    """A coder may write its workspace; who reads may not write anything there. A container has tools of its own."""
    path = shutil.which(program, path=environment.get("PATH")) or program
    tools = (*toolchains.folders(program, workspace, environment), *program_folders(Path(path)))
    folders = (*(() if isinstance(mode, Container) else tools), *map(Path, shown))
    outside = dict.fromkeys(folder for folder in folders if not folder.is_relative_to(workspace))
    outer = [folder for folder in outside if not any(folder.is_relative_to(other) for other in {*outside} - {folder})]
    return View(
        root=workspace, cwd=workspace, private=private, home=private / "home", writable=None if writes else (),
        readable=tuple(outer), network=not isinstance(mode, Container) or mode.network, is_git_writable=writes,
    )  # fmt: skip


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
