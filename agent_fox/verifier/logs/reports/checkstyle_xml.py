"""Checkstyle's XML, which many other linters write too, and PMD's: files with what was found in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.documents import Document
from agent_fox.verifier.logs.gathering import Gathering, is_mild
from agent_fox.verifier.logs.streams.xml_stream import read_xml

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_BEGINS = regex(r"(?=[\s\S]*<(?:checkstyle|pmd)\b)<(?:\?xml|checkstyle\b|pmd\b)")
_LONGEST = 2_000  # characters kept of a violation's text


class _Reader:
    """Reads errors as failures; warnings and information are warnings."""

    def __init__(self, workspace: Workspace) -> None:
        self._found = Gathering()
        self._is_ours = False
        self._workspace = workspace
        self._file = ""
        self._violation: dict[str, str] | None = None
        self._text = ""

    def read(self, file: BinaryIO) -> None:
        read_xml(file, self)

    def parsed(self, *, is_complete: bool) -> Parsed:
        return self._found.parsed(is_complete=is_complete and self._is_ours)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in ("checkstyle", "pmd"):
            self._is_ours = True
        elif tag == "file":
            self._file = self._workspace.relative(attributes.get("name", ""))
        elif tag == "error" and self._file:
            self._keep(attributes, attributes.get("message", ""), attributes.get("line", ""))
        elif tag == "violation":
            self._violation, self._text = attributes, ""

    def characters(self, text: str) -> None:
        if self._violation is not None and len(self._text) < _LONGEST:
            self._text += text

    def end(self, tag: str) -> None:
        if tag == "violation" and self._violation is not None:
            self._keep(self._violation, self._text.strip(), self._violation.get("beginline", ""))
            self._violation = None

    def _keep(self, attributes: dict[str, str], message: str, line: str) -> None:
        rule = attributes.get("rule") or attributes.get("source", "").rpartition(".")[2].removesuffix("Check")
        column = attributes.get("column") or attributes.get("begincolumn", "")
        failure = Failure(
            FailureKind.LINT_FAILURE,
            message,
            file=self._file or None,
            line=_position(line),
            column=_position(column),
            evidence=f"{message} ({rule})" if rule else message,
            code=rule or None,
        )
        (self._found.warn if is_mild(attributes.get("severity")) else self._found.fail)(failure)


def _position(digits: str) -> int | None:
    return int(digits) or None if digits.isdecimal() else None


CHECKSTYLE = Document(_BEGINS, _Reader)
