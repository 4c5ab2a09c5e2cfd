"""The verdicts of `checks` on Node's test runner, called itself and by npm: a pass, a failure, a broken file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_fox.core.spec import Trace
from agent_fox.core.verdicts.verdict import Disposition
from tests.verifier.workspace import checked, words

ONE = "04-REQ-1.1"
TWO = "04-REQ-1.2"
EDGE = "04-REQ-1.E1"

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")

NODE = {"Spec tests": "node --test"}
MANIFEST = '{"name": "shop", "scripts": {"test": "node --test", "broken": "no-such-tool"}}'
HEAD = "const {test, describe, it} = require('node:test');\nconst assert = require('node:assert');\n"
CART = (
    HEAD + "describe('Cart', () => {\n"
    "  it('04-REQ-1.1 adds', () => console.log('<testcase name=\"04-REQ-1.2\"/>\\nnot ok 1 - 04-REQ-1.1 adds'));\n"
    "  // 04-REQ-1.2: totals are right\n"
    "  it('totals', () => assert.strictEqual(3, 4));\n"
    "});\n"
)


@needs_node
def test_titles_and_comments_of_node_tests_name_requirements(tmp_path: Path) -> None:
    report = checked(tmp_path, {"test/cart.test.js": CART}, ONE, TWO, commands=NODE)
    assert words(report) == {ONE: "PASS", TWO: "FAIL"}
    failed = report.findings[1]
    assert "test/cart.test.js::Cart::totals" in failed.verdict.evidence
    assert failed.command == "node '--test-name-pattern=totals$' --test"


@needs_node
def test_claims_name_files_and_titles(tmp_path: Path) -> None:
    rows = (
        Trace(ONE, tests=("`cart.test.js > Cart > 04-REQ-1.1 adds`",)),
        Trace(TWO, tests=("test/other.test.js",)),
        Trace(EDGE, tests=("cart.test.js > gone",)),
    )
    files = {"test/cart.test.js": CART, "test/other.test.js": HEAD + "test('runs', () => {});\n"}
    report = checked(tmp_path, files, ONE, TWO, EDGE, commands=NODE, traceability=rows)
    assert words(report) == {ONE: "PASS", TWO: "FAIL", EDGE: "FAIL"}
    assert "cart.test.js > gone" in report.verdicts[2].evidence


@needs_node
def test_a_file_that_node_cant_load_fails_what_it_is_about_and_no_more(tmp_path: Path) -> None:
    files = {
        "test/a.test.js": HEAD + "test('04-REQ-1.1', () => {});\n",
        "test/b.test.js": "const x = ;  // 04-REQ-1.2\n",
    }
    report = checked(tmp_path, files, ONE, TWO, commands=NODE)
    assert words(report) == {ONE: "PASS", TWO: "FAIL"}
    assert "SyntaxError: Unexpected token ';'" in report.verdicts[1].evidence


@needs_node
def test_what_node_skips_or_has_to_do_proves_nothing(tmp_path: Path) -> None:
    tests = HEAD + "test('04-REQ-1.1', {skip: true}, () => {});\ntest('04-REQ-1.2', {todo: true}, () => {});\n"
    assert words(checked(tmp_path, {"a.test.js": tests}, ONE, TWO, commands=NODE)) == {ONE: "FAIL", TWO: "FAIL"}


@needs_npm
def test_a_script_of_npm_is_judged_test_by_test(tmp_path: Path) -> None:
    files = {"package.json": MANIFEST, "test/cart.test.js": CART}
    assert words(checked(tmp_path, files, ONE, TWO, commands={"Spec tests": "npm test"})) == {ONE: "PASS", TWO: "FAIL"}


@needs_npm
def test_a_script_of_npm_whose_tool_is_missing_is_unknown(tmp_path: Path) -> None:
    report = checked(tmp_path, {"package.json": MANIFEST}, ONE, commands={"Spec tests": "npm run broken"})
    assert words(report) == {ONE: "UNKNOWN"}
    assert report.verdicts[0].disposition is Disposition.ENVIRONMENT


def test_node_that_is_not_there_is_unknown(tmp_path: Path) -> None:
    commands = {"Spec tests": "no-such-node --test"}
    assert words(checked(tmp_path, {"test/cart.test.js": CART}, ONE, commands=commands)) == {ONE: "UNKNOWN"}
