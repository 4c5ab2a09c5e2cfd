"""Whether a waiver holds: every reason why it does not, and the words of those who ask for one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_fox.core.evidence import SpecRef
from agent_fox.core.waivers import (
    NEVER,
    AboutExpectation,
    AboutFinding,
    AboutRequirement,
    Columns,
    Ending,
    Present,
    Statement,
    Waiver,
    asks_for_waiver,
    columns_of,
    ending,
    reference,
    told,
    why_not,
)

ABOUT = AboutRequirement("04_gateway", "04-REQ-1.2", "v1")
FINDING = AboutFinding("04_gateway:2", "off_scope_write", "0123456789abcdef")
SAID = Statement(
    "a" * 20, "root", ABOUT, (("file:a.md", "f1"), ("spec:03_base", "s1")), "the vendor mends it",
    "2030-01-01T00:00:00.000Z", "2030-02-01T00:00:00.000Z", "alice", "SHA256:x",
)  # fmt: skip
HELD = Waiver(SAID.id, columns_of(SAID), SAID)
NOW = Present(
    "2030-01-15T00:00:00.000Z", "root", {ABOUT.address: "v1"}, {"file:a.md": "f1", "spec:03_base": "s1"}
)  # fmt: skip


def test_a_waiver_counts_from_its_grant_until_it_expires() -> None:
    assert why_not(HELD, NOW) == ""
    assert why_not(HELD, replace(NOW, at=SAID.granted_at)) == ""
    assert why_not(HELD, replace(NOW, at="2030-01-31T23:59:59.999Z")) == ""


@pytest.mark.parametrize(
    ("present", "why"),
    [
        ({"at": SAID.expires_at}, "it expired at 2030-02-01"),
        ({"at": "2029-12-31T23:59:59.999Z"}, "the clock stands before that"),
        ({"repository": "other"}, "another repository"),
        ({"versions": {ABOUT.address: "v2"}}, "the text of the requirement has changed"),
        ({"versions": {"03_base/04-REQ-1.2": "v1"}}, "not in the plan any more"),
        ({"dependencies": {"file:a.md": "f1", "spec:03_base": "s2"}}, "has changed: spec:03_base"),
        ({"dependencies": {}}, "has changed: file:a.md, spec:03_base"),
        ({"trouble": "nobody is trusted"}, "nobody is trusted"),
    ],
)  # fmt: skip
def test_what_has_changed_since_is_why_it_does_not_count(present: dict[str, object], why: str) -> None:
    assert why in why_not(HELD, replace(NOW, **present))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("waiver", "why"),
    [
        ({"id": "b" * 20}, "belongs to waiver aaaaaaaaaaaa"),
        ({"statement": None, "flaw": "unsigned"}, "unsigned"),
        ({"statement": None}, "nobody trusted"),
        ({"over": "it was revoked"}, "it was revoked"),
        ({"is_recorded": False}, "the ledger has no record"),
        ({"statement": replace(SAID, granted_at="2030-01-01")}, "something else than what was signed"),
    ],
)  # fmt: skip
def test_a_row_that_is_not_what_was_signed_does_not_count(waiver: dict[str, object], why: str) -> None:
    assert why in why_not(replace(HELD, **waiver), NOW)  # type: ignore[arg-type]


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
    assert columns_of(said).spec_name == ""
    assert reference(FINDING) == SpecRef("task", "04_gateway:2", "0123456789abcdef")


CHANGED = AboutExpectation("04_gateway", "04-REQ-1.2", "v1", "tests/test_a.py::test_a", "0" * 64, "1" * 64)


def test_an_agreement_ends_with_the_text_that_it_is_about_and_waives_nothing() -> None:
    said = replace(SAID, subject=CHANGED, dependencies=(), expires_at=NEVER)
    held = Waiver(said.id, columns_of(said), said)
    later = replace(NOW, at="2300-01-01T00:00:00.000Z")
    assert why_not(held, later) == ""
    assert why_not(held, replace(later, versions={CHANGED.address: "v2"})) == "the text of the requirement has changed"
    assert columns_of(said).kind == "finding"  # so that nothing takes it for a waived requirement
    assert reference(CHANGED).kind == "expectation"
    assert told(said).endswith("the change of tests/test_a.py::test_a is agreed to by alice: the vendor mends it")
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
        (replace(HELD, over="it was revoked", is_ended=True), NOW, None),
        (replace(HELD, over="its gate has left"), NOW, Ending("over", "its gate has left")),
        (HELD, replace(NOW, trouble="no signers", at=SAID.expires_at), None),
    ],
)
def test_only_what_cannot_come_back_ends_a_waiver_for_good(
    waiver: Waiver, present: Present, end: Ending | None
) -> None:
    assert ending(waiver, present) == end


def test_a_waiver_is_told_with_who_until_when_and_why() -> None:
    assert told(SAID) == "04_gateway/04-REQ-1.2 waived by alice until 2030-02-01T00:00Z: the vendor mends it"


@pytest.mark.parametrize(
    "text",
    [
        "Please waive 04-REQ-1.2.",
        "I recommend a waiver for this requirement",
        "This cannot be met here; it should be waived.",
        "A waiver is needed: the service is gone.",
        "Done. Requesting a waiver.",
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
