"""Which parser reads which tool's logs, and the words people use for tools. Reading is elsewhere."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_fox.verifier.logs import findings_json
from agent_fox.verifier.logs.c_build import CBuildLog
from agent_fox.verifier.logs.cargo_json import CargoJson
from agent_fox.verifier.logs.cargo_text import CargoLog
from agent_fox.verifier.logs.checkstyle_xml import CheckstyleXml
from agent_fox.verifier.logs.compileall import CompileallLog
from agent_fox.verifier.logs.dependencies import DependencyLog
from agent_fox.verifier.logs.environment import EnvironmentLog
from agent_fox.verifier.logs.eslint_json import EslintJson
from agent_fox.verifier.logs.eslint_text import EslintLog
from agent_fox.verifier.logs.flake8 import Flake8Log
from agent_fox.verifier.logs.formatters import BlackLog, GofmtLog, IsortLog, RustfmtLog
from agent_fox.verifier.logs.go_json import GoJson
from agent_fox.verifier.logs.go_text import GoLog
from agent_fox.verifier.logs.gotestsum import GotestsumLog
from agent_fox.verifier.logs.gradle import GradleLog
from agent_fox.verifier.logs.javac import JavacLog
from agent_fox.verifier.logs.jest import JestLog
from agent_fox.verifier.logs.jest_json import JestJson
from agent_fox.verifier.logs.junit import JunitParser
from agent_fox.verifier.logs.maven import MavenLog
from agent_fox.verifier.logs.mocha import MochaLog
from agent_fox.verifier.logs.mocha_json import MochaJson
from agent_fox.verifier.logs.mypy import MypyLog
from agent_fox.verifier.logs.node import NodeLog
from agent_fox.verifier.logs.node_spec import NodeSpec
from agent_fox.verifier.logs.prettier import PrettierLog
from agent_fox.verifier.logs.protocol import DocumentParser, LogParser, StreamParser
from agent_fox.verifier.logs.pyright import PyrightLog
from agent_fox.verifier.logs.pytest_text import PytestLog
from agent_fox.verifier.logs.ruff_json import RuffJson
from agent_fox.verifier.logs.ruff_text import RuffLog
from agent_fox.verifier.logs.sarif import Sarif
from agent_fox.verifier.logs.tap import Tap
from agent_fox.verifier.logs.tsc import TscLog
from agent_fox.verifier.logs.unittest_text import UnittestLog
from agent_fox.verifier.logs.vitest import VitestLog

# Other words for a tool -> the word that its parsers go by.
ALIASES = {
    "mvn": "maven",
    "mvnw": "maven",
    "gradlew": "gradle",
    "node --test": "node-test",
    "node_test": "node-test",
    "go-test": "go",
    "go test": "go",
    "cargo test": "cargo",
    "cargo-clippy": "clippy",
    "cargo-nextest": "nextest",
    "cargo fmt": "cargo-fmt",
    "go vet": "govet",
    "py.test": "pytest",
    "python -m unittest": "unittest",
    "ruff-check": "ruff",
    "ruff format": "ruff-format",
    "typescript": "tsc",
    "junit-xml": "junit",
    "surefire": "junit",
    "bun": "npm",
}
# Wrappers that run another tool: the log is the other tool's, whichever it is.
_SCRIPTS = ("node-test", "jest", "vitest", "mocha", "eslint", "tsc", "prettier")
_WRAPPED = {"npm": _SCRIPTS, "pnpm": _SCRIPTS, "yarn": _SCRIPTS, "npx": _SCRIPTS, "node": ("node-test",)}
_ANY_TOOL = ("junit", "sarif", "checkstyle", "codequality")

Parser = DocumentParser | StreamParser | LogParser


class UnknownTool(ValueError):
    """A word for a tool that nobody reads logs of; its text names the nearest one."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The parsers for one tool's logs."""

    tool: str
    documents: tuple[DocumentParser, ...]
    streams: tuple[StreamParser, ...]
    texts: tuple[LogParser, ...]
    fallbacks: tuple[LogParser, ...]

    def structured(self, head: str) -> tuple[DocumentParser | StreamParser, ...]:
        """The parsers of the formats for programs that a log is in: one document, or streams."""
        document = next((parser for parser in self.documents if parser.recognises(head)), None)
        if document:
            return (document,)
        return tuple(parser for parser in self.streams if parser.recognises(head))


@dataclass(frozen=True, slots=True)
class Parsers:
    """All parsers there are. Of two that read the same, the earlier is trusted more.

    `fallbacks` read what any tool's log may end with where nothing else is found in it: why it could not start.
    """

    documents: tuple[DocumentParser, ...]
    streams: tuple[StreamParser, ...]
    texts: tuple[LogParser, ...]
    fallbacks: tuple[LogParser, ...] = ()

    def words(self) -> list[str]:
        """Every word for a tool."""
        groups: tuple[Sequence[Parser], ...] = (self.documents, self.streams, self.texts, self.fallbacks)
        own = {tool for parsers in groups for parser in parsers for tool in parser.tools}
        return sorted({*own, *ALIASES, *_WRAPPED})

    def for_tool(self, word: str) -> Chosen:
        """The parsers for the tool that `word` names. Raises UnknownTool."""
        tool = canonical(word)
        wanted = {tool, *_WRAPPED.get(tool, ())}
        if tool not in self.words():
            raise UnknownTool(self._unknown(word))
        return Chosen(
            tool,
            tuple(parser for parser in self.documents if _fits(parser.tools, wanted, any_tool=True)),
            tuple(parser for parser in self.streams if _fits(parser.tools, wanted)),
            tuple(parser for parser in self.texts if _fits(parser.tools, wanted)),
            self.fallbacks,
        )

    def for_report(self, head: str) -> DocumentParser | StreamParser | None:
        """The parser for a report that begins with `head`, whichever tool wrote it."""
        parsers: list[DocumentParser | StreamParser] = [*self.documents, *self.streams]
        return next((parser for parser in parsers if parser.recognises(head)), None)

    def with_more(self, texts: Sequence[LogParser]) -> Parsers:
        """These and others, as plugins give them: for the tools they name, theirs are trusted more."""
        return replace(self, texts=(*texts, *self.texts))

    def _unknown(self, word: str) -> str:
        nearest = difflib.get_close_matches(word.lower(), self.words(), n=1, cutoff=0.0)
        return f"there is no parser for the tool {word!r}; the nearest is {nearest[0]!r}"


def canonical(word: str) -> str:
    """One word for each tool: `./mvnw`, `MVN` and `maven` are the same."""
    plain = word.strip().lower().replace("\\", "/").rpartition("/")[2].removesuffix(".exe").removesuffix(".cmd")
    return ALIASES.get(plain, plain)


def _fits(tools: Sequence[str], wanted: set[str], *, any_tool: bool = False) -> bool:
    return bool(wanted & set(tools)) or (any_tool and bool(set(_ANY_TOOL) & set(tools)))


BUILT_IN = Parsers(
    documents=(
        JunitParser(),
        Sarif(),
        CheckstyleXml(),
        *findings_json.ALL,
        EslintJson(),
        RuffJson(),
        JestJson(),
        MochaJson(),
    ),
    streams=(GoJson(), CargoJson(), Tap()),
    texts=(
        MavenLog(),
        GradleLog(),
        JavacLog(),
        CBuildLog(),
        GotestsumLog(),
        GoLog(),
        CargoLog(),
        TscLog(),
        MypyLog(),
        PyrightLog(),
        PytestLog(),
        UnittestLog(),
        JestLog(),
        VitestLog(),
        MochaLog(),
        NodeSpec(),
        EslintLog(),
        RuffLog(),
        Flake8Log(),
        PrettierLog(),
        BlackLog(),
        IsortLog(),
        GofmtLog(),
        RustfmtLog(),
        CompileallLog(),
    ),
    fallbacks=(DependencyLog(), NodeLog(), EnvironmentLog()),
)
