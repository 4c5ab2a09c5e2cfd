"""What a failed test of Rust printed: panics, with their places by the version of Rust, and documentation tests."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import Place, at, first_line

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_PANIC = regex(
    r"thread '(?P<thread>[^']*)'(?: \(\d+\))? panicked at (?P<file>[^\s'].*?):(?P<line>\d+):(?P<column>\d+):$"
)
_OLD_PANIC = regex(r"thread '(?P<thread>[^']*)' panicked at '(?P<message>.*)")
_OLD_PLACE = regex(r"(?P<message>.*)', (?P<file>[^\s,':]+):(?P<line>\d+):(?P<column>\d+)$")
_BACKTRACE = regex(r"^\s+at (?:\./)?(?P<file>(?!/rustc/)[^\s:]+\.rs):(?P<line>\d+):(?P<column>\d+)$", re.MULTILINE)
_NO_PANIC = regex(
    r"^note: test did not panic as expected(?: at (?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+))?", re.MULTILINE
)
_DOC = regex(r"(?P<file>\S+\.(?:rs|md)) - (?:.* )?\(line (?P<line>\d+)\)(?: - .*)?$")
_ARROW = regex(r"^\s*--> (?P<file>\S+?):(?P<line>\d+):(?P<column>\d+)$", re.MULTILINE)
_COMPILER = regex(r"^error(?:\[\w+\])?: (?P<message>.+)", re.MULTILINE)
_MESSAGE_ENDS = regex(r"(?:stack backtrace:|note: run with|note: Some details|\s*$)")


@dataclass(slots=True)
class _Panic:
    thread: str
    message: str = ""
    place: re.Match[str] | None = None
    is_reading: bool = True


def panicked(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """The panic of the test's own thread, else the last of any; one within the standard library is placed where the
    project called it, if there is a backtrace.
    """
    text = textwrap.dedent(text)
    panics = _panics(text)
    own = (panic for panic in panics if panic.thread in (name, name.rpartition("::")[2]))
    panic = next(own, panics[-1] if panics else _Panic(""))
    message, place = panic.message, _place(panic.place, workspace)
    if place and (not workspace.holds(place.file) or place.file.startswith("library/")):
        frames = (frame for frame in _BACKTRACE.finditer(text) if workspace.holds(frame["file"]))
        place = _place(next(frames, None), workspace) or place
    if missing := _NO_PANIC.search(text):
        message, place = missing[0], _place(missing, workspace) or place
    if doc := _DOC.match(name):
        message, place = _documented(doc, text, message, place, workspace)
    message = message.strip() or first_line(text) or f"{name} failed"
    return Failure(FailureKind.TEST_FAILURE, message, **at(place), evidence=text.strip())


def _documented(
    doc: re.Match[str], text: str, message: str, place: Place | None, workspace: Workspace
) -> tuple[str, Place]:
    """A documentation test that panicked, that did not compile, or that did and should not have."""
    if (arrow := _ARROW.search(text)) and (compiler := _COMPILER.search(text)):
        message, place = compiler["message"], _place(arrow, workspace)
    begins = Place(workspace.relative(doc["file"]), int(doc["line"]))
    is_inside = place is not None and place.file == begins.file and place.line >= begins.line
    return message, place if place is not None and is_inside else begins


def _panics(text: str) -> list[_Panic]:
    """Panics of Rust from 1.73 name the place first, older ones last."""
    panics: list[_Panic] = []
    for line in text.split("\n"):
        if match := _PANIC.match(line):
            panics.append(_Panic(match["thread"], place=match))
        elif old := _OLD_PANIC.match(line):
            panics.append(_Panic(old["thread"]))
            _continue_old(panics[-1], old["message"])
        elif not panics or not panics[-1].is_reading:
            continue
        elif not panics[-1].place:
            _continue_old(panics[-1], line)
        elif _MESSAGE_ENDS.match(line):
            panics[-1].is_reading = False
        else:
            panics[-1].message += line + "\n"
    return panics


def _continue_old(panic: _Panic, text: str) -> None:
    panic.place = _OLD_PLACE.match(text)
    panic.message += panic.place["message"] if panic.place else text + "\n"
    panic.is_reading = panic.place is None


def _place(match: re.Match[str] | None, workspace: Workspace) -> Place | None:
    if not match or not match["file"]:
        return None
    return Place(workspace.relative(match["file"]), int(match["line"]), int(match["column"]))
