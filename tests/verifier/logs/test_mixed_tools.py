"""Logs in which the words of several tools stand side by side: nothing is counted for the wrong tool, or twice."""

from __future__ import annotations

import json
from pathlib import Path

from agent_fox.verifier.ground.results import Failure
from agent_fox.verifier.logs.javascript.tap import TAP as TAP_STREAM
from agent_fox.verifier.logs.reading import Run, read_run
from agent_fox.verifier.logs.registry import BUILT_IN
from agent_fox.verifier.logs.status import Ending
from tests.verifier.logs.at_hand import DATA, read_lines, workspace
from tests.verifier.logs.samples import parser_of, places, read_text

TAP = """not ok 5 - printed while the file was loaded
TAP version 13
# Subtest: adds
not ok 1 - adds
  ---
  error: "1 is not 2
and that over two lines"
  at: "/workspace/test/a.test.js:4:40"
  ...
1..1
"""
DOT = """X..X

Failed tests:

✖ inner (0.5ms)
  AssertionError [ERR_ASSERTION]: 1 == 2
      at TestContext.<anonymous> (/workspace/test/a.test.js:2:27)

✖ outer (1.5ms)
  '1 subtest failed'
"""
CLIPPY = {
    "reason": "compiler-message",
    "message": {
        "level": "error",
        "message": "length comparison to zero",
        "code": {"code": "clippy::len_zero"},
        "spans": [{"file_name": "src/lib.rs", "line_start": 2, "column_start": 36, "is_primary": True}],
    },
}
VET = """# example.com/shop/vet
vet/vet.go:3: fmt.Printf format %d has arg "x" of wrong type string
FAIL\texample.com/shop/vet [build failed]
"""


def failures(path: Path, tool: str) -> tuple[Failure, ...]:
    return read_run(Run(Ending(tool, 1), path), workspace("/workspace/lint"), BUILT_IN).parsed.failures


def test_a_linters_summary_is_no_failed_test_of_the_script_that_ran_it() -> None:
    log = DATA.parent / "eslint" / "stylish.txt"
    assert failures(log, "npm") == failures(log, "eslint")


def test_what_was_printed_before_tap_begins_is_no_test() -> None:
    parsed = read_lines(TAP_STREAM, TAP)
    assert TAP_STREAM.recognises(TAP)
    assert [(one.test_name, one.message) for one in parsed.failures] == [("adds", "1 is not 2")]
    assert (parsed.failures[0].file, parsed.failures[0].line) == ("test/a.test.js", 4)


def test_a_list_without_a_tree_leaves_out_the_parents_of_what_failed() -> None:
    assert places(read_text(parser_of("node-test"), DOT)) == ["test/a.test.js:2:27"]


def test_what_clippy_says_as_json_is_not_said_again_by_cargo(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text(json.dumps(CLIPPY) + "\nerror: could not compile `lw` (lib) due to 1 previous error\n")
    assert [one.message for one in failures(log, "cargo")] == ["length comparison to zero"]


def test_a_package_whose_errors_are_shown_has_no_failure_of_its_own() -> None:
    assert places(read_text(parser_of("go"), VET)) == ["vet/vet.go:3"]
