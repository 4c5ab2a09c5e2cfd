"""A plugin for pytest, run by the project's interpreter: how each test ended, and by which error, raised where.

It lies beside the recorder, tells it which test runs, and writes `ends.json` there:
{test: {"outcome": ..., "phase": ..., "kind": class of the error, "message": its first line, "frames": [file]}}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

FOLDER = Path(__file__).resolve().parent
MOST_FRAMES = 60
LONGEST = 300
RECORDER: Any = getattr(sys.modules.get("sitecustomize"), "RECORDER", None)
ends: dict[str, dict[str, Any]] = {}


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if RECORDER is not None:
        RECORDER.begin(item.nodeid)
    yield
    if RECORDER is not None:
        RECORDER.begin("")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """The last of its phases that did not pass counts; the error is the one that was raised, whatever reports say."""
    outcome = yield
    report = outcome.get_result()
    known = ends.setdefault(item.nodeid, {"outcome": "passed", "phase": report.when})
    if report.outcome == "passed" and call.excinfo is None:
        return
    known.update(outcome=report.outcome, phase=report.when)
    if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
        files = [str(entry.path) for entry in call.excinfo.traceback]
        said = str(call.excinfo.value).partition("\n")[0]
        known.update(kind=call.excinfo.typename, message=said[:LONGEST], frames=files[-MOST_FRAMES:])


def pytest_sessionfinish() -> None:
    (FOLDER / "ends.json").write_text(json.dumps(ends), encoding="utf-8")
