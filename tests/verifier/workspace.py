"""Small workspaces for the verifier's tests: files, and orders about them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.judging.checks import CheckReport, run_checks

PYTEST = "python -m pytest -q"


def with_files(folder: Path, files: dict[str, str]) -> Path:
    """Write `files` (path -> text) below `folder`."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder


def order(folder: Path, *ids: str, **settings: Any) -> CheckOrder:  # noqa: ANN401 - fields of the order
    """An order for `ids` in `folder`: its spec tests are all that pytest finds, unless `settings` differ."""
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    defaults: dict[str, Any] = {
        "commands": {"Spec tests": PYTEST},
        "environment": {"PATH": search},
        "timeout": 60.0,
    }
    return CheckOrder({id: f"{id} SHALL hold" for id in ids}, str(folder), **{**defaults, **settings})


def words(report: CheckReport) -> dict[str, str]:
    """id -> word of a report."""
    return {verdict.requirement_id: verdict.word.value for verdict in report.verdicts}


def checked(
    folder: Path,
    files: dict[str, str],
    *ids: str,
    **settings: Any,  # noqa: ANN401 - fields of the order
) -> CheckReport:
    """What the checks say about `ids` in a workspace of `files`."""
    return run_checks(order(with_files(folder, files), *ids, **settings))


def is_gone(pid: int) -> bool:
    """Whether a process ends within a few seconds (a zombie has ended)."""
    return _comes_true(lambda: _has_ended(Path(f"/proc/{pid}/stat")))


def appears(path: Path) -> bool:
    """Whether a file with something in it appears within a few seconds."""
    return _comes_true(lambda: path.is_file() and path.stat().st_size > 0)


def _has_ended(stat: Path) -> bool:
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def _comes_true(claim: Callable[[], bool]) -> bool:
    for _ in range(200):
        if claim():
            return True
        time.sleep(0.05)
    return False
