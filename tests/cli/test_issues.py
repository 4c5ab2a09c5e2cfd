"""The issues that were filed, listed and shown."""

from __future__ import annotations

import json
from pathlib import Path

from agent_fox.testing.worlds import Req, World, issue_files, run_cli
from tests.cli.conftest import Finished


def test_an_issue_is_listed_with_its_number_state_and_place(finished: Finished) -> None:
    lines = finished.tell("issues", "list").splitlines()
    assert lines[0].split()[:2] == ["1", "open"]
    assert lines[1].strip() == str(issue_files(finished.root)[0].relative_to(finished.root))


def test_the_command_alone_lists(finished: Finished) -> None:
    assert finished.tell("issues") == finished.tell("issues", "list")
    assert finished.tell("issues", "--json") == finished.tell("issues", "list", "--json")


def test_an_issue_is_shown_as_it_was_filed(finished: Finished) -> None:
    for name in ("1", "#1", "0001"):
        assert finished.tell("issues", "show", name).strip() == issue_files(finished.root)[0].read_text().strip()


def test_json_lists_issues_and_gives_their_text(finished: Finished) -> None:
    (listed,) = json.loads(finished.tell("issues", "list", "--json"))
    assert (listed["number"], listed["state"], listed["cause"]) == ("1", "open", "no progress")
    assert "02-REQ-1.1" in json.loads(finished.tell("issues", "show", "1", "--json"))["text"]


def test_a_number_that_there_is_none_of_names_those_there_are(finished: Finished) -> None:
    done = run_cli(finished.root, "issues", "show", "7")
    assert (done.returncode, done.stderr) == (1, "agent-fox: there is no issue 7; there are: 1\n")


def test_no_issue_at_all_is_said(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    assert run_cli(root, "issues", "list").stdout == "no issues\n"
