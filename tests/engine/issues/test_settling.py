"""When an issue is over, or part of it: by requirement, across specs, and never by what proves nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent_fox.core.graph import Plan
from agent_fox.core.retry.decision import Cause
from agent_fox.engine.issues import escalation, settling
from agent_fox.engine.record.docket import Docket
from agent_fox.specs.planner import plan_of
from agent_fox.store import outbox, sessions
from agent_fox.store.plan import PlannedNode
from agent_fox.store.state import transaction
from tests.engine.desk import AT, BARE, Desk, small_spec
from tests.engine.issue_world import report

PARTS = {"01_gate": ("01-REQ-1.1", "01-REQ-1.2", "01-REQ-2.1"), "02_road": ("02-REQ-1.1", "02-REQ-1.2")}
GATE, ROAD = PARTS
G1, G2, G3 = PARTS[GATE]
R1, R2 = PARTS[ROAD]
Row = tuple[str, str, str | None]


def specs(gone: tuple[str, ...] = ()) -> Plan:
    wanted = {name: tuple(p.partition("-REQ-")[2] for p in parts if p not in gone) for name, parts in PARTS.items()}
    return plan_of([small_spec(name, {1: parts}) for name, parts in wanted.items() if parts], (), BARE)


@dataclass
class Court:
    """Decisions of a real docket about two specs; `new` is what was written since it was asked last."""

    desk: Desk
    sub_issues: bool = False
    max_new: int | None = None
    waived: tuple[str, ...] = ()
    seen: set[str] = field(default_factory=set)

    @contextmanager
    def deciding(self, spec: str) -> Iterator[tuple[Docket, PlannedNode, int]]:
        planned = self.desk.node(f"{spec}:2")
        with transaction(self.desk.db):
            docket = replace(
                self.desk.docket(), sub_issues=self.sub_issues, max_new=self.max_new,
                waiver_lines=lambda name: self.waived,
            )  # fmt: skip
            yield docket, planned, docket.record(planned, "Block", ())[0]

    def fails(self, spec: str, causes: Mapping[str, str | None]) -> None:
        with self.deciding(spec) as (docket, planned, number):
            judged = report(PARTS[spec], causes, "seen")
            escalation.file_issues(docket, planned, number, Cause.ATTEMPTS_SPENT, judged, "c0", ())

    def is_blocked(self, spec: str) -> None:
        with self.deciding(spec) as (docket, planned, number):
            escalation.file_node_issue(docket, planned, number, Cause.ATTEMPTS_SPENT, "away", "c0", ())

    def is_proven(self, spec: str) -> None:
        with self.deciding(spec) as (docket, planned, number):
            settling.settle_issues(docket, planned, number, "c1", PARTS[spec])

    def is_removed(self, spec: str) -> None:
        with self.deciding(spec) as (docket, planned, number):
            settling.withdraw_issues(docket, planned, number)

    def new_run(self) -> None:
        with transaction(self.desk.db):
            self.desk.run_id = sessions.start_run(self.desk.db, AT, "head")

    def payloads(self) -> list[tuple[str, dict[str, object]]]:
        sql = "SELECT id, kind, payload FROM outbox ORDER BY position"
        found = [row for row in self.desk.db.execute(sql) if row[0] not in self.seen]
        self.seen.update(row[0] for row in found)
        return [(kind, json.loads(payload)) for _, kind, payload in found]

    def new(self) -> list[Row]:
        """Kind, what it says, and why it closes."""
        return [(kind, str(told["says"]), told.get("state_reason")) for kind, told in self.payloads()]  # type: ignore[misc]

    def standing(self) -> list[str]:
        return [state for (state,) in self.desk.db.execute("SELECT state FROM issues ORDER BY fingerprint")]


FILED, AGAIN, PART = ("file", "failing", None), ("comment", "failing", None), ("comment", "progress", None)
REOPENED, PROVEN = ("reopen", "failing", None), ("close", "proof", "completed")
REMOVED = ("close", "proof", "not_planned")


@pytest.fixture
def court(tmp_path: Path) -> Iterator[Court]:
    desk = Desk.open(tmp_path, (), None)
    desk.replan(specs())
    yield Court(desk)
    desk.db.close()


def test_one_cause_is_one_issue_and_two_are_two(court: Court) -> None:
    court.fails(GATE, {G1: "boom", G2: "boom", G3: "no rule"})
    assert court.new() == [FILED, FILED]


def test_failing_again_is_a_comment_of_the_run_and_the_next_run_has_one_of_its_own(court: Court) -> None:
    court.fails(GATE, {G1: "boom"})
    slots = []
    for _ in range(2):
        court.new_run()
        for spec, part in ((GATE, G1), (ROAD, R1)):
            court.fails(spec, {part: "boom"})
            slots.append(court.payloads()[-1][1]["slot"])
    assert slots[0] == slots[1] != slots[2] == slots[3]


def test_the_comment_of_a_run_names_every_spec_that_still_fails_for_the_cause(court: Court) -> None:
    court.fails(GATE, {G1: "boom"})
    court.new_run()
    court.fails(GATE, {G1: "boom"})
    court.fails(ROAD, {R1: "boom"})
    assert [fact["spec"] for fact in court.payloads()[-1][1]["facts"]] == [GATE, ROAD]  # type: ignore[attr-defined]
    court.is_proven(GATE)
    court.fails(ROAD, {R1: "boom"})
    assert [fact["spec"] for fact in court.payloads()[-1][1]["facts"]] == [ROAD]  # type: ignore[attr-defined]


def test_what_passes_of_an_issue_is_told_once_and_the_last_of_it_closes_it(court: Court) -> None:
    court.fails(GATE, {G1: "boom", G2: "boom", G3: "no rule"})
    court.new()
    court.fails(GATE, {G2: "boom", G3: "no rule"})
    assert court.new() == [AGAIN, AGAIN]
    assert [fact["repaired"] for _, told in [("", t) for t in last_payloads(court, 2)] for fact in told["facts"]] == [  # type: ignore[attr-defined]
        [G1], [],
    ]  # fmt: skip
    court.fails(GATE, {G3: "no rule"})
    assert court.new() == [AGAIN, PROVEN]
    assert sorted(court.standing()) == ["closed", "open"]


def last_payloads(court: Court, count: int) -> list[dict[str, object]]:
    found = court.desk.db.execute("SELECT payload FROM outbox ORDER BY position DESC LIMIT ?", [count]).fetchall()
    return [json.loads(payload) for (payload,) in reversed(found)]


def test_an_issue_whose_cause_is_gone_closes_while_its_spec_is_held_back_by_another(court: Court) -> None:
    court.fails(GATE, {G1: "boom"})
    court.new()
    court.fails(GATE, {G2: "no rule"})
    kinds = court.payloads()
    assert [kind for kind, _ in kinds] == ["file", "close"]
    body = str(kinds[1][1]["body"])
    assert (G1 in body, "`c0`" in body, "The spec as a whole is not proven yet" in body) == (True, True, True)


def test_an_issue_of_two_specs_closes_with_the_last_of_them(court: Court) -> None:
    court.fails(GATE, {G1: "boom"})
    court.fails(ROAD, {R1: "boom", R2: "boom"})
    court.new()
    court.fails(ROAD, {R2: "boom"})
    assert court.new() == [AGAIN]
    court.is_proven(GATE)
    ((kind, told),) = court.payloads()
    assert (kind, told["says"]) == ("comment", "progress")
    assert f"Still open, 1 part(s): {R2}." in str(told["body"])
    court.is_proven(ROAD)
    assert (court.new(), court.standing()) == ([PROVEN], ["closed"])


def test_what_is_repaired_in_a_run_is_one_comment_of_that_run_the_newest_first(court: Court) -> None:
    court.fails(GATE, {G1: "boom", G2: "boom"})
    court.fails(ROAD, {R1: "boom", R2: "boom"})
    court.new()
    court.is_proven(GATE)
    court.fails(ROAD, {R2: "other"})
    first, *_, second = (told for _, told in court.payloads() if told["says"] == "progress")
    assert first["slot"] == second["slot"] != ""
    assert str(second["so_far"]).startswith(f"Fixed: {R1} of {ROAD} passes")
    assert str(second["so_far"]).endswith(str(first["so_far"]))
    court.new_run()
    court.fails(GATE, {G1: "boom", G2: "boom"})
    court.is_proven(GATE)
    (third,) = (told for _, told in court.payloads() if told["says"] == "progress")
    assert (third["slot"] != first["slot"], third["so_far"]) == (True, str(third["body"]).strip())


def test_a_blocked_coder_is_one_issue_about_the_spec_until_that_is_proven(court: Court) -> None:
    court.is_blocked(GATE)
    court.is_blocked(GATE)
    court.fails(GATE, {G1: "boom"})
    assert court.new() == [FILED, AGAIN, FILED]
    court.is_proven(GATE)
    assert court.new() == [PROVEN, PROVEN]


def flapped(court: Court) -> None:
    court.fails(GATE, {G1: "boom", G2: "boom"})
    court.is_proven(GATE)
    court.fails(GATE, {G1: "boom", G2: "boom"})
    assert court.new() == [FILED, PROVEN, REOPENED]


def test_what_has_flapped_is_closed_by_two_proving_reports(court: Court) -> None:
    flapped(court)
    court.is_proven(GATE)
    ((kind, told),) = court.payloads()
    assert (kind, told["says"]) == ("comment", "progress")
    assert "failed again after it was closed with proof, 1 time(s)" in str(told["body"])
    assert outbox.awaits_second_proof(court.desk.db, GATE)
    assert not outbox.awaits_second_proof(court.desk.db, ROAD)
    court.is_proven(GATE)
    assert (court.new(), court.standing()) == ([PROVEN], ["closed"])
    assert not outbox.awaits_second_proof(court.desk.db, GATE)


def test_failing_between_two_proofs_begins_anew(court: Court) -> None:
    flapped(court)
    for _ in range(2):
        court.is_proven(GATE)
        court.fails(GATE, {G1: "boom"})
        assert court.new() == [PART, AGAIN]
    court.is_proven(GATE)
    court.is_proven(GATE)
    assert court.new() == [PART, PROVEN]


def test_what_passes_of_a_flapped_issue_does_not_close_it_and_says_so(court: Court) -> None:
    flapped(court)
    court.fails(GATE, {G3: "no rule"})
    (_, filed), (kind, told) = court.payloads()
    assert (filed["says"], kind, told["says"]) == ("failing", "comment", "progress")
    assert settling.ALL_OF_IT.strip() in str(told["body"])
    assert f"Still open, 2 part(s): {G1}, {G2}." in str(told["body"])


def test_a_signature_is_no_proof_and_failing_after_it_no_flapping(court: Court) -> None:
    court.fails(GATE, {G1: "boom"})
    court.waived = ("01-REQ-1.1 until May: good enough (Kim)",)
    court.is_proven(GATE)
    assert "Waived: 2 of 3 requirements" in str(last_payloads(court, 1)[0]["body"])
    court.fails(GATE, {G1: "boom"})
    court.waived = ()
    court.is_proven(GATE)
    assert court.new() == [FILED, PROVEN, REOPENED, PROVEN]


def test_who_has_signed_for_part_of_an_issue_is_told_there(court: Court) -> None:
    court.fails(GATE, {G1: "boom", G2: "boom", G3: "no rule"})
    court.new()
    with court.deciding(GATE) as (docket, planned, number):
        assert settling.is_in_open_issue(docket.db, GATE, G1)
        assert not settling.is_in_open_issue(docket.db, ROAD, G1)
        settling.waive_part(docket, planned, number, G1, "until May: good enough (Kim)")
    ((kind, told),) = court.payloads()
    assert (kind, told["says"], "until May: good enough (Kim)" in str(told["body"])) == ("comment", "progress", True)


def test_a_waiver_that_ended_opens_the_issue_that_the_requirement_was_in(court: Court) -> None:
    court.fails(GATE, {G1: "boom"})
    court.waived = ("signed",)
    court.is_proven(GATE)
    with court.deciding(GATE) as (docket, planned, number):
        escalation.file_again(docket, planned, number, Cause.NEEDS_PERSON, "it ended", (G1,), ())
    assert court.new() == [FILED, PROVEN, REOPENED]
    assert court.standing() == ["open"]


def test_the_issue_of_a_spec_that_is_gone_closes_as_not_planned_and_that_is_no_proof(court: Court) -> None:
    court.fails(GATE, {G1: "boom"})
    court.fails(ROAD, {R1: "boom"})
    court.new()
    court.is_removed(GATE)
    court.is_removed(ROAD)
    assert (court.new(), court.standing()) == ([PART, REMOVED], ["closed"])
    court.fails(GATE, {G1: "boom"})
    court.is_proven(GATE)
    assert court.new() == [REOPENED, PROVEN]


def test_a_requirement_that_is_gone_from_a_spec_is_asked_for_no_more(court: Court) -> None:
    court.fails(GATE, {G1: "boom", G2: "boom", G3: "no rule"})
    court.new()
    court.desk.replan(specs(gone=(G3,)))
    assert court.new() == [REMOVED]
    court.desk.replan(specs(gone=(G2, G3)))
    ((kind, told),) = court.payloads()
    assert (kind, told["says"]) == ("comment", "progress")
    assert f"Still open, 1 part(s): {G1}." in str(told["body"])


def test_a_spec_that_is_gone_is_told_once_although_its_requirements_are_gone_too(court: Court) -> None:
    court.fails(GATE, {G1: "boom", G3: "no rule"})
    court.new()
    court.desk.replan(specs(gone=PARTS[GATE]))
    assert court.new() == [REMOVED, REMOVED]


def test_each_requirement_has_an_issue_of_its_own_where_that_is_asked_for(court: Court) -> None:
    court.sub_issues = True
    court.fails(GATE, {G1: "boom", G2: "boom"})
    assert court.new() == [FILED] * 3
    court.fails(GATE, {G2: "boom"})
    assert court.new() == [AGAIN, PROVEN]
    court.fails(GATE, {G1: "boom", G2: "boom"})
    assert court.new() == [AGAIN, REOPENED]
    court.is_proven(GATE)
    rows = court.new()
    assert sorted(rows) == sorted([PROVEN, PROVEN, PART])
    parents = court.desk.db.execute("SELECT count(*) FROM issues WHERE parent <> ''").fetchone()
    assert parents == (2,)


def test_a_spec_without_issues_says_nothing_when_it_is_proven_or_gone(court: Court) -> None:
    court.is_proven(GATE)
    court.is_removed(ROAD)
    assert court.new() == []


def statuses(court: Court) -> list[tuple[str, str, list[str]]]:
    """Of what is new: the title of its issue, the headline, and each requirement with its state."""
    found = [told["status"] for _, told in court.payloads()]
    return [
        (status["title"], status["headline"], [f"{part['requirement']} {part['state']}" for part in status["parts"]])  # type: ignore[index]
        for status in found
    ]


def test_title_and_block_of_an_issue_follow_what_is_decided(court: Court) -> None:
    court.fails(GATE, {G1: "boom", G2: "boom"})
    (filed,) = statuses(court)
    assert filed[0].startswith(f"{GATE}: {G1} and 1 more ")
    assert filed[1] == "Stopped after 1 attempt. Needs you."
    assert [part.partition(" ")[0] for part in filed[2]] == [G1, G2]
    court.fails(GATE, {G2: "boom"})
    ((title, _, _),) = statuses(court)
    assert title.startswith(f"{GATE}: {G2} ")
    court.is_proven(GATE)
    ((kept, headline, _),) = statuses(court)
    assert (kept, headline) == (title, "Proven: all of it passes.")


def test_what_a_run_has_too_many_causes_of_is_one_issue_that_lists_them_and_is_closed_with_the_last(
    court: Court,
) -> None:
    court.max_new = 1
    court.new_run()
    court.fails(GATE, {G1: "boom", G2: "no rule", G3: "no disk"})
    assert court.new() == [FILED, FILED, AGAIN]
    court.fails(ROAD, {R1: "no road"})
    ((title, headline, parts),) = statuses(court)
    assert title == "3 more requirements of 2 specs are not proven"
    assert headline == "One run files 1 new issue; this one lists what else stopped. Needs you."
    assert [part.partition(" ")[0] for part in parts] == [G2, G3, R1]
    assert len(court.standing()) == 2
    court.is_proven(ROAD)
    assert court.new() == [PART]
    court.is_proven(GATE)
    assert sorted(court.new()) == sorted([PROVEN, PROVEN])


def test_a_cause_of_a_digest_stays_there_while_it_is_open_and_has_an_issue_of_its_own_later(court: Court) -> None:
    court.max_new = 1
    court.new_run()
    court.fails(GATE, {G1: "boom", G2: "no rule"})
    court.new_run()
    court.new()
    court.fails(GATE, {G2: "no rule"})
    assert court.new() == [AGAIN, PROVEN]
    court.is_proven(GATE)
    court.new_run()
    court.new()
    court.fails(GATE, {G2: "no rule"})
    assert court.new() == [FILED]
    assert len(court.standing()) == 3


def test_a_digest_that_a_person_refused_takes_no_other_cause(court: Court) -> None:
    court.max_new = 1
    court.new_run()
    court.fails(GATE, {G1: "boom", G2: "no rule"})
    court.desk.db.execute("UPDATE issues SET remote = 'refused by a person' WHERE title LIKE '%more requirement%'")
    court.new()
    court.fails(ROAD, {R1: "no road"})
    assert court.new() == [FILED]
    court.fails(GATE, {G1: "boom", G2: "no rule"})
    assert court.new() == [AGAIN, AGAIN]
    assert len(court.standing()) == 3
