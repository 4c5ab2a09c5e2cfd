"""Failures that TAP tells of: a test's, a file's that could not be loaded, and the crash of a whole run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import Place, any_place, first_line
from agent_fox.verifier.logs.javascript_files import broken_file, error_line, is_file, kind_of_broken_file
from agent_fox.verifier.logs.tap_yaml import exception_of, fields_of, message_of, place_of

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_BATS = regex(r"in (?:test )?file ([^,\n]+), line (\d+)")
_PERL = regex(r"\bat (\S+) line (\d+)\.")


@dataclass(slots=True)
class TapTest:
    """A test line with what follows it. `has_failed` is of its sub-tests."""

    depth: int
    name: str
    is_ok: bool
    is_excused: bool
    before: list[str]
    has_children: bool = False
    has_failed: bool = False
    yaml: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


def is_parents(test: TapTest) -> bool:
    """Whether a test failed only as the parent of one that did."""
    if not test.has_failed and not any("subtestsFailed" in line for line in test.yaml):
        return False
    kind = fields_of(test.yaml).get("failureType", "")
    return kind == "subtestsFailed" or (test.has_failed and not kind)


def failure_of(test: TapTest, name: str, workspace: Workspace, file: str | None) -> Failure:
    fields, text = fields_of(test.yaml), "\n".join(test.after)
    place = place_of(fields, workspace) or _place_in(text, workspace)
    message = first_line(message_of(fields)) or first_line(text) or test.name
    evidence = "\n".join(test.yaml) or text
    if is_file(test.name):
        wrapped = message if not error_line(test.before) else ""
        failure = broken_file(test.name, test.before, wrapped, place, workspace)
        return failure if failure.evidence != wrapped else replace(failure, evidence=evidence)
    return Failure(
        kind=FailureKind.TEST_FAILURE,
        message=message,
        file=place.file if place else file,
        line=place.line if place else None,
        column=place.column if place else None,
        test_name=name or None,
        evidence=evidence,
        exception=exception_of(fields),
    )


def _place_in(said: str, workspace: Workspace) -> Place | None:
    """The place in the comments that bats and Perl write below a test line, or in a stack trace there."""
    match = _BATS.search(said) or _PERL.search(said)
    return Place(workspace.relative(match[1]), int(match[2])) if match else any_place(said, workspace)


def crash_of(lines: list[str], workspace: Workspace) -> Failure | None:
    """What ended the run before it printed a plan."""
    error = error_line(lines)
    if not error:
        return None
    text = "\n".join(lines)
    place = any_place(text, workspace)
    return Failure(
        kind=kind_of_broken_file(text),
        message=error,
        file=place.file if place else None,
        line=place.line if place else None,
        column=place.column if place else None,
        evidence=text,
        exception=error.partition(":")[0],
        is_error=True,
    )
