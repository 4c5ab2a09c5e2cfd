"""A plugin for pytest, run by the project's interpreter: four tests of ours stand around the others.

It is copied under a name made for one run, by which the tests are called. Of each pair one must pass and one must fail;
what that does to counts and to the exit code is taken back before pytest looks at them.
"""

from __future__ import annotations

import runpy
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = __name__
WORDS = ("before_passes", "before_fails", "after_passes", "after_fails")
REPLACED = runpy.run_path(f"{__file__[:-3]}_kept.py")["replaced"]


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> Iterator[None]:
    """Behind every other plugin, so that none chooses from them or sorts them among the others."""
    yield
    if items:
        first, last = items[0], items[-1]
        items[:0] = [_control(session, first, word) for word in WORDS[:2]]
        items.extend(_control(session, last, word) for word in WORDS[2:])


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    """Neither how many there are nor that some fail counts."""
    count = _Count()
    session.config.pluginmanager.register(count, f"{NAME}_count")
    yield
    session.testsfailed -= count.failed
    session.testscollected -= len(WORDS) if session.testscollected else 0


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """They are not shown to people, who did not write them."""
    return ("", "", "") if NAME in report.nodeid else None


class _Count:
    failed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and NAME in report.nodeid:
            self.failed += 1


def ask_unittest(case: dict[str, Any]) -> None:
    """Whether the assertions of its test cases are its own still; pytest loads it only where tests do."""
    for name, value in vars(case["TestCase"]).items():
        if name.startswith(("assert", "fail")) and getattr(value, "__globals__", case) is not case:
            pytest.fail(f"unittest.TestCase.{name} was replaced")


def _control(session: pytest.Session, near: pytest.Item, word: str) -> pytest.Function:
    """Beside a test, so that the hooks of its folder see it too; without any fixture."""

    def body() -> None:
        if what := REPLACED():
            raise AssertionError(what)
        if "unittest.case" in sys.modules:
            ask_unittest(vars(sys.modules["unittest.case"]))
        if word.endswith("fails"):
            with pytest.raises(AssertionError):
                raise AssertionError(NAME)
            with pytest.raises(pytest.fail.Exception), pytest.raises(ValueError, match="x"):
                pass
            assert pytest.approx(1) == 2, NAME

    control: pytest.Function = pytest.Function.from_parent(session, name=f"{NAME}_{word}", callobj=body)
    if hasattr(near, "path"):
        control.path = near.path
    del control.fixturenames[:]
    return control
