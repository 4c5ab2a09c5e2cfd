"""The pull request of the integration branch, at the fake GitHub: opened once, kept current, a person's words kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.retry.filing import Says
from agent_fox.testing.github import Break, Fault, GitHubFake, Grant, Role, Say, faults
from agent_fox.testing.github.state import Issue
from agent_fox.trackers.github.work.pulls import IN_A_COMMENT
from agent_fox.trackers.protocol import Done, Effect, EffectKind, Held, Moot
from tests.trackers.github.scene import Clock, Scene, scene

BRANCH = "agent-fox/integration"
FIRST = Effect(
    id="p1",
    kind=EffectKind.COMMENT,
    fingerprint=f"pull:{BRANCH}",
    title="agent-fox: 1 of 2 specs proven",
    body="| requirement | state |\n|---|---|\n| 04-REQ-1.1 | FAIL |\n",
    says=Says.PROGRESS,
    slot="s1",
    target=f"pull:{BRANCH}",
)
SECOND = replace(FIRST, id="p2", title="agent-fox: 2 of 2 specs proven", body="All of it is proven.\n")


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Scene]:
    with scene(tmp_path) as made:
        alex = made.fake.person()
        alex.pushes("main", "a" * 40)
        alex.pushes(BRANCH, "b" * 40)
        yield made


def pulls(fake: GitHubFake) -> list[Issue]:
    return [issue for issue in fake.repository.issues.values() if issue.pull is not None]


def body(at: Scene, number: int = 1) -> str:
    return at.fake.repository.issues[number].face.body or ""


def test_a_draft_is_opened_once_and_its_block_and_title_are_kept_current(at: Scene) -> None:
    assert at.settled(FIRST) == Done("1", "https://github.com/octo/project/pull/1")
    assert at.settled(FIRST) == at.settled(SECOND)
    [pull] = pulls(at.fake)
    assert pull.pull is not None
    assert (pull.pull.is_draft, pull.pull.base, pull.face.title) == (True, "main", SECOND.title)
    assert "All of it is proven." in body(at)
    assert "04-REQ-1.1" not in body(at)
    assert [write.method for write in at.fake.writes] == ["POST", "PATCH"]


def test_a_persons_title_and_words_around_the_block_stay(at: Scene) -> None:
    at.settled(FIRST)
    at.fake.person().edits(1, f"Please read this first.\r\n\r\n{body(at)}\r\n\r\nThanks, Alex", "My own title")
    assert at.settled(SECOND) == Done("1", "https://github.com/octo/project/pull/1")
    text = body(at)
    assert text.startswith("Please read this first.\r\n\r\n<!-- agent-fox status ")
    assert text.endswith("<!-- agent-fox status ends -->\n\r\n\r\nThanks, Alex")
    assert "All of it is proven." in text
    assert pulls(at.fake)[0].face.title == "My own title"


@pytest.mark.parametrize("change", ["edited", "removed"])
def test_a_block_that_a_person_edited_is_left_alone_and_a_comment_is_kept_current(at: Scene, change: str) -> None:
    at.settled(FIRST)
    text = body(at).replace("FAIL", "fine, really") if change == "edited" else "My own words."
    at.fake.person().edits(1, text)
    done = at.settled(SECOND)
    assert isinstance(done, Done)
    assert done.note == IN_A_COMMENT
    at.settled(replace(SECOND, id="p3", body="Another reading.\n"))
    assert body(at) == text
    assert at.bodies(1) == ["Another reading."]


def test_a_pull_request_that_a_person_opened_gets_a_comment_and_keeps_its_text(at: Scene) -> None:
    at.fake.person().opens_pull("Mine", "As I see it.", BRANCH)
    at.settled(FIRST)
    at.settled(SECOND)
    assert (len(pulls(at.fake)), body(at), at.bodies(1)) == (1, "As I see it.", ["All of it is proven."])


def test_a_stranger_who_copies_our_block_does_not_have_it_rewritten(at: Scene) -> None:
    at.settled(FIRST)
    copied = body(at)
    at.fake.person().closes(1)
    at.fake.person("mallory").opens_pull("Copied", copied, BRANCH)
    at.settled(SECOND)
    assert body(at, 2) == copied
    assert at.bodies(2) == ["All of it is proven."]


def test_what_a_person_closed_is_not_opened_again_and_what_was_merged_is_followed_by_a_new_one(at: Scene) -> None:
    at.settled(FIRST)
    at.fake.person().closes(1)
    moot = at.settled(SECOND)
    assert isinstance(moot, Moot)
    assert "a person has closed pull request #1" in moot.reason
    at.fake.person().reopens(1)
    at.settled(SECOND)
    at.fake.person().merges(1)
    assert at.settled(replace(FIRST, id="p3")) == Done("2", "https://github.com/octo/project/pull/2")


def test_nothing_to_propose_is_moot(at: Scene) -> None:
    at.fake.person().pushes(BRANCH, "a" * 40)
    assert at.settled(FIRST) == Moot(f"{BRANCH} holds nothing that is not in the default branch")


@pytest.mark.parametrize(
    ("what", "reason", "remedy"),
    [
        ("no branch", "GitHub does not have both branches", "`[git] push`"),
        ("no permission", "may not do this", "`Pull requests: read and write`"),
        ("no drafts", "no draft pull requests", "open the pull request yourself"),
    ],
)
def test_what_a_person_must_mend_is_held_and_holds_up_nothing_else(
    at: Scene, what: str, reason: str, remedy: str
) -> None:
    match what:
        case "no branch":
            del at.fake.repository.branches[BRANCH]
        case "no permission":
            at.fake.token.pulls = Grant.READ
        case _:
            at.fake.repository.has_drafts = False
    held = at.settled(FIRST)
    assert isinstance(held, Held)
    assert reason in held.reason
    assert remedy in held.remedy
    assert not held.is_general


def test_a_renamed_repository_gets_its_pull_request(at: Scene) -> None:
    at.fake.rename("octo/renamed")
    done = at.settled(FIRST)
    assert isinstance(done, Done)
    assert done.url == "https://github.com/octo/renamed/pull/1"
    at.settled(SECOND)
    assert len(pulls(at.fake)) == 1


@pytest.mark.parametrize(
    "fault",
    [faults.dropped(), faults.timed_out(), faults.gateway(), faults.cut(), faults.limited("1"), faults.refused()],
    ids=lambda fault: str(fault)[:40],
)
def test_whatever_becomes_of_an_answer_there_is_one_pull_request(at: Scene, fault: Break | Say) -> None:
    at.fake.faults[:] = [Fault(faults.writes, fault)]
    at.settled(FIRST)
    at.fake.faults[:] = [Fault(faults.writes, fault)]
    at.settled(SECOND)
    assert [pull.face.title for pull in pulls(at.fake)] == [SECOND.title]
    assert body(at).count("All of it is proven.") == 1
    assert at.fake.violations == ()


@pytest.mark.parametrize("is_answered", [False, True])
def test_a_process_that_ends_at_a_write_leaves_one_pull_request(at: Scene, is_answered: bool) -> None:
    for effect in (FIRST, SECOND):
        assert at.crashing(effect, 0, is_answered)
        at.restart()
        at.settled(effect)
    assert [pull.face.title for pull in pulls(at.fake)] == [SECOND.title]
    assert at.bodies(1) == []


def test_a_state_that_was_lost_finds_the_pull_request_by_its_block(tmp_path: Path, at: Scene) -> None:
    at.settled(FIRST)
    with scene(tmp_path, "other.db", Clock(at.clock.seconds), at.fake) as fresh:
        assert fresh.settled(SECOND) == Done("1", "https://github.com/octo/project/pull/1")
    assert "All of it is proven." in body(at)


def test_a_reader_without_a_role_is_refused_in_words(at: Scene) -> None:
    at.fake.token.role = Role.READ
    held = at.settled(FIRST)
    assert isinstance(held, Held)
    assert "`[github] pull_request = false`" in held.remedy
