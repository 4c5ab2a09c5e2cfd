"""`agent-fox issues sync`: what waits is delivered, what still waits is told, whether a run goes on or not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, issue_files, run_cli
from tests.cli.run.test_command import begin


def held_back(folder: Path) -> Path:
    """A run that is over, with one issue that could not be delivered: a file stands in the way."""
    root = World({"01_a": [Req("01-REQ-1.1", right_at=NEVER)]}).build(folder / "w")
    (root / ".agent-fox" / "issues").write_text("in the way")
    assert run_cli(root, "run").returncode == 2
    return root


def test_what_was_held_is_delivered_once_the_person_has_acted(tmp_path: Path) -> None:
    root = held_back(tmp_path)
    (root / ".agent-fox" / "issues").unlink()
    done = run_cli(root, "issues", "sync")
    (file,) = issue_files(root)
    assert (done.returncode, done.stderr) == (0, "")
    filed, overview = done.stdout.splitlines()
    assert filed.startswith("issue filed: 01_a: ")
    assert filed.endswith(f"(.agent-fox/issues/{file.name})")
    assert overview == "issues: 1 open"
    again = run_cli(root, "issues", "sync")
    assert (again.returncode, again.stdout) == (0, "issues: 1 open\n")
    assert issue_files(root) == [file]


def test_what_is_still_held_is_told_with_its_remedy_and_exits_2(tmp_path: Path) -> None:
    root = held_back(tmp_path)
    done = run_cli(root, "issues", "sync")
    assert (done.returncode, done.stderr) == (2, "")
    assert "make " in done.stdout
    assert done.stdout.splitlines()[-1].startswith("issues: 1 not filed yet; 1 waits to be delivered (")
    document = json.loads(run_cli(root, "issues", "sync", "--json").stdout)
    assert (document["delivered"], document["waiting"], document["tracker"]) == (0, 1, ".agent-fox/issues")
    assert [one["why"] for one in document["issue_counts"]["waiting"]] == ["held"]


def test_nothing_is_waited_for_where_only_a_person_can_help(tmp_path: Path) -> None:
    root = held_back(tmp_path)
    assert run_cli(root, "issues", "sync", "--wait", "600", timeout=60).returncode == 2


def test_it_delivers_while_a_run_goes_on(tmp_path: Path) -> None:
    root = held_back(tmp_path)
    (root / ".agent-fox" / "issues").unlink()
    world = World({"01_a": [Req("01-REQ-1.1", right_at=NEVER)], "02_b": [Req("02-REQ-1.1")]}, seconds=20.0)
    world.write_story(root)
    world.write_spec(root, "02_b")
    run = begin(root)
    try:
        assert run_cli(root, "issues", "sync").returncode == 0
    finally:
        run.kill()
        run.wait()
    assert len(issue_files(root)) == 1


@pytest.mark.parametrize(
    "arguments", [("run",), ("issues", "sync"), ("issues", "doctor"), ("issues", "adopt", "1", "--for", "01_a")]
)
def test_a_kind_of_tracker_that_there_is_none_of_names_those_there_are(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    root = held_back(tmp_path)
    done = run_cli(root, *arguments, "--tracker", "gitlab")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "agent-fox: --tracker gitlab: no such tracker; did you mean github? (known: local, github)\n"


def test_a_wrong_number_of_seconds_is_a_mistake_in_usage(tmp_path: Path) -> None:
    assert run_cli(tmp_path, "issues", "sync", "--wait", "-1").returncode == 1


def test_a_run_that_goes_on_says_what_waits_from_before(tmp_path: Path) -> None:
    root = held_back(tmp_path)
    done = run_cli(root, "run")
    assert done.stdout.startswith("issues go to .agent-fox/issues; 1 waits to be delivered (")
