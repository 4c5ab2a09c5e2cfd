"""`agent-fox issues` with GitHub as the tracker: our fake, a double for the service alone, answers over loopback."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from agent_fox.cli.screen import plain
from agent_fox.store.desk import take_lease
from agent_fox.store.state import open_state, transaction
from agent_fox.testing.github import GitHubFake, serve
from agent_fox.testing.worlds import NEVER, Req, World, run_cli

TOKEN = "ghp_fake"


@dataclass(frozen=True)
class Place:
    """A repository whose issues go to the fake."""

    root: Path
    fake: GitHubFake
    address: str

    def cli(self, *arguments: str, token: str = TOKEN) -> CompletedProcess[str]:
        home = self.root.parent
        return run_cli(
            self.root,
            *arguments,
            HOME=str(home),
            XDG_STATE_HOME=str(home / "state"),
            AGENT_FOX_GITHUB_HOST="127.0.0.1",
            GITHUB_TOKEN=token,
        )

    def local(self) -> None:
        """The settings name no tracker, so that `--tracker` must."""
        path = self.root / ".agent-fox" / "config.toml"
        path.write_text(path.read_text().replace('kind = "github"\n', ""))

    @property
    def numbers(self) -> list[int]:
        return [issue.number for issue in self.fake.issues if issue.is_open]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    fake = GitHubFake()
    with serve(fake) as url:
        settings = (
            f'[tracker]\nkind = "github"\nrepository = "octo/project"\nbase_url = "{url}"\n'
            'credentials = "environment"\nlogin = "fox-bot"\n'
        )
        world = World({"01_a": [Req("01-REQ-1.1", right_at=NEVER)]}, settings=settings)
        yield Place(world.build(tmp_path / "w"), fake, url.partition("://")[2] + "/octo/project")


def test_a_run_says_where_issues_go_and_the_list_has_their_address(place: Place) -> None:
    done = place.cli("run")
    assert done.returncode == 2
    assert done.stdout.startswith(f"issues go to {place.address}\n")
    assert place.numbers == [1]
    assert "  issues: 1 open" in place.cli("status").stdout.splitlines()
    (listed,) = json.loads(place.cli("issues", "--json").stdout)
    assert (listed["number"], listed["standing"], listed["remote"]) == ("1", "open", "open")
    assert place.fake.issues[0].face.title == listed["title"]
    for name in ("1", listed["where"]):
        shown = place.cli("issues", "show", name).stdout
        sent = (place.fake.issues[0].face.body or "").splitlines()[1:]
        assert "\n".join(map(plain, sent)).strip() in shown


def test_without_a_token_the_run_ends_as_it_would_and_sync_delivers_later(place: Place) -> None:
    done = place.cli("run", token="")
    assert done.returncode == 2
    line = " ".join(done.stdout.partition("\nalso\n")[2].partition("\n\n")[0].split())
    assert "issues: 1 not filed yet; 1 waits to be delivered (" in line
    assert "GITHUB_TOKEN" in line
    assert "agent-fox issues sync" in line
    still = place.cli("issues", "sync", token="")
    assert (still.returncode, still.stderr, place.numbers) == (2, "", [])
    assert [line.count("GITHUB_TOKEN") > 0 for line in still.stdout.splitlines()] == [True, False]
    now = place.cli("issues", "sync")
    assert (now.returncode, place.numbers) == (0, [1])
    assert now.stdout.splitlines()[-1] == "issues: 1 open"
    assert (place.cli("issues", "sync").returncode, place.numbers) == (0, [1])


def test_what_a_person_decided_at_github_is_seen_by_the_next_sync(place: Place) -> None:
    place.cli("run")
    place.fake.person("alex").closes(1, "not_planned")
    done = place.cli("issues", "sync")
    assert (done.returncode, done.stdout) == (0, "issue #1 is refused by a person now\nissues: 1 refused\n")
    assert place.cli("issues", "list", "--open").stdout == "no issues\n"


def test_while_another_delivers_nothing_is_sent_and_that_is_told(place: Place) -> None:
    place.cli("run", token="")
    with closing(open_state(place.root / ".agent-fox" / "state.db")) as db, transaction(db):
        assert take_lease(db, place.address, "another", time.time(), 100.0)
    done = place.cli("issues", "sync")
    assert (done.returncode, place.numbers) == (2, [])
    assert f"another agent-fox delivers to {place.address} just now" in done.stdout


def test_an_issue_that_a_person_wrote_is_adopted_and_commented_from_then_on(place: Place) -> None:
    place.cli("run", token="")
    (number,) = [place.fake.person("alex").opens("Gate is shut", "See there.")]
    done = place.cli("issues", "adopt", str(getattr(number, "number", number)), "--for", "01_a")
    assert (done.returncode, done.stderr) == (0, "")
    assert place.cli("issues", "sync").returncode == 0
    (issue,) = place.fake.issues
    assert (issue.face.body, len(issue.comments)) == ("See there.", 2)


def test_a_cause_that_has_an_issue_there_gets_no_second_one(place: Place) -> None:
    place.cli("run")
    place.fake.person("alex").opens("Another", "")
    done = place.cli("issues", "adopt", "2", "--for", "01_a")
    assert (done.returncode, len(place.fake.issues[1].comments)) == (1, 0)
    assert "01_a has issue 1 already (open)" in done.stderr


def test_a_number_that_github_has_none_of_is_a_mistake(place: Place) -> None:
    place.cli("run", token="")
    done = place.cli("issues", "adopt", "99", "--for", "01_a")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "#99" in done.stderr


def test_the_token_is_told_nowhere(place: Place) -> None:
    for arguments in (("run",), ("issues", "sync"), ("issues", "doctor"), ("doctor",), ("issues", "export")):
        done = place.cli(*arguments)
        assert TOKEN not in done.stdout + done.stderr


def test_what_a_run_left_for_github_is_not_filed_elsewhere_by_a_sync_that_does_not_say_so(place: Place) -> None:
    place.local()
    place.cli("run", "--tracker", "github", token="")
    refused = place.cli("issues", "sync")
    assert (refused.returncode, refused.stdout, place.numbers) == (1, "", [])
    assert "`agent-fox issues sync --tracker github`" in refused.stderr
    assert not (place.root / ".agent-fox" / "issues").exists()
    assert (place.cli("issues", "sync", "--tracker", "github").returncode, place.numbers) == (0, [1])
    assert place.cli("issues", "sync").returncode == 0
