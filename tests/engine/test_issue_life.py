"""The life of an issue on GitHub, as docs/github.md tells it: decisions, desk and tracker are real, on a clock moved by
hand; the GitHub is our fake, a double for the service alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_fox.core.retry.decision import Cause
from agent_fox.engine.issues import escalation
from agent_fox.store import outbox
from agent_fox.testing.github import Fault, faults
from agent_fox.testing.github.state import Issue
from agent_fox.trackers.desk import LEASE_SECONDS
from tests.engine.issue_world import World, template, world

GATE, ROAD = "01_gate", "02_road"
G1, G2, G3 = "01-REQ-1.1", "01-REQ-1.2", "01-REQ-2.1"
R1, R2 = "02-REQ-1.1", "02-REQ-1.2"
DAY = 86_400.0
MANY = {f"{number:02}_s": (f"{number:02}-REQ-1.1",) for number in range(1, 61)}


@contextmanager
def hub(folder: Path, specs: Mapping[str, tuple[str, ...]] | None = None, **settings: object) -> Iterator[World]:
    made = template(folder / "template", specs) if specs else template(folder / "template")
    with world(folder, made, labels=[], **settings) as found:
        yield found
        assert (found.problems, found.fake.violations) == ([], ())


@pytest.fixture
def gh(tmp_path: Path) -> Iterator[World]:
    with hub(tmp_path) as found:
        yield found


def told(gh: World) -> None:
    """All that was decided is delivered, by a process that begins anew; nothing waits."""
    gh.times.pass_by(LEASE_SECONDS + 1)
    gh.settle()
    assert gh.left_over() == []


def again(gh: World) -> None:
    gh.times.pass_by(60)
    gh.new_run()


def filed(gh: World, **causes: str) -> Issue:
    gh.fails(GATE, causes or {G1: "boom"}, "first")
    told(gh)
    return gh.fake.issues[-1]


def stands(issue: Issue) -> tuple[str, str | None]:
    return issue.face.state, issue.face.reason


def said(issue: Issue) -> list[str]:
    return [comment.body for comment in issue.comments if comment.author.login == "fox-bot"]


CLOSED, OPEN = ("closed", "completed"), ("open", None)


def test_failing_again_is_one_comment_a_run_with_everything_in_it(gh: World) -> None:
    issue = filed(gh)
    again(gh)
    for spec, part, token in ((GATE, G1, "second"), (ROAD, R1, "third")):
        gh.fails(spec, {part: "boom"}, token)
        told(gh)
    (comment,) = said(issue)
    assert all(word in comment for word in (G1, "second", R1, "third"))
    again(gh)
    gh.fails(ROAD, {R1: "boom"}, "fourth")
    told(gh)
    assert [("third" in text, "fourth" in text) for text in said(issue)] == [(True, False), (False, True)]
    assert len(gh.fake.issues) == 1


def test_sixty_specs_that_fail_for_one_cause_are_one_issue_and_one_comment_a_run(tmp_path: Path) -> None:
    with hub(tmp_path, MANY) as gh:
        for _ in range(2):
            for spec, (part,) in MANY.items():
                gh.fails(spec, {part: "boom"}, f"seen in {spec}")
            told(gh)
            again(gh)
        (issue,) = gh.fake.issues
        first, second = said(issue)
        assert [spec for spec in list(MANY)[1:] if spec not in first] == []
        assert [spec for spec in MANY if spec not in second] == []
        assert [one.method for one in gh.fake.writes] == ["POST", "POST", "PATCH", "POST", "PATCH"]


def test_what_is_repaired_is_told_and_the_last_of_it_closes_the_issue_of_a_blocked_spec(gh: World) -> None:
    issue = filed(gh, **{G1: "boom", G2: "boom"})
    again(gh)
    gh.fails(GATE, {G2: "boom"}, "second")
    told(gh)
    assert (stands(issue), G1 in said(issue)[-1]) == (OPEN, True)
    again(gh)
    gh.fails(GATE, {G3: "no rule"}, "third")
    told(gh)
    assert stands(issue) == CLOSED
    assert "The spec as a whole is not proven yet" in said(issue)[-1]
    assert [stands(one) for one in gh.fake.issues] == [CLOSED, OPEN]


def test_an_issue_of_two_specs_closes_with_the_last_of_them(gh: World) -> None:
    issue = filed(gh)
    gh.fails(ROAD, {R1: "boom"}, "road")
    gh.is_proven(GATE)
    told(gh)
    assert (stands(issue), R1 in said(issue)[-1]) == (OPEN, True)
    gh.is_proven(ROAD)
    told(gh)
    assert (stands(issue), "d" * 40 in said(issue)[-1]) == (CLOSED, True)


def test_what_was_closed_with_proof_is_opened_again_and_then_closed_by_two_proofs(gh: World) -> None:
    issue = filed(gh)
    gh.is_proven(GATE)
    told(gh)
    assert stands(issue) == CLOSED
    again(gh)
    gh.fails(GATE, {G1: "boom"}, "flap")
    told(gh)
    assert (issue.face.state, "flap" in said(issue)[-1]) == ("open", True)
    gh.is_proven(GATE)
    told(gh)
    assert (issue.face.state, "closed when one more report proves it" in said(issue)[-1]) == ("open", True)
    gh.is_proven(GATE)
    told(gh)
    assert stands(issue) == CLOSED


def test_what_a_person_closed_as_completed_is_opened_again_when_it_fails(gh: World) -> None:
    issue = filed(gh)
    gh.fake.person("alex").closes(issue.number)
    again(gh)
    gh.fails(GATE, {G1: "boom"}, "second")
    told(gh)
    assert (issue.face.state, "second" in said(issue)[-1]) == ("open", True)


def test_what_a_person_closed_as_completed_gets_the_proof_and_stays_closed(gh: World) -> None:
    issue = filed(gh)
    gh.fake.person("alex").closes(issue.number)
    gh.is_proven(GATE)
    told(gh)
    assert (stands(issue), "Proven" in said(issue)[-1]) == (CLOSED, True)


@pytest.mark.parametrize("reason", ["not_planned", "duplicate"])
def test_a_persons_no_is_never_overruled(gh: World, reason: str) -> None:
    issue = filed(gh)
    gh.fake.person("alex").closes(issue.number, reason)
    for days in (0.0, 60.0):
        gh.times.pass_by(days * DAY)
        again(gh)
        gh.fails(GATE, {G1: "boom"}, "second")
        told(gh)
    gh.is_proven(GATE)
    told(gh)
    assert (gh.fake.issues, stands(issue), said(issue)) == ((issue,), ("closed", reason), [])


def test_where_a_person_has_spoken_the_proof_is_told_and_closing_is_theirs(gh: World) -> None:
    issue = filed(gh)
    gh.fake.person("alex").comments(issue.number, "I am looking at it.")
    gh.is_proven(GATE)
    told(gh)
    assert (stands(issue), "left open" in said(issue)[-1]) == (OPEN, True)


def test_what_a_person_closed_and_opened_again_is_theirs_to_close(gh: World) -> None:
    issue = filed(gh)
    alex = gh.fake.person("alex")
    alex.closes(issue.number)
    told(gh)
    alex.reopens(issue.number)
    told(gh)
    gh.is_proven(GATE)
    told(gh)
    assert (issue.face.state, "left open" in said(issue)[-1]) == ("open", True)


def test_a_persons_word_counts_until_it_fails_again(gh: World) -> None:
    issue = filed(gh)
    gh.fake.person("alex").comments(issue.number, "I am looking at it.")
    again(gh)
    gh.fails(GATE, {G1: "boom"}, "second")
    told(gh)
    gh.is_proven(GATE)
    told(gh)
    assert stands(issue) == CLOSED


def test_what_was_closed_long_ago_is_filed_anew_and_names_the_old_one(gh: World) -> None:
    issue = filed(gh)
    gh.is_proven(GATE)
    told(gh)
    gh.times.pass_by(31 * DAY)
    again(gh)
    gh.fails(GATE, {G1: "boom"}, "second")
    told(gh)
    _, fresh = gh.fake.issues
    assert (stands(issue), stands(fresh), f"#{issue.number}" in (fresh.face.body or "")) == (CLOSED, OPEN, True)


def test_what_was_deleted_is_filed_anew_only_if_it_fails(gh: World) -> None:
    issue = filed(gh)
    gh.fake.person("alex").deletes(issue.number)
    again(gh)
    gh.fails(GATE, {G1: "boom"}, "second")
    told(gh)
    (fresh,) = gh.fake.issues
    assert fresh.number > issue.number
    gh.fake.person("alex").deletes(fresh.number)
    gh.is_proven(GATE)
    told(gh)
    assert gh.fake.issues == ()


@pytest.mark.parametrize("is_ours", [True, False])
def test_what_was_transferred_is_followed_within_its_owner_and_left_alone_elsewhere(gh: World, is_ours: bool) -> None:
    issue = filed(gh)
    to = gh.other if is_ours else gh.foreign
    assert to is not None
    gh.fake.person("alex").transfers(issue.number, to)
    again(gh)
    gh.fails(GATE, {G1: "boom"}, "second")
    told(gh)
    gh.is_proven(GATE)
    told(gh)
    assert (stands(issue), len(said(issue))) == ((CLOSED, 2) if is_ours else (OPEN, 0))
    assert gh.fake.issues == ()


def test_the_issue_of_a_removed_spec_closes_as_not_planned_and_comes_back_with_it(gh: World) -> None:
    issue = filed(gh)
    gh.is_removed(GATE)
    told(gh)
    assert (stands(issue), "proves nothing" in said(issue)[-1]) == (("closed", "not_planned"), True)
    again(gh)
    gh.fails(GATE, {G1: "boom"}, "second")
    told(gh)
    assert (gh.fake.issues, issue.face.state) == ((issue,), "open")
    gh.is_proven(GATE)
    told(gh)
    assert stands(issue) == CLOSED


def test_a_waiver_is_told_for_one_of_two_closes_for_all_and_opens_again_when_it_ends(gh: World) -> None:
    issue = filed(gh, **{G1: "boom", G2: "boom"})
    gh.is_waived(GATE, G1)
    told(gh)
    assert (stands(issue), "good enough (Kim)" in said(issue)[-1]) == (OPEN, True)
    gh.is_proven(GATE, ("signed by Kim until May", "signed by Kim until June"))
    told(gh)
    assert (stands(issue), "a person's signature" in said(issue)[-1]) == (CLOSED, True)
    with gh.deciding(GATE) as (docket, node, number):
        escalation.file_again(docket, node, number, Cause.NEEDS_PERSON, "the waiver ended", (G1,), ())
    told(gh)
    assert (issue.face.state, "the waiver ended" in said(issue)[-1]) == ("open", True)
    gh.is_proven(GATE)
    told(gh)
    assert stands(issue) == CLOSED


def test_with_sub_issues_each_requirement_stands_below_the_issue_of_its_cause(tmp_path: Path) -> None:
    with hub(tmp_path, sub_issues=True) as gh:
        whole = filed(gh, **{G1: "boom", G2: "boom"}) and gh.fake.issues[0]
        parts = {part: next(one for one in gh.fake.issues[1:] if part in one.face.title) for part in (G1, G2)}
        assert len(gh.fake.issues) == 3
        assert {one.id for one in parts.values()} == set(whole.children)
        again(gh)
        gh.fails(GATE, {G2: "boom"}, "second")
        told(gh)
        assert (stands(parts[G1]), stands(parts[G2]), stands(whole)) == (CLOSED, OPEN, OPEN)
        gh.is_proven(GATE)
        told(gh)
        assert {stands(one) for one in gh.fake.issues} == {CLOSED}


def test_parts_of_an_issue_that_was_over_before_it_was_filed_wait_for_nothing(tmp_path: Path) -> None:
    with hub(tmp_path, sub_issues=True) as gh:
        gh.fails(GATE, {G1: "boom"}, "first")
        gh.is_proven(GATE)
        told(gh)
        assert (gh.fake.issues, outbox.waiting(gh.db)) == ((), 0)


def test_what_was_decided_in_a_night_without_a_network_is_told_in_the_morning(gh: World) -> None:
    away = Fault(faults.anything, faults.refused(), times=10**6)
    gh.fake.faults.append(away)
    gh.fails(GATE, {G1: "boom"}, "first")
    gh.fails(ROAD, {R1: "no rule"}, "second")
    engine = gh.start()
    for _ in range(20):
        gh.nap(gh.deliver(engine))
    gh.is_proven(ROAD)
    assert [one.number for one in gh.fake.issues] == []
    gh.fake.faults.clear()
    told(gh)
    assert [stands(one) for one in gh.fake.issues] == [OPEN]


def test_what_was_never_filed_and_is_proven_is_not_filed(gh: World) -> None:
    gh.fails(GATE, {G1: "boom"}, "first")
    gh.is_proven(GATE)
    told(gh)
    assert (gh.fake.issues, gh.fake.writes) == ((), ())
