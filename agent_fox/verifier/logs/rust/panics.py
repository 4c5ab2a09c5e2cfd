"""What a failed test of Rust printed: panics, with their places by the version of Rust, and documentation tests."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import Place, at, first_line, place_of
from agent_fox.verifier.logs.kinds import patterns_in

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_LIKE = patterns_in(__file__)


def panicked(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """The panic of the test's own thread, else the last of any; one within the standard library is placed where the
    project called it, if there is a backtrace. A documentation test may not have compiled, or should not have.
    """
    text = textwrap.dedent(text)
    panics = sorted((*_LIKE["new_panic"].finditer(text), *_LIKE["old_panic"].finditer(text)), key=re.Match.start)
    own = (panic for panic in panics if panic["thread"] in (name, name.rpartition("::")[2]))
    panic = next(own, panics[-1] if panics else None)
    message, place = panic["message"] if panic else "", _place(panic, workspace)
    if place and (not workspace.holds(place.file) or place.file.startswith("library/")):
        frames = (frame for frame in _LIKE["backtrace"].finditer(text) if workspace.holds(frame["file"]))
        place = _place(next(frames, None), workspace) or place
    if missing := _LIKE["no_panic"].search(text):
        message, place = missing[0], _place(missing, workspace) or place
    if doc := _LIKE["doc"].match(name):
        if (arrow := _LIKE["arrow"].search(text)) and (compiler := _LIKE["compiler"].search(text)):
            message, place = compiler["message"], _place(arrow, workspace)
        begins = place_of(doc, workspace)
        place = place if place and place.file == begins.file and place.line >= begins.line else begins
    message = message.strip() or first_line(text) or f"{name} failed"
    return Failure(FailureKind.TEST_FAILURE, message, **at(place), evidence=text.strip())


def _place(match: re.Match[str] | None, workspace: Workspace) -> Place | None:
    return place_of(match, workspace) if match and match["file"] else None
