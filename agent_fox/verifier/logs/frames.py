"""The place in a stack trace or message that a person would look at. One function for each family of languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypedDict

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Failure, FailureKind

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_PYTHON_FRAME = regex(r'^[E\s]*File "([^"\n]{1,1000})", line (\d+)', re.MULTILINE)
_PYTEST_FRAME = regex(r"^((?:[A-Za-z]:)?[^\s:][^:\n]{0,1000}\.py):(\d+): ?(?!\d)", re.MULTILINE)
_JS_FRAME = regex(
    r"^[ \t]*(?:at |❯ |→ )?(?:async )?(?:[^\n(]{0,500}?\()?((?:file://)?(?:[A-Za-z]:)?[^\s():][^():\n]{0,1000}):(\d+):(\d+)\)?",
    re.MULTILINE,
)
_JS_FILE = regex(r"\.(?:[cm]?[jt]sx?|vue|svelte)$")
_JS_CALLER = regex(r"^[\w.$<>*#]+ (?=[^\s/\\]*[/\\])")
_JAVA_FRAME = regex(r"^\s*at (?:[\w.@-]*/){0,2}([\w.$<>-]+)\(([\w$-]+\.(?:java|kt|groovy|scala)):(\d+)\)", re.M)
_RUST_PLACE = regex(r"panicked at (?:'[^\n]*', )?([^\s:][^:\n]*\.rs):(\d+):(\d+)")
_GO_PLACE = regex(r"^[ \t]*([\w./\\-]+\.go):(\d+):", re.MULTILINE)
_GO_TRACE = regex(r"Error Trace:\s+(\S+\.go):(\d+)")
OF_A_BUILD = "../../"
"""What Meson's compilers put before a file, as they run in the profile's `build/verifier`."""
_C_FILE = r"((?:[A-Za-z]:)?[^\s:()\[\]][^:()\[\]\n]{0,500}\.(?:cc?|cpp|cxx|hh?|hpp|mm?))"
_C_PLACES = (
    regex(  # GoogleTest, Catch2, doctest, munit, Criterion, cmocka, CppUTest, acutest, Boost.Test, Unity, Check, assert
        rf"^[ \t]*(?:\d+: )?(?:\[-+\] |\[ +LINE +\] --- |[\w.+/-]+: )?(?:\d+: )?{_C_FILE}[:(](\d+)\)?:(?:\w+:FAIL\b|"
        r"[FE]:[^\n:]*:\w+:\d+: | (?=[^\n]*(?:[Aa]ssertion|Failure|FAILED|ERROR: |error: in |\.\.\. failed$)))",
        re.MULTILINE,
    ),
    regex(rf" failed:\n\s+{_C_FILE}:(\d+): "),  # MinUnit
    regex(rf"^[ \t]*Loc: \[{_C_FILE}\((\d+)\)\]|^[ \t]*FAIL [^\n]*\({_C_FILE}:(\d+)\)$", re.MULTILINE),  # Qt, greatest
    regex(rf"Assertion failed: .{{,500}}, file {_C_FILE}, line (\d+)|^# +(?:at|in) {_C_FILE} (?:at )?line (\d+)", re.M),
)
_NOT_OURS = regex(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|\.venv|venv|\.tox|lib/python\d[\d.]*|\.cargo/registry)/"
    r"|^(?:node:|internal/|<|/rustc/|native$|webpack-internal:)"
)
_JAVA_LIBRARIES = regex(
    r"^(?:java|javax|jdk|sun|com\.sun|junit|org\.junit|org\.opentest4j|org\.hamcrest|org\.assertj|org\.mockito"
    r"|org\.testng|org\.spockframework|org\.codehaus\.groovy|groovy|kotlin|kotlinx|scala|org\.gradle|org\.apache\.maven"
    r"|worker\.org\.gradle|com\.google\.common\.truth|io\.kotest|org\.springframework\.test)\."
)
_TEST_CLASS = regex(r"(?:^|[^a-z])(?:Test|Tests|IT|ITCase|TestCase|Spec)(?![a-z])|Tests?$|TestCase$|Spec$|IT$")


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file, relative to the workspace."""

    file: str
    line: int
    column: int | None = None


class At(TypedDict):
    """What a failure or a draft is given of its place."""

    file: str | None
    line: int | None
    column: int | None


def at(place: Place | None, file: str | None = None) -> At:
    """The place; in `file`, where none is known."""
    return At(file=place.file, line=place.line, column=place.column) if place else At(file=file, line=None, column=None)


def python_place(text: str, workspace: Workspace) -> Place | None:
    """Where the code of the project was last: the deepest frame that is no library's."""
    frames = [
        (m.start(), m[1], int(m[2])) for pattern in (_PYTHON_FRAME, _PYTEST_FRAME) for m in pattern.finditer(text)
    ]
    ours = [Place(workspace.relative(path), line) for _, path, line in sorted(frames) if _is_ours(path, workspace)]
    return ours[-1] if ours else None


def javascript_place(text: str, workspace: Workspace) -> Place | None:
    """Where it was thrown: the first frame that is neither Node's nor a dependency's."""
    for frame in _JS_FRAME.finditer(text):
        path = frame[1] if frame[0].endswith(")") else _JS_CALLER.sub("", frame[1])
        if _JS_FILE.search(path) and _is_ours(path, workspace):
            return Place(workspace.relative(path), int(frame[2]), int(frame[3]))
    return None


def rust_place(text: str, workspace: Workspace) -> Place | None:
    match = _RUST_PLACE.search(text)
    return Place(workspace.relative(match[1]), int(match[2]), int(match[3])) if match else None


def go_place(text: str, workspace: Workspace) -> Place | None:
    """The first line that a test's log names. Its file is without a folder, as Go prints it."""
    match = _GO_TRACE.search(text) or _GO_PLACE.search(text)
    return Place(workspace.relative(match[1]), int(match[2])) if match else None


def c_place(text: str, workspace: Workspace) -> Place | None:
    """The place that a failed assertion names first, of C itself or of a framework for tests in C and C++."""
    matches = (match for pattern in _C_PLACES for match in pattern.finditer(text))
    groups = ([group for group in match.groups() if group] for match in sorted(matches, key=re.Match.start))
    named = ((file.removeprefix(OF_A_BUILD), line) for file, line in groups)
    ours = (Place(workspace.relative(file), int(line)) for file, line in named if _is_ours(file, workspace))
    return next(ours, None)


def in_folder(file: str, folder: str) -> str:
    """The path of a file that is named without its folder; one that has a folder is there already."""
    return f"{folder}/{file}" if folder and "/" not in file else file


def nothing_said(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """Of a test whose lines tell nothing of why it failed."""
    return Failure(FailureKind.TEST_FAILURE, "")


def asserted_c(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """The first line with a place."""
    places = ((c_place(line, workspace), line.strip()) for line in text.split("\n"))
    place, message = next((each for each in places if each[0]), (None, ""))
    return Failure(FailureKind.TEST_FAILURE, message, **at(place))


def java_place(text: str, test_class: str, module: str = "") -> Place | None:
    """The frame in the test's class; without one, the first frame that is no library's.

    A trace names a file without its folder: it is put where build tools for the JVM look for it,
    `src/test/java/PACKAGE/`, below the folder of its `module`.
    """
    outer = re.split(r"[$]", test_class)[0]
    frames = [frame for frame in _JAVA_FRAME.finditer(text) if not _JAVA_LIBRARIES.match(frame[1])]
    in_test = (frame for frame in frames if outer and re.split(r"[$]", _class_of(frame[1]))[0] == outer)
    frame = next(in_test, frames[0] if frames else None)
    return Place(java_file(_class_of(frame[1]), frame[2], module), int(frame[3])) if frame else None


def java_file(class_name: str, file: str, module: str = "") -> str:
    """Where the source `file` of a class lies by the conventions of Maven and Gradle."""
    package = class_name.split("$")[0].rpartition(".")[0].replace(".", "/")
    language = {"kt": "kotlin", "groovy": "groovy", "scala": "scala"}.get(file.rpartition(".")[2], "java")
    kind = "test" if _TEST_CLASS.search(file.rpartition(".")[0]) else "main"
    return "/".join(part for part in (module, "src", kind, language, package, file) if part)


def any_place(text: str, workspace: Workspace) -> Place | None:
    """The place that a text of unknown origin names most clearly."""
    kinds = (rust_place, python_place, javascript_place, go_place, c_place)
    return next((place for find in kinds if (place := find(text, workspace))), None)


def first_line(text: str) -> str:
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _class_of(method: str) -> str:
    return method.rpartition(".")[0]


def _is_ours(path: str, workspace: Workspace) -> bool:
    clean = path.replace("\\", "/")
    return not _NOT_OURS.search(workspace.relative(clean)) and workspace.holds(clean)
