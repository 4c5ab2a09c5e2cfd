"""`agent-fox issues take`, before our fake GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_fox.testing.worlds import new_repository
from tests.stories.github_scene import REPOSITORY, TRACKER, GitHubScene, github

BODY = "We need this.\n\n## Acceptance criteria\n- WHEN it is asked, THE program SHALL answer\n"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[GitHubScene]:
    with github(tmp_path) as opened:
        yield opened


@pytest.fixture
def root(hub: GitHubScene) -> Path:
    folder = hub.folder / "project"
    (folder / ".agent-fox").mkdir(parents=True)
    new_repository(folder)
    (folder / ".agent-fox" / "config.toml").write_text(TRACKER.format(REPOSITORY, hub.url, "[]"))
    return folder


def test_a_draft_is_written_linted_and_the_issue_stays_as_it_is(hub: GitHubScene, root: Path) -> None:
    issue = hub.fake.person().opens("Answer people", BODY)
    done = hub.cli(root, "issues", "take", "1")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "wrote .agent-fox/specs/issue-1-answer-people.md, a draft from octo/project#1 by alex: 1 criterion"
    )
    assert any(line.startswith("missing: nothing says how it is tested") for line in lines)
    text = (root / ".agent-fox" / "specs" / "issue-1-answer-people.md").read_text()
    assert "> Source: octo/project#1" in text
    assert "- WHEN it is asked, THE program SHALL answer\n" in text
    assert (issue.face.body, issue.comments) == (BODY, [])


def test_nothing_is_overwritten(hub: GitHubScene, root: Path) -> None:
    hub.fake.person().opens("Answer people", BODY)
    hub.cli(root, "issues", "take", "1", "--name", "answers")
    file = root / ".agent-fox" / "specs" / "answers.md"
    file.write_text("mine")
    again = hub.cli(root, "issues", "take", "1", "--name", "answers")
    assert again.returncode == 1
    assert "is there already and stays as it is" in again.stderr
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("9",), "#9 is not found"),
        (("2",), "#2 is a pull request"),
        (("one",), "no number of an issue"),
        (("https://github.com/other/place/issues/1",), "not an issue of"),
        (("1", "--name", "../x"), "no name for a spec"),
        (("1", "--tracker", "local"), "try --tracker github"),
    ],
)
def test_what_cannot_be_taken_is_refused_in_one_line(
    hub: GitHubScene, root: Path, arguments: tuple[str, ...], reason: str
) -> None:
    hub.fake.person().opens("Answer people", BODY)
    hub.fake.person().opens_pull("A change")
    done = hub.cli(root, "issues", "take", *arguments)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert reason in done.stderr
    assert not (root / ".agent-fox" / "specs").exists()


def test_programs_get_one_document(hub: GitHubScene, root: Path) -> None:
    hub.fake.person().opens("Answer people", "no lists")
    assert "[empty-group]" in hub.cli(root, "issues", "take", "1", "--name", "first").stdout
    document = json.loads(hub.cli(root, "issues", "take", "1", "--json").stdout)
    assert (document["source"], document["criteria"], document["left_out"]) == ("octo/project#1", [], 0)
    assert document["missing"][0].startswith("no list of the issue reads as criteria")
    assert document["findings"] != []
