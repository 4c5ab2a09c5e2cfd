"""One record of the ledger: its content, its address, its link, and what it counts for."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.ledger.evidence import (
    CLAIMS,
    GENESIS,
    OF_CHECKS,
    Artifact,
    Change,
    Evidence,
    Feedback,
    Freshness,
    Json,
    Kind,
    Link,
    NotSums,
    Outcome,
    Repository,
    ReviewerDecision,
    Row,
    RunContext,
    SpecRef,
    Sums,
    canonical,
    content_of,
    environment_hash,
    environment_parts,
    head_after,
    linked,
    record_id,
    why_stale,
)

RECORD = Evidence(
    Kind.VERDICT, "verdict:7", "2026-03-01T12:00:00.000Z",
    Outcome("FAIL", "assert shut == open", "refs/diff", "logs/7.txt"),
    SpecRef("requirement", "04_gate/04-REQ-1.1", "0123456789abcdef"),
    RunContext("pytest -k gate", "env", "1 checks", "04_gate:3@1.1", 1, 7, 9), Artifact("tree", "commit"),
    Feedback("explanation", "payload", "teacher", "04_gate:2", False), ReviewerDecision.REJECTED, "one machine only",
    {"said": "FAIL"},
)  # fmt: skip
BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def name_of(record: Evidence) -> str:
    return record_id(canonical(content_of(record)))


def test_a_record_has_every_field_that_was_asked_for() -> None:
    assert content_of(RECORD) == {
        "format": 1,
        "kind": "verdict",
        "identity": "verdict:7",
        "spec_ref": {"kind": "requirement", "address": "04_gate/04-REQ-1.1", "version": "0123456789abcdef"},
        "run_context": {
            "command": "pytest -k gate", "environment": "env", "verifier": "1 checks", "ticket": "04_gate:3@1.1",
            "run": 1, "session": 7, "decision": 9,
        },
        "result": {
            "status": "FAIL", "counterexample": "assert shut == open", "diff_ref": "refs/diff",
            "log_ref": "logs/7.txt",
        },
        "feedback": {
            "kind": "explanation", "payload_ref": "payload", "teacher_context_ref": "teacher",
            "credit_scope": "04_gate:2", "used_for_training": False,
        },
        "artifact": {"tree": "tree", "commit": "commit"},
        "reviewer_decision": "rejected",
        "limitation": "one machine only",
        "timestamp": "2026-03-01T12:00:00.000Z",
        "body": {"said": "FAIL"},
    }  # fmt: skip


def test_a_record_names_its_repository_or_that_of_the_ledger_that_it_goes_into() -> None:
    own, other = Repository("4f", "0" * 40), Repository("5a")
    old, named = content_of(RECORD), replace(RECORD, repository=own)
    assert content_of(named) == {**old, "format": 2, "repository": {"id": "4f", "root": "0" * 40}}
    for record in (RECORD, named):
        assert content_of(record, other) == {**old, "format": 2, "repository": {"id": "5a", "root": ""}}
    assert content_of(named, Repository()) == old


def test_nothing_is_used_for_training_unless_it_is_said() -> None:
    feedback = content_of(Evidence(Kind.RUN, "run:1", "now", Outcome("begun")))["feedback"]
    assert isinstance(feedback, dict)
    assert feedback["used_for_training"] is False


def changed_fields() -> list[Evidence]:
    """RECORD with each of its fields, also those of its parts, changed in turn."""
    nested = {"outcome", "about", "context", "artifact", "feedback"}
    found = [
        replace(RECORD, kind=Kind.CHECK),
        replace(RECORD, identity="other"),
        replace(RECORD, timestamp="other"),
        replace(RECORD, reviewer_decision=ReviewerDecision.PENDING),
        replace(RECORD, limitation=""),
        replace(RECORD, body={}),
    ]
    for name in sorted(nested):
        part = getattr(RECORD, name)
        for field in fields(part):
            old = getattr(part, field.name)
            other: object = (not old) if isinstance(old, bool) else old + 1 if isinstance(old, int) else f"{old}x"
            found.append(replace(RECORD, **{name: replace(part, **{field.name: other})}))
    return found


def test_a_change_of_any_field_is_another_record() -> None:
    names = [name_of(record) for record in (RECORD, *changed_fields())]
    assert len(set(names)) == len(names) == 28


def test_the_address_of_a_record_is_the_sha_256_of_its_canonical_text() -> None:
    text = canonical({"b": 1, "a": "ü\n"})
    assert text == '{"a":"\\u00fc\\n","b":1}'
    assert record_id(text) == hashlib.sha256(text.encode("ascii")).hexdigest()
    assert head_after("0a", "0b") == hashlib.sha256(b"0a:0b").hexdigest()


@given(st.dictionaries(st.text(max_size=5), BODIES, max_size=4))
def test_one_content_has_one_spelling_whatever_its_order(body: dict[str, Json]) -> None:
    text = canonical(body)
    text.encode("ascii")
    assert json.loads(text) == body
    assert canonical(dict(reversed(body.items()))) == text


def test_what_has_no_spelling_in_json_is_no_content() -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical({"cost": float("nan")})


def test_a_link_names_the_record_and_everything_before_it() -> None:
    first = linked(1, GENESIS, "{}")
    assert first == Link(1, record_id("{}"), GENESIS, head_after(GENESIS, record_id("{}")))
    second = linked(2, first.head, "{}")
    assert second.record_id == first.record_id
    assert second.head not in {first.head, GENESIS}


def test_a_head_depends_on_the_order_of_the_records() -> None:
    one, other = record_id("[1]"), record_id("[2]")
    assert head_after(head_after(GENESIS, one), other) != head_after(head_after(GENESIS, other), one)


def test_limitations_add_up() -> None:
    once = replace(RECORD, limitation="").limited("the clock was set back")
    assert (once.limitation, RECORD.limited("again").limitation) == (
        "the clock was set back",
        "one machine only; again",
    )


def test_an_environment_is_named_by_its_facts_in_any_order() -> None:
    name = environment_hash({"platform": "linux", "sandbox": "yes"})
    assert name == environment_hash({"sandbox": "yes", "platform": "linux"})
    assert name != environment_hash({"sandbox": "no", "platform": "linux"})
    assert name == hashlib.sha256(b'{"platform": "linux", "sandbox": "yes"}').hexdigest()[:16]


@pytest.mark.parametrize(("is_open", "sandbox"), [(True, "no"), (False, "yes")])
def test_an_environment_is_its_machine_and_what_the_checks_run(is_open: bool, sandbox: str) -> None:
    chosen = {**OF_CHECKS, "profile": date(2026, 3, 1), "flaky": 3}
    assert environment_parts("linux", "arm64", (3, 11), chosen, is_open=is_open) == {
        "platform": "linux", "machine": "arm64", "python": "3.11", "sandbox": sandbox,
        "verify": '{"commands": [], "network": false, "profile": "2026-03-01", "reports": [], "untested": "fail"}',
    }  # fmt: skip


NOW = Freshness("tree", "version", "environment", "verifier")


def test_a_record_counts_where_everything_is_as_it_was() -> None:
    assert why_stale(NOW, NOW) == ()


@pytest.mark.parametrize(
    ("respect", "words"),
    [
        ("tree", "the code has changed"),
        ("version", "the text of the specification has changed"),
        ("environment", "the environment has changed"),
        ("verifier", "the verifier has changed"),
    ],
)
def test_a_record_says_in_which_respect_it_is_stale(respect: str, words: str) -> None:
    assert why_stale(replace(NOW, **{respect: "other"}), NOW) == (words,)


def test_a_record_that_does_not_say_what_it_is_about_counts_for_nothing() -> None:
    assert len(why_stale(Freshness("", "", "", ""), NOW)) == 4


ZERO = "0" * 64
ROW: Row = {"spec": "04_gate", "cost": 0.5, "left": None}


def weight(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def test_a_row_weighs_what_its_table_and_its_columns_in_any_order_hash_to() -> None:
    row, gates = weight('["runs",{"cost":0.5,"left":null,"spec":"04_gate"}]'), weight('["gate_history",{}]')
    came = Sums().moved(Change("runs", None, dict(sorted(ROW.items()))))
    assert came == Sums(0, row)
    assert came.moved(Change("gate_history", None, {})) == Sums(gates, (row + gates) % 2**256)
    assert Sums(gates, gates).moved(Change("runs", ROW, {})).claims == gates


@pytest.mark.parametrize("table", [*sorted(CLAIMS), "runs", "ledger"])
def test_what_comes_and_goes_again_leaves_the_sums_as_they_were(table: str) -> None:
    begun = Sums(5, 7)
    came = begun.moved(Change(table, None, ROW))
    assert (came.claims != 5, came.whole != 7) == (table in CLAIMS, True)
    changed = came.moved(Change(table, ROW, {**ROW, "cost": 1}))
    assert changed not in (begun, came)
    assert changed.moved(Change(table, {**ROW, "cost": 1}, None)) == begun
    assert begun.moved(Change(table, None, None)) == begun


def test_sums_are_written_with_all_their_digits_and_read_again() -> None:
    sums = Sums(2**256 - 1, 10)
    assert str(sums) == f"{'f' * 64}.{'a':0>64}"
    assert Sums.read(str(Sums(10, 2**256 - 2))) == Sums(10, 2**256 - 2)
    assert Sums.read(str(sums)) == sums
    assert str(Sums()) == f"{ZERO}.{ZERO}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1.2",
        ZERO,
        f"{ZERO}.{ZERO} ",
        f"{ZERO}.{ZERO}.{ZERO}",
        f"{ZERO}.{ZERO[1:]}",
        f"{ZERO[1:]}.{ZERO}0",
        f"{'A' * 64}.{ZERO}",
        "x" * 60,
    ],
)
def test_what_is_not_written_as_sums_is_no_sums(text: str) -> None:
    with pytest.raises(NotSums) as caught:
        Sums.read(text)
    assert str(caught.value) == f"no sums of rows: {text[:40]!r}"
