"""JSON and XML that linters and compilers write: findings, each in the tool's own words, by `data/findings.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import cache
from typing import Any, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.blocks import reader_of
from agent_fox.verifier.logs.decode import LONGEST_RECORD, Lines, pieces, without_colours
from agent_fox.verifier.logs.gathering import Counts, Gathering
from agent_fox.verifier.logs.kinds import DATA, kind_in, made, written
from agent_fox.verifier.logs.parsers import Cut, begin_of, stands_first
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.streams.json_stream import parts
from agent_fox.verifier.logs.streams.records import Record, found, number, record, record_of, records, text, texts
from agent_fox.verifier.logs.streams.xml_stream import feed_xml

USUAL = ("file", "line", "column", "message", "severity")
"""What entries have under these very names where the table says nothing else."""
LONGEST_TEXT = 2_000  # characters kept of what stands in an element


@dataclass(frozen=True, slots=True)
class Findings:
    """Reads the entries of documents that `begins` fits and that have all `keys` near the beginning: in JSON what is at
    one of `paths`, in XML the `elements`, as objects of their attributes, their `text` and the `within` around them.

    `fields` says where an entry has its `file`, `line`, `column`, `message`, `code` and `severity`, and a test its
    `groups`, `title` and `exception`: keys with dots between them, and `|` between places of which the first that holds
    something counts.
    """

    begins: re.Pattern[str]
    fields: Mapping[str, str]
    paths: tuple[tuple[str, ...], ...] = ()
    elements: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    within: str = ""
    """Of XML: the elements one of which is in every document, and the one around those of a file, which names it."""
    made_by: str = ""  # what makes entries of a document, where its parts tell of each other; `kind` may be theirs
    keys: tuple[str, ...] = ()
    mild: tuple[str, ...] = ()  # severities, in small letters, that fail nothing
    grave: tuple[str, ...] = ()  # where it is given, those that do: all others are mild
    silent: tuple[str, ...] = ()  # severities of what is no finding
    kinds: Mapping[str, FailureKind] = field(default_factory=dict)  # of findings by their codes
    kind: FailureKind = FailureKind.LINT_FAILURE  # of all others
    first: int = 1  # what the first line (where it is 0) and the first column have as number
    first_line: int = 1
    inner: str = ""  # where an entry is a file, where it has its findings; the file is named by the entry
    before: str = ""
    behind: str = ""  # what stands before a message and behind it and is none of it; `{code}` is the code
    no_code: re.Pattern[str] | None = None  # what in the field `code` is no part of it
    reads: str = ""
    """Of tests, whose `severity` is their status: how the text of one that failed is read, by `data/tools.toml`."""
    statuses: Mapping[str, str] = field(default_factory=dict)  # what each counts as; without any, each test failed
    totals: Mapping[str, str] = field(default_factory=dict)  # the keys of an object that holds counts
    broken: str = ""  # what a file says that failed without a test that did
    loading: str = ""  # the table of `data/kinds.toml` that tells the kind of that
    aside: str = ""  # what in a text is none of what was thrown
    is_clean: re.Pattern[str] | None = None  # a whole document without a finding, which has no keys
    may_follow: bool = False  # whether any text may stand above it
    is_of_lines: bool = False  # whether it may also be an object a line
    stands_alone: bool = True

    def recognises(self, head: str) -> bool:
        at = begin_of(head)
        if at is None or not (self.may_follow or stands_first(head, at)):
            return False
        if self.is_clean and self.is_clean.match(head, at):
            return True
        return bool(self.begins.match(head, at)) and all(f'"{key}"' in head for key in self.keys)

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        reading, is_complete = _Reading(self, workspace), True
        try:
            for entry in self._elements(file) if self.elements else self._entries(file):
                reading.take(entry)
        except Cut:
            is_complete = False
        return reading.parsed(is_complete=is_complete)

    def _entries(self, file: BinaryIO) -> Iterator[Record]:
        if self.made_by:
            yield from made(self.made_by)(file)
            return
        if self.is_of_lines:
            first = next((line for line in Lines(file, LONGEST_RECORD) if line.lstrip().startswith(("[", "{"))), "")
            file.seek(0)
            if first.lstrip().startswith("{"):
                yield from (entry for line in Lines(file, LONGEST_RECORD) if (entry := record_of(line)) is not None)
                return
        yield from (record(value) for _, value in parts(pieces(file), self.paths))

    def _elements(self, file: BinaryIO) -> Iterator[Record]:
        reader = _Elements(self)
        for _ in feed_xml(file, reader):
            taken, reader.ready = reader.ready, []
            yield from taken
        if not reader.is_ours:
            raise Cut("it is another document")


class _Reading:
    """What is known of one document while it is read."""

    def __init__(self, of: Findings, workspace: Workspace) -> None:
        self._of, self._workspace = of, workspace
        self._found, self._counts, self._has_read = Gathering(), Counts(), False

    def take(self, entry: Record) -> None:
        of, self._has_read = self._of, True
        if not entry.keys().isdisjoint(of.totals.values()):
            self._counts = Counts(**{name: number(entry.get(key)) or 0 for name, key in of.totals.items()})
            return
        inner, file = list(records(found(entry, of.inner))) if of.inner else [entry], found(entry, of.fields["file"])
        for each in inner:
            known = {name: found(each, places) for name, places in of.fields.items()}
            (self._test if of.reads else self._finding)(known | {"file": known["file"] or file})
        if of.broken and entry.get("status") == "failed" and all(each.get("status") != "failed" for each in inner):
            self._test({"message": found(entry, of.broken), "severity": "broken", "file": file})

    def parsed(self, *, is_complete: bool) -> Parsed:
        is_counted = self._of.reads and (is_complete or self._has_read)
        return self._found.parsed(self._counts.summary() if is_counted else None, is_complete=is_complete)

    def _finding(self, known: Record) -> None:
        of, code, message = self._of, text(known.get("code")), text(known.get("message"))
        code = of.no_code.sub("", code) if of.no_code else code
        severity = str(known.get("severity")).strip().lower()
        if severity in of.silent:
            return
        failure = Failure(
            kind=FailureKind(text(known.get("kind")) or of.kinds.get(code, of.kind)),
            message=message.removeprefix(of.before.format(code=code)).removesuffix(of.behind),
            file=self._workspace.relative(text(known["file"])) or None,
            line=_position(known.get("line"), of.first_line),
            column=_position(known.get("column"), of.first),
            symbol=text(known.get("symbol")) or None,
            evidence=text(known.get("evidence")) or (f"{message} ({code})" if code else message),
            code=code or None,
        )
        is_mild = severity not in of.grave if of.grave else severity in of.mild
        (self._found.warn if is_mild else self._found.fail)(failure)

    def _test(self, known: Record) -> None:
        """A test by its status, or a file that could not be run. The names of groups joined by spaces stay together."""
        of, title, groups = self._of, text(known.get("title")), known.get("groups")
        count = of.statuses.get(text(known["severity"]), "")
        if count:
            self._counts.add(count)
        is_broken, file = count == "errors", self._workspace.relative(text(known["file"])) or None
        self._counts.uncounted += is_broken
        if self._found.is_full or not (count in ("failures", "errors") if of.statuses else title):
            return
        instead = "the file could not be run" if is_broken else "the test failed"
        name = " > ".join(filter(None, (*texts(groups), text(groups).removesuffix(title).strip(), title))) or None
        for message in texts(known["message"]) or [text(known["message"])]:
            thrown = re.sub(of.aside, "", without_colours(message)) or instead
            failure = reader_of(of.reads)(thrown, self._workspace, "", "") or Failure(of.kind, instead)
            if failure.line is None:
                line, column = number(known.get("line")), number(known.get("column"))
                failure = replace(failure, file=failure.file or file, line=line, column=column)
            self._found.fail(
                replace(
                    failure,
                    kind=(kind_in(of.loading, thrown) if is_broken else None) or of.kind,
                    message=failure.message if is_broken else failure.message.removeprefix(of.before),
                    test_name=name,
                    exception=failure.exception or text(known.get("exception")) or None,
                    is_error=is_broken,
                    evidence=thrown,
                )
            )


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
