"""Issues as files: what stands in them, and what a person's hand may do to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from agent_fox.trackers.facts import IssueStatus, StatusPart
from agent_fox.trackers.issue_file import parse_issue_file
from agent_fox.trackers.local import LocalTracker
from agent_fox.trackers.protocol import Done, Effect, EffectKind, Held, StateReason

FILED = Effect(
    id="e1",
    kind=EffectKind.FILE,
    fingerprint="f1",
    title="04_gate: the gate stays shut",
    body="## What fails\n\nThe gate.",
    members=("04-REQ-1.1", "04-REQ-1.E1"),
    cause="attempts spent",
    spec="04_gate",
    at="2026-11-21T10:00:00Z",
)
CLOSED = replace(FILED, id="e3", kind=EffectKind.CLOSE, body="Proven on abc.", at="2026-11-22T10:00:00Z")
SAID = replace(FILED, id="e2", kind=EffectKind.COMMENT, body="Still shut.", at="2026-11-21T11:00:00Z")

FILED_TEXT = """\
---
state: open
fingerprint: f1
cause: "attempts spent"
spec: "04_gate"
members: ["04-REQ-1.1", "04-REQ-1.E1"]
opened: "2026-11-21T10:00:00Z"
updated: "2026-11-21T10:00:00Z"
effects: ["e1"]
---

# 04_gate: the gate stays shut

## What fails

The gate.
"""


@pytest.fixture
def tracker(tmp_path: Path) -> LocalTracker:
    return LocalTracker(tmp_path / "issues")


def deliver(tracker: LocalTracker, effect: Effect) -> Path:
    delivery = tracker.deliver(effect)
    assert isinstance(delivery, Done), delivery
    return Path(unquote(urlparse(delivery.url).path))


def test_an_issue_is_one_markdown_file_with_front_matter(tracker: LocalTracker) -> None:
    path = deliver(tracker, FILED)
    assert path.name == "0001-04-gate-the-gate-stays-shut.md"
    assert path.read_text() == FILED_TEXT
    assert [entry.name for entry in tracker.folder.iterdir()] == [path.name]


def test_closing_appends_the_proof_and_keeps_the_story(tracker: LocalTracker) -> None:
    deliver(tracker, FILED)
    deliver(tracker, SAID)
    text = deliver(tracker, CLOSED).read_text()
    assert "state: closed\n" in text
    assert "state: open" not in text
    assert 'state_reason: completed\nclosed: "2026-11-22T10:00:00Z"\n' in text
    body = text.split("---\n", 2)[2]
    assert body == (
        FILED_TEXT.split("---\n", 2)[2]
        + "\n## Comment, 2026-11-21T11:00:00Z\n\nStill shut.\n"
        + "\n## Closed, 2026-11-22T10:00:00Z\n\nProven on abc.\n"
    )


def test_failing_again_opens_the_same_file(tracker: LocalTracker) -> None:
    deliver(tracker, FILED)
    deliver(tracker, CLOSED)
    text = deliver(tracker, replace(FILED, id="e9", members=("04-REQ-2.1",))).read_text()
    assert "state: open\n" in text
    assert 'members: ["04-REQ-2.1"]\n' in text
    assert 'effects: ["e1", "e3", "e9"]\n' in text


def test_an_issue_that_a_person_refused_stays_closed(tracker: LocalTracker) -> None:
    path = deliver(tracker, FILED)
    path.write_text(path.read_text().replace("state: open", "state: closed\nstate_reason: not_planned"))
    text = deliver(tracker, replace(FILED, id="e9", kind=EffectKind.REOPEN)).read_text()
    assert "state: closed\nstate_reason: not_planned\n" in text
    assert 'effects: ["e1", "e9"]\n' in text


def test_an_issue_that_we_withdrew_is_opened_when_its_cause_comes_back(tracker: LocalTracker) -> None:
    deliver(tracker, FILED)
    assert "state: closed\n" in deliver(tracker, replace(CLOSED, state_reason=StateReason.NOT_PLANNED)).read_text()
    assert "state: open\n" in deliver(tracker, replace(FILED, id="e9")).read_text()


def test_what_a_person_wrote_is_kept_byte_for_byte(tracker: LocalTracker) -> None:
    path = deliver(tracker, FILED)
    mine = path.read_bytes().replace(b"The gate.\n", b"Mine: \xff caf\xc3\xa9\r\n\tand\x0btabs\n")
    path.write_bytes(mine.replace(b"state: open\n", b"assignee: me\nstate: open\n"))
    deliver(tracker, CLOSED)
    text = path.read_bytes()
    assert b"Mine: \xff caf\xc3\xa9\r\n\tand\x0btabs\n" in text
    assert text.startswith(b"---\nassignee: me\nstate: closed\n")


def test_a_file_that_was_renamed_is_still_the_issue(tracker: LocalTracker) -> None:
    path = deliver(tracker, FILED)
    path.rename(path.with_name("0007-mine.md"))
    assert deliver(tracker, CLOSED).name == "0007-mine.md"
    assert tracker.newest() == "7"


def test_an_issue_whose_front_matter_is_gone_is_held_and_not_doubled(tracker: LocalTracker) -> None:
    path = deliver(tracker, FILED)
    path.write_text("I rewrote all of it.\n")
    held = tracker.deliver(replace(CLOSED, number="1"))
    assert isinstance(held, Held)
    assert "0001-" in held.reason
    assert "fingerprint: f1" in held.remedy
    assert path.read_text() == "I rewrote all of it.\n"


def test_the_proof_of_an_issue_that_was_deleted_is_not_lost(tracker: LocalTracker) -> None:
    deliver(tracker, FILED).unlink()
    assert "state: closed\n" in deliver(tracker, replace(CLOSED, number="1")).read_text()


def test_other_files_in_the_folder_are_left_alone(tracker: LocalTracker) -> None:
    tracker.folder.mkdir()
    (tracker.folder / "README.md").write_text("---\nfingerprint: f1\n---\n")
    (tracker.folder / "0003-notes").mkdir()
    assert deliver(tracker, FILED).name.startswith("0001-")


def test_a_folder_that_cannot_be_written_holds_the_effect_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "issues").write_text("a file is in the way")
    delivery = LocalTracker(tmp_path / "issues").deliver(FILED)
    assert isinstance(delivery, Held)
    assert str(tmp_path / "issues") in delivery.remedy


def test_titles_and_values_cannot_break_the_front_matter(tracker: LocalTracker) -> None:
    odd = replace(FILED, title="a\n---\nstate: closed", cause="x\n---\n", spec='"; drop', members=("a\nb", "\ud800"))
    path = deliver(tracker, odd)
    issue = parse_issue_file(path.read_text())
    assert issue is not None
    assert (issue.is_open, issue.value("cause"), issue.value("spec")) == (True, "x ---", '"; drop')
    assert issue.values("members") == ("a b", "")


def test_a_hundred_issues_are_numbered_in_order(tracker: LocalTracker) -> None:
    for number in range(1, 101):
        effect = replace(FILED, id=f"e{number}", fingerprint=f"f{number}", title="Ünï©ode!?")
        assert deliver(tracker, effect).name.startswith(f"{number:04d}-")


def test_a_person_may_close_an_issue_by_hand(tracker: LocalTracker) -> None:
    path = deliver(tracker, FILED)
    path.write_text(path.read_text().replace("state: open", "state:   closed  "))
    issue = parse_issue_file(path.read_text())
    assert issue is not None
    assert not issue.is_open
    assert StateReason.NOT_PLANNED not in path.read_text()


def test_a_value_that_is_nested_too_deeply_is_the_text_that_stands_there() -> None:
    deep = "[" * 100_000
    issue = parse_issue_file(f"---\nstate: open\nnote: {deep}\n---\n# Title\n")
    assert issue is not None
    assert (issue.value("note"), issue.values("note")) == (deep, ())


STATUS = IssueStatus(
    "04_gate: 04-REQ-1.1 fails", "Stopped. Needs you.", (StatusPart("04_gate", "04-REQ-1.1", "It opens.", "fails"),)
)
BETTER = replace(STATUS, title="04_gate: 04-REQ-1.E1 fails", headline="Part of this is settled.")
KEPT = replace(FILED, status=STATUS)
TOLD = replace(SAID, status=BETTER)


def test_title_and_block_say_what_is_so_now(tracker: LocalTracker) -> None:
    path = deliver(tracker, KEPT)
    text = path.read_text()
    assert path.name == "0001-04-gate-04-req-1-1-fails.md"
    assert (
        text.index("\n# 04_gate: 04-REQ-1.1 fails\n")
        < text.index("**Stopped. Needs you.**")
        < text.index("## What fails")
    )
    deliver(tracker, TOLD)
    text = path.read_text()
    assert "\n# 04_gate: 04-REQ-1.E1 fails\n" in text
    assert ("**Part of this is settled.**" in text, "Needs you" in text) == (True, False)
    assert text.count("<!-- agent-fox status") == 2


@pytest.mark.parametrize(
    ("ours", "theirs", "told"),
    [("# 04_gate: 04-REQ-1.1 fails", "# Kim looks", "title"), ("Needs you.", "Kim looks.", "block")],
)
def test_what_a_person_edits_of_them_stays_and_is_told_once(
    tracker: LocalTracker, ours: str, theirs: str, told: str
) -> None:
    path = deliver(tracker, KEPT)
    path.write_text(path.read_text().replace(ours, theirs, 1))
    notes = []
    for number in range(2):
        delivery = tracker.deliver(replace(TOLD, id=f"again {number}"))
        assert isinstance(delivery, Done)
        notes.append(delivery.note)
    assert notes == [f"a person's edit of its {told} is left alone", ""]
    assert theirs in path.read_text()
    assert ("Part of this is settled." in path.read_text()) is (told == "title")
