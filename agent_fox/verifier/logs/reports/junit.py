"""JUnit XML, as Surefire, Gradle, pytest, Vitest, Jest, Node, Mocha, CTest and cargo-nextest write it."""

from __future__ import annotations

import re
from itertools import chain
from typing import BinaryIO

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.decode import without_colours
from agent_fox.verifier.logs.frames import first_line, is_file, java_place, place_in
from agent_fox.verifier.logs.gathering import Counts, Gathering
from agent_fox.verifier.logs.javascript.stacks import kind_of_broken, test_path
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.parsers import Cut, begin_of, stands_first
from agent_fox.verifier.logs.protocol import Place, Workspace, at, place_of
from agent_fox.verifier.logs.reports.junit_cases import PYTEST, CaseOutcome, CaseReader, Ending, JunitCase

_LIKE = patterns_in(__file__)
_COLLECTION = "collection failure"  # of a file that could not be read, so that none of its tests ran
_EMPTY_MESSAGES = ("Failed", "test failure")


class Junit:
    """The DocumentParser of a report: counts its tests, whoever wrote it, and keeps what failed."""

    stands_alone = True

    def recognises(self, head: str) -> bool:
        at = begin_of(head)
        return at is not None and bool(_LIKE["begins"].match(head, at)) and stands_first(head, at)

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        cases, findings, counts, is_complete = CaseReader(), Gathering(), Counts(), True
        try:
            for case in chain.from_iterable(cases.read(file)):
                has_failed = case.outcome in (CaseOutcome.FAILED, CaseOutcome.BROKEN)
                if has_failed and (problem := lint_failure(case, workspace)):
                    findings.fail(problem)
                    continue
                counts.add(case.outcome)
                counts.uncounted += has_failed and case.endings[0].message == _COLLECTION
                endings = [each for each in case.endings if has_failed and each.tag != "skipped"]
                findings.fail(*(_failure(case, each, workspace) for each in endings if not findings.is_full))
        except Cut:
            is_complete = False
        counts.passed, is_complete = cases.passed, is_complete and cases.is_junit
        summary = counts.summary() if cases.is_junit else None
        if summary == TestSummary() and (not is_complete or findings.failures):
            summary = None
        return findings.parsed(summary, is_complete=is_complete)


JUNIT = Junit()


def _failure(case: JunitCase, ending: Ending, workspace: Workspace) -> Failure:
    """What one ending tells. A file that could not be read, or loaded, never ran: that is no failed test."""
    text = ending.text or case.output
    place, cpp = _place(case, text, workspace), _LIKE["cpp_prefix"].match(ending.message)
    place = place or (place_of(cpp, workspace) if cpp else None)
    kind = FailureKind.COMPILE_ERROR if ending.message == _COLLECTION else FailureKind.TEST_FAILURE
    if kind is FailureKind.TEST_FAILURE and is_file(case.name):
        kind = kind_of_broken(f"{ending.message}\n{text}")
    named, tables = _LIKE["type"].match(ending.type), ("pytest_last", "js_names", "pytest_error")
    lines = next(filter(None, (_LIKE[each].findall(text) for each in tables)), [""])
    exception = named[1] if named and _LIKE["names_class"].search(named[1]) else lines[-1].partition(":")[0].strip()
    return Failure(
        kind,
        _message(ending, text),
        **at(place, _file(case, workspace)),
        test_name=_test_name(case, workspace),
        evidence=text or ending.message,
        exception=exception or None,
        is_error=ending.tag == "error",
    )


def _place(case: JunitCase, text: str, workspace: Workspace) -> Place | None:
    if _LIKE["java_trace"].search(text):
        inside = workspace.relative(case.base_folder)  # the folder of the module, empty for the root or one elsewhere
        is_below = workspace.holds(case.base_folder) and inside not in (".", str(workspace.root))
        return java_place(text, case.class_name, inside if is_below else workspace.module)
    if PYTEST in case.suites:
        return place_in(text, workspace, "python")
    return (place_in(text, workspace, "loader") if is_file(case.name) else None) or place_in(text, workspace)


def _file(case: JunitCase, workspace: Workspace) -> str | None:
    """The test's file where the report says it, by an attribute or in the way of pytest and Vitest."""
    if case.file:
        return workspace.relative(case.file)
    if PYTEST in case.suites:
        return _module_file(case.class_name or case.name)
    named = (word for word in (case.class_name, case.name) if _LIKE["names_file"].search(word))
    return next(map(workspace.relative, named), None)


def _module_file(dotted: str) -> str | None:
    """`tests.test_calc.TestGroup` → `tests/test_calc.py`: pytest writes modules, then classes."""
    parts = dotted.split(".")
    names = [n for n, part in enumerate(parts) if part.startswith("test_") or part.endswith("_test")]
    last = names[-1] if names else next((n - 1 for n, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    return "/".join(parts[: last + 1]) + ".py" if dotted and last >= 0 else None


def _test_name(case: JunitCase, workspace: Workspace) -> str | None:
    if PYTEST in case.suites:
        file = _file(case, workspace) or ""
        classes = case.class_name.removeprefix(file.removesuffix(".py").replace("/", ".")).strip(".").split(".")
        return "::".join(filter(None, (file, *classes, case.name))) if case.class_name else None
    if case.class_name in ("test", "suite") and not case.file.endswith(".java"):  # Node's reporter: no class at all
        return test_path([*case.suites, workspace.relative(case.name) if is_file(case.name) else case.name])
    name = case.name.removesuffix("()")
    if not case.class_name or name.startswith(case.class_name) or case.class_name.endswith(name):
        return name or None
    if is_file(case.class_name):
        return name
    separator = "." if re.fullmatch(r"[\w.$]+", case.class_name) and "::" not in name else " > "
    return f"{case.class_name}{separator}{name}"


def _message(ending: Ending, text: str) -> str:
    """What is said, without the exception's name where the report gives that apart (as Gradle repeats it)."""
    message = _LIKE["cpp_prefix"].sub("", without_colours(ending.message)).strip()
    if ending.message == _COLLECTION:
        errors = _LIKE["pytest_error"].findall(text)
        return errors[-1].strip() if errors else message
    inner = _LIKE["panic"].search(text) or _LIKE["pytest_wrapped"].match(message)
    message = first_line(inner[1] if inner else message)
    if not message or message in _EMPTY_MESSAGES:
        first = _LIKE["error_prefix"].sub("", _LIKE["go_prefix"].sub("", first_line(text)))
        message = first or message or "the test failed"
    is_repeated = "." in ending.type and message.startswith(f"{ending.type}:")
    return message[len(ending.type) + 1 :].strip() if is_repeated else message


def lint_failure(case: JunitCase, workspace: Workspace) -> Failure | None:
    """The problem that a case tells of; None where it is a test's."""
    rule, place = _LIKE["rule"].match(case.name), _LIKE["place"].match(case.text.strip())
    if rule is None or place is None:
        return None
    message, file = case.message.removesuffix(".") or place["message"], case.suites[-1] if case.suites else ""
    line, column = (int(place[each]) or None for each in ("line", "column"))
    file, code = workspace.relative(file), rule["rule"]
    return Failure(FailureKind.LINT_FAILURE, message, file or None, line, column, code=code, evidence=case.text)
