"""Formats of lines as files: those that are built in do what their examples say, and a wrong one is refused by name."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path, PurePosixPath

import pytest

from agent_fox.engine.planning.plugged_parsers import parsers_of
from agent_fox.plugins import load_plugins
from agent_fox.verifier.logs.kinds import DATA
from agent_fox.verifier.logs.outside_formats import BadFormat, describe, outside_format, problems
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reading import Run, read_run
from agent_fox.verifier.logs.row_reader import built_in, format_of
from agent_fox.verifier.logs.status import Ending
from tests.verifier.logs.samples import places, read_text

PATTERN = r"mylint: (?P<file>[^:]+):(?P<line>\d+): (?P<message>.*)$"
OWN = f"""
tools = ["mylint"]
kind = "lint_failure"

[[row]]
when = "mylint: "
pattern = '{PATTERN}'

[[example]]
log = "mylint: a.my:3: twice"
gives = ["a.my:3: lint_failure: twice"]
"""


def own(**changes: object) -> dict[str, object]:
    """The format above; `row` and `example` change their first table."""
    document = tomllib.loads(OWN)
    for name, change in changes.items():
        document[name] = [{**document[name][0], **change}] if isinstance(change, dict) else change
    return document


@pytest.mark.parametrize("file", sorted(DATA.glob("*.lines.toml")), ids=lambda file: file.name)
def test_a_built_in_format_gives_what_its_examples_say(file: Path) -> None:
    assert list(problems(tomllib.loads(file.read_text(encoding="utf-8")))) == []


def test_a_format_that_is_right_has_no_problem() -> None:
    assert list(problems(own())) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"toolz": ["a"]}, "there is no key 'toolz'; did you mean tools?"),
        ({"tools": 3}, "tools is of the wrong type: 3"),
        ({"tools": []}, "tools is missing"),
        ({"row": {"pattern": 3}}, "row 1: pattern is of the wrong type: 3"),
        ({"row": {"gives": "eror"}}, "row 1: gives is 'eror'; it has to be one of: failure, fallback,"),
        ({"row": {"kind": "lint"}}, "row 1: kind is 'lint'; it has to be one of: compile_error,"),
        ({"row": {"place": "elsewhere"}}, "row 1: place is 'elsewhere'; it has to be one of: unknown, nowhere,"),
        ({"row": {"kinds": "mine"}}, "row 1: kinds is 'mine'; it has to be one of: maven,"),
        ({"kinds": "mine"}, "kinds is 'mine'; it has to be one of: maven,"),
        ({"row": {"columns": 0}}, "row 1: there is no key 'columns'; did you mean columns_from?"),
        (
            {"row": {"pattern": "mylint: (?P<file>"}},
            "row 1: the pattern 'mylint: (?P<file>' cannot be compiled: missing )",
        ),
        ({"row": {"pattern": "(?P<path>.*)"}}, "row 1: nothing is made of a group 'path'; the groups are: file, line,"),
        ({"row": {"gives": "heading", "pattern": "m"}}, "row 1: a heading has to name a file by the group `file`"),
        (
            {"row": {"message": "{program} failed"}},
            "row 1: message '{program} failed' names 'program', and the",
        ),
        ({"example": {"log": "yourlint: a"}}, "example 1 gives [], and not ['a.my:3: lint_failure: twice']"),
        (
            {"example": {"gives": ["a.my:4: lint_failure: twice"]}},
            "example 1 gives ['a.my:3: lint_failure: twice'], and not",
        ),
        (
            {"row": {"pattern": ["mylint: (?P<file>[^:]+):(?P<line>\\d+): (?P<message>.*)$", "no"]}},
            "row 1: no example has",
        ),
    ],
    ids=lambda case: str(case)[:40],
)
def test_a_format_that_is_wrong_is_told_where(change: dict[str, object], problem: str) -> None:
    found = list(problems(own(**change)))
    assert [each[: len(problem)] for each in found[:1]] == [problem]


@pytest.mark.parametrize(
    "pattern", [r"mylint: (?:\w+\s?)*: (?P<message>!.*)", r"mylint: .*.*.*.*!", r"(?:m|my|y|lint|: |.)*!"]
)
def test_a_pattern_that_takes_too_long_on_long_lines_is_refused_in_a_short_time(pattern: str) -> None:
    start = time.process_time()
    (problem,) = problems(own(row={"pattern": pattern}, example={"gives": []}))
    assert "takes far longer the longer a line is" in problem
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("text", "problem"), [("tools = [", "it is no TOML"), (None, "it cannot be read (No such file")]
)
def test_a_file_that_is_no_format_is_refused_by_its_name(tmp_path: Path, text: str | None, problem: str) -> None:
    file = tmp_path / "own.toml"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(BadFormat) as refused:
        outside_format(file)
    assert str(refused.value).startswith(f"{file}: {problem}")


def test_of_two_formats_that_claim_a_line_the_first_is_believed_and_it_counts_once(tmp_path: Path) -> None:
    files = [tmp_path / "one.toml", tmp_path / "two.toml"]
    files[0].write_text(OWN.replace('mylint"]', 'gcc"]'), encoding="utf-8")
    files[1].write_text(OWN.replace('mylint"]', 'gcc"]').replace("lint_failure", "format_failure"), encoding="utf-8")
    log = tmp_path / "log"
    log.write_text("mylint: a.my:3: twice\nm.c:1:2: error: x\n", encoding="utf-8")
    parsers = parsers_of(load_plugins(), files)
    found = read_run(Run(Ending("gcc", 1), log), Workspace(PurePosixPath("/w")), parsers).parsed
    assert list(describe(found)) == ["a.my:3: lint_failure: twice", "m.c:1:2: compile_error: x"]


def test_what_is_passed_over_without_a_look_changes_nothing() -> None:
    """Marks only make it faster: without them every line is asked, and the same is found."""
    for file in sorted(DATA.glob("*.lines.toml")):
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        slow = format_of({**document, "row": [{**row, "when": [], "spot": ""} for row in document["row"]]})
        for example in document["example"]:
            text = "\n".join(["", "some words: more", example["log"], "", "an end"])
            assert read_text(slow, text) == read_text(format_of(document), text)


def test_a_heading_names_the_file_of_failures_far_below_it_and_over_the_border_of_a_block() -> None:
    problem = "  1:2  error  no  semi"
    log = ["a.js", *["  it says nothing"] * 2_500, problem, "", "b.js", *["\tnothing"] * 1_200, problem]
    assert places(read_text(built_in("eslint"), "\n".join(log))) == ["a.js:1:2", "b.js:1:2"]
