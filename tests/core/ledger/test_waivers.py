"""Whether a waiver holds: every reason why it does not, and the words of those who ask for one."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from agent_fox.core.ledger.evidence import SpecRef
from agent_fox.core.ledger.waivers import (
    HIDDEN,
    NEVER,
    AboutExpectation,
    AboutFinding,
    AboutHidden,
    AboutRequirement,
    AboutTraining,
    Circumstances,
    Columns,
    Ending,
    Statement,
    Subject,
    Waiver,
    asks_for_waiver,
    columns_of,
    describe,
    ending,
    reference,
    why_not,
)

ABOUT = AboutRequirement("04_gateway", "04-REQ-1.2", "v1")
FINDING = AboutFinding("04_gateway:2", "off_scope_write", "0123456789abcdef")
SAID = Statement(
    "a" * 20, "root", ABOUT, (("file:a.md", "f1"), ("spec:03_base", "s1")), "the vendor mends it",
    "2030-01-01T00:00:00.000Z", "2030-02-01T00:00:00.000Z", "alice", "SHA256:x",
)  # fmt: skip
HELD = Waiver(SAID.id, columns_of(SAID), SAID)
NOW = Circumstances(
    "2030-01-15T00:00:00.000Z", "root", {ABOUT.address: "v1"}, {"file:a.md": "f1", "spec:03_base": "s1"}
)  # fmt: skip


def test_a_waiver_counts_from_its_grant_until_it_expires() -> None:
    assert why_not(HELD, NOW) == ""
    assert why_not(HELD, replace(NOW, at=SAID.granted_at)) == ""
    assert why_not(HELD, replace(NOW, at="2030-01-31T23:59:59.999Z")) == ""


@pytest.mark.parametrize(
    ("present", "why"),
    [
        ({"at": SAID.expires_at}, "it expired at 2030-02-01T00:00:00.000Z"),
        (
            {"at": "2029-12-31T23:59:59.999Z"},
            "it was granted at 2030-01-01T00:00:00.000Z, and the clock stands before that",
        ),
        ({"repository": "other"}, "it was signed for another repository"),
        ({"versions": {ABOUT.address: "v2"}}, "the text of the requirement has changed"),
        ({"versions": {"03_base/04-REQ-1.2": "v1"}}, "04-REQ-1.2 is not in the plan any more"),
        (
            {"dependencies": {"file:a.md": "f1", "spec:03_base": "s2"}},
            "what it depends on has changed: spec:03_base",
        ),
        ({"dependencies": {}}, "what it depends on has changed: file:a.md, spec:03_base"),
        ({"trouble": "nobody is trusted"}, "nobody is trusted"),
    ],
)  # fmt: skip
def test_what_has_changed_since_is_why_it_does_not_count(present: dict[str, object], why: str) -> None:
    assert why_not(HELD, replace(NOW, **present)) == why  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("waiver", "why"),
    [
        ({"id": "b" * 20}, "its envelope belongs to waiver aaaaaaaaaaaa"),
        ({"statement": None, "flaw": "unsigned"}, "unsigned"),
        ({"statement": None}, "nobody trusted has signed it"),
        ({"over": "it was revoked"}, "it was revoked"),
        ({"is_recorded": False}, "the ledger has no record that it was granted"),
        ({"statement": replace(SAID, granted_at="2030-01-01")}, "its row says something else than what was signed"),
    ],
)  # fmt: skip
def test_a_row_that_is_not_what_was_signed_does_not_count(waiver: dict[str, object], why: str) -> None:
    assert why_not(replace(HELD, **waiver), NOW) == why  # type: ignore[arg-type]


@pytest.mark.parametrize("column", Columns.__dataclass_fields__)
def test_no_column_may_differ_from_what_was_signed(column: str) -> None:
    changed = replace(HELD.columns, **{column: "another"})
    assert "something else than what was signed" in why_not(replace(HELD, columns=changed), NOW)


def test_times_in_another_form_are_never_compared() -> None:
    odd = replace(SAID, expires_at="9999")
    assert why_not(Waiver(odd.id, columns_of(odd), odd), NOW) == "its times cannot be read"


def test_a_finding_is_bound_to_its_detail_and_not_to_a_text() -> None:
    said = replace(SAID, subject=FINDING, dependencies=())
    assert why_not(Waiver(said.id, columns_of(said), said), replace(NOW, versions={}, dependencies={})) == ""


CHANGED = AboutExpectation("04_gateway", "04-REQ-1.2", "v1", "tests/test_a.py::test_a", "0" * 64, "1" * 64)
CHECKS = AboutHidden("d" * 64)
LEARNING = AboutTraining("allow", "spec:04_gateway", "tuning", "MIT")


@pytest.mark.parametrize(
    ("subject", "signed"),
    [
        (ABOUT, {"kind": "requirement", "spec": "04_gateway", "requirement": "04-REQ-1.2", "version": "v1"}),
        (
            FINDING,
            {
                "kind": "finding", "task": "04_gateway:2", "check": "off_scope_write",
                "detail_hash": "0123456789abcdef",
            },
        ),
        (
            CHANGED,
            {
                "kind": "expectation", "spec": "04_gateway", "requirement": "04-REQ-1.2", "version": "v1",
                "test": "tests/test_a.py::test_a", "committed": "0" * 64, "changed": "1" * 64,
            },
        ),
        (CHECKS, {"kind": "hidden", "digest": "d" * 64}),
        (
            LEARNING,
            {
                "kind": "training", "act": "allow", "selector": "spec:04_gateway", "purpose": "tuning",
                "license": "MIT",
            },
        ),
    ],
)  # fmt: skip
def test_what_is_signed_stands_under_these_names_for_ever(subject: Subject, signed: dict[str, str]) -> None:
    assert replace(SAID, subject=subject).content() == {
        "format": 1,
        "id": "a" * 20,
        "repository": "root",
        "subject": signed,
        "dependencies": {"file:a.md": "f1", "spec:03_base": "s1"},
        "reason": "the vendor mends it",
        "granted_at": "2030-01-01T00:00:00.000Z",
        "expires_at": "2030-02-01T00:00:00.000Z",
        "signer": "alice",
        "key": "SHA256:x",
    }


@pytest.mark.parametrize(
    ("subject", "columns"),
    [
        (ABOUT, ("requirement", "04_gateway", "04-REQ-1.2", "v1", "", "")),
        (FINDING, ("finding", "", "04_gateway:2", "", "off_scope_write", "0123456789abcdef")),
        (
            CHANGED,
            (
                "finding", "04_gateway", "04-REQ-1.2", "v1", "changed expectation",
                f"{'0' * 64} {'1' * 64} tests/test_a.py::test_a",
            ),
        ),
        (CHECKS, ("finding", "", "hidden checks", "", "hidden checks", "d" * 64)),
        (LEARNING, ("finding", "", "spec:04_gateway", "", "training", "allow tuning\nMIT")),
    ],
)  # fmt: skip
def test_a_row_has_the_columns_of_what_it_is_about_and_of_what_was_said(
    subject: Subject, columns: tuple[str, str, str, str, str, str]
) -> None:
    said = ("the vendor mends it", "alice", "2030-01-01T00:00:00.000Z", "2030-02-01T00:00:00.000Z")
    assert columns_of(replace(SAID, subject=subject)) == Columns(*columns, *said)


@pytest.mark.parametrize(
    ("subject", "named"),
    [
        (ABOUT, SpecRef("requirement", "04_gateway/04-REQ-1.2", "v1")),
        (FINDING, SpecRef("task", "04_gateway:2", "0123456789abcdef")),
        (CHANGED, SpecRef("expectation", "04_gateway/04-REQ-1.2", "v1")),
        (CHECKS, SpecRef("hidden", HIDDEN, "d" * 64)),
        (LEARNING, SpecRef("training", "spec:04_gateway")),
    ],
)
def test_the_ledger_names_what_a_waiver_is_about_and_its_version(subject: Subject, named: SpecRef) -> None:
    assert reference(subject) == named


def test_what_is_no_subject_is_refused_and_never_passed_over() -> None:
    said = replace(SAID, subject=cast(Subject, "nothing"))
    for ask in (lambda: columns_of(said), lambda: reference(said.subject)):
        with pytest.raises(AssertionError, match="unreachable, but got: 'nothing'"):
            ask()
    with pytest.raises(AttributeError, match="'str' object has no attribute 'kind'"):
        said.content()


def test_an_agreement_ends_with_the_text_that_it_is_about_and_waives_nothing() -> None:
    said = replace(SAID, subject=CHANGED, dependencies=(), expires_at=NEVER)
    held = Waiver(said.id, columns_of(said), said)
    later = replace(NOW, at="2300-01-01T00:00:00.000Z")
    assert why_not(held, later) == ""
    assert why_not(held, replace(later, versions={CHANGED.address: "v2"})) == "the text of the requirement has changed"
    assert columns_of(said).kind == "finding"  # so that nothing takes it for a waived requirement
    assert describe(said).endswith("the change of tests/test_a.py::test_a is agreed to by alice: the vendor mends it")
    for field in ("version", "test", "committed", "changed"):
        other = replace(said, subject=replace(CHANGED, **{field: "2" * 64}))
        assert "something else than what was signed" in why_not(replace(held, columns=columns_of(other)), NOW)


@pytest.mark.parametrize(
    ("waived", "task", "is_of"),
    [
        ("04_gateway:2", "04_gateway:2", True),
        ("04_gateway:2", "04_gateway:2@3", True),
        ("04_gateway:2@3", "04_gateway:2@3", True),
        ("04_gateway:2@3", "04_gateway:2@4", False),
        ("04_gateway:2@3", "04_gateway:2", False),
        ("04_gateway:2", "04_gateway:21@1", False),
        ("a@b:2", "a@b:2@1", True),
        ("", "@1", True),
        ("", "04_gateway:2", False),
    ],
)
def test_a_task_without_attempt_stands_for_all_of_its_attempts(waived: str, task: str, is_of: bool) -> None:
    assert AboutFinding(waived, "c", "h").is_of(task) is is_of


@pytest.mark.parametrize(
    ("waiver", "present", "end"),
    [
        (HELD, NOW, None),
        (HELD, replace(NOW, at=SAID.expires_at), Ending("expired", f"it expired at {SAID.expires_at}")),
        (HELD, replace(NOW, versions={}), Ending("over", "04-REQ-1.2 is not in the plan any more")),
        (replace(HELD, statement=None), NOW, Ending("over", "nobody trusted has signed it")),
        (HELD, replace(NOW, at="2029-01-01T00:00:00.000Z"), None),
        (HELD, replace(NOW, at=SAID.granted_at, versions={}), Ending("over", "04-REQ-1.2 is not in the plan any more")),
        (replace(HELD, over="it was revoked", is_ended=True), NOW, None),
        (replace(HELD, over="its gate has left"), NOW, Ending("over", "its gate has left")),
        (
            replace(HELD, over="its gate has left"),
            replace(NOW, versions={ABOUT.address: "v2"}),
            Ending("over", "the text of the requirement has changed"),
        ),
        (HELD, replace(NOW, trouble="no signers", at=SAID.expires_at), None),
    ],
)
def test_only_what_cannot_come_back_ends_a_waiver_for_good(
    waiver: Waiver, present: Circumstances, end: Ending | None
) -> None:
    assert ending(waiver, present) == end


def test_a_waiver_is_told_with_who_until_when_and_why() -> None:
    assert describe(SAID) == "04_gateway/04-REQ-1.2 waived by alice until 2030-02-01T00:00Z: the vendor mends it"
    assert describe(replace(SAID, subject=CHECKS)) == (
        "hidden checks dddddddddddd were read by alice: the vendor mends it"
    )
    assert describe(replace(SAID, subject=LEARNING)) == (
        "spec:04_gateway: training allow for tuning, under MIT by alice until 2030-02-01T00:00Z: the vendor mends it"
    )
    assert describe(replace(SAID, subject=AboutTraining("lock", "all", "", ""), expires_at=NEVER)) == (
        "all: training lock by alice: the vendor mends it"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Please waive 04-REQ-1.2.",
        "I recommend a waiver for this requirement",
        "This cannot be met here; it should be waived.",
        "A waiver is needed: the service is gone.",
        "Done. Requesting a waiver.",
        "No waiver was there before. Please grant a waiver.",
    ],
)
def test_who_asks_for_a_waiver_is_heard(text: str) -> None:
    assert asks_for_waiver(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "all tests pass", "The waiver of last week has expired.", "I did not ask for a waiver.",
        "No waiver should be needed.", "waivers.py reads rows", "It works without asking for a waiver",
    ],
)  # fmt: skip
def test_who_only_mentions_waivers_is_not(text: str) -> None:
    assert not asks_for_waiver(text)
