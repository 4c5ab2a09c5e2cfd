"""`agent-fox issues adopt`: an issue that is there becomes the one of a cause, and no other cause's is taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.core.retry.clusters import fingerprint_of
from agent_fox.testing.worlds import NEVER, Req, World, issue_files, rows, run_cli
from agent_fox.trackers.issue_file import parse_issue_file

A_PERSONS = "# Login is slow\n\nSince Tuesday.\r\n"


def proven(folder: Path) -> Path:
    """A run that is over, of one spec that is proven: nothing was filed."""
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(folder / "w")
    assert run_cli(root, "run").returncode == 0
    return root


def failing(folder: Path) -> Path:
    """A run that is over, with one issue."""
    root = World({"01_a": [Req("01-REQ-1.1", right_at=NEVER)], "02_b": [Req("02-REQ-1.1")]}).build(folder / "w")
    assert run_cli(root, "run").returncode == 2
    return root


def written(root: Path, name: str, text: str) -> Path:
    path = root / ".agent-fox" / "issues" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


def fingerprint_in(path: Path) -> str:
    found = parse_issue_file(path.read_text())
    return found.value("fingerprint") if found else ""


def test_what_a_person_wrote_becomes_the_issue_of_a_spec_and_keeps_its_words(tmp_path: Path) -> None:
    root = proven(tmp_path)
    path = written(root, "0004-login.md", A_PERSONS)
    done = run_cli(root, "issues", "adopt", "#4", "--for", "01_a")
    print_ = fingerprint_of(None, "01_a")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"issue 4 is the one of 01_a ({print_})", "see: agent-fox issues show 4"]
    assert path.read_bytes().decode().endswith(A_PERSONS)
    assert fingerprint_in(path) == print_
    assert rows(root, "SELECT fingerprint, number, state FROM issues") == [(print_, "4", "open")]
    assert "Since Tuesday." in run_cli(root, "issues", "show", "01_a").stdout


def test_what_is_filed_later_for_that_cause_goes_there(tmp_path: Path) -> None:
    root = failing(tmp_path)
    (old,) = issue_files(root)
    text = old.read_text()
    old.unlink()
    new = written(root, "0009-by-hand.md", A_PERSONS)
    rows_before = rows(root, "SELECT fingerprint FROM issues")
    assert run_cli(root, "issues", "adopt", "9", "--for", "01_a").returncode == 1  # issue 1 is known to be open
    old.write_text(text.replace("fingerprint:", "was:"))
    assert run_cli(root, "issues", "adopt", "1", "--for", "01_a").returncode == 0
    assert run_cli(root, "reset", "01_a:1").returncode == 0
    assert run_cli(root, "run").returncode == 2
    assert "wrong at attempt 4" in old.read_text()
    assert new.read_bytes().decode() == A_PERSONS
    assert rows(root, "SELECT fingerprint FROM issues") == rows_before


def test_json_says_which_issue_is_whose(tmp_path: Path) -> None:
    root = proven(tmp_path)
    written(root, "0004-login.md", A_PERSONS)
    told = json.loads(run_cli(root, "issues", "adopt", "0004", "--for", "01_a", "--json").stdout)
    assert (told["number"], told["spec"], told["where"]) == ("4", "01_a", ".agent-fox/issues/0004-login.md")


def test_the_issue_of_another_cause_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    root = failing(tmp_path)
    (path,) = issue_files(root)
    before = path.read_text()
    done = run_cli(root, "issues", "adopt", "1", "--for", "02_b")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("agent-fox: issue 1 is that of another cause: 01_a: ")
    stranger = written(root, "0007-other.md", "---\nfingerprint: 0123456789abcdef\n---\n\n# Another's\n")
    done = run_cli(root, "issues", "adopt", "7", "--for", "02_b")
    assert "issue 7 is that of another cause (0123456789abcdef)" in done.stderr
    assert (path.read_text(), fingerprint_in(stranger)) == (before, "0123456789abcdef")


def test_a_cause_that_has_an_issue_gets_no_second_one(tmp_path: Path) -> None:
    root = failing(tmp_path)
    path = written(root, "0004-login.md", A_PERSONS)
    done = run_cli(root, "issues", "adopt", "4", "--for", "01_a")
    assert done.returncode == 1
    assert "01_a has issue 1 already (open); see `agent-fox issues show 1`" in done.stderr
    assert path.read_bytes().decode() == A_PERSONS


def test_adopting_what_is_adopted_changes_nothing(tmp_path: Path) -> None:
    root = failing(tmp_path)
    ((print_,),) = rows(root, "SELECT fingerprint FROM issues")
    for name in ("01_a", str(print_)):
        assert run_cli(root, "issues", "adopt", "1", "--for", name).returncode == 0
    assert rows(root, "SELECT number, episode FROM issues") == [("1", 1)]


@pytest.mark.parametrize(
    ("number", "cause", "told"),
    [
        ("99", "01_a", "there is no issue 99 in "),
        ("one", "01_a", "one: no number of an issue; give one such as 7"),
        ("-4", "01_a", "No such option"),
        ("4", "01_b", "there is no such spec or cause; did you mean 01_a?"),
        ("4", "", "--for : there is no such spec or cause"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, number: str, cause: str, told: str
) -> None:
    root = proven(tmp_path_factory.mktemp("mistake"))
    path = written(root, "0004-login.md", A_PERSONS)
    done = run_cli(root, "issues", "adopt", number, "--for", cause)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert told in done.stderr
    assert path.read_bytes().decode() == A_PERSONS
