"""Reading one run's log and reports from files: which parsers read what. What comes of it is in `status`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import FailureKind, Parsed
from agent_fox.verifier.logs import decode
from agent_fox.verifier.logs.combine import completed, merged
from agent_fox.verifier.logs.protocol import DocumentParser, LogParser, StreamParser, Workspace
from agent_fox.verifier.logs.status import Ending, Outcome, Readings, outcome_of

if TYPE_CHECKING:
    from agent_fox.verifier.logs.registry import Parsers

TAIL_LINES = 20
_REPORT_FOLDER = regex(r"^(.*?)/?(?:target/(?:surefire|failsafe)-reports|build/test-results)(?:/|$)")
_UNREADABLE = Parsed(is_complete=False)


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is over, with what it left: a log, and reports in any format that is known."""

    ending: Ending
    log: Path
    reports: tuple[Path, ...] = ()


def read_run(run: Run, workspace: Workspace, parsers: Parsers) -> Outcome:
    """The outcome of a run. Raises OSError for a file that cannot be read, and UnknownTool."""
    chosen = parsers.for_tool(run.ending.tool)
    paths = dict.fromkeys(path.absolute() for path in run.reports)
    reports = merged(read_report(path, workspace, parsers) for path in paths)
    with run.log.open("rb") as log:
        stream, text = _read_log(log, workspace, chosen)
        log.seek(0)
        tail = decode.tail(log, TAIL_LINES)
    structured = completed(reports, stream) if paths else stream
    ending = replace(run.ending, tool=chosen.tool)
    return outcome_of(ending, Readings(structured, text, tail))


def read_report(path: Path, workspace: Workspace, parsers: Parsers) -> Parsed:
    """The content of a report in any known format; a report of an unknown format is incomplete. Raises OSError."""
    placed = replace(workspace, module=_module_of(path, workspace))
    with path.open("rb") as file:
        head = decode.head(file)
        file.seek(0)
        parser = parsers.for_report(head)
        return _read(parser, file, placed) if parser else _UNREADABLE


def _module_of(path: Path, workspace: Workspace) -> str:
    """The folder of the module whose build wrote the report: build tools keep them below it."""
    match = _REPORT_FOLDER.match(workspace.relative(path.absolute().as_posix()))
    return match[1] if match and workspace.holds(match[1] or "x") else ""


def _read_log(log: BinaryIO, workspace: Workspace, chosen: Parsers) -> tuple[Parsed, Parsed]:
    """What the log says in a format for programs, and what its text says."""
    head = decode.head(log)
    parsed = chosen.structured(head)
    readings = []
    for parser in parsed:
        log.seek(0)
        readings.append(_read(parser, log, workspace))
    structured = merged(readings)
    if any(not isinstance(parser, StreamParser) or parser.stands_alone for parser in parsed):
        return structured, Parsed()
    return structured, _read_text(log, workspace, chosen, has_more=structured == Parsed())


def _read_text(log: BinaryIO, workspace: Workspace, chosen: Parsers, *, has_more: bool) -> Parsed:
    """What the text says.

    Where it counts no test and knows no failure's kind, the last parsers are asked (if `has_more`).
    """
    text = Parsed()
    for parser in chosen.texts:
        text = completed(text, _read_lines(parser, log, workspace))
    for parser in chosen.fallbacks if has_more else ():
        if text.summary or any(failure.kind is not FailureKind.UNKNOWN for failure in text.failures):
            break
        text = completed(_read_lines(parser, log, workspace), text)
    return text


def _read_lines(parser: LogParser, log: BinaryIO, workspace: Workspace) -> Parsed:
    log.seek(0)
    return parser.parse(decode.lines(log), workspace)


def _read(parser: DocumentParser | StreamParser, file: BinaryIO, workspace: Workspace) -> Parsed:
    if isinstance(parser, StreamParser):
        return parser.parse(decode.lines(file, decode.LONGEST_RECORD), workspace)
    return parser.parse_document(file, workspace)
