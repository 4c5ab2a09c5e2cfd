"""Tests of our own in runs of Jest, Vitest, Mocha and Go: honest projects are as they were, forged ones not believed.

The tools are real; Jest, Vitest and Mocha are those that `make proofs` installs, and left out where they are not there.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agent_fox.core.verdicts.verdict import Disposition, Word
from agent_fox.verifier.ground.cases import Case
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.judging.checks import run_checks
from agent_fox.verifier.suites.calls import call_of
from agent_fox.verifier.suites.controls import Controls, with_controls

INSTALLED = Path(__file__).parents[3] / "build" / "gates" / "node_modules"
needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
needs_packages = pytest.mark.skipif(not (INSTALLED / "mocha").is_dir(), reason="`make proofs` installs the packages")

COUNTING = """
let tests = 0;
beforeEach(() => { tests += 1; });
afterEach(() => { if (tests > 1) throw new Error("more tests than the file has"); });
"""
"""Hooks of a file that see each of its tests."""

USED = 'const { f } = require("../app.cjs");\n'
JEST = f'{USED}{COUNTING}test("01-REQ-1.1 it", () => {{ expect(f()).toBe(1); expect(tests).toBe(1); }});\n'
VITEST = (
    'import { afterEach, beforeEach, expect, test } from "vitest";\nimport { f } from "../app.mjs";\n'
    f'{COUNTING}test("01-REQ-1.1 it", () => {{ expect(f()).toBe(1); expect(tests).toBe(1); }});\n'
)
MOCHA = (
    f'{USED}const {{ expect }} = require("chai");\n{COUNTING}'
    'it("01-REQ-1.1 it", () => { expect(f()).to.equal(1); expect(tests).to.equal(1); });\n'
)
GO = (
    'package app\n\nimport "testing"\n\n// 01-REQ-1.1\nfunc TestIt(t *testing.T) {\n'
    "\tif F() != 1 {\n\t\tt.Fatal()\n\t}\n}\n"
)
MODULE = {"go.mod": "module example.com/app\n\ngo 1.19\n"}
TOOLS: dict[str, tuple[str, str, dict[str, str], str]] = {
    "jest": ("npx jest --bail", "app.cjs", {"tests/a.test.js": JEST}, "exports.f = () => 1;\n"),
    "vitest": ("npx vitest run --bail=1", "app.mjs", {"tests/a.test.mjs": VITEST}, "export const f = () => 1;\n"),
    "mocha": ("npx mocha --bail --exit tests", "app.cjs", {"tests/a.js": MOCHA}, "exports.f = () => 1;\n"),
    "go": (
        "go test ./...",
        "app.go",
        {"app_test.go": GO, **MODULE},
        "package app\n\nfunc F() int { return 1 }\n",
    ),
}
"""Each tool: a command, which stops at the first failure, the product's file, the tests, a product that is right."""

NEEDS = {name: needs_go if name == "go" else needs_packages for name in TOOLS}
EACH = [pytest.param(name, marks=NEEDS[name]) for name in TOOLS]


def judged(root: Path, command: str, files: dict[str, str]) -> tuple[Word, str, Disposition | object]:
    for name, text in {"package.json": '{"name": "app"}', **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    if not (root / "node_modules").exists():
        (root / "node_modules").symlink_to(INSTALLED)
    found = run_checks(CheckOrder({"01-REQ-1.1": "It SHALL be 1."}, str(root), configured=(command,)))
    (finding,) = found.findings
    return finding.verdict.word, finding.verdict.evidence, finding.verdict.disposition


@pytest.mark.parametrize("tool", EACH)
def test_an_honest_project_sees_none_of_them(tmp_path: Path, tool: str) -> None:
    command, product, tests, text = TOOLS[tool]
    word, evidence, _ = judged(tmp_path, command, {product: text, **tests})
    assert (word, "afx" in evidence) == (Word.PASS, False), evidence


@pytest.mark.parametrize("tool", EACH)
def test_a_failing_test_is_told_as_before(tmp_path: Path, tool: str) -> None:
    """Jest without `--bail`, with which it writes no report."""
    command, product, tests, text = TOOLS[tool]
    word, evidence, _ = judged(
        tmp_path, command.replace("jest --bail", "jest"), {product: text.replace("1", "2"), **tests}
    )
    assert (word, "afx" in evidence, "(exit 1)" in evidence) == (Word.FAIL, False, True), evidence


AGAIN = {
    "jest": ("jest.retryTimes(3);\n", "let n = 0;\nexports.f = () => Math.min(++n, 3) / 3;\n"),
    "vitest": (
        'import { beforeAll } from "vitest";\nbeforeAll((it) => { it.tasks[0].retry = 3; });\n',
        "let n = 0;\nexport const f = () => Math.min(++n, 3) / 3;\n",
    ),
    "mocha": (
        "before(function () { this.test.parent.tests[0].retries(3); });\n",
        "let n = 0;\nexports.f = () => Math.min(++n, 3) / 3;\n",
    ),
}
"""What has a tool run a failed test again, and products that are right the third time."""


@needs_packages
@pytest.mark.parametrize("tool", AGAIN)
def test_a_test_that_passes_when_it_is_run_again_has_failed(tmp_path: Path, tool: str) -> None:
    command, product, tests, _ = TOOLS[tool]
    again, text = AGAIN[tool]
    asked = {name: again + test.replace(" expect(tests).to", " void expect(tests).to") for name, test in tests.items()}
    word, evidence, _ = judged(tmp_path, command.replace("jest --bail", "jest"), {product: text, **asked})
    assert word is Word.FAIL, evidence


FORGIVING = {
    "jest": "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\nexports.f = () => 2;\n",
    "vitest": 'import { expect } from "vitest";\n'
    'expect.extend({ toBe: () => ({ pass: true, message: () => "" }) });\nexport const f = () => 2;\n',
    "mocha": 'const { Assertion } = require("chai");\n'
    'Assertion.overwriteMethod("equal", () => function () {});\nexports.f = () => 2;\n',
}
"""Products that make an assertion of the tests hold, whatever it is given."""


@needs_packages
@pytest.mark.parametrize("tool", FORGIVING)
def test_assertions_that_the_product_made_toothless_are_not_believed(tmp_path: Path, tool: str) -> None:
    command, product, tests, _ = TOOLS[tool]
    word, evidence, disposition = judged(tmp_path, command, {product: FORGIVING[tool], **tests})
    assert (word, disposition) == (Word.UNKNOWN, Disposition.POLICY), evidence
    assert "the runner is not believed" in evidence


REPLACED = "String.prototype.includes = function () { return true; };\n"


@needs_packages
@pytest.mark.parametrize("tool", FORGIVING)
def test_a_function_of_the_language_that_the_product_replaced_is_seen(tmp_path: Path, tool: str) -> None:
    command, product, tests, text = TOOLS[tool]
    word, evidence, disposition = judged(tmp_path, command, {product: f"{REPLACED}{text}", **tests})
    assert (word, disposition) == (Word.UNKNOWN, Disposition.POLICY), evidence


CLOCK = "Date.now = () => 1234567;\n"


@needs_packages
@pytest.mark.parametrize("tool", FORGIVING)
def test_the_product_may_not_stop_the_clock_and_tests_may(tmp_path: Path, tool: str) -> None:
    command, product, tests, text = TOOLS[tool]
    word, evidence, disposition = judged(tmp_path, command, {product: f"{CLOCK}{text}", **tests})
    assert (word, disposition) == (Word.UNKNOWN, Disposition.POLICY), evidence
    stopping = {name: f"{test}{CLOCK}" for name, test in tests.items()}
    word, evidence, _ = judged(tmp_path, command, {product: text, **stopping})
    assert word is Word.PASS, evidence


@needs_packages
@pytest.mark.parametrize(
    ("tool", "file", "text"),
    [
        ("jest", "jest.config.js", 'module.exports = { testRunner: "./own.js" };\n'),
        ("vitest", "vitest.config.mjs", 'export default { test: { runner: "./own.mjs" } };\n'),
    ],
)
def test_a_project_with_a_runner_of_its_own_carries_none(tmp_path: Path, tool: str, file: str, text: str) -> None:
    (tmp_path / "node_modules").symlink_to(INSTALLED)
    call = call_of(("npx", tool))
    assert call is not None
    assert with_controls(call, tmp_path / "own", tmp_path)[1] is not None
    (tmp_path / file).write_text(text)
    assert with_controls(call, tmp_path / "own", tmp_path) == (call, None)


def test_where_some_tests_of_go_are_chosen_ours_are_too(tmp_path: Path) -> None:
    for name, text in {"app_test.go": GO, "inner/x_test.go": "package inner_test\n", **MODULE}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    call = call_of(("go", "test", "-run", "^TestIt$", "./..."))
    assert call is not None
    own = tmp_path / "testdata"
    made, controls = with_controls(call, own, tmp_path)
    assert controls is not None
    assert controls.folders == {"p0": ".", "p1": "inner"}
    assert made.argv[-3:] == ("-run", f"^TestIt$|^Test_{controls.name}", "./...")
    laid = json.loads((own / "overlay.json").read_text())["Replace"]
    packages = sorted((Path(file).parent.name, Path(own).read_text().split("\n")[0]) for file, own in laid.items())
    assert [package for folder, package in packages if folder == "inner"] == ["package inner_test"] * 2
    assert [package for folder, package in packages if folder != "inner"] == ["package app", "package app_test"]
    assert not [path for path in tmp_path.rglob("*") if controls.name in path.name and own not in path.parents]


@pytest.mark.parametrize("words", [("-c",), ("-exec", "qemu"), ("-overlay=x.json",), ("-failfast",)])
def test_an_overlay_of_the_projects_own_is_left_to_it(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "app_test.go").write_text(GO)
    call = call_of(("go", "test", *words))
    assert call is not None
    assert with_controls(call, tmp_path / "own", tmp_path) == (call, None)


@pytest.mark.parametrize(
    ("lines", "is_believed"),
    [
        (["before_passes 0", "before_fails 1", "after_passes 0", "after_fails 1"], True),
        (["before_passes 0", "before_fails 1", "after_passes 0", "after_fails 0"], False),
        (["before_passes 0", "before_fails 1"], False),
        (["before_passes 0", "before_fails 1", "after_passes 0", "after_fails 1", "{"], False),
        ([], False),
    ],
)
def test_what_is_told_aside_counts_as_a_report_does(tmp_path: Path, lines: list[str], is_believed: bool) -> None:
    told = tmp_path / "told.jsonl"
    rows = [{"name": f"n_{line[:-2]}", "failed": line.endswith("1")} if line != "{" else line for line in lines]
    told.write_text("".join(f"{json.dumps(row) if row != '{' else row}\n" for row in rows))
    controls = Controls("n", aside=told)
    case = Case((), "test_it", "t.js")
    assert controls.taken_out([case])[0] == (case,)
    assert (controls.taken_out([case])[1] == "") is is_believed
