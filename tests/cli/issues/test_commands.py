"""The issues that were filed, listed and shown, and what of them waits."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.cli.issues.commands import without_old
from agent_fox.cli.opening import reading
from agent_fox.store.issue_view import read_issues
from agent_fox.testing.worlds import NEVER, Req, World, environment, issue_files, run_cli
from tests.cli.conftest import Finished

TITLE = "02_top: 02-REQ-1.1 fails: WHEN its proof is read, THE proof SHALL be right."


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A run of two specs that fail for two reasons, where a file stands in the place of the folder of issues."""
    specs = {name: [Req(f"{name[:2]}-REQ-1.1", right_at=NEVER)] for name in ("01_a", "02_b")}
    root = World(specs).build(tmp_path_factory.mktemp("waiting") / "w")
    (root / ".agent-fox" / "issues").write_text("in the way")
    return Finished(root, run_cli(root, "run", "--parallel", "1"))


def test_an_issue_is_listed_with_number_standing_cause_specs_ids_age_and_place(finished: Finished) -> None:
    first, about, where = finished.tell("issues", "list").splitlines()
    assert first.split(maxsplit=2) == ["1", "open", TITLE]
    assert re.fullmatch(r"no progress; 02_top: 02-REQ-1\.1; (just now|\d+ minutes? ago)", about.strip())
    assert where.strip() == str(issue_files(finished.root)[0].relative_to(finished.root))


def test_the_command_alone_lists(finished: Finished) -> None:
    assert finished.tell("issues") == finished.tell("issues", "list")
    assert finished.tell("issues", "--json") == finished.tell("issues", "list", "--json")


def test_listing_loads_neither_a_tracker_nor_the_settings(finished: Finished) -> None:
    code = (
        "import sys; from agent_fox.cli.main import run; run(['issues', 'list']); "
        "print([m for m in ('github', 'requests', 'pydantic', 'rich', 'agent_fox.config') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=finished.root, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", ["1", "#1", "0001", "02_top", "53f8a39743a6364d", "53f8"])
def test_an_issue_is_shown_as_it_was_filed_with_members_and_effects(finished: Finished, name: str) -> None:
    told = finished.tell("issues", "show", name)
    assert issue_files(finished.root)[0].read_text().strip() in told
    head, tail = told.splitlines()[:2], told[told.rindex("\nabout\n") :].splitlines()
    assert head[0] == f"1: {TITLE}"
    assert "  02_top/02-REQ-1.1  open" in tail
    assert tail[-1].endswith("file     done")


def test_json_lists_issues_and_gives_their_text_and_effects(finished: Finished) -> None:
    (listed,) = json.loads(finished.tell("issues", "list", "--json"))
    assert (listed["number"], listed["state"], listed["standing"], listed["cause"]) == (
        "1",
        "open",
        "open",
        "no progress",
    )
    shown = json.loads(finished.tell("issues", "show", "1", "--json"))
    assert "02-REQ-1.1" in shown["text"]
    assert [(one["kind"], one["state"], one["tries"]) for one in shown["effects"]] == [("file", "done", 1)]
    assert {key: shown[key] for key in listed} == listed


def test_a_number_that_there_is_none_of_names_those_there_are(finished: Finished) -> None:
    done = run_cli(finished.root, "issues", "show", "7")
    assert (done.returncode, done.stderr) == (1, "agent-fox: there is no issue 7; there are: 1\n")


def test_a_spec_that_is_misspelt_is_told_the_nearest_that_has_an_issue(finished: Finished) -> None:
    assert "did you mean 02_top" in run_cli(finished.root, "issues", "show", "02_tpo").stderr


def test_no_issue_at_all_is_said(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    assert run_cli(root, "issues", "list").stdout == "no issues\n"
    assert "issues:" not in run_cli(root, "status").stdout


@pytest.mark.parametrize(
    "arguments", [("list",), ("show", "1"), ("sync",), ("export",), ("adopt", "1", "--for", "01_a")]
)
def test_without_a_state_it_is_said_what_makes_one(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    done = run_cli(root, "issues", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no state yet; `agent-fox run` makes it" in done.stderr
    assert not (root / ".agent-fox" / "state.db").exists()


def test_what_cannot_be_delivered_is_told_once_for_one_reason_with_the_remedy(waiting: Finished) -> None:
    assert waiting.done.returncode == 2
    for told in (waiting.done.stdout, waiting.tell("status")):
        line = " ".join(told.partition("\nalso\n")[2].partition("\n\n")[0].split())
        assert "issues: 2 not filed yet; 2 wait to be delivered (" in line
        assert line.count("; then: agent-fox issues sync)") == 1


def test_the_list_has_what_waits_below_the_issues(waiting: Finished) -> None:
    *issues, last = waiting.tell("issues").splitlines()
    assert [line.split()[:4] for line in issues[::3]] == [["-", "not", "delivered", "yet"]] * 2
    assert last.startswith("2 wait to be delivered: ")
    assert ".agent-fox/issues" in last


def test_the_documents_have_the_same_numbers(waiting: Finished) -> None:
    counts = json.loads(waiting.tell("status", "--json"))["issue_counts"]
    assert counts["standings"] == {"not delivered yet": 2}
    (reason,) = counts["waiting"]
    assert (reason["why"], reason["count"], len(reason["fingerprints"])) == ("held", 2, 2)


def test_an_issue_that_was_never_delivered_is_shown_as_it_will_be_sent(waiting: Finished) -> None:
    told = waiting.tell("issues", "show", "01_a")
    assert told.startswith("not filed yet: 01_a: ")
    assert "## What fails" in told
    assert json.loads(waiting.tell("issues", "show", "01_a", "--json"))["number"] is None


def test_open_and_all_choose_what_is_listed(finished: Finished) -> None:
    assert finished.tell("issues", "list", "--open") == finished.tell("issues", "list", "--all")


def test_of_closed_issues_the_last_ones_are_listed_and_the_rest_is_a_number(finished: Finished) -> None:
    with reading(finished.root) as db:
        (issue,) = read_issues(db)
    closed = [
        replace(issue, fingerprint=f"print{day:02}", state="closed", updated_at=f"2026-03-{day:02}T12:00:00.000Z")
        for day in range(1, 15)
    ]
    shown = without_old([issue, *closed])
    assert [one.fingerprint for one in shown] == [issue.fingerprint, *(f"print{day:02}" for day in range(5, 15))]
