"""JUnit XML, as Surefire, Gradle, pytest, Vitest, Jest, Node, Mocha, CTest and cargo-nextest write it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.decode import without_colours
from agent_fox.verifier.logs.documents import Document
from agent_fox.verifier.logs.frames import Place, any_place, at, first_line, java_place, python_place
from agent_fox.verifier.logs.gathering import Counts, Gathering
from agent_fox.verifier.logs.javascript.stacks import is_file, kind_of_broken_file, loader_place, test_path
from agent_fox.verifier.logs.reports.junit_cases import PYTEST, CaseOutcome, CaseReader, Ending, JunitCase

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace
    from agent_fox.verifier.logs.reports.junit_cases import JunitCase

_BEGINS = regex(r"(?=[\s\S]*<testsuite)<(?:\?xml|testsuites?\b)")
_JAVA_TRACE = regex(r"^\s*at [\w.@/$<>-]+\([\w$-]+\.(?:java|kt|groovy|scala):\d+\)", re.MULTILINE)
_PYTEST_WRAPPED = regex(r'^failed on (?:setup|teardown) with "(.*?)"?$', re.DOTALL)
_PYTEST_ERROR = regex(r"^E {3}([A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt)\b.*)$", re.MULTILINE)
_PYTEST_LAST = regex(r"^\S[^\n]*\.py:\d+: ([A-Za-z_][\w.]*)\s*$", re.MULTILINE)
_JS_NAMES = regex(r"^\s*(?:cause: )?((?:[A-Z][\w$.]*)?(?:Error|Exception))\b(?: \[\w+\])?: ", re.MULTILINE)
_NAMES_CLASS = regex(r"(?:^|\.)[A-Z]\w*(?:Error|Exception|Failure|Failed)$")
_ERROR_PREFIX = regex(r"^(?:AssertionError(?: \[\w+\])?|Error): ")
_EMPTY_MESSAGES = ("Failed", "test failure")
_TYPE = regex(r"^<?(?:class ')?([\w.$]+)'?>?$")
_PANIC = regex(r"panicked at [^\n]+:\n([^\n]+)")
_CPP_PREFIX = regex(r"^(?P<file>\S+\.(?:cc|cpp|cxx|c|hh|hpp|hxx|h)):(?P<line>\d+)\n")  # GoogleTest's
_GO_PREFIX = regex(r"^[\w./\\-]+\.go:\d+: ")


class _Reader:
    """Counts the tests of a report, whoever wrote it, and keeps what failed."""

    def __init__(self, workspace: Workspace) -> None:
        self._cases = CaseReader()
        self._workspace = workspace
        self._found = Gathering()
        self._counts = Counts()

    def read(self, file: BinaryIO) -> None:
        for cases in self._cases.read(file):
            for case in cases:
                self._take(case)

    def _take(self, case: JunitCase) -> None:
        match case.outcome:
            case CaseOutcome.PASSED:
                return
            case CaseOutcome.SKIPPED:
                self._counts.skipped += 1
            case CaseOutcome.EXPECTED_FAILURE:
                self._counts.xfailed += 1
            case CaseOutcome.FAILED | CaseOutcome.BROKEN:
                self._fail(case)

    def _fail(self, case: JunitCase) -> None:
        if problem := lint_failure(case, self._workspace):
            self._found.fail(problem)
            return
        self._counts.errors += case.outcome is CaseOutcome.BROKEN
        self._counts.failures += case.outcome is CaseOutcome.FAILED
        self._counts.uncounted += _is_collection(case.endings[0])
        if self._found.is_full:
            return
        module = _module_of(case, self._workspace)
        for ending in case.endings:
            if ending.tag != "skipped":
                self._found.fail(_failure(case, ending, module, self._workspace))

    def parsed(self, *, is_complete: bool) -> Parsed:
        self._counts.passed = self._cases.passed
        summary = self._counts.summary() if self._cases.is_junit else None
        if summary == TestSummary() and (not is_complete or self._found.failures):
            summary = None
        return self._found.parsed(summary, is_complete=is_complete and self._cases.is_junit)


def _module_of(case: JunitCase, workspace: Workspace) -> str:
    """The folder of the module that was tested, empty for the root or one that lies elsewhere."""
    inside = workspace.relative(case.base_folder)
    is_below = workspace.holds(case.base_folder) and inside not in (".", str(workspace.root))
    return inside if is_below else workspace.module


def _is_collection(ending: Ending) -> bool:
    """Whether a file could not be read, so that none of its tests ran."""
    return ending.message == "collection failure"


def _failure(case: JunitCase, ending: Ending, module: str, workspace: Workspace) -> Failure:
    text = ending.text or case.output
    place = _place(case, text, module, workspace)
    if place is None and (match := _CPP_PREFIX.match(ending.message)):
        place = Place(workspace.relative(match["file"]), int(match["line"]))
    exception = _exception(ending, text)
    return Failure(
        kind=_kind(case, ending, text),
        message=_message(ending, text),
        **at(place, _file(case, workspace)),
        test_name=_test_name(case, workspace),
        evidence=text or ending.message,
        exception=exception,
        is_error=ending.tag == "error",
    )


def _kind(case: JunitCase, ending: Ending, text: str) -> FailureKind:
    if _is_collection(ending):
        return FailureKind.COMPILE_ERROR
    return kind_of_broken_file(f"{ending.message}\n{text}") if is_file(case.name) else FailureKind.TEST_FAILURE


def _place(case: JunitCase, text: str, module: str, workspace: Workspace) -> Place | None:
    if _JAVA_TRACE.search(text):
        return java_place(text, case.class_name, module)
    if _is_pytest(case):
        return python_place(text, workspace)
    return (loader_place(text, workspace) if is_file(case.name) else None) or any_place(text, workspace)


def _is_pytest(case: JunitCase) -> bool:
    return PYTEST in case.suites


def _file(case: JunitCase, workspace: Workspace) -> str | None:
    """The test's file where the report says it, by an attribute or in the way of pytest and Vitest."""
    if case.file:
        return workspace.relative(case.file)
    if _is_pytest(case):
        return _module_file(case.class_name or case.name)
    for word in (case.class_name, case.name):
        if re.search(r"[/\\.][^\s]*\.(?:[cm]?[jt]sx?|py|go|rs)$", word):
            return workspace.relative(word)
    return None


def _module_file(dotted: str) -> str | None:
    """`tests.test_calc.TestGroup` → `tests/test_calc.py`: pytest writes modules, then classes."""
    parts = dotted.split(".")
    names = [n for n, part in enumerate(parts) if part.startswith("test_") or part.endswith("_test")]
    last = names[-1] if names else next((n - 1 for n, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    return "/".join(parts[: last + 1]) + ".py" if dotted and last >= 0 else None


def _test_name(case: JunitCase, workspace: Workspace) -> str | None:
    if _is_pytest(case):
        return _pytest_name(case, workspace)
    if case.class_name in ("test", "suite") and not case.file.endswith(".java"):  # Node's reporter: no class at all
        return test_path([*case.suites, workspace.relative(case.name) if is_file(case.name) else case.name])
    name = case.name.removesuffix("()")
    if not case.class_name or name.startswith(case.class_name) or case.class_name.endswith(name):
        return name or None
    if is_file(case.class_name):
        return name
    separator = "." if re.fullmatch(r"[\w.$]+", case.class_name) and "::" not in name else " > "
    return f"{case.class_name}{separator}{name}"


def _pytest_name(case: JunitCase, workspace: Workspace) -> str | None:
    file = _file(case, workspace)
    if not case.class_name:
        return None
    module = (file or "").removesuffix(".py").replace("/", ".")
    classes = case.class_name.removeprefix(module).strip(".").split(".")
    return "::".join(part for part in (file or "", *classes, case.name) if part)


def _message(ending: Ending, text: str) -> str:
    message = _CPP_PREFIX.sub("", without_colours(ending.message)).strip()
    wrapped = _PYTEST_WRAPPED.match(message)
    if _is_collection(ending):
        errors = _PYTEST_ERROR.findall(text)
        return errors[-1].strip() if errors else message
    panic = _PANIC.search(text)
    message = first_line(panic[1] if panic else wrapped[1] if wrapped else message)
    if not message or message in _EMPTY_MESSAGES:
        message = _ERROR_PREFIX.sub("", _GO_PREFIX.sub("", first_line(text))) or message or "the test failed"
    return _without_exception(message, ending.type)


def _without_exception(message: str, kind: str) -> str:
    """The message without the exception's name in front, where the report gives that apart (as Gradle repeats it)."""
    if kind and "." in kind and message.startswith(f"{kind}:"):
        return message[len(kind) + 1 :].strip()
    return message


def _exception(ending: Ending, text: str) -> str | None:
    named = _TYPE.match(ending.type)
    if named and _NAMES_CLASS.search(named[1]):
        return named[1]
    for pattern in (_PYTEST_LAST, _JS_NAMES, _PYTEST_ERROR):
        if names := pattern.findall(text):
            return str(names[-1]).partition(":")[0].strip()
    return None


_RULE = regex(r"org\.(?:eslint|ruff)\.(?P<rule>\S+)$")
_PLACE = regex(r"line (?P<line>\d+), col (?P<column>\d+), (?P<message>.*)", re.DOTALL)


def lint_failure(case: JunitCase, workspace: Workspace) -> Failure | None:
    """The problem that a case tells of; None where it is a test's."""
    rule, place = _RULE.match(case.name), _PLACE.match(case.text.strip())
    if rule is None or place is None:
        return None
    return Failure(
        kind=FailureKind.LINT_FAILURE,
        message=case.message.removesuffix(".") or place["message"],
        file=workspace.relative(case.suites[-1]) if case.suites else None,
        line=int(place["line"]) or None,
        column=int(place["column"]) or None,
        evidence=case.text,
        code=rule["rule"],
    )


JUNIT = Document(_BEGINS, _Reader)
