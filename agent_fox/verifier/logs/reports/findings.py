"""JSON and XML that linters and compilers write: findings, each in the tool's own words, by `data/findings.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.decode import LONGEST_RECORD, lines, pieces
from agent_fox.verifier.logs.gathering import Gathering
from agent_fox.verifier.logs.kinds import DATA, written
from agent_fox.verifier.logs.parsers import Cut, begin_of, stands_first
from agent_fox.verifier.logs.streams.json_stream import parts, start_of
from agent_fox.verifier.logs.streams.records import Record, found, number, record, record_of, records, text
from agent_fox.verifier.logs.streams.xml_stream import feed_xml

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

USUAL = ("file", "line", "column", "message", "severity")
"""What entries have under these very names where the table says nothing else."""
LONGEST_TEXT = 2_000  # characters kept of what stands in an element


@dataclass(frozen=True, slots=True)
class Findings:
    """Reads the entries of documents that `begins` fits and that have all `keys` near the beginning: in JSON what is at
    one of `paths`, in XML the `elements`, as objects of their attributes, their `text` and the `within` around them.

    `fields` says where an entry has its `file`, `line`, `column`, `message`, `code` and `severity`: keys with dots
    between them, and `|` between places of which the first that holds something counts.
    """

    begins: re.Pattern[str]
    fields: Mapping[str, str]
    paths: tuple[tuple[str, ...], ...] = ()
    elements: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    within: str = ""
    """Of XML: the elements one of which is in every document, and the one around those of a file, which names it."""
    keys: tuple[str, ...] = ()
    mild: tuple[str, ...] = ()  # severities, in small letters, that fail nothing
    grave: tuple[str, ...] = ()  # where it is given, those that do: all others are mild
    silent: tuple[str, ...] = ()  # severities of what is no finding
    kinds: Mapping[str, FailureKind] = field(default_factory=dict)  # of findings by their codes
    kind: FailureKind = FailureKind.LINT_FAILURE  # of all others
    first: int = 1  # what the first line (where it is 0) and the first column have as number
    first_line: int = 1
    inner: str = ""  # where an entry is a file, the key of its findings; the file is named by the entry
    before: str = ""
    behind: str = ""  # what stands before a message and behind it and is none of it; `{code}` is the code
    no_code: re.Pattern[str] | None = None  # what in the field `code` is no part of it
    is_clean: re.Pattern[str] | None = None  # a whole document without a finding, which has no keys
    may_follow: bool = False  # whether any text may stand above it
    is_of_lines: bool = False  # whether it may also be an object a line
    stands_alone: bool = True

    def recognises(self, head: str) -> bool:
        at = begin_of(head) if self.elements else start_of(head)
        if at is None or not (self.may_follow or stands_first(head, at)):
            return False
        if self.is_clean and self.is_clean.match(head, at):
            return True
        return bool(self.begins.match(head, at)) and all(f'"{key}"' in head for key in self.keys)

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        gathering, is_complete = Gathering(), True
        try:
            for entry in self._elements(file) if self.elements else self._entries(file):
                for finding in records(entry.get(self.inner)) if self.inner else (entry,):
                    self._keep(finding, entry, gathering, workspace)
        except Cut:
            is_complete = False
        return gathering.parsed(is_complete=is_complete)

    def _entries(self, file: BinaryIO) -> Iterator[Record]:
        if self.is_of_lines:
            first = next((line for line in lines(file, LONGEST_RECORD) if line.lstrip().startswith(("[", "{"))), "")
            file.seek(0)
            if first.lstrip().startswith("{"):
                yield from (entry for line in lines(file, LONGEST_RECORD) if (entry := record_of(line)) is not None)
                return
        yield from (record(value) for _, value in parts(pieces(file), self.paths))

    def _elements(self, file: BinaryIO) -> Iterator[Record]:
        reader = _Elements(self)
        for _ in feed_xml(file, reader):
            taken, reader.ready = reader.ready, []
            yield from taken
        if not reader.is_ours:
            raise Cut("it is another document")

    def _keep(self, finding: Record, entry: Record, gathering: Gathering, workspace: Workspace) -> None:
        of = {name: found(finding, places) for name, places in self.fields.items()}
        code, message = text(of.get("code")), text(of.get("message"))
        code = self.no_code.sub("", code) if self.no_code else code
        severity = str(of.get("severity")).strip().lower()
        if severity in self.silent:
            return
        failure = Failure(
            kind=self.kinds.get(code, self.kind),
            message=message.removeprefix(self.before.format(code=code)).removesuffix(self.behind),
            file=workspace.relative(text(of["file"] or found(entry, self.fields["file"]))) or None,
            line=_position(of.get("line"), self.first_line),
            column=_position(of.get("column"), self.first),
            evidence=f"{message} ({code})" if code else message,
            code=code or None,
        )
        is_mild = severity not in self.grave if self.grave else severity in self.mild
        (gathering.warn if is_mild else gathering.fail)(failure)


class _Elements:
    """Makes objects of the elements of an XML document."""

    def __init__(self, of: Findings) -> None:
        self._of, self._file, self.ready = of, "", list[Record]()
        self._open: Record | None = None
        self._text, self.is_ours = "", False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.is_ours = self.is_ours or tag in self._of.roots
        if tag == self._of.within:
            self._file = attributes.get("name", "")
        elif tag in self._of.elements:
            self._open, self._text = {self._of.within: self._file, **attributes}, ""

    def characters(self, text: str) -> None:
        if self._open is not None and len(self._text) < LONGEST_TEXT:
            self._text += text

    def end(self, tag: str) -> None:
        if tag in self._of.elements and self._open is not None:
            self.ready.append({**self._open, "text": self._text.strip()})
            self._open = None


def _position(value: object, first: int) -> int | None:
    """A line or column counted from 1, of one that is counted from `first`."""
    value = int(value) if isinstance(value, str) and value.isdecimal() else value
    return number(value + 1 - first) if isinstance(value, int) and not isinstance(value, bool) else None


@cache
def findings(name: str) -> Findings:
    """The format of this name in `data/findings.toml`."""
    known: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in written(DATA / "findings.toml")[name].items()
    }
    for key in {"begins", "is_clean", "no_code"} & known.keys():
        known[key] = regex(known[key])
    known["paths"] = tuple(tuple(path.split(".")) for path in known.get("paths", ()))
    known["fields"] = {word: known["fields"].get(word, word) for word in USUAL} | known["fields"]
    known["kinds"] = {code: FailureKind(kind) for code, kind in known.get("kinds", {}).items()}
    known["kind"] = FailureKind(known.get("kind", FailureKind.LINT_FAILURE))
    del known["example"]
    return Findings(**known)
