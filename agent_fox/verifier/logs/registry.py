"""Which parser reads which tool's logs, and the words people use for tools. Reading is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, Generic, TypeVar

from agent_fox.core.late import Late
from agent_fox.core.values import dataclass
from agent_fox.verifier.logs.kinds import DATA, written
from agent_fox.verifier.logs.protocol import DocumentParser, LogParser

_ANY_TOOL = ("junit", "sarif", "checkstyle", "codequality")

P = TypeVar("P", DocumentParser, LogParser)


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
    of_streams: Iterable[Entry[DocumentParser]]
    of_texts: Iterable[Entry[LogParser]]
    of_fallbacks: Iterable[Entry[LogParser]] = ()
    tool: str = ""  # whose logs these are for; empty for all that there are

    @property
    def texts(self) -> Sequence[LogParser]:
        return tuple(entry.load() for entry in self.of_texts)

    @property
    def fallbacks(self) -> Sequence[LogParser]:
        return tuple(entry.load() for entry in self.of_fallbacks)

    def structured(self, head: str) -> Sequence[DocumentParser]:
        """The parsers of the formats for programs that a log is in: one document, or streams."""
        first = next(_recognising(self.of_documents, head), None)
        return (first,) if first else tuple(_recognising(self.of_streams, head))

    def for_report(self, head: str) -> DocumentParser | None:
        """The parser for a report that begins with `head`, whichever tool wrote it."""
        return next(_recognising((*self.of_documents, *self.of_streams), head), None)

    def words(self) -> list[str]:
        """Every word for a tool."""
        groups = (self.of_documents, self.of_streams, self.of_texts, self.of_fallbacks)
        own = {tool for entries in groups for entry in entries for tool in entry.tools}
        return sorted({*own, *_written()["aliases"], *_written()["wrapped"]})

    def known(self, word: str) -> str:
        """The tool that `word` names. Raises UnknownTool."""
        tool = canonical(word)
        if tool not in self.words():
            from agent_fox.core.words import did_you_mean  # noqa: PLC0415 - after a mistake alone

            hint = did_you_mean(word.lower(), self.words(), f"; there are: {', '.join(self.words())}")
            raise UnknownTool(f"there is no parser for the tool {word!r}{hint}")
        return tool

    def for_tool(self, word: str) -> Parsers:
        """The parsers for the tool that `word` names. Raises UnknownTool."""
        tool = self.known(word)
        wanted = {tool, *_written()["wrapped"].get(tool, ())}
        return replace(
            self,
            tool=tool,
            of_documents=_of(self.of_documents, {*wanted, *_ANY_TOOL}),
            of_streams=_of(self.of_streams, wanted),
            of_texts=_of(self.of_texts, wanted),
        )

    def with_more(self, texts: Sequence[LogParser]) -> Parsers:
        """These and others, as plugins give them: for the tools they name, theirs are trusted more."""
        given = [Entry(tuple(parser.tools), partial(_itself, parser)) for parser in texts]
        return replace(self, of_texts=(*given, *self.of_texts))


def _recognising(entries: Iterable[Entry[DocumentParser]], head: str) -> Iterator[DocumentParser]:
    return (parser for entry in entries if (parser := entry.load()).recognises(head))


def _of(entries: Iterable[Entry[P]], tools: set[str]) -> tuple[Entry[P], ...]:
    return tuple(entry for entry in entries if not tools.isdisjoint(entry.tools))


def _itself(parser: LogParser) -> LogParser:
    return parser


def _parser(named: str, tools: tuple[str, ...]) -> object:
    """What a table names: rows or a table of findings, a reader of lines of this folder, or a parser that is ready."""
    how, place = named.split(" ")
    if how in ("rows", "findings"):
        return _made({"rows": "row_reader:built_in", "findings": "reports.findings:findings"}[how])(place)
    return _made("parsers:LineLog")(_made(place), tools) if how == "lines" else _made(place)


def _made(place: str) -> Callable[..., object]:
    return Late[Callable[..., object]](f"agent_fox.verifier.logs.{place}").load()


def _written() -> Mapping[str, Any]:
    return written(DATA / "tools.toml")


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
