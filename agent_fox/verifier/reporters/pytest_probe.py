"""A plugin for pytest, run by the project's interpreter: how each test ended, and by which error, raised where.

It lies beside the recorder, tells it which test runs, and writes `ends.json` there:
{test: {"outcome": ..., "phase": ..., "kind": class of the error, "message": its first line,
"frames": [[file, line]], "apart": it failed in what was made for others, too}}.
"""

from __future__ import annotations

import gc
import json
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

FOLDER = Path(__file__).resolve().parent
WATCHED = ("pytest_collection", "pytest_runtest_setup", "pytest_runtest_call", "pytest_runtest_teardown")
"""In them code of the project is called without a hook of its own: collectors, fixtures, tests."""
MOST_FRAMES = 60
LONGEST = 300
RECORDER: Any = getattr(sys.modules.get("sitecustomize"), "RECORDER", None)
ends: dict[str, dict[str, Any]] = {}


def pytest_configure(config: pytest.Config) -> None:
    """The recorder rests where no code of the project is called: around the phases of tests, but for its own hooks."""
    if RECORDER is None:
        return
    RECORDER.rests = True
    watched: list[bool] = []

    def before(name: str, impls: Sequence[Any], _given: Mapping[str, Any]) -> None:
        if name == "pytest_sessionstart":
            RECORDER.rest()  # it watches since a conftest was read; here nothing of the project runs
        watched.append(not RECORDER.is_watching and (name in WATCHED or any(map(is_of_project, impls))))
        if watched[-1]:
            RECORDER.watch()

    def after(_outcome: object, _name: str, _impls: Sequence[Any], _given: Mapping[str, Any]) -> None:
        if watched and watched.pop():
            RECORDER.rest()

    config.add_cleanup(config.pluginmanager.add_hookcall_monitoring(before, after))


@cache
def is_of_project(impl: Any) -> bool:  # noqa: ANN401 - pluggy says no more of it
    """Whether the function behind a hook stands in the project; one without code of its own may."""
    code = getattr(impl.function, "__code__", None)
    return code is None or bool(RECORDER.is_ours(code))


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    if RECORDER is not None and isinstance(collector, pytest.File):
        RECORDER.begin(f"collecting {collector.nodeid}")
    yield
    if RECORDER is not None:
        RECORDER.begin("")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if RECORDER is not None:
        RECORDER.begin(item.nodeid)
    yield
    if RECORDER is not None:
        RECORDER.begin("")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """The last of its phases that did not pass counts, a failure apart before no other; the error is the one that was
    raised, whatever reports say.
    """
    outcome = yield
    report = outcome.get_result()
    known = ends.setdefault(item.nodeid, {"outcome": "passed", "phase": report.when})
    if report.outcome == "passed" and call.excinfo is None:
        return
    is_apart = (
        report.outcome == "failed" and call.excinfo is not None and not is_its_own(item, call.excinfo, report.when)
    )
    if is_apart and known["outcome"] == "failed":
        return
    known.update(outcome=report.outcome, phase=report.when, apart=is_apart)
    if report.outcome == "skipped" and hasattr(report, "wasxfail"):
        known["xfailed"] = True
    if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
        frames = [(str(entry.path), entry.lineno + 1) for entry in call.excinfo.traceback]
        message = str(call.excinfo.value).partition("\n")[0]
        known.update(kind=call.excinfo.typename, message=message[:LONGEST], frames=frames[-MOST_FRAMES:])


def is_its_own(item: pytest.Item, error: pytest.ExceptionInfo[BaseException], phase: str) -> bool:
    """Whether a test failed in its body, or in a fixture that is made for it alone, or that it asks for when it begins.
    What is made for a whole class or file fails for whichever test is the first there, or the last.
    """
    known = getattr(item, "_fixtureinfo", None)
    if phase == "call" or known is None:
        return True
    asked = [*known.argnames, *(name for mark in item.iter_markers("usefixtures") for name in mark.args)]
    asked = asked if phase == "setup" else []
    for name in asked:
        asked += [more for made in known.name2fixturedefs.get(name, ()) for more in made.argnames if more not in asked]
    all_made = [(name, made) for name, several in known.name2fixturedefs.items() for made in several]
    own = {code_of(made.func) for name, made in all_made if made.scope == "function" or name in asked}
    return any(entry.frame.code.raw in own for entry in error.traceback)


def code_of(function: Any) -> object:  # noqa: ANN401 - of a fixture
    return getattr(getattr(function, "__func__", function), "__code__", None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """What follows the last test is spared where it shows nothing of the tests: pytest collects all garbage five times,
    and Hypothesis' plugin loads all of Hypothesis to sum up that nothing used it. Each costs as much as half a start.
    """
    (FOLDER / "ends.json").write_text(json.dumps(ends), encoding="utf-8")
    if RECORDER is not None and not RECORDER.trims:
        return
    plugins = session.config.pluginmanager
    if "hypothesis" not in sys.modules and plugins.has_plugin("hypothesispytest"):
        plugins.unregister(name="hypothesispytest")
    if hasattr(gc, "freeze"):
        gc.freeze()
