"""Every tool has its word, and every word its parsers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable

import pytest

from agent_fox.verifier.ground.results import Parsed
from agent_fox.verifier.logs.cargo import CARGO_JSON
from agent_fox.verifier.logs.go.events import GO_JSON
from agent_fox.verifier.logs.javascript.tap import TAP
from agent_fox.verifier.logs.kinds import DATA
from agent_fox.verifier.logs.protocol import DocumentParser, LogParser, Workspace
from agent_fox.verifier.logs.registry import BUILT_IN, UnknownTool, canonical
from agent_fox.verifier.logs.reports.findings import findings
from agent_fox.verifier.logs.reports.junit import JUNIT

WORDS = (
    *("maven", "mvn", "gradle", "gcc", "g++", "clang", "make", "ld", "cmake", "javac", "go", "cargo", "rustc"),
    *("tsc", "mypy", "pytest", "unittest", "jest", "vitest", "mocha", "node-test", "eslint"),
    *("ruff", "prettier", "black", "ruff-format", "compileall", "sarif", "junit", "tap", "npm"),
)


@pytest.mark.parametrize("word", WORDS)
def test_every_tool_that_people_name_has_a_parser(word: str) -> None:
    chosen = BUILT_IN.for_tool(word)
    assert chosen.texts or chosen.of("streams") or word in ("sarif", "junit")


@pytest.mark.parametrize(("word", "tool"), [("./mvnw", "maven"), (r"C:\node\GO.EXE", "go"), ("/usr/bin/gcc", "gcc")])
def test_a_path_to_a_tool_names_it(word: str, tool: str) -> None:
    assert canonical(word) == tool


def test_an_alias_leads_to_a_tool_with_parsers() -> None:
    assert all(
        BUILT_IN.for_tool(alias)
        for alias in tomllib.loads((DATA / "tools.toml").read_text(encoding="utf-8"))["aliases"]
    )


def test_an_unknown_word_is_told_the_nearest() -> None:
    with pytest.raises(UnknownTool, match=r"no parser for the tool 'pytets'; did you mean pytest\?"):
        BUILT_IN.for_tool("pytets")


def test_every_parser_keeps_to_its_protocol() -> None:
    documents = (*BUILT_IN.of("documents"), *BUILT_IN.of("streams"))
    assert all(isinstance(entry.load(), DocumentParser) for entry in documents)
    assert all(isinstance(entry.load(), LogParser) for entry in (*BUILT_IN.of("texts"), *BUILT_IN.of("fallbacks")))


def test_the_table_says_which_tools_a_parser_reads_before_it_is_loaded() -> None:
    told = [(entry.tools, tuple(entry.load().tools)) for entry in (*BUILT_IN.of("texts"), *BUILT_IN.of("fallbacks"))]
    assert [tools for tools, _ in told] == [tools for _, tools in told]


def test_a_plugins_parser_comes_before_the_built_in_ones() -> None:
    class Own:
        tools = ("pytest", "own")

        def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
            return Parsed()

    own = Own()
    more = BUILT_IN.with_more([own])
    assert more.for_tool("pytest").texts[0] is own
    assert more.for_tool("own").texts == (own,)


def test_a_report_is_known_by_what_it_holds() -> None:
    heads = {
        '<?xml version="1.0"?>\n<testsuites>': JUNIT,
        '{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": [': findings("sarif"),
        '[{"filePath":"/a.js","messages":[': findings("eslint"),
        '{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"x"}': GO_JSON,
        "TAP version 13\n1..1\n": TAP,
        '{"reason":"compiler-message"': CARGO_JSON,
    }
    assert {head: BUILT_IN.for_report(head) for head in heads} == heads
    assert BUILT_IN.for_report("hello") is None
