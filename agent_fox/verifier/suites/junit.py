"""From the cases of a JUnit XML report to tests with places: which file and classes the report means by its names."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.system.files import open_regular
from agent_fox.verifier.ground.cases import Case, Outcome, ReportUnreadable
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reports.junit_cases import CaseOutcome, JunitCase, read_cases
from agent_fox.verifier.logs.streams.xml_stream import XmlCut

_OUTCOMES = {
    CaseOutcome.PASSED: Outcome.PASSED,
    CaseOutcome.FAILED: Outcome.FAILED,
    CaseOutcome.BROKEN: Outcome.FAILED,
    CaseOutcome.SKIPPED: Outcome.SKIPPED,
    CaseOutcome.EXPECTED_FAILURE: Outcome.EXPECTED_FAILURE,
}
_JAVASCRIPT = regex(r"\.[cm]?[jt]sx?$")
_BETWEEN_TITLES = " > "
_REPORTS = regex(r"^(.*?)/?(?:target/(?:surefire|failsafe)-reports|build/test-results)/")
_JAVA_ROOTS = tuple(f"src/{kind}/{language}" for kind in ("test", "it") for language in ("java", "kotlin", "groovy"))
_JAVA_ENDINGS = (".java", ".kt", ".groovy")


def read_junit(path: Path, workspace: Path) -> tuple[Case, ...]:
    """The cases of one report, in its order. Raises ReportUnreadable, never follows an entity."""
    try:
        with open_regular(path) as file:
            return tuple(_case(case, path, workspace) for case in read_cases(file))
    except (XmlCut, OSError) as error:
        raise ReportUnreadable(f"{path.name} is no readable JUnit report: {error}") from error


def _case(case: JunitCase, report: Path, workspace: Path) -> Case:
    classes, name, file = _place(case, report, workspace)
    return Case(classes, name, file, _OUTCOMES[case.outcome], case.message, case.text)


def _place(case: JunitCase, report: Path, workspace: Path) -> tuple[tuple[str, ...], str, str]:
    if _JAVASCRIPT.search(case.file or case.class_name):
        return _javascript_place(case, workspace)
    classes = tuple(part for part in re.split(r"[.:$]+", case.class_name) if part)
    file = Workspace(PurePosixPath(workspace)).relative(case.file) or _java_file(classes, report, workspace)
    if file.endswith(".py"):
        file = _collected(classes, file, workspace)
    return _inside(classes, file), case.name, file


def _javascript_place(case: JunitCase, workspace: Path) -> tuple[tuple[str, ...], str, str]:
    """Vitest names the file as class, Mocha the titles around a test; Vitest joins titles with `>`."""
    is_file = _JAVASCRIPT.search(case.class_name) is not None
    file = Workspace(PurePosixPath(workspace)).relative(case.class_name if is_file else case.file)
    around = () if is_file or not case.class_name else tuple(case.class_name.split(_BETWEEN_TITLES))
    *titles, name = case.name.split(_BETWEEN_TITLES)
    return (*around, *titles), name, file


def _inside(classes: tuple[str, ...], file: str) -> tuple[str, ...]:
    """The classes without the module in front, which Python's reports repeat."""
    module = tuple(file.removesuffix(".py").split("/")) if file.endswith(".py") else ()
    return classes[len(module) :] if module and classes[: len(module)] == module else classes


def _collected(classes: tuple[str, ...], file: str, workspace: Path) -> str:
    """The file that a Python test was collected from. pytest tells the one in which its function stands, which may be
    that of a base class, or of an installed package; by that, the test could not be run alone.
    """
    stem = tuple(file.removesuffix(".py").split("/"))
    if classes[: len(stem)] == stem:
        return file
    places = ("/".join(classes[:length]) + ".py" for length in range(len(classes), 0, -1))
    return next((place for place in places if (workspace / place).is_file()), file)


def _java_file(classes: tuple[str, ...], report: Path, workspace: Path) -> str:
    """The source of a Java, Kotlin or Groovy test, found from where its module keeps reports."""
    if not classes or not report.is_relative_to(workspace):
        return ""
    match = _REPORTS.match(report.relative_to(workspace).as_posix())
    if match is None:
        return ""
    last = next((at for at, part in enumerate(classes) if part[:1].isupper()), len(classes) - 1)
    stem = "/".join(classes[: last + 1])
    folders = (PurePosixPath(match[1] or ".") / root for root in _JAVA_ROOTS)
    candidates = ((folder / f"{stem}{ending}").as_posix() for folder in folders for ending in _JAVA_ENDINGS)
    return next((path for path in candidates if (workspace / path).is_file()), "")
