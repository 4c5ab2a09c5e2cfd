"""JSON that linters and compilers write: findings, each in the tool's own words, by the table `data/findings.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.decode import LONGEST_RECORD, lines, pieces
from agent_fox.verifier.logs.documents import stands_first
from agent_fox.verifier.logs.gathering import Gathering
from agent_fox.verifier.logs.streams.json_stream import JsonCut, parts, start_of
from agent_fox.verifier.logs.streams.records import Record, number, record, record_of, records, text

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

DATA = Path(__file__).parents[1] / "data"
USUAL = ("file", "line", "column", "message", "severity")
"""What entries have under these very names where the table says nothing else."""


@dataclass(frozen=True, slots=True)
class FindingsJson:
    """Reads the entries at one of `paths` of documents that `begins` fits and that have all `keys` near the beginning.

    `fields` says where an entry has its `file`, `line`, `column`, `message`, `code` and `severity`: keys with dots
    between them, and `|` between places of which the first that holds something counts.
    """

    begins: re.Pattern[str]
    paths: tuple[tuple[str, ...], ...]
    fields: Mapping[str, str]
    keys: tuple[str, ...] = ()
    mild: tuple[str, ...] = ()
    """Severities, in small letters, that fail nothing; `grave`, where it is given: those that do."""
    grave: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    """Severities of what is no finding."""
    kinds: Mapping[str, FailureKind] = field(default_factory=dict)
    """The kinds of findings by their codes; of all others it is `kind`."""
    kind: FailureKind = FailureKind.LINT_FAILURE
    first: int = 1
    """What the first line (where it is 0) and the first column have as number."""
    first_line: int = 1
    inner: str = ""
    """Where an entry is a file, the key of its findings; the file is named by the entry."""
    before: str = ""
    behind: str = ""
    """What stands before a message and behind it and is none of it; `{code}` is the code."""
    is_clean: re.Pattern[str] | None = None
    """A whole document without a finding, which has no keys."""
    may_follow: bool = False
    """Whether any text may stand above it."""
    is_of_lines: bool = False
    """Whether it may also be an object a line."""

    def recognises(self, head: str) -> bool:
        at = start_of(head)
        if at is None or not (self.may_follow or stands_first(head, at)):
            return False
        if self.is_clean and self.is_clean.match(head, at):
            return True
        return bool(self.begins.match(head, at)) and all(f'"{key}"' in head for key in self.keys)

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        gathering, is_complete = Gathering(), True
        try:
            for entry in self._entries(file):
                for finding in records(entry.get(self.inner)) if self.inner else (entry,):
                    self._keep(finding, entry, gathering, workspace)
        except JsonCut:
            is_complete = False
        return gathering.parsed(is_complete=is_complete)

    def _entries(self, file: BinaryIO) -> Iterator[Record]:
        if self.is_of_lines:
            first = next((line for line in lines(file, LONGEST_RECORD) if line.lstrip().startswith(("[", "{"))), "")
            file.seek(0)
            if first.lstrip().startswith("{"):
                yield from (found for line in lines(file, LONGEST_RECORD) if (found := record_of(line)) is not None)
                return
        yield from (record(value) for _, value in parts(pieces(file), self.paths))

    def _keep(self, finding: Record, entry: Record, gathering: Gathering, workspace: Workspace) -> None:
        of = {name: _at(finding, places) for name, places in self.fields.items()}
        code, message, severity = text(of.get("code")), text(of.get("message")), str(of.get("severity")).lower()
        if severity in self.silent:
            return
        failure = Failure(
            kind=self.kinds.get(code, self.kind),
            message=message.removeprefix(self.before.format(code=code)).removesuffix(self.behind),
            file=workspace.relative(text(of["file"] or _at(entry, self.fields["file"]))) or None,
            line=_position(of.get("line"), self.first_line),
            column=_position(of.get("column"), self.first),
            evidence=f"{message} ({code})" if code else message,
            code=code or None,
        )
        is_mild = severity not in self.grave if self.grave else severity in self.mild
        (gathering.warn if is_mild else gathering.fail)(failure)


def _at(entry: Record, places: str) -> object:
    """The value at the first of the places that holds one. Of an array it is the first element's."""
    for place in places.split("|"):
        value: object = entry
        for key in place.split("."):
            value = record(next(records(value), {}) if isinstance(value, list) else value).get(key)
        if value or (value == 0 and value is not False):
            return value
    return None


def _position(value: object, first: int) -> int | None:
    """A line or column counted from 1, of one that is counted from `first`."""
    return number(value + 1 - first) if isinstance(value, int) and not isinstance(value, bool) else None


@cache
def _formats() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((DATA / "findings.toml").read_text(encoding="utf-8"))


@cache
def findings_json(name: str) -> FindingsJson:
    """The format of this name in `data/findings.toml`."""
    known: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in _formats()[name].items()
    }
    for key in {"begins", "is_clean"} & known.keys():
        known[key] = regex(known[key])
    known["paths"] = tuple(tuple(path.split(".")) for path in known["paths"])
    known["fields"] = {word: known["fields"].get(word, word) for word in USUAL} | known["fields"]
    known["kinds"] = {code: FailureKind(kind) for code, kind in known.get("kinds", {}).items()}
    known["kind"] = FailureKind(known.get("kind", FailureKind.LINT_FAILURE))
    del known["example"]
    return FindingsJson(**known)
