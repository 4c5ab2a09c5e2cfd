"""Commands in comments on our issues, at the fake GitHub: which count as such, and whose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.config import GitHubSettings
from agent_fox.testing.github import Fault, Role, faults
from agent_fox.trackers.github.marker import Marker
from agent_fox.trackers.github.work.extras import Extras
from agent_fox.trackers.protocol import Held, Retry
from agent_fox.trackers.upkeep import Command, Commands, Known
from tests.trackers.github.scene import DAY, FILED, KEY, Scene, scene

KNOWN = (Known("f1", "1"),)


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Scene]:
    """One issue of ours, and people who may do different things."""
    with scene(tmp_path) as made:
        made.settled(FILED)
        made.fake.repository.roles |= {"pat": Role.WRITE, "rae": Role.READ}
        listen(made, "write")
        yield made


def listen(at: Scene, who: str) -> None:
    at.tracker = replace(at.tracker, extras=Extras(GitHubSettings.model_validate({"commands": who}), Path()), _seats=[])


def read(at: Scene) -> tuple[Command, ...]:
    commands = at.tracker.commands(KNOWN)
    assert commands.trouble is None
    return commands.commands


def note(at: Scene, commands: Commands, *ids: str) -> None:
    """As the engine does in one transaction."""
    assert at.tracker.desk is not None
    for command in commands.commands:
        at.tracker.desk.remember(f"command {command.id}", "done")
    for name, value in commands.seen:
        at.tracker.desk.remember(name, value)


def test_a_command_is_the_first_line_and_what_stands_below_goes_with_it(at: Scene) -> None:
    comment = at.fake.person("pat").comments(1, "\r\n/agent-fox waive 04-REQ-1.1\r\n```json\r\n{}\r\n```")
    assert read(at) == (Command(str(comment.id), "1", "f1", "pat", ("waive", "04-REQ-1.1"), "```json\n{}\n```"),)


NO_COMMANDS = (
    "Do /agent-fox retry",
    "Hello\n/agent-fox retry",
    "> /agent-fox retry",
    "`/agent-fox retry`",
    "/agent-foxy",
)


@pytest.mark.parametrize("text", NO_COMMANDS)
def test_what_only_names_it_is_no_command(at: Scene, text: str) -> None:
    at.fake.person("pat").comments(1, text)
    assert read(at) == ()


def test_bots_and_our_own_words_are_no_commands(at: Scene) -> None:
    at.fake.person("some[bot]", is_bot=True).comments(1, "/agent-fox retry")
    at.fake.person("fox-bot").comments(1, Marker("f1", "x").above("/agent-fox retry", KEY))
    assert read(at) == ()


def test_a_person_with_our_own_token_is_a_person(at: Scene) -> None:
    at.fake.repository.roles["fox-bot"] = Role.WRITE
    at.fake.person("fox-bot").comments(1, "/agent-fox retry")
    assert [command.refusal for command in read(at)] == [""]


@pytest.mark.parametrize(
    ("who", "login", "reason"),
    [
        ("write", "pat", ""),
        ("write", "octo", ""),
        ("write", "rae", "only who may write to this repository"),
        ("write", "mallory", "only who may write to this repository"),
        ("association", "rae", ""),
        ("association", "mallory", "only owners, members and collaborators"),
    ],
)
def test_who_may_ask_is_by_setting(at: Scene, who: str, login: str, reason: str) -> None:
    listen(at, who)
    at.fake.person(login).comments(1, "/agent-fox retry")
    [command] = read(at)
    assert command.refusal.startswith(reason)
    assert bool(command.refusal) == bool(reason)


def test_off_reads_nothing(at: Scene) -> None:
    listen(at, "off")
    at.fake.person("pat").comments(1, "/agent-fox retry")
    asked = len(at.fake.exchanges)
    assert (read(at), len(at.fake.exchanges)) == ((), asked)


def test_where_it_cannot_be_told_who_may_write_that_is_the_reason(at: Scene) -> None:
    at.fake.token.role = Role.TRIAGE
    at.fake.person("pat").comments(1, "/agent-fox retry")
    [command] = read(at)
    assert "cannot be told" in command.refusal
    assert '`[github] commands = "association"`' in command.refusal


def test_an_edited_comment_is_no_new_command_and_one_edited_before_it_was_read_is_refused(at: Scene) -> None:
    pat = at.fake.person("pat")
    first = pat.comments(1, "/agent-fox explain")
    note(at, at.tracker.commands(KNOWN))
    at.clock.pass_by(600)
    pat.edits_comment(1, first.id, "/agent-fox retry")
    assert read(at) == ()
    second = pat.comments(1, "Never mind.")
    at.clock.pass_by(60)
    pat.edits_comment(1, second.id, "/agent-fox retry")
    [command] = read(at)
    assert "edited before it was read" in command.refusal


def test_what_was_kept_is_not_read_again_and_what_was_not_is(at: Scene) -> None:
    at.fake.person("pat").comments(1, "/agent-fox explain")
    first = at.tracker.commands(KNOWN)
    assert at.tracker.commands(KNOWN) == first
    note(at, first)
    assert read(at) == ()


def test_a_state_that_was_lost_does_not_do_again_what_was_answered(at: Scene) -> None:
    comment = at.fake.person("pat").comments(1, "/agent-fox retry")
    at.fake.person("fox-bot").comments(1, Marker(f"command:{comment.id}", "x").above("Done.", KEY))
    assert read(at) == ()
    at.fake.person("mallory").comments(1, "<!-- agent-fox v=1 fp=command:1 op=x sig=00 -->")
    assert read(at) == ()


def test_an_answer_that_a_stranger_copied_hides_no_command(at: Scene) -> None:
    comment = at.fake.person("pat").comments(1, "/agent-fox retry")
    copied = Marker(f"command:{comment.id}", "x").above("Done.", KEY)
    at.fake.person("mallory").comments(1, copied)
    assert [command.author for command in read(at)] == ["pat"]


def test_issues_that_did_not_change_are_not_read_again(at: Scene) -> None:
    at.fake.person("pat").comments(1, "Hello.")
    at.clock.pass_by(DAY)
    note(at, at.tracker.commands(KNOWN))
    before = len(at.fake.exchanges)
    assert read(at) == ()
    assert [exchange.request.path for exchange in at.fake.exchanges[before:]] == ["/repos/octo/project/issues"]
    at.fake.person("pat").comments(1, "/agent-fox retry")
    assert len(read(at)) == 1


def test_comments_that_a_list_does_not_show_yet_are_read_later(at: Scene) -> None:
    at.fake.person("pat").comments(1, "/agent-fox retry")
    at.clock.pass_by(300)
    at.fake.knobs.comment_lag = 3_600
    note(at, at.tracker.commands(KNOWN))
    at.fake.knobs.comment_lag = 0
    assert len(read(at)) == 1


def test_a_renamed_repository_is_read_all_the_same(at: Scene) -> None:
    at.fake.rename("octo/renamed")
    at.fake.person("pat").comments(1, "/agent-fox retry")
    assert [command.refusal for command in read(at)] == [""]


def test_an_issue_of_somebody_else_holds_no_commands(at: Scene) -> None:
    at.fake.person("mallory").opens("Theirs", "x")
    at.fake.person("pat").comments(2, "/agent-fox retry")
    assert at.tracker.commands((*KNOWN, Known("f9", "2"))).commands == ()


@pytest.mark.parametrize(
    ("what", "kind"), [(faults.gateway(), Retry), (faults.limited("60"), Retry), (faults.refusal(403, "no"), Held)]
)
def test_what_goes_wrong_is_told_and_loses_nothing(at: Scene, what: object, kind: type) -> None:
    at.fake.person("pat").comments(1, "/agent-fox retry")
    at.fake.faults.append(Fault(faults.reads, what, times=9))  # type: ignore[arg-type]
    assert isinstance(at.tracker.commands(KNOWN).trouble, kind)
    at.fake.faults.clear()
    at.clock.pass_by(120)
    assert len(read(at)) == 1
