"""`agent-fox issues migrate`: the open issues of a former tracker go on in the present one.

GitHub is our fake, a double for the service alone, which answers over loopback.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from agent_fox.engine.issues.moving import elsewhere, leave
from agent_fox.store.state import open_state
from agent_fox.testing.github import GitHubFake, serve
from agent_fox.testing.worlds import NEVER, Req, World, issue_files, run_cli


@dataclass(frozen=True)
class Place:
    """A repository whose issue was filed as a file, and which names GitHub as its tracker since."""

    root: Path
    fake: GitHubFake

    def cli(self, *arguments: str, token: str = "ghp_fake") -> CompletedProcess[str]:
        home = self.root.parent
        return run_cli(
            self.root, *arguments, HOME=str(home), XDG_STATE_HOME=str(home / "state"),
            AGENT_FOX_GITHUB_HOST="127.0.0.1", GITHUB_TOKEN=token,
        )  # fmt: skip

    def listed(self) -> list[tuple[str | None, str]]:
        return [(one["number"], one["standing"]) for one in json.loads(self.cli("issues", "--json").stdout)]

    @property
    def file(self) -> str:
        (path,) = (self.root / ".agent-fox" / "issues").glob("*.md")
        return path.read_text()

    @property
    def there(self) -> list[tuple[int, bool]]:
        return [(issue.number, issue.is_open) for issue in self.fake.issues]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    fake = GitHubFake()
    with serve(fake) as url:
        settings = (
            f'[tracker]\nkind = "github"\nrepository = "octo/project"\nbase_url = "{url}"\n'
            'credentials = "environment"\nlogin = "fox-bot"\n'
        )
        root = World({"01_a": [Req("01-REQ-1.1", right_at=NEVER)]}, settings=settings).build(tmp_path / "w")
        made = Place(root, fake)
        assert made.cli("run", "--tracker", "local").returncode == 2
        yield made


def test_an_open_issue_is_filed_once_in_the_new_tracker_and_the_old_one_says_where(place: Place) -> None:
    done = place.cli("issues", "migrate")
    assert (done.returncode, done.stderr) == (0, "")
    assert place.there == [(1, True)]
    assert "state: closed" in place.file
    assert "Moved to http://" in place.file
    assert "/octo/project/issues/1" in place.file
    assert place.listed() == [("1", "open")]
    (issue,) = json.loads(place.cli("issues", "--json").stdout)
    assert "/octo/project/issues/1" in issue["where"]
    before = place.file
    again = place.cli("issues", "migrate")
    assert (again.returncode, again.stdout.startswith("nothing to move: ")) == (0, True)
    assert (place.there, place.file) == ([(1, True)], before)


def test_killed_after_the_old_issue_was_left_it_goes_on_where_it_was(place: Place) -> None:
    with closing(open_state(place.root / ".agent-fox" / "state.db")) as db:
        ((issue, former),) = elsewhere(db, "github somewhere")
        assert former == "local"
        assert leave(db, issue, former, "github somewhere", "2026-03-01T12:00:00.000Z") == ""
        assert list(elsewhere(db, "github somewhere")) == []
    assert place.listed() == [(None, "not delivered yet")]
    assert place.cli("issues", "migrate").returncode == 0
    assert place.there == [(1, True)]
    assert "Moved to" in place.file


def test_what_is_decided_after_a_change_of_the_tracker_is_neither_said_elsewhere_nor_reported_as_done(
    place: Place,
) -> None:
    """The cause is proven in a run that files at GitHub: nobody has closed the file, and the list says so."""
    World({"01_a": [Req("01-REQ-1.1")]}).write_story(place.root)
    assert place.cli("reset", "01_a:1").returncode == 0
    ran = place.cli("run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "state: open" in place.file
    assert place.there == []
    assert place.listed() == [("1", "open")]
    assert "agent-fox issues migrate" in ran.stdout
    moved = place.cli("issues", "migrate")
    assert moved.returncode == 2
    assert (
        "it is settled: only its closing is still to be sent; `agent-fox issues sync --tracker local` delivers it there"
        in moved.stdout
    )
    assert place.cli("issues", "sync", "--tracker", "local").returncode == 0
    assert "state: closed" in place.file
    assert place.listed() == [("1", "closed")]


def test_what_a_person_refused_is_not_moved(place: Place) -> None:
    (path,) = issue_files(place.root)
    path.write_text(path.read_text().replace("state: open", "state: closed\nstate_reason: not_planned"))
    done = place.cli("issues", "migrate")
    assert (done.returncode, place.there) == (0, [])
    assert "refused by a person: a person decided that" in done.stdout


def test_an_old_tracker_out_of_reach_is_told_and_tried_again(place: Place) -> None:
    """From GitHub back to files, without a token: the issue is filed here, and the old one is noted later."""
    assert place.cli("issues", "migrate").returncode == 0
    assert place.cli("run").returncode == 2
    back = place.cli("issues", "migrate", "--tracker", "local", token="")
    assert back.returncode == 2
    assert "has no note yet that it continues in" in back.stdout
    assert place.there == [(1, True)]
    assert "state: open" in place.file
    done = place.cli("issues", "migrate", "--tracker", "local")
    assert (done.returncode, place.there) == (0, [(1, False)])
    assert place.listed() == [("1", "open")]
