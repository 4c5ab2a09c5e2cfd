"""Which parser reads which tool's logs, and the words people use for tools. Reading is elsewhere."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from agent_fox.core.late import Late
from agent_fox.core.values import dataclass
from agent_fox.verifier.logs.protocol import DocumentParser, LogParser, StreamParser

_ANY_TOOL = ("junit", "sarif", "checkstyle", "codequality")

P = TypeVar("P", DocumentParser, StreamParser, LogParser)


class UnknownTool(ValueError):
    """The name of a tool without a log parser; the message suggests the nearest name."""


@dataclass(frozen=True, slots=True)
class Entry(Generic[P]):
    """One parser of a table: the words for its tools, which are known before it is loaded."""

    tools: tuple[str, ...]
    load: Callable[[], P]


@dataclass(frozen=True, slots=True)
class Parsers:
    """Parsers, each loaded when it is asked for. Of two that read the same, the earlier is trusted more.

    `fallbacks` read what any tool's log may end with where nothing else is found in it: why it could not start.
    """

    of_documents: Iterable[Entry[DocumentParser]]
    of_streams: Iterable[Entry[StreamParser]]
    of_texts: Iterable[Entry[LogParser]]
    of_fallbacks: Iterable[Entry[LogParser]] = ()
    tool: str = ""
    """Whose logs these are for; empty for all that there are."""

    @property
    def documents(self) -> tuple[DocumentParser, ...]:
        return _loaded(self.of_documents)

    @property
    def streams(self) -> tuple[StreamParser, ...]:
        return _loaded(self.of_streams)

    @property
    def texts(self) -> tuple[LogParser, ...]:
        return _loaded(self.of_texts)

    @property
    def fallbacks(self) -> tuple[LogParser, ...]:
        return _loaded(self.of_fallbacks)

    def structured(self, head: str) -> tuple[DocumentParser | StreamParser, ...]:
        """The parsers of the formats for programs that a log is in: one document, or streams."""
        document = next((parser for parser in self.documents if parser.recognises(head)), None)
        if document:
            return (document,)
        return tuple(parser for parser in self.streams if parser.recognises(head))

    def words(self) -> list[str]:
        """Every word for a tool."""
        groups = (self.of_documents, self.of_streams, self.of_texts, self.of_fallbacks)
        own = {tool for entries in groups for entry in entries for tool in entry.tools}
        return sorted({*own, *_written()["aliases"], *_written()["wrapped"]})

    def known(self, word: str) -> str:
        """The tool that `word` names. Raises UnknownTool."""
        tool = canonical(word)
        if tool not in self.words():
            raise UnknownTool(self._unknown(word))
        return tool

    def for_tool(self, word: str) -> Parsers:
        """The parsers for the tool that `word` names. Raises UnknownTool."""
        tool = self.known(word)
        wanted = {tool, *_written()["wrapped"].get(tool, ())}
        return replace(
            self,
            tool=tool,
            of_documents=tuple(
                entry for entry in self.of_documents if not {*wanted, *_ANY_TOOL}.isdisjoint(entry.tools)
            ),
            of_streams=tuple(entry for entry in self.of_streams if not wanted.isdisjoint(entry.tools)),
            of_texts=tuple(entry for entry in self.of_texts if not wanted.isdisjoint(entry.tools)),
        )

    def for_report(self, head: str) -> DocumentParser | StreamParser | None:
        """The parser for a report that begins with `head`, whichever tool wrote it."""
        entries: tuple[Entry[DocumentParser] | Entry[StreamParser], ...] = (*self.of_documents, *self.of_streams)
        return next((parser for entry in entries if (parser := entry.load()).recognises(head)), None)

    def with_more(self, texts: Sequence[LogParser]) -> Parsers:
        """These and others, as plugins give them: for the tools they name, theirs are trusted more."""
        return replace(self, of_texts=(*map(_given, texts), *self.of_texts))

    def _unknown(self, word: str) -> str:
        from agent_fox.core.words import did_you_mean  # noqa: PLC0415 - after a mistake alone

        hint = did_you_mean(word.lower(), self.words(), f"; there are: {', '.join(self.words())}")
        return f"there is no parser for the tool {word!r}{hint}"


def _loaded(entries: Iterable[Entry[P]]) -> tuple[P, ...]:
    return tuple(entry.load() for entry in entries)


def _given(parser: LogParser) -> Entry[LogParser]:
    return Entry(tuple(parser.tools), lambda: parser)


def _parser(named: str, tools: tuple[str, ...]) -> object:
    """What a table names: rows or a table of findings, a reader of lines of this folder, or a parser that is ready."""
    how, place = named.split(" ")
    if how == "rows":
        return _made("line_formats:built_in")(place)
    if how == "findings":
        return _made("reports.findings_json:findings_json")(place)
    return _made("line_log:LineLog")(tools, _made(place)) if how == "lines" else _made(place)


def _made(place: str) -> Callable[..., object]:
    return Late[Callable[..., object]](f"agent_fox.verifier.logs.{place}").load()


@cache
def _written() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "data" / "tools.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class _Table(Generic[P]):
    """The parsers of a table of `data/tools.toml`, which is read when one is asked for."""

    name: str

    def __iter__(self) -> Iterator[Entry[P]]:
        return iter(_entries(self.name))


@cache
def _entries(table: str) -> tuple[Entry[Any], ...]:
    return tuple(Entry(tuple(tools), partial(_parser, named, tuple(tools))) for named, *tools in _written()[table])


def canonical(word: str) -> str:
    """One word for each tool: `./mvnw`, `MVN` and `maven` are the same."""
    plain = word.strip().lower().replace("\\", "/").rpartition("/")[2].removesuffix(".exe").removesuffix(".cmd")
    return str(_written()["aliases"].get(plain, plain))


BUILT_IN = Parsers(_Table("documents"), _Table("streams"), _Table("texts"), _Table("fallbacks"))
