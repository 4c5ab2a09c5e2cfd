"""26-REQ-9.2 and 26-REQ-10 of the spec `26_agent_archetypes`, issues on GitHub, as whole runs against a fake of it.

Each test names the criterion. Where we keep another rule, its docstring says so; why is in docs/adr/0035 and 0036.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.testing.github import faults
from agent_fox.testing.github.faults import Fault
from agent_fox.testing.worlds import NEVER, Req, World
from tests.stories.github_scene import GitHubScene, github, nobody_listens, outbox
from tests.stories.scene import NOT_PROVEN, PROVEN, coders, outcomes, verdicts

SPEC = "05_memory"
ONE_TRY = "[retry]\nattempts = 1\n"
HOPELESS = World(
    {SPEC: [Req("05-REQ-1.1", 1, NEVER), Req("05-REQ-1.2", 1, NEVER), Req("05-REQ-1.3", 1)]}, settings=ONE_TRY
)
LATE = World({SPEC: [Req("05-REQ-1.1", 1, right_at=2)]}, settings=ONE_TRY)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[GitHubScene]:
    with github(tmp_path) as opened:
        yield opened


def fails_again(hub: GitHubScene, root: Path) -> None:
    assert hub.cli(root, "reset", f"{SPEC}:1").returncode == 0
    hub.run(root, ends=NOT_PROVEN)


def test_9_2_a_spec_that_cannot_be_proven_files_one_issue_with_what_fails(hub: GitHubScene) -> None:
    """26-REQ-9.2. One issue for the one cause of two FAILs, when the attempts are spent; its title says what is not
    met, and holds no group number: the cause may be another group's."""
    root = hub.build(HOPELESS, labels='["agent-fox"]')
    hub.run(root, ends=NOT_PROVEN)
    (issue,) = hub.fake.issues
    assert SPEC in issue.face.title
    text = issue.face.body or ""
    for word in ("05-REQ-1.1", "05-REQ-1.2", "wrong at attempt 1", "its proof is read", "agent-fox reset"):
        assert word in text, (word, text)
    assert (issue.face.state, issue.face.labels, issue.author.login) == ("open", ("agent-fox",), "fox-bot")
    assert (outbox(root), hub.fake.violations, hub.fake.notices) == ([("file", "done")], (), ())


def test_9_2_a_fail_within_the_budget_is_no_issue(hub: GitHubScene) -> None:
    """26-REQ-9.2. The criterion files at every FAIL; here the coder is sent back, and GitHub hears nothing."""
    root = hub.build(replace(LATE, settings=""))
    hub.run(root, ends=PROVEN)
    assert (hub.fake.issues, hub.fake.writes) == ((), ())


def test_10_1_an_issue_of_the_same_title_is_a_strangers(hub: GitHubScene) -> None:
    """26-REQ-10.1. No title is searched for: a search lags behind, and a title is anybody's. What is ours is known by
    its number, or by a signed mark in an issue of our own account; this stranger's is left alone."""
    stranger = hub.fake.person()
    for title in (f"[Verifier] {SPEC} group 1: FAIL", f"{SPEC}: 05-REQ-1.1 and 1 more fail: WHEN its proof is read"):
        stranger.opens(title, "<!-- agent-fox v=1 fp=0 op=0 sig=0 -->\nmine")
    root = hub.build(HOPELESS)
    hub.run(root, ends=NOT_PROVEN)
    first, second, ours = hub.fake.issues
    assert [(issue.face.body, issue.comments) for issue in (first, second)] == [(first.face.body, [])] * 2
    assert (ours.author.login, outbox(root)) == ("fox-bot", [("file", "done")])
    assert not any("/search" in one.request.path for one in hub.fake.exchanges)


def test_10_2_failing_again_is_a_comment_and_what_a_person_wrote_stays(hub: GitHubScene) -> None:
    """26-REQ-10.2. The re-run is noted in a comment, and no second issue is filed. Of the body only the block at its
    top is written anew, not all of it as the criterion wants it: what a person has edited stays."""
    root = hub.build(HOPELESS)
    hub.run(root, ends=NOT_PROVEN)
    (issue,) = hub.fake.issues
    edited = f"{issue.face.body}\n\nA person: the parser is to blame, see the wiki."
    hub.fake.person().edits(issue.number, edited, title="The parser drops the last line")
    fails_again(hub, root)
    (issue,) = hub.fake.issues
    assert (below(issue.face.body or ""), issue.face.title) == (below(edited), "The parser drops the last line")
    assert issue.face.body != edited
    (comment,) = issue.comments
    assert (comment.author.login, "05-REQ-1.1" in comment.body) == ("fox-bot", True)
    assert (outbox(root), hub.fake.violations, hub.fake.notices) == ([("file", "done"), ("comment", "done")], (), ())


def below(body: str) -> str:
    """What stands below the block that is ours."""
    return body.partition("<!-- agent-fox status ends -->")[2]


def test_10_2_running_again_without_news_writes_nothing(hub: GitHubScene) -> None:
    """26-REQ-10.2. A run that decides nothing says nothing: a comment is written for a decision, once."""
    root = hub.build(HOPELESS)
    hub.run(root, ends=NOT_PROVEN)
    written = len(hub.fake.writes)
    hub.run(root, ends=NOT_PROVEN)
    assert (len(hub.fake.writes), len(hub.fake.issues)) == (written, 1)


def test_10_2_an_issue_that_a_person_closed_as_not_planned_stays_closed(hub: GitHubScene) -> None:
    """26-REQ-10.2 looks for open issues alone, so that a person's no is answered by a new issue. Here it is kept."""
    root = hub.build(HOPELESS)
    hub.run(root, ends=NOT_PROVEN)
    (issue,) = hub.fake.issues
    hub.fake.person().closes(issue.number, "not_planned")
    fails_again(hub, root)
    (issue,) = hub.fake.issues
    assert (issue.face.state, issue.face.reason, issue.comments) == ("closed", "not_planned", [])


def test_10_2_what_a_later_run_proves_is_closed_with_the_proof(hub: GitHubScene) -> None:
    """26-REQ-10.2. Beyond it: an issue that is only updated stays open for ever. This one is closed, and says why."""
    root = hub.build(LATE)
    hub.run(root, ends=NOT_PROVEN)
    assert hub.cli(root, "reset", f"{SPEC}:1").returncode == 0
    hub.run(root, ends=PROVEN)
    (issue,) = hub.fake.issues
    assert (issue.face.state, issue.face.reason) == ("closed", "completed")
    (comment,) = issue.comments
    assert "the only requirement of" in comment.body
    hub.run(root, ends=PROVEN)
    assert (issue.face.state, len(issue.comments)) == ("closed", 1)


def test_10_3_without_an_issue_of_ours_one_is_filed(hub: GitHubScene) -> None:
    """26-REQ-10.3. As it says: also where ours was deleted since, when the cause fails again."""
    root = hub.build(HOPELESS)
    hub.run(root, ends=NOT_PROVEN)
    (issue,) = hub.fake.issues
    hub.fake.person().deletes(issue.number)
    fails_again(hub, root)
    (second,) = hub.fake.issues
    assert (second.face.state, second.number > issue.number) == ("open", True)


def test_10_3_a_lost_answer_makes_no_second_issue(hub: GitHubScene) -> None:
    """26-REQ-10.3. Beyond it: where the answer to the creation is lost, searching before creating makes two; here the
    issue is looked for by its mark and by single numbers first."""
    hub.fake.faults.append(Fault(faults.creates, faults.dropped(is_applied=True)))
    root = hub.build(HOPELESS)
    hub.run(root, ends=NOT_PROVEN)
    hub.cli(root, "issues", "sync")
    assert (len(hub.fake.issues), outbox(root)) == (1, [("file", "done")])


def waits(hub: GitHubScene, root: Path) -> str:
    """The run ends as it would otherwise, the outbox holds what is to be filed, and that is told once. Those words."""
    done = hub.run(root, ends=NOT_PROVEN)
    assert outcomes(root) == {f"{SPEC}:2": "escalated"}
    assert verdicts(root) == {"05-REQ-1.1": "FAIL", "05-REQ-1.2": "FAIL", "05-REQ-1.3": "PASS"}
    assert coders(root) == {f"{SPEC}:1": 1}
    ((kind, state),) = outbox(root)
    assert (kind, state in ("pending", "held")) == ("file", True)
    (told,) = [line for line in done.stdout.splitlines() if "  issues wait: " in line]
    return told


def test_10_E1_without_a_token_the_run_ends_as_it_would_and_the_outbox_holds(hub: GitHubScene) -> None:
    """26-REQ-10.E1. Not a warning and an issue that is lost: it waits, the person is told once what to do, and it is
    filed once that was done."""
    nobody = replace(hub, token="")
    root = nobody.build(HOPELESS)
    assert "AGENT_FOX_GITHUB_TOKEN" in waits(nobody, root)
    assert hub.fake.issues == ()
    assert hub.cli(root, "issues", "sync").returncode == 0
    assert (len(hub.fake.issues), outbox(root)) == (1, [("file", "done")])


def test_10_E1_a_github_that_cannot_be_reached_holds_up_nothing(hub: GitHubScene) -> None:
    """26-REQ-10.E1. As without a token: what was to be filed is filed when GitHub is back."""
    away = replace(hub, url=nobody_listens())
    root = away.build(HOPELESS)
    assert "no connection" in waits(away, root)
    config = root / ".agent-fox" / "config.toml"
    config.write_text(config.read_text().replace(away.url, hub.url))
    assert hub.cli(root, "issues", "sync").returncode == 0
    assert (len(hub.fake.issues), outbox(root)) == (1, [("file", "done")])


def test_10_E1_a_token_that_may_not_write_is_told_with_the_remedy(hub: GitHubScene) -> None:
    """26-REQ-10.E1. A refusal is no failure of the run either, and it names the permission that is missing."""
    hub.fake.token.grant = hub.fake.token.grant.READ
    root = hub.build(HOPELESS)
    assert "the token may not do this" in waits(hub, root)
    assert hub.fake.issues == ()
