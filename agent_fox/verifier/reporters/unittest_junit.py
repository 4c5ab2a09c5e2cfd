"""`python unittest_junit.py REPORT [arguments of unittest]`: runs unittest, and writes JUnit XML to REPORT.

It runs under the project's interpreter, which may be older than this package's: the standard library alone is used.
"""

from __future__ import annotations

import inspect
import os
import runpy
import sys
import traceback
import unittest
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from _typeshed import OptExcInfo

_LONGEST_TEXT = 20_000


class Recording(unittest.TextTestResult):
    """What unittest shows, and each test's outcome beside it."""

    def startTestRun(self) -> None:
        self.suite = ElementTree.Element("testsuite", name="unittest")
        super().startTestRun()

    def stopTestRun(self) -> None:
        super().stopTestRun()
        ElementTree.ElementTree(self.suite).write(sys.argv[1], encoding="utf-8", xml_declaration=True)

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self._record(test)

    def addFailure(self, test: unittest.TestCase, err: OptExcInfo) -> None:
        super().addFailure(test, err)
        self._record(test, "failure", err)

    def addError(self, test: unittest.TestCase, err: OptExcInfo) -> None:
        super().addError(test, err)
        self._record(test, "error", err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: OptExcInfo | None) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._record(test, "failure", err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        ElementTree.SubElement(self._record(test), "skipped", message=_clean(reason))

    def addExpectedFailure(self, test: unittest.TestCase, err: OptExcInfo) -> None:
        super().addExpectedFailure(test, err)
        ElementTree.SubElement(self._record(test), "skipped", type="pytest.xfail")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        ElementTree.SubElement(self._record(test), "failure", message="unexpected success")

    def _record(self, test: unittest.TestCase, tag: str = "", error: OptExcInfo | None = None) -> ElementTree.Element:
        case = ElementTree.SubElement(self.suite, "testcase", _names(test))
        if error is not None:
            shown = _clean("".join(traceback.format_exception(*error))[-_LONGEST_TEXT:])
            message = "collection failure" if _is_broken_file(test) else _clean(f"{error[1]}".split("\n")[0])
            ElementTree.SubElement(case, tag, message=message).text = shown
        return case


class Runner(unittest.TextTestRunner):
    """No failure hides the next."""

    resultclass = Recording  # type: ignore[assignment] # typeshed knows only functions here
    controls = ""

    def run(self, test: unittest.TestSuite | unittest.TestCase) -> unittest.TextTestResult:
        """Tests of our own, whose outcome is known, stand around the others; in the exit code they do not count."""
        self.failfast = False
        if not self.controls or not test.countTestCases():
            return super().run(test)
        result = super().run(unittest.TestSuite([*_controls("before"), test, *_controls("after")]))
        result.failures[:] = [failed for failed in result.failures if self.controls not in failed[0].id()]
        result.testsRun -= 4
        return result


def _controls(when: str) -> list[unittest.TestCase]:
    """One that passes and one that fails."""

    def passes(self: unittest.TestCase) -> None:
        if what := REPLACED():
            self.fail(what)

    def fails(self: unittest.TestCase) -> None:
        """By every assertion that tests use most; one that holds makes it pass, which is seen."""
        if all(_is_raised(self, name, given) for name, given in FALSE.items()):
            self.fail(Runner.controls)

    tests = {f"{Runner.controls}_{when}_{each.__name__}": each for each in (passes, fails)}
    kind = type("Control", (unittest.TestCase,), tests)
    return [kind(name) for name in tests]


REPLACED = runpy.run_path(os.path.join(os.path.dirname(__file__), "pytest_controls_kept.py"))["replaced"]  # noqa: PTH118, PTH120

FALSE: dict[str, tuple[object, ...]] = {
    "assertEqual": (0, 1),
    "assertNotEqual": (0, 0),
    "assertTrue": (False,),
    "assertFalse": (True,),
    "assertIs": (None, False),
    "assertIsNone": (0,),
    "assertIsNotNone": (None,),
    "assertIn": (0, ()),
    "assertIsInstance": (0, str),
    "assertGreater": (0, 1),
    "assertAlmostEqual": (0, 1),
    "assertRaises": (ValueError, int),
}


def _is_raised(test: unittest.TestCase, name: str, given: tuple[object, ...]) -> bool:
    try:
        getattr(test, name)(*given)
    except AssertionError:
        return True
    return False


def _is_broken_file(test: unittest.TestCase) -> bool:
    return type(test).__module__ == "unittest.loader" and type(test).__name__ == "_FailedTest"


def _names(test: unittest.TestCase) -> dict[str, str]:
    """The test's own id, taken apart; a module or class whose fixture broke stands in for its tests."""
    kind = type(test)
    if _is_broken_file(test):
        return {"classname": "", "name": _method(test)}
    if kind.__module__ == "unittest.suite":
        return {"classname": "", "name": test.id()}
    return {"classname": f"{kind.__module__}.{kind.__qualname__}", "name": _method(test), "file": _file(kind)}


def _method(test: unittest.TestCase) -> str:
    return str(getattr(test, "_testMethodName", test.id()))


def _file(kind: type) -> str:
    try:
        return os.path.relpath(inspect.getfile(kind))
    except (TypeError, OSError, ValueError):
        return ""


def _clean(text: str) -> str:
    return "".join(
        letter for letter in text if letter in "\t\n" or " " <= letter < "\ud800" or "\ue000" <= letter <= "\ufffd"
    )


if __name__ == "__main__":
    Runner.controls = os.environ.pop("AGENT_FOX_CONTROLS", "")
    sys.path[0] = os.getcwd()  # noqa: PTH109 - where `python -m unittest` looks first
    unittest.main(module=None, argv=["python -m unittest", *sys.argv[2:]], testRunner=Runner)
