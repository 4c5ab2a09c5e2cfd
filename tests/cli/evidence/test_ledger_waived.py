"""What the chain of evidence tells of a waived requirement: who signed, until when, and whether that counts now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, issue_files
from tests.evidence.waiver_world import ONE_TRY, Person, person

TWO_FAIL = World({"01_calc": [Req("01-REQ-1.1", right_at=NEVER), Req("01-REQ-1.2", right_at=NEVER)]}, settings=ONE_TRY)


@pytest.fixture
def alice(tmp_path: Path) -> Person:
    return person(tmp_path / "people")


@pytest.fixture
def root(tmp_path: Path, alice: Person) -> Path:
    """A run has ended with two requirements that are never met, and one of them was waived then."""
    made = TWO_FAIL.build(tmp_path / "w")
    alice.run(made, 2)
    alice.waive(made, "01-REQ-1.1")
    return made


def shown(root: Path, alice: Person) -> str:
    return " ".join(alice.cli(root, "ledger", "show", "01-REQ-1.1").stdout.split())


def test_a_waived_requirement_tells_who_signed_and_that_it_counts(root: Path, alice: Person) -> None:
    told = shown(root, alice)
    assert told.startswith("01_calc/01-REQ-1.1 waived · not proven now: its verdict is FAIL")
    assert "proposed → waived by person" in told
    assert "by alice until" in told
    assert ": in force the vendor mends it" in told
    document = json.loads(alice.cli(root, "ledger", "show", "01-REQ-1.1", "--json").stdout)
    assert document["promotion"]["is_enough"] is True
    assert [(one["signer"], one["why_not"]) for one in document["waivers"]] == [("alice", "")]


def test_where_the_signer_is_not_trusted_the_waiver_does_not_count(root: Path, alice: Person, tmp_path: Path) -> None:
    done = alice.cli(root, "ledger", "show", "01-REQ-1.1", "--json", AGENT_FOX_KEYS=str(tmp_path / "nobody"))
    document = json.loads(done.stdout)
    assert document["promotion"]["is_enough"] is False
    assert document["waivers"][0]["why_not"]


def test_the_next_issue_of_the_spec_lists_the_waivers_in_force(root: Path, alice: Person) -> None:
    alice.cli(root, "reset", "01_calc:1")
    alice.run(root, 2)
    (issue,) = issue_files(root)
    text = issue.read_text(encoding="utf-8")
    assert "## Waivers in force" in text
    assert "waived by alice until" in text
    assert text.count("| 01_calc/01-REQ-1.2 | FAIL |") == 2, "once in the issue, once in the comment"
