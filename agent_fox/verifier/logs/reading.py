"""Reading one run's log and reports from files: which parsers read what. What comes of it is in `status`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import FailureKind, Parsed
from agent_fox.verifier.logs import decode
from agent_fox.verifier.logs.gathering import completed, merged
from agent_fox.verifier.logs.protocol import LogParser, Workspace
from agent_fox.verifier.logs.registry import Parsers
from agent_fox.verifier.logs.status import Ending, Outcome, Readings, outcome_of

TAIL_LINES = 20
# Build tools keep reports below the folder of the module that they are about.
_REPORT_FOLDER = regex(r"^(.*?)/?(?:target/(?:surefire|failsafe)-reports|build/test-results)(?:/|$)")


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
    match = _REPORT_FOLDER.match(workspace.relative(path.absolute().as_posix()))
    module = match[1] if match and workspace.holds(match[1] or "x") else ""
    with path.open("rb") as file:
        parser = parsers.for_report(decode.head(file))
        file.seek(0)
        return parser.parse_document(file, replace(workspace, module=module)) if parser else Parsed(is_complete=False)


def _read_log(log: BinaryIO, workspace: Workspace, chosen: Parsers) -> tuple[Parsed, Parsed]:
    """What the log says in a format for programs, and what its text says.

    Where the text counts no test and knows no failure's kind, the last parsers are asked, if nothing else was said.
    """

    def read(parser: LogParser) -> Parsed:
        log.seek(0)
        return parser.parse(decode.Lines(log), workspace)

    parsers, readings = chosen.structured(decode.head(log)), []
    for each in parsers:
        log.seek(0)
        readings.append(each.parse_document(log, workspace))
    structured, text = merged(readings), Parsed()
    if any(parser.stands_alone for parser in parsers):
        return structured, text
    for parser in chosen.texts:
        text = completed(text, read(parser))
    for entry in chosen.of("fallbacks") if structured == Parsed() else ():
        if text.summary or any(failure.kind is not FailureKind.UNKNOWN for failure in text.failures):
            break
        text = completed(read(entry.load()), text)
    return structured, text
