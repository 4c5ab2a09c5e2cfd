"""Laying the recorder, and pytest's probe, beside a run of tests; and what they left of it. Runs nothing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_fox.core.json_text import json_object
from agent_fox.core.values import dataclass
from agent_fox.system.files import content_in
from agent_fox.verifier.suites.resting import Window

if TYPE_CHECKING:
    from agent_fox.verifier.ground.request import Prepared

REPORTERS = Path(__file__).parents[1] / "reporters"


@dataclass(frozen=True, slots=True)
class Measured:
    """What was seen of a run of pytest: how each test ended, what was done for it, by so many processes of Python.

    ends: by the test's id, `passed`, `failed`, `skipped` or `xfailed`.
    """

    ends: Mapping[str, str] = field(default_factory=dict)
    windows: Mapping[str, Window] = field(default_factory=dict)
    processes: int = 0


@dataclass(slots=True)
class Recording:
    """A run of a project's tests by pytest, of which it is measured what each of them rests on.

    only: the files to run instead of all. is_short: the suite is known to be short, so that each call may be watched,
    where the interpreter (before 3.12) has nothing cheaper; else nothing is measured there.
    """

    only: tuple[str, ...] = ()
    is_short: bool = False
    measured: Measured = Measured()

    def laid(self, command: Prepared, folder: Path, root: Path) -> Prepared:
        """The command with all that in `folder`, which is empty, and with the files."""
        lay_recorder(folder, root, whenever=self.is_short, trims=False)
        name = lay_probe(folder)
        path = os.pathsep.join(filter(None, (str(folder), command.environment.get("PYTHONPATH", ""))))
        place = (f"--rootdir={root}", f"--confcutdir={root}") if self.only else ()
        return replace(
            command,
            argv=(*command.argv, "-p", name, *place, *self.only),
            environment={**command.environment, "PYTHONPATH": path},
        )

    def gather(self, folder: Path) -> None:
        """Read what the run left in the folder."""
        ends = {
            test: "xfailed" if end.get("xfailed") else str(end.get("outcome", ""))
            for test, end in document_at(folder / "ends.json").items()
        }
        rows, processes = rows_in(folder)
        self.measured = Measured(ends, {name: window_of(row) for name, row in rows.items()}, processes)


def lay_recorder(folder: Path, root: Path, *, whenever: bool = True, trims: bool = True) -> None:
    """The recorder, for runs in `root` with `folder` first on PYTHONPATH. whenever: also where it costs much; trims:
    what follows the last test may be spared.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(REPORTERS / "recorder.py", folder / "sitecustomize.py")
    settings = {"root": str(root), "whenever": whenever, "trims": trims}
    (folder / "recorder.json").write_text(json.dumps(settings), encoding="utf-8")


def lay_probe(folder: Path) -> str:
    """Pytest's plugin, in the same folder; its name."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"afp_{folder.parent.name.replace('-', '_')}"
    shutil.copyfile(REPORTERS / "pytest_probe.py", folder / f"{name}.py")
    return name


def rows_in(folder: Path) -> tuple[dict[str, list[dict[str, Any]]], int]:
    """What each process of Python wrote about each test, and how many processes did."""
    windows: dict[str, list[dict[str, Any]]] = {}
    documents = [document_at(path) for path in sorted(folder.glob("seen-*.json"))]
    for name, row in (each for document in documents for each in document.items()):
        windows.setdefault(name, []).append(row)
    return windows, len(documents)


def window_of(rows: Sequence[Mapping[str, Any]]) -> Window:
    """What several processes did for the same test."""
    return Window(
        frozenset(file for row in rows for file, _ in row["executed"]),
        frozenset((file, opener) for row in rows for file, opener in row["opened"]),
        frozenset((kind, what, opener) for row in rows for kind, what, opener in row["asked"]),
    )


def document_at(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty where there is none."""
    return json_object(content_in(path.parent, path.name) or b"") or {}
