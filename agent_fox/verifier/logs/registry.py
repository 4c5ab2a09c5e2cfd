"""Which parser reads which tool's logs, and the words people use for tools. Reading is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from agent_fox.core.late import Late
from agent_fox.core.values import dataclass
from agent_fox.verifier.logs.protocol import DocumentParser, LogParser, StreamParser

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

P = TypeVar("P", DocumentParser, StreamParser, LogParser)


class UnknownTool(ValueError):
    """The name of a tool without a log parser; the message suggests the nearest name."""


@dataclass(frozen=True, slots=True)
class Entry(Generic[P]):
    """One parser of a table: the words for its tools, which are known before it is loaded."""

    tools: tuple[str, ...]
    load: Callable[[], P]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The parsers for one tool's logs, each loaded when it is asked for."""

    tool: str
    of_documents: tuple[Entry[DocumentParser], ...]
    of_streams: tuple[Entry[StreamParser], ...]
    of_texts: tuple[Entry[LogParser], ...]
    of_fallbacks: tuple[Entry[LogParser], ...]

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


@dataclass(frozen=True, slots=True)
class Parsers:
    """All parsers there are. Of two that read the same, the earlier is trusted more.

    `fallbacks` read what any tool's log may end with where nothing else is found in it: why it could not start.
    """

    of_documents: tuple[Entry[DocumentParser], ...]
    of_streams: tuple[Entry[StreamParser], ...]
    of_texts: tuple[Entry[LogParser], ...]
    of_fallbacks: tuple[Entry[LogParser], ...] = ()

    def words(self) -> list[str]:
        """Every word for a tool."""
        groups = (self.of_documents, self.of_streams, self.of_texts, self.of_fallbacks)
        own = {tool for entries in groups for entry in entries for tool in entry.tools}
        return sorted({*own, *ALIASES, *_WRAPPED})

    def known(self, word: str) -> str:
        """The tool that `word` names. Raises UnknownTool."""
        tool = canonical(word)
        if tool not in self.words():
            raise UnknownTool(self._unknown(word))
        return tool

    def for_tool(self, word: str) -> Chosen:
        """The parsers for the tool that `word` names. Raises UnknownTool."""
        tool = self.known(word)
        wanted = {tool, *_WRAPPED.get(tool, ())}
        return Chosen(
            tool,
            tuple(entry for entry in self.of_documents if _fits(entry.tools, wanted, any_tool=True)),
            tuple(entry for entry in self.of_streams if _fits(entry.tools, wanted)),
            tuple(entry for entry in self.of_texts if _fits(entry.tools, wanted)),
            self.of_fallbacks,
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


def _late(place: str, *tools: str) -> Entry[P]:
    """A parser of this folder by `module:CLASS`."""
    made: Late[Callable[[], P]] = Late(f"agent_fox.verifier.logs.{place}")
    return Entry(tools, lambda: made.load()())


def _ready(place: str, *tools: str) -> Entry[P]:
    """A parser of this folder by `module:NAME`, made already."""
    entry: Late[P] = Late(f"agent_fox.verifier.logs.{place}")
    return Entry(tools, entry.load)


def _rows(name: str, *tools: str) -> Entry[LogParser]:
    """The format of lines that `data/NAME.lines.toml` describes."""
    made: Late[Callable[[str], LogParser]] = Late("agent_fox.verifier.logs.line_formats:built_in")
    return Entry(tools, lambda: made.load()(name))


def canonical(word: str) -> str:
    """One word for each tool: `./mvnw`, `MVN` and `maven` are the same."""
    plain = word.strip().lower().replace("\\", "/").rpartition("/")[2].removesuffix(".exe").removesuffix(".cmd")
    return ALIASES.get(plain, plain)


def _fits(tools: Sequence[str], wanted: set[str], *, any_tool: bool = False) -> bool:
    return bool(wanted & set(tools)) or (any_tool and bool(set(_ANY_TOOL) & set(tools)))


BUILT_IN = Parsers(
    of_documents=(
        _late("junit:JunitParser", "junit"),
        _late("sarif:Sarif", "sarif"),
        _late("checkstyle_xml:CheckstyleXml", "checkstyle", "pmd"),
        _ready("findings_json:PYRIGHT", "pyright", "basedpyright"),
        _ready("findings_json:CODE_QUALITY", "codequality", "ruff", "eslint", "mypy", "golangci-lint"),
        _ready("findings_json:GOLANGCI", "golangci-lint"),
        _ready("findings_json:PYLINT", "pylint"),
        _ready("findings_json:PYLINT_2", "pylint"),
        _ready("findings_json:GCC", "gcc", "g++", "cc", "c++", "make"),
        _ready("findings_json:RDJSON", "ruff", "rdjson"),
        _ready("findings_json:ESLINT", "eslint", "oxlint"),
        _ready("findings_json:RUFF", "ruff", "ruff-format"),
        _late("jest_json:JestJson", "jest", "vitest"),
        _late("mocha_json:MochaJson", "mocha"),
    ),
    of_streams=(
        _late("go_json:GoJson", "go", "gotestsum"),
        _late("cargo_json:CargoJson", "cargo", "rustc", "clippy"),
        _late("tap:Tap", "tap", "node-test", "mocha", "vitest", "jest", "bats", "prove"),
    ),
    of_texts=(
        _late("maven:MavenLog", "maven", "mvn", "mvnw", "mvnd"),
        _late("gradle:GradleLog", "gradle", "gradlew"),
        _rows("javac", "javac"),
        _late(
            "c_build:CBuildLog",
            "gcc",
            "g++",
            "cc",
            "c++",
            "clang",
            "clang++",
            "ld",
            "lld",
            "make",
            "gmake",
            "ninja",
            "cmake",
            "ctest",
            "clang-tidy",
            "clang-format",
        ),
        _late("gotestsum:GotestsumLog", "gotestsum"),
        _late("go_text:GoLog", "go", "gotest", "gotestsum", "govet", "golangci-lint", "staticcheck"),
        _late("cargo_text:CargoLog", "cargo", "rustc", "clippy", "nextest"),
        _rows("tsc", "tsc", "vue-tsc", "ts-node"),
        _rows("mypy", "mypy", "dmypy"),
        _rows("pyright", "pyright", "basedpyright"),
        _late("pytest_text:PytestLog", "pytest"),
        _late("unittest_text:UnittestLog", "unittest", "django"),
        _late("jest:JestLog", "jest"),
        _late("vitest:VitestLog", "vitest"),
        _late("mocha:MochaLog", "mocha"),
        _late("node_spec:NodeSpec", "node-test"),
        _rows("eslint", "eslint"),
        _rows("ruff", "ruff", "ruff-format"),
        _rows("flake8", "flake8", "pycodestyle", "pyflakes", "pylint"),
        _rows("prettier", "prettier"),
        _rows("black", "black"),
        _rows("isort", "isort"),
        _rows("gofmt", "gofmt", "goimports", "gofumpt"),
        _rows("rustfmt", "rustfmt", "cargo-fmt"),
        _rows("compileall", "compileall", "py_compile"),
    ),
    of_fallbacks=(
        _late("dependencies:DependencyLog", "npm", "pnpm", "yarn", "pip", "uv", "poetry"),
        _late("node:NodeLog", "node", "node-test"),
        _rows("environment", "environment"),
    ),
)
