"""Small workspaces for the verifier's tests: files, and orders about them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.judging.checks import CheckReport, run_checks
from tests.verifier.made_projects import OWN_PATH, write

PYTEST = "python -m pytest -q"


def order(folder: Path, *ids: str, **settings: Any) -> CheckOrder:  # noqa: ANN401 - fields of the order
    """An order for `ids` in `folder`: its spec tests are all that pytest finds, unless `settings` differ."""
    defaults: dict[str, Any] = {
        "commands": {"Spec tests": PYTEST},
        "environment": {"PATH": OWN_PATH},
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
    return run_checks(order(write(folder, files), *ids, **settings))


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
