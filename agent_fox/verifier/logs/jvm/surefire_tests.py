"""One failed test of Maven's, as its stack trace and the list of results tell it. Finding both is elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from typing import TypeVar

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.frames import java_file, java_place

LONGEST_TRACE = 200  # lines kept of one stack trace
_EXCEPTION = regex(r"(?P<type>(?:[\w$-]+\.)+[\w$]+)(?:: ?(?P<message>.*))?$")
_FRAME = regex(r"\s+at [\w.$/@<>-]+\(|\s*\.\.\. \d+ more|\s*(?:Caused by|Suppressed): ")
Owner = tuple[int, str]  # a module, and the simple name of an outermost class


@dataclass(slots=True)
class Trace:
    """One failed test as its stack trace tells it. `module` counts the modules of the build."""

    class_name: str
    method: str
    is_error: bool
    module: int
    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        if len(self.lines) < LONGEST_TRACE:
            self.lines.append(line)

    @property
    def owner(self) -> Owner:
        return self.module, self.class_name.rpartition(".")[2].split("$")[0]

    @property
    def has_frames(self) -> bool:
        return bool(self.lines) and bool(_FRAME.match(self.lines[-1]))


@dataclass(frozen=True, slots=True)
class Entry:
    """One failed test as the list at the end tells it; its class without a package."""

    simple_class: str
    method: str
    line: int | None
    message: str
    is_error: bool
    module: int

    @property
    def owner(self) -> Owner:
        return self.module, self.simple_class.split("$")[0]

    def tells_of(self, trace: Trace) -> bool:
        """Whether both are of one test, where they are of one class."""
        is_same = self.method.partition("(")[0] == re.split(r"[({\[]", trace.method)[0]
        return is_same or not trace.method or any(f":{self.line})" in line for line in trace.lines)


Told = TypeVar("Told", Trace, Entry)


def by_owner(reports: Sequence[Told]) -> dict[Owner, list[Told]]:
    groups: dict[Owner, list[Told]] = {}
    for each in reports:
        groups.setdefault(each.owner, []).append(each)
    return groups


def from_trace(trace: Trace, entry: Entry | bool, folder: str) -> Draft:
    text = "\n".join(trace.lines)
    place = java_place(text, trace.class_name, folder)
    simple = trace.class_name.rpartition(".")[2].split("$")[0]
    line = entry.line if isinstance(entry, Entry) else None
    exception, message = _exception_and_message(trace.lines)
    return Draft(
        kind=FailureKind.TEST_FAILURE,
        message=message or exception or (entry.message if isinstance(entry, Entry) else "") or "the test failed",
        file=place.file if place else java_file(trace.class_name, f"{simple}.java", folder),
        line=place.line if place else line,
        test_name=".".join(part for part in (trace.class_name, trace.method) if part),
        exception=exception,
        is_error=trace.is_error,
        evidence=[text],
    )


def _exception_and_message(lines: list[str]) -> tuple[str | None, str]:
    """The exception's class and its message, which may have several lines."""
    match = _EXCEPTION.match(lines[0]) if lines else None
    if not match:
        return None, lines[0] if lines else ""
    message = [match["message"] or ""]
    for line in lines[1:]:
        if _FRAME.match(line):
            break
        message.append(line)
    return match["type"], "\n".join(message).strip()
