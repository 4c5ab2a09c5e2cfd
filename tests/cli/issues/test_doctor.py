"""`agent-fox issues doctor`, and the line about the tracker in `agent-fox doctor`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.github import GitHubFake, Role, serve
from agent_fox.testing.worlds import Req, World, run_cli

TOKEN = "ghp_fake"


def world(folder: Path, settings: str = "") -> Path:
    return World({"01_a": [Req("01-REQ-1.1")]}, settings=settings).build(folder / "w")


def on_github(base_url: str, repository: str = "octo/project") -> str:
    return (
        f'[tracker]\nkind = "github"\nrepository = "{repository}"\nbase_url = "{base_url}"\n'
        'credentials = "environment"\nlogin = "fox-bot"\n'
    )


def states(told: str) -> dict[str, str]:
    return {check["name"]: check["state"] for check in json.loads(told)["checks"]}


def test_a_folder_that_can_be_written_is_all_that_local_needs(tmp_path: Path) -> None:
    root = world(tmp_path)
    done = run_cli(root, "issues", "doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1] == f"ok       folder: {root}/.agent-fox/issues (made with the first issue)"
    assert not (root / ".agent-fox" / "issues").exists()
    assert "ok       tracker: local, .agent-fox/issues" in run_cli(root, "doctor").stdout.splitlines()


def test_a_file_in_the_place_of_the_folder_is_told_with_the_remedy(tmp_path: Path) -> None:
    root = world(tmp_path)
    (root / ".agent-fox" / "issues").write_text("")
    done = run_cli(root, "issues", "doctor")
    assert done.returncode == 2
    assert done.stdout.splitlines()[1:] == [
        f"missing  folder: {root}/.agent-fox/issues is no folder",
        "         -> move it away",
    ]
    assert f"warning  tracker: {root}/.agent-fox/issues is no folder" in run_cli(root, "doctor").stdout


def test_a_file_that_lost_its_front_matter_is_the_issue_of_no_cause(tmp_path: Path) -> None:
    root = world(tmp_path)
    folder = root / ".agent-fox" / "issues"
    folder.mkdir()
    (folder / "0003-x.md").write_text("# By hand\n")
    done = run_cli(root, "issues", "doctor")
    assert done.returncode == 2
    assert "-> agent-fox issues adopt 0003 --for SPEC" in done.stdout


def test_everything_that_github_needs_is_looked_at_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    fake = GitHubFake()
    with serve(fake) as url:
        root = world(tmp_path, on_github(url))
        done = run_cli(root, "issues", "doctor", "--json", GITHUB_TOKEN=TOKEN)
    found = states(done.stdout)
    assert {
        name: found[name] for name in ("tracker", "repository", "token", "host", "visible", "issues", "active")
    } == dict.fromkeys(("tracker", "repository", "token", "host", "visible", "issues", "active"), "ok")
    assert done.returncode == (0 if set(found.values()) == {"ok"} else 2)
    assert TOKEN not in done.stdout + done.stderr
    assert fake.writes == ()


def test_without_a_token_the_remedy_is_told_and_the_token_of_another_is_not_looked_for(tmp_path: Path) -> None:
    root = world(tmp_path, on_github("http://127.0.0.1:9"))
    done = run_cli(root, "issues", "doctor")
    assert done.returncode == 2
    assert "missing  token: " in done.stdout
    assert "GITHUB_TOKEN" in done.stdout
    (line,) = [line for line in run_cli(root, "doctor").stdout.splitlines() if " tracker: " in line]
    assert line.startswith("warning  tracker: github: ")


@pytest.mark.parametrize("mistake", ["expired", "unseen", "archived", "issues off"])
def test_what_is_wrong_at_github_is_missing_not_fine(tmp_path: Path, mistake: str) -> None:
    fake = GitHubFake()
    fake.repository.is_archived = mistake == "archived"
    fake.repository.has_issues = mistake != "issues off"
    if mistake == "unseen":
        fake.token.role = Role.NONE
    with serve(fake) as url:
        root = world(tmp_path, on_github(url))
        done = run_cli(root, "issues", "doctor", "--json", GITHUB_TOKEN="ghp_old" if mistake == "expired" else TOKEN)
    assert done.returncode == 2
    assert "missing" in states(done.stdout).values()
    assert all(check["remedy"] for check in json.loads(done.stdout)["checks"] if check["state"] != "ok")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9", "http://example.invalid/api/v3", "ftp://example.org", "nonsense"]
)
def test_a_wrong_base_url_is_told_and_is_no_traceback(tmp_path: Path, url: str) -> None:
    root = world(tmp_path, on_github(url))
    done = run_cli(root, "issues", "doctor", GITHUB_TOKEN=TOKEN)
    assert (done.returncode, done.stderr) == (2, "")
    assert "-> " in done.stdout
