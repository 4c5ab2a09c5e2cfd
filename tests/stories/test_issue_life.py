"""What becomes of an issue over several runs, in files beside the specs and at our fake GitHub."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, commit_all, issue_files, run_cli
from tests.stories.github_scene import GitHubScene, github, outbox
from tests.stories.scene import NOT_PROVEN, PROVEN, decisions, outcomes, report, run

SPEC, PART = "05_memory", "05-REQ-1.1"
ONE_TRY = "[retry]\nattempts = 1\n"
READ_AGAIN = {"AGENT_FOX__EVIDENCE__RERUN_FRACTION": "1.0"}
FAILS = {f"{SPEC}/{attempt}/{reading}": report({PART: "FAIL"}) for attempt in range(1, 5) for reading in range(1, 5)}
LATE = World({SPEC: [Req(PART, 1, right_at=2)]}, settings=ONE_TRY)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[GitHubScene]:
    with github(tmp_path) as opened:
        yield opened


def reset(root: Path) -> None:
    done = run_cli(root, "reset", f"{SPEC}:1")
    assert done.returncode == 0, done


def proven_and_failed_again(root: Path, world: World) -> None:
    """Filed, closed with proof, and then the same evidence, made again, says FAIL."""
    run(root, ends=NOT_PROVEN)
    reset(root)
    run(root, ends=PROVEN)
    assert issue_files(root) == []
    replace(world, verifier_says=FAILS).write_story(root)
    run(root, ends=NOT_PROVEN, **READ_AGAIN)
    assert len(issue_files(root)) == 1
    world.write_story(root)
    reset(root)


def test_what_has_flapped_is_read_once_more_at_the_end_of_the_run_and_closed(tmp_path: Path) -> None:
    root = LATE.build(tmp_path)
    proven_and_failed_again(root, LATE)
    run(root, ends=PROVEN)
    assert decisions(root, f"{SPEC}:2")[-3:] == ["Accept", "Reopen", "Accept"]
    (issue,) = issue_files(root, "closed")
    assert "failed again after it was closed with proof, 1 time(s)" in issue.read_text()
    run(root, ends=PROVEN)
    assert decisions(root, f"{SPEC}:2")[-3:] == ["Accept", "Reopen", "Accept"]


def test_what_has_flapped_stays_open_where_nothing_is_read_at_the_end_and_says_so(tmp_path: Path) -> None:
    root = LATE.build(tmp_path)
    proven_and_failed_again(root, LATE)
    config = root / ".agent-fox" / "config.toml"
    config.write_text(f"{config.read_text()}\n[policy]\nfinal_check = false\n")
    run(root, ends=PROVEN)
    (issue,) = issue_files(root)
    assert "closed when one more report proves it" in issue.read_text()
    assert outcomes(root) == {f"{SPEC}:2": "verified"}


def test_numbers_of_files_are_no_numbers_of_github(hub: GitHubScene) -> None:
    """File 1 and issue 1 are strangers to each other: what is moved is filed anew, and issue 1 is left alone."""
    root = hub.build(replace(LATE, specs={SPEC: [Req(PART, 1, right_at=3)]}))
    stranger = hub.fake.person().opens("The first issue here", "mine")
    hub.run(root, "--tracker", "local", ends=NOT_PROVEN)
    assert [path.name[:4] for path in issue_files(root)] == ["0001"]
    reset(root)
    hub.run(root, ends=NOT_PROVEN)
    assert [issue.face for issue in hub.fake.issues] == [stranger.face]
    hub.cli(root, "issues", "migrate")
    first, ours = hub.fake.issues
    assert (first.face, first.comments, ours.face.state) == (stranger.face, [], "open")
    assert PART in (ours.face.body or "")
    reset(root)
    hub.run(root, ends=PROVEN)
    assert (ours.face.state, ours.face.reason, first.face.state) == ("closed", "completed", "open")
    assert {state for _, state in outbox(root)} == {"done", "moot"}


def test_a_removed_spec_that_comes_back_and_fails_has_its_issue_opened_again(tmp_path: Path) -> None:
    world = World({SPEC: [Req(PART, 1, NEVER)], "06_other": [Req("06-REQ-1.1", 1)]}, settings=ONE_TRY)
    root = world.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    (issue,) = issue_files(root)
    shutil.rmtree(root / ".agent-fox" / "specs" / SPEC)
    commit_all(root, "not needed")
    run(root, ends=PROVEN)
    assert (issue_files(root), issue_files(root, "closed")) == ([], [issue])
    assert "That proves nothing" in issue.read_text()
    world.write_spec(root, SPEC)
    commit_all(root, "needed after all")
    run(root, ends=NOT_PROVEN)
    assert (issue_files(root), issue_files(root, "closed")) == ([issue], [])


def test_a_requirement_that_is_taken_out_is_no_reason_to_stay_open(tmp_path: Path) -> None:
    world = World({SPEC: [Req(PART, 1, NEVER), Req("05-REQ-1.2", 1)]}, settings=ONE_TRY)
    root = world.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    (issue,) = issue_files(root)
    less = replace(world, specs={SPEC: [Req("05-REQ-1.2", 1)]})
    less.write_story(root)
    less.write_spec(root, SPEC)
    commit_all(root, "not needed")
    run_cli(root, "run")
    assert (issue_files(root), issue_files(root, "closed")) == ([], [issue])
    assert f"Removed from {SPEC}: {PART}. That proves nothing" in issue.read_text()


def test_a_github_that_never_answers_holds_up_neither_the_run_nor_its_end(hub: GitHubScene) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        mute = replace(hub, url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        root = mute.build(LATE)
        config = root / ".agent-fox" / "config.toml"
        config.write_text(config.read_text().replace("[tracker]", "[tracker]\nfinish_seconds = 0.2"))
        mute.run(root, ends=NOT_PROVEN)
    ((kind, state),) = outbox(root)
    assert (kind, state in ("pending", "inflight")) == ("file", True)
    config.write_text(config.read_text().replace(mute.url, hub.url))
    assert hub.cli(root, "issues", "sync").returncode == 0
    assert (len(hub.fake.issues), outbox(root)) == (1, [("file", "done")])
