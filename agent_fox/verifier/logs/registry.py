"""Which parser reads which tool's logs, and the words people use for tools. Reading is elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from agent_fox.core.values import dataclass
from agent_fox.verifier.logs.kinds import DATA, made, written

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import DocumentParser, LogParser

_ANY_TOOL = ("junit", "sarif", "checkstyle", "codequality")


class UnknownTool(ValueError):
    """The name of a tool without a log parser; the message suggests the nearest name."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One parser of a table: the words for its tools, which are known before it is loaded, and how it is read."""

    named: str
    tools: tuple[str, ...]

    def load(self) -> Any:  # noqa: ANN401 - a LogParser or a DocumentParser, as its table says
        """Rows or a table of findings, a reader of lines of this folder, or a parser that is ready."""
        how, place = self.named.split(" ")
        if how in ("rows", "findings"):
            return made({"rows": "row_reader:built_in", "findings": "reports.findings:findings"}[how])(place)
        return made("parsers:LineLog")(made(place), self.tools) if how == "lines" else made(place)


@cache
def _entries(table: str) -> tuple[Entry, ...]:
    """A table of `data/tools.toml`, which is read when one is asked for."""
    return tuple(Entry(named, tuple(tools)) for named, *tools in written(DATA / "tools.toml")[table])


@dataclass(frozen=True, slots=True)
class Parsers:
    """The parsers of `tool`, or all that there are, each loaded when it is asked for. Of two that read the same, the
    earlier is trusted more.

    `more` are others, as plugins and files give them: for the tools they name, they are trusted more.
    """

    more: tuple[LogParser, ...] = ()
    tool: str = ""

    def of(self, table: str) -> Sequence[Entry]:
        """The entries of a table. Its `fallbacks` read what any tool's log may end with where nothing else is found in
        it: why it could not start."""
        wanted = self._wanted | set(_ANY_TOOL if table == "documents" else ())
        is_any = not self.tool or table == "fallbacks"
        return [entry for entry in _entries(table) if is_any or not wanted.isdisjoint(entry.tools)]

    @property
    def texts(self) -> Sequence[LogParser]:
        added = (each for each in self.more if not self.tool or not self._wanted.isdisjoint(each.tools))
        return (*added, *(entry.load() for entry in self.of("texts")))

    def structured(self, head: str) -> Sequence[DocumentParser]:
        """The parsers of the formats for programs that a log is in: one document, or streams."""
        first = next(_recognising(self.of("documents"), head), None)
        return (first,) if first else tuple(_recognising(self.of("streams"), head))

    def for_report(self, head: str) -> DocumentParser | None:
        """The parser for a report that begins with `head`, whichever tool wrote it."""
        return next(_recognising((*self.of("documents"), *self.of("streams")), head), None)

    def words(self) -> list[str]:
        """Every word for a tool."""
        tables = written(DATA / "tools.toml")
        words = {*tables["aliases"], *tables["wrapped"], *(tool for each in self.more for tool in each.tools)}
        for table in ("documents", "streams", "texts", "fallbacks"):
            words.update(tool for entry in _entries(table) for tool in entry.tools)
        return sorted(words)

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
        return replace(self, tool=self.known(word))

    def with_more(self, texts: Sequence[LogParser]) -> Parsers:
        return replace(self, more=(*texts, *self.more))

    @property
    def _wanted(self) -> set[str]:
        return {self.tool, *written(DATA / "tools.toml")["wrapped"].get(self.tool, ())}


def _recognising(entries: Iterable[Entry], head: str) -> Iterator[DocumentParser]:
    return (parser for entry in entries if (parser := entry.load()).recognises(head))


def canonical(word: str) -> str:
    """One word for each tool: `./mvnw`, `MVN` and `maven` are the same."""
    plain = word.strip().lower().replace("\\", "/").rpartition("/")[2].removesuffix(".exe").removesuffix(".cmd")
    return str(written(DATA / "tools.toml")["aliases"].get(plain, plain))


BUILT_IN = Parsers()
