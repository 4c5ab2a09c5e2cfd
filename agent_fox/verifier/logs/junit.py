"""JUnit XML, as Surefire, Gradle, pytest, Vitest, Jest, Node, Mocha, CTest and cargo-nextest write it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import BinaryIO

from agent_fox.verifier.logs.decode import without_colours
from agent_fox.verifier.logs.frames import Place, any_place, first_line, java_place, python_place
from agent_fox.verifier.logs.gathering import Counts, Gathering
from agent_fox.verifier.logs.javascript_files import is_file, kind_of_broken_file, test_path
from agent_fox.verifier.logs.opening import stands_first
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.xml_stream import XmlCut, read_xml
from agent_fox.verifier.results import Failure, FailureKind, Parsed, TestSummary

LONGEST_TEXT = 20_000  # characters kept of one test's trace: its beginning, and as much of its end
_OUTCOMES = ("failure", "error", "skipped")
_SUITES = ("testsuite", "testsuites")
_OUTPUTS = ("system-out", "system-err")
_STARTS = re.compile(r"^[ \t\ufeff]*(?:<\?xml|<testsuites?\b)", re.MULTILINE)
_JAVA_TRACE = re.compile(r"^\s*at [\w.@/$<>-]+\([\w$-]+\.(?:java|kt|groovy|scala):\d+\)", re.MULTILINE)
_PYTEST_WRAPPED = re.compile(r'^failed on (?:setup|teardown) with "(.*?)"?$', re.DOTALL)
_PYTEST_ERROR = re.compile(r"^E {3}([A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt)\b.*)$", re.MULTILINE)
_PYTEST_LAST = re.compile(r"^\S[^\n]*\.py:\d+: ([A-Za-z_][\w.]*)\s*$", re.MULTILINE)
_JS_NAMES = re.compile(r"^\s*(?:cause: )?((?:[A-Z][\w$.]*)?(?:Error|Exception))\b(?: \[\w+\])?: ", re.MULTILINE)
_NAMES_CLASS = re.compile(r"(?:^|\.)[A-Z]\w*(?:Error|Exception|Failure|Failed)$")
_ERROR_PREFIX = re.compile(r"^(?:AssertionError(?: \[\w+\])?|Error): ")
_EMPTY_MESSAGES = ("Failed", "test failure")
_TYPE = re.compile(r"^<?(?:class ')?([\w.$]+)'?>?$")
_PANIC = re.compile(r"panicked at [^\n]+:\n([^\n]+)")
_GO_PREFIX = re.compile(r"^[\w./\\-]+\.go:\d+: ")


class JunitParser:
    """Reads JUnit XML, whoever wrote it."""

    tools = ("junit",)

    def recognises(self, head: str) -> bool:
        found = _STARTS.search(head)
        return found is not None and "<testsuite" in head and stands_first(head, found.start())

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        reader = _Reader(workspace)
        try:
            read_xml(file, reader)
        except XmlCut:
            return reader.parsed(is_complete=False)
        return reader.parsed(is_complete=reader.is_junit)


@dataclass(slots=True)
class _Ending:
    """A <failure>, <error> or <skipped> of a test."""

    tag: str
    type: str
    message: str
    text: list[str] = field(default_factory=list)
    length: int = 0

    def add(self, text: str) -> None:
        if self.length < LONGEST_TEXT:
            self.text.append(text[: LONGEST_TEXT - self.length])
        else:
            kept = "".join(self.text[-1:]) + text
            self.text = ["".join(self.text)[:LONGEST_TEXT], kept[-LONGEST_TEXT:]]
        self.length += len(text)

    def whole(self) -> str:
        return without_colours("".join(self.text)).strip("\n")


@dataclass(slots=True)
class _Case:
    """A test that did not just pass, as the report names it."""

    name: str
    class_name: str
    file: str
    suites: tuple[str, ...]
    output: str


class _Reader:
    """Follows the elements of a report; holds one test at a time, and what failed."""

    def __init__(self, workspace: Workspace) -> None:
        self.is_junit = False
        self._workspace = workspace
        self._found = Gathering()
        self._counts = Counts()
        self._suites: list[tuple[str, str]] = []  # names and files
        self._module = workspace.module
        self._attributes: dict[str, str] = {}
        self._endings: list[_Ending] = []
        self._ending: _Ending | None = None
        self._output = ""
        self._is_output = False

    def parsed(self, *, is_complete: bool) -> Parsed:
        summary = self._counts.summary() if self.is_junit else None
        if not is_complete and summary == TestSummary():
            summary = None
        return self._found.parsed(summary, is_complete=is_complete)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "testcase":
            self._attributes, self._endings, self._output = attributes, [], ""
        elif tag in _OUTCOMES:
            self._ending = _Ending(tag, attributes.get("type", ""), attributes.get("message", ""))
            self._endings.append(self._ending)
        elif tag in _SUITES:
            self.is_junit = True
            self._suites.append((attributes.get("name", ""), _file_of(attributes)))
        elif tag == "property" and attributes.get("name") == "basedir":
            self._module = self._module_of(attributes.get("value", ""))
        else:
            self._is_output = tag in _OUTPUTS and bool(self._endings)

    def characters(self, text: str) -> None:
        if self._ending is not None:
            self._ending.add(text)
        elif self._is_output:
            self._output = (self._output + text)[-LONGEST_TEXT:]

    def end(self, tag: str) -> None:
        if tag == "testcase":
            if self._endings:
                self._finish()
                self._endings = []
            else:
                self._counts.passed += 1
        elif tag in _OUTCOMES:
            self._ending = None
        elif tag in _SUITES:
            self._suites.pop()
        else:
            self._is_output = False

    def _module_of(self, folder: str) -> str:
        """The folder of the module that was tested, empty for the root or one that lies elsewhere."""
        inside = self._workspace.relative(folder)
        is_below = self._workspace.holds(folder) and inside not in (".", str(self._workspace.root))
        return inside if is_below else self._workspace.module

    def _finish(self) -> None:
        """Count a test that did not just pass, and keep what broke."""
        skipped = [ending for ending in self._endings if ending.tag == "skipped"]
        if skipped:
            is_expected = skipped[0].type == "pytest.xfail"
            self._counts.xfailed += is_expected
            self._counts.skipped += not is_expected
            return
        self._count(self._endings[0], is_collection=_is_collection(self._endings[0]))
        case = self._case()
        for ending in self._endings:
            self._found.fail(_failure(case, ending, self._module, self._workspace))

    def _case(self) -> _Case:
        suites = tuple(name for name, _ in self._suites)
        file = _file_of(self._attributes) or (self._suites[-1][1] if self._suites else "")
        attributes = self._attributes
        return _Case(attributes.get("name", ""), attributes.get("classname", ""), file, suites, self._output)

    def _count(self, ending: _Ending, *, is_collection: bool) -> None:
        self._counts.errors += ending.tag == "error"
        self._counts.failures += ending.tag == "failure"
        self._counts.uncounted += is_collection


def _file_of(attributes: dict[str, str]) -> str:
    return attributes.get("file", "") or attributes.get("filepath", "")


def _is_collection(ending: _Ending) -> bool:
    """Whether a file could not be read, so that none of its tests ran."""
    return ending.message == "collection failure"


def _failure(case: _Case, ending: _Ending, module: str, workspace: Workspace) -> Failure:
    text = ending.whole() or case.output
    place = _place(case, text, module, workspace)
    exception = _exception(ending, text)
    return Failure(
        kind=_kind(case, ending, text),
        message=_message(ending, text),
        file=place.file if place else _file(case, workspace),
        line=place.line if place else None,
        column=place.column if place else None,
        test_name=_test_name(case, workspace),
        evidence=text or ending.message,
        exception=exception,
        is_error=ending.tag == "error",
    )


def _kind(case: _Case, ending: _Ending, text: str) -> FailureKind:
    if _is_collection(ending):
        return FailureKind.COMPILE_ERROR
    return kind_of_broken_file(f"{ending.message}\n{text}") if is_file(case.name) else FailureKind.TEST_FAILURE


def _place(case: _Case, text: str, module: str, workspace: Workspace) -> Place | None:
    if _JAVA_TRACE.search(text):
        return java_place(text, case.class_name, module)
    if _is_pytest(case):
        return python_place(text, workspace)
    return any_place(text, workspace)


def _is_pytest(case: _Case) -> bool:
    return "pytest" in case.suites


def _file(case: _Case, workspace: Workspace) -> str | None:
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


def _test_name(case: _Case, workspace: Workspace) -> str | None:
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


def _pytest_name(case: _Case, workspace: Workspace) -> str | None:
    file = _file(case, workspace)
    if not case.class_name:
        return None
    module = (file or "").removesuffix(".py").replace("/", ".")
    classes = case.class_name.removeprefix(module).strip(".").split(".")
    return "::".join(part for part in (file or "", *classes, case.name) if part)


def _message(ending: _Ending, text: str) -> str:
    said = without_colours(ending.message).strip()
    wrapped = _PYTEST_WRAPPED.match(said)
    if _is_collection(ending):
        errors = _PYTEST_ERROR.findall(text)
        return errors[-1].strip() if errors else said
    panic = _PANIC.search(text)
    said = first_line(panic[1] if panic else wrapped[1] if wrapped else said)
    if not said or said in _EMPTY_MESSAGES:
        said = _ERROR_PREFIX.sub("", _GO_PREFIX.sub("", first_line(text))) or said
    return _without_exception(said, ending.type)


def _without_exception(message: str, kind: str) -> str:
    """The message without the exception's name in front, where the report gives that apart (as Gradle repeats it)."""
    if kind and "." in kind and message.startswith(f"{kind}:"):
        return message[len(kind) + 1 :].strip()
    return message


def _exception(ending: _Ending, text: str) -> str | None:
    named = _TYPE.match(ending.type)
    if named and _NAMES_CLASS.search(named[1]):
        return named[1]
    for pattern in (_PYTEST_LAST, _JS_NAMES, _PYTEST_ERROR):
        if found := pattern.findall(text):
            return str(found[-1]).partition(":")[0].strip()
    return None
