"""Ruff's `--output-format json` (one array) and `json-lines` (an object a line), of check and of format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.decode import LONGEST_RECORD, lines, pieces
from agent_fox.verifier.logs.gathering import Gathering
from agent_fox.verifier.logs.json_stream import EACH, JsonCut, parts, start_of
from agent_fox.verifier.logs.records import Record, number, record, record_of, text

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_ARRAY = regex(r"\[\s*(?:\]|\{)")
_LINE = regex(r'\{"(?:cell|code|end_location)":')
_KEYS = ('"end_location"', '"location"', '"filename"')


class RuffJson:
    """Reads findings as Ruff writes them for programs."""

    tools = ("ruff", "ruff-format")

    def recognises(self, head: str) -> bool:
        at = start_of(head)
        if at is None:
            return False
        is_ours = all(key in head for key in _KEYS) or head[at:].strip() == "[]"
        return is_ours and bool(_ARRAY.match(head, at) or _LINE.match(head, at))

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        gathering = Gathering()
        try:
            for finding in _findings(file):
                _read(finding, gathering, workspace)
        except JsonCut:
            return gathering.parsed(is_complete=False)
        return gathering.parsed()


def _findings(file: BinaryIO) -> Iterator[Record]:
    first = next((line for line in lines(file, LONGEST_RECORD) if line.lstrip().startswith(("[", "{"))), "")
    file.seek(0)
    if first.lstrip().startswith("["):
        yield from (record(value) for _, value in parts(pieces(file), [(EACH,)]))
    else:
        yield from (finding for line in lines(file, LONGEST_RECORD) if (finding := record_of(line)) is not None)


def _read(finding: Record, found: Gathering, workspace: Workspace) -> None:
    at = record(finding.get("location"))
    code = text(finding.get("code")) or text(finding.get("name")) or None
    message_text = text(finding.get("message"))
    failure = Failure(
        kind=FailureKind.FORMAT_FAILURE if code == "unformatted" else FailureKind.LINT_FAILURE,
        message=message_text,
        file=workspace.relative(text(finding.get("filename"))) or None,
        line=number(at.get("row")),
        column=number(at.get("column")),
        evidence=f"{code} {message_text}" if code else message_text,
        code=code,
    )
    if finding.get("severity") in ("warning", "info", "help"):
        found.warn(failure)
    else:
        found.fail(failure)
