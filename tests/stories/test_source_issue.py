"""The issue that a spec came from hears at the end of a run how much is proven, in one comment, and stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent_fox.testing.github.state import Issue
from agent_fox.testing.worlds import NEVER, Req, World, commit_all
from tests.stories.github_scene import GitHubScene, github, outbox
from tests.stories.scene import CEILING, NOT_PROVEN, PROVEN, configure

SPEC = "05_memory"
ONE_TRY = "[retry]\nattempts = 1\n"
HALF = World({SPEC: [Req("05-REQ-1.1", 1), Req("05-REQ-1.2", 1, NEVER)]}, settings=ONE_TRY)


@dataclass(frozen=True)
class Asked:
    """A person's issue that asks for a spec."""

    hub: GitHubScene
    issue: Issue

    def build(self, world: World, source: str = "#1") -> Path:
        root = self.hub.build(world)
        prd = root / ".agent-fox" / "specs" / SPEC / "prd.md"
        prd.write_text(prd.read_text().replace("\n\n", f"\n\n> Source: {source}\n\n", 1))
        commit_all(root, "where it came from")
        return root

    @property
    def told(self) -> list[str]:
        return [comment.body for comment in self.issue.comments]


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    with github(tmp_path) as hub:
        yield Asked(hub, hub.fake.person().opens("Remember things", "Please."))


def test_what_is_not_all_proven_is_told_in_counts_beside_the_issue_about_the_failure(asked: Asked) -> None:
    root = asked.build(HALF, f"[GitHub Issue #1]({asked.hub.url}/octo/project/issues/1)")
    asked.hub.run(root, ends=NOT_PROVEN)
    assert [issue.author.login for issue in asked.hub.fake.issues] == ["alex", "fox-bot"]
    (text,) = asked.told
    for word in ("1 of 2 requirements", "1 fails", "05-REQ-1.2", "Not fully proven"):
        assert word in text, (word, text)
    assert (asked.issue.face.state, asked.issue.face.body) == ("open", "Please.")


def test_only_what_is_proven_as_a_whole_is_called_so_and_nothing_is_closed(asked: Asked) -> None:
    root = asked.build(World({SPEC: [Req("05-REQ-1.1", 1), Req("05-REQ-1.2", 1)]}))
    asked.hub.run(root, ends=PROVEN)
    (text,) = asked.told
    assert "All 2 requirements" in text
    assert asked.issue.face.state == "open"
    assert (asked.hub.fake.notices, asked.hub.fake.violations) == ((), ())


def test_a_run_that_goes_on_after_a_pause_writes_its_comment_anew(asked: Asked) -> None:
    late = World({SPEC: [Req("05-REQ-1.1", 1, right_at=2)]}, settings="[limits]\nsessions = 2\n")
    root = asked.build(late)
    asked.hub.run(root, ends=CEILING)
    (first,) = asked.told
    assert "0 of 1 requirements" in first
    configure(root, "sessions = 2", "sessions = 20")
    asked.hub.run(root, ends=PROVEN)
    (second,) = asked.told
    assert "The one requirement" in second
    assert "is proven" in second


def test_another_run_without_news_says_nothing(asked: Asked) -> None:
    root = asked.build(HALF)
    asked.hub.run(root, ends=NOT_PROVEN)
    written = len(asked.hub.fake.writes)
    asked.hub.run(root, "--new-run", ends=NOT_PROVEN)
    assert (len(asked.told), len(asked.hub.fake.writes)) == (1, written)


@pytest.mark.parametrize("source", ["octo/other#1", "https://example.org/octo/project/issues/1", "a talk about #1"])
def test_an_issue_elsewhere_is_left_alone(asked: Asked, source: str) -> None:
    root = asked.build(HALF, source)
    asked.hub.run(root, ends=NOT_PROVEN)
    assert asked.told == []


def test_what_cannot_be_told_now_waits_and_is_told_later(asked: Asked) -> None:
    nobody = replace(asked.hub, token="")
    root = replace(asked, hub=nobody).build(HALF)
    nobody.run(root, ends=NOT_PROVEN)
    assert [kind for kind, state in outbox(root) if state != "done"] == ["file", "comment"]
    assert asked.told == []
    assert asked.hub.cli(root, "issues", "sync").returncode == 0
    (text,) = asked.told
    assert "1 of 2 requirements" in text
