"""One record of the ledger: its content, its address, its link, and what it counts for."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.ledger.evidence import (
    GENESIS,
    Artifact,
    Evidence,
    Feedback,
    Freshness,
    Json,
    Kind,
    Link,
    Outcome,
    ReviewerDecision,
    RunContext,
    SpecRef,
    canonical,
    content_of,
    environment_hash,
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
    assert len(name) == 16


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
