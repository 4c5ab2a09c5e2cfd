"""A failed test as Gradle prints it: its name at the margin, and indented below it the exception, short or in full."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.frames import java_file, java_place

MOST_LINES = 200  # kept of one failure
_EXCEPTION = regex(r"    (?P<type>[\w.$]+)(?: at (?P<file>[\w$-]+\.\w+):(?P<line>\d+)|: ?(?P<message>.*))?$")
_FRAME = regex(r"\s+(?:at [\w.$/@<>-]+\(|Caused by:|Suppressed:|\.\.\. \d+ more)")
_MODULE_LOADER = regex(r"(?<=at )(?:app//|[\w.-]+@[\w.-]*/)")
_TESTS = ("test", "")


@dataclass(slots=True)
class TestDraft:
    """The lines of one failed test. `owner` is its class, or what the test framework shows for it."""

    __test__ = False  # not a test class, whatever its name begins with

    owner: str
    names: tuple[str, ...]
    task: str
    lines: list[str] = field(default_factory=list)

    def takes(self, line: str) -> bool:
        """Whether the line belongs to this test: it is indented, or blank between indented ones."""
        if line.strip() and not line.startswith("    "):
            return False
        if len(self.lines) < MOST_LINES:
            self.lines.append(_MODULE_LOADER.sub("", line))
        return True


def test_draft(test: TestDraft, task: str, sources: dict[str, str]) -> Draft:
    """What a failed test of `task` came to. `sources` are paths that the log names elsewhere, by file name."""
    first = _EXCEPTION.match(test.lines[0]) if test.lines else None
    file, line = _place(test, task, first, sources)
    exception = first["type"] if first else None
    return Draft(
        kind=FailureKind.TEST_FAILURE,
        message=_message(test, first) or exception or "the test failed",
        file=file,
        line=line,
        test_name=".".join((test.owner, *test.names)),
        exception=exception,
        is_error=bool(exception)
        and not str(exception).endswith(("AssertionError", "AssertionFailedError", "ComparisonFailure", "Failure")),
        evidence=["\n".join(test.lines).rstrip()],
    )


def _place(
    test: TestDraft, task: str, first: re.Match[str] | None, sources: dict[str, str]
) -> tuple[str | None, int | None]:
    """The frame in the test's class, or what stands behind the exception's name."""
    folder, name = _folder_and_set(task)
    simple = test.owner.rpartition(".")[2]
    if first and first["file"]:
        known = sources.get(first["file"]) or (
            java_file(test.owner, first["file"], folder) if "." in test.owner else first["file"]
        )
        return _in_set(known, name), int(first["line"])
    text = "\n".join(test.lines)
    place = java_place(text, _full_name(text, test.owner), folder)
    if place:
        return _in_set(place.file, name), place.line
    return (
        _in_set(java_file(test.owner, f"{simple.split('$')[0]}.java", folder), name) if "." in test.owner else None
    ), None


def _full_name(text: str, owner: str) -> str:
    """The class with its package, where the name at the margin is without one."""
    if "." in owner:
        return owner
    match = re.search(rf"^\s+at (?P<name>[\w.]+\.{re.escape(owner)})(?:\$[\w$]+)?\.", text, re.MULTILINE)
    return match["name"] if match else owner


def _folder_and_set(task: str) -> tuple[str, str]:
    """`:api:integrationTest` runs the tests of `api/src/integrationTest`."""
    *projects, name = task.strip(":").split(":")
    return "/".join(projects), name


def _in_set(path: str, name: str) -> str:
    """Tests of another set than `test` lie in the folder that their task is named by."""
    is_other = name not in _TESTS and name.lower().endswith("test")
    return (
        path.replace("src/test/", f"src/{name}/", 1).replace("src/main/", f"src/{name}/", 1)
        if is_other
        else path.replace("src/main/", "src/test/", 1)
    )


def _message(test: TestDraft, first: re.Match[str] | None) -> str:
    if first is None:
        return test.lines[0].strip() if test.lines else ""
    message = [first["message"] or ""]
    for line in test.lines[1:]:
        if _FRAME.match(line) or not line.strip():
            break
        message.append(line.strip())
    return "\n".join(message).strip()
