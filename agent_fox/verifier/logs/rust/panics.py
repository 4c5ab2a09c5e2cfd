"""What a failed test of Rust printed: panics, with their places by the version of Rust, and documentation tests."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import Place, at, first_line, place_of

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_AT = r":(?P<line>\d+):(?P<column>\d+)"
_THREAD = r"thread '[^']*'(?: \(\d+\))? panicked at "
_PANICS = (  # of Rust from 1.73, which names the place first, and of older ones
    regex(
        rf"^thread '(?P<thread>[^']*)'(?: \(\d+\))? panicked at (?P<file>[^\s'].*?){_AT}:$(?P<message>"
        rf"(?:\n(?!stack backtrace:|note: run with|note: Some details|[^\S\n]*$|{_THREAD}).*)*)",
        re.MULTILINE,
    ),
    regex(
        rf"^thread '(?P<thread>[^']*)' panicked at '(?P<message>(?s:.*?))"
        rf"(?:', (?P<file>[^\s,':]+){_AT}$|(?=^{_THREAD})|\Z)",
        re.MULTILINE,
    ),
)
_BACKTRACE = regex(rf"^\s+at (?:\./)?(?P<file>(?!/rustc/)[^\s:]+\.rs){_AT}$", re.MULTILINE)
_NO_PANIC = regex(rf"^note: test did not panic as expected(?: at (?P<file>[^\s:]+){_AT})?", re.MULTILINE)
_DOC = regex(r"(?P<file>\S+\.(?:rs|md)) - (?:.* )?\(line (?P<line>\d+)\)(?: - .*)?$")
_ARROW = regex(rf"^\s*--> (?P<file>\S+?){_AT}$", re.MULTILINE)
_COMPILER = regex(r"^error(?:\[\w+\])?: (?P<message>.+)", re.MULTILINE)


def panicked(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """The panic of the test's own thread, else the last of any; one within the standard library is placed where the
    project called it, if there is a backtrace. A documentation test may not have compiled, or should not have.
    """
    text = textwrap.dedent(text)
    panics = sorted((match for each in _PANICS for match in each.finditer(text)), key=re.Match.start)
    own = (panic for panic in panics if panic["thread"] in (name, name.rpartition("::")[2]))
    panic = next(own, panics[-1] if panics else None)
    message, place = panic["message"] if panic else "", _place(panic, workspace)
    if place and (not workspace.holds(place.file) or place.file.startswith("library/")):
        frames = (frame for frame in _BACKTRACE.finditer(text) if workspace.holds(frame["file"]))
        place = _place(next(frames, None), workspace) or place
    if missing := _NO_PANIC.search(text):
        message, place = missing[0], _place(missing, workspace) or place
    if doc := _DOC.match(name):
        if (arrow := _ARROW.search(text)) and (compiler := _COMPILER.search(text)):
            message, place = compiler["message"], _place(arrow, workspace)
        begins = place_of(doc, workspace)
        place = place if place and place.file == begins.file and place.line >= begins.line else begins
    message = message.strip() or first_line(text) or f"{name} failed"
    return Failure(FailureKind.TEST_FAILURE, message, **at(place), evidence=text.strip())


def _place(match: re.Match[str] | None, workspace: Workspace) -> Place | None:
    return place_of(match, workspace) if match and match["file"] else None
