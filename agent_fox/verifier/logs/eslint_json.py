"""ESLint's `--format json` and `json-with-metadata`."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.decode import pieces
from agent_fox.verifier.logs.gathering import Gathering
from agent_fox.verifier.logs.json_stream import EACH, JsonCut, parts, start_of
from agent_fox.verifier.logs.records import Record, number, record, records, text

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_FILES = ((EACH,), ("results", EACH))
_BEGINS = regex(r'\[\s*(?:\{\s*"filePath"|\]\s*$)|\{\s*"(?:results|metadata)"\s*:')
_ERROR = 2


class EslintJson:
    """Reads an array of files with their messages."""

    tools = ("eslint", "oxlint")

    def recognises(self, head: str) -> bool:
        at = start_of(head)
        return at is not None and bool(_BEGINS.match(head, at))

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        gathering = Gathering()
        try:
            for _, value in parts(pieces(file), _FILES):
                _read_file(record(value), gathering, workspace)
        except JsonCut:
            return gathering.parsed(is_complete=False)
        return gathering.parsed()


def _read_file(file: Record, found: Gathering, workspace: Workspace) -> None:
    path = workspace.relative(text(file.get("filePath")))
    for message in records(file.get("messages")):
        finding = _finding(message, path)
        if message.get("severity") == _ERROR or message.get("fatal") is True:
            found.fail(finding)
        else:
            found.warn(finding)


def _finding(message: Record, path: str) -> Failure:
    message_text = text(message.get("message"))
    rule = text(message.get("ruleId")) or None
    return Failure(
        kind=FailureKind.LINT_FAILURE,
        message=message_text.removesuffix("."),
        file=path or None,
        line=number(message.get("line")),
        column=number(message.get("column")),
        evidence=f"{message_text} ({rule})" if rule else message_text,
        code=rule,
    )
