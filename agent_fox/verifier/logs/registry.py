"""Which parser reads which tool's logs, and the words people use for tools. Reading is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from agent_fox.core.late import Late
from agent_fox.core.values import dataclass
from agent_fox.verifier.logs.protocol import DocumentParser, LogParser, StreamParser

if TYPE_CHECKING:
    from agent_fox.verifier.logs.line_log import LineLog, LineReader
    from agent_fox.verifier.logs.protocol import Workspace

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
_SCRIPTS = ("node-test", "jest", "vitest", "mocha", "eslint", "tsc", "prettier", "jasmine", "ava", "uvu", "tap")
_SESSIONS = ("pytest", "unittest", "ruff", "mypy", "flake8", "black", "isort")
_WRAPPED = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "npx"), _SCRIPTS),
    **dict.fromkeys(("tox", "nox"), _SESSIONS),
    "node": ("node-test",),
}
_C_COMPILERS = ("gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "lld")
_C_TOOLS = ("make", "gmake", "ninja", "cmake", "ctest", "clang-tidy", "clang-format")
_LINTERS = ("yamllint", "stylelint", "markdownlint", "codespell", "vulture", "hadolint", "cppcheck", "actionlint")
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

    of_documents: tuple[Entry[DocumentParser], ...]
    of_streams: tuple[Entry[StreamParser], ...]
    of_texts: tuple[Entry[LogParser], ...]
    of_fallbacks: tuple[Entry[LogParser], ...] = ()
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
        return sorted({*own, *ALIASES, *_WRAPPED})

    def known(self, word: str) -> str:
        """The tool that `word` names. Raises UnknownTool."""
        tool = canonical(word)
        if tool not in self.words():
            raise UnknownTool(self._unknown(word))
        return tool

    def for_tool(self, word: str) -> Parsers:
        """The parsers for the tool that `word` names. Raises UnknownTool."""
        tool = self.known(word)
        wanted = {tool, *_WRAPPED.get(tool, ())}
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


def _lines(place: str, *tools: str) -> Entry[LogParser]:
    """What the reader of lines at `module:CLASS` of this folder reads."""
    reader: Late[Callable[[Workspace], LineReader]] = Late(f"agent_fox.verifier.logs.{place}")
    log: Late[type[LineLog]] = Late("agent_fox.verifier.logs.line_log:LineLog")
    return Entry(tools, lambda: log.load()(tools, reader.load()))


def _ready(place: str, *tools: str) -> Entry[P]:
    """A parser of this folder by `module:NAME`."""
    entry: Late[P] = Late(f"agent_fox.verifier.logs.{place}")
    return Entry(tools, entry.load)


def _rows(name: str, *tools: str) -> Entry[LogParser]:
    """The format of lines that `data/NAME.lines.toml` describes."""
    made: Late[Callable[[str], LogParser]] = Late("agent_fox.verifier.logs.line_formats:built_in")
    return Entry(tools, lambda: made.load()(name))


def _findings(name: str, *tools: str) -> Entry[DocumentParser]:
    """The JSON that `data/findings.toml` describes under this name."""
    made: Late[Callable[[str], DocumentParser]] = Late("agent_fox.verifier.logs.reports.findings_json:findings_json")
    return Entry(tools, lambda: made.load()(name))


def canonical(word: str) -> str:
    """One word for each tool: `./mvnw`, `MVN` and `maven` are the same."""
    plain = word.strip().lower().replace("\\", "/").rpartition("/")[2].removesuffix(".exe").removesuffix(".cmd")
    return ALIASES.get(plain, plain)


BUILT_IN = Parsers(
    of_documents=(
        _ready("reports.junit:JUNIT", "junit"),
        _ready("reports.sarif:SARIF", "sarif"),
        _ready("reports.checkstyle_xml:CHECKSTYLE", "checkstyle", "pmd"),
        _findings("pyright", "pyright", "basedpyright"),
        _findings("code_quality", "codequality", "ruff", "eslint", "mypy", "golangci-lint"),
        _findings("golangci", "golangci-lint"),
        _findings("pylint", "pylint"),
        _findings("pylint_2", "pylint"),
        _findings("gcc", "gcc", "g++", "cc", "c++", "make"),
        _findings("rdjson", "ruff", "rdjson"),
        _findings("eslint", "eslint", "oxlint"),
        _findings("ruff", "ruff", "ruff-format"),
        _ready("javascript.json_reports:JEST", "jest", "vitest"),
        _ready("javascript.json_reports:MOCHA", "mocha"),
    ),
    of_streams=(
        _ready("go.events:GO_JSON", "go", "gotestsum"),
        _ready("rust.cargo_json:CARGO_JSON", "cargo", "rustc", "clippy"),
        _ready("javascript.tap:TAP", "tap", "tape", "node-test", "mocha", "vitest", "jest", "bats", "prove"),
    ),
    of_texts=(
        _lines("jvm.maven:MavenReader", "maven", "mvn", "mvnw", "mvnd"),
        _lines("jvm.gradle:GradleReader", "gradle", "gradlew"),
        _rows("javac", "javac"),
        _lines("native.c_build:CBuildReader", *_C_COMPILERS, *_C_TOOLS),
        _rows("gotestsum", "gotestsum"),
        _lines("go.text:GoReader", "go", "gotest", "gotestsum", "govet", "golangci-lint", "staticcheck"),
        _lines("rust.cargo_text:CargoReader", "cargo", "rustc", "clippy", "nextest"),
        _rows("tsc", "tsc", "vue-tsc", "ts-node"),
        _rows("mypy", "mypy", "dmypy"),
        _rows("pyright", "pyright", "basedpyright"),
        _rows("pytest", "pytest"),
        _rows("unittest", "unittest", "django"),
        _rows("jest", "jest"),
        _rows("vitest", "vitest"),
        _rows("mocha", "mocha"),
        _lines("javascript.node_spec:NodeSpecReader", "node-test"),
        _rows("eslint", "eslint"),
        _rows("ruff", "ruff", "ruff-format"),
        _rows("flake8", "flake8", "pycodestyle", "pyflakes", "pylint"),
        _rows("prettier", "prettier"),
        _rows("black", "black"),
        _rows("isort", "isort"),
        _rows("gofmt", "gofmt", "goimports", "gofumpt"),
        _rows("rustfmt", "rustfmt", "cargo-fmt"),
        _rows("compileall", "compileall", "py_compile"),
        _rows("prove", "prove"),
        _rows("bandit", "bandit"),
        _rows("shellcheck", "shellcheck"),
        _rows("biome", "biome"),
        _rows("oxlint", "oxlint"),
        _rows("jasmine", "jasmine"),
        _rows("ava", "ava"),
        _rows("uvu", "uvu"),
        _rows("playwright", "playwright"),
        _rows("linters", *_LINTERS),
    ),
    of_fallbacks=(
        _lines("dependencies:DependencyReader", "npm", "pnpm", "yarn", "pip", "uv", "poetry"),
        _rows("node", "node", "node-test"),
        _rows("environment", "environment"),
    ),
)
