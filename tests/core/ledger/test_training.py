"""What may be learned from: what nobody allowed, or somebody denied, locked or took back, never may. Pure rules."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.ledger.training import Act, Permission, Subject, is_selector, why_not

SESSION = Subject(
    frozenset({"spec:a", "session:3", "node:a:1", "run:1"}), frozenset({"requirement:a/1.1", "record:ff"})
)
SELECTORS = (*sorted(SESSION.names), *sorted(SESSION.touches), "all", "spec:b", "session:4", "requirement:b/1.1")

permissions = st.builds(
    Permission, st.sampled_from(Act), st.sampled_from(SELECTORS), st.sampled_from(("", "tuning", "evaluation")),
    st.sampled_from(("", "MIT")), st.text("ab", min_size=1, max_size=3), st.just("ada"),
    st.sampled_from(("2026-01-01", "2026-01-02", "2026-01-03")),
)  # fmt: skip


def about(each: Permission) -> bool:
    return each.selector == "all" or each.selector in SESSION.names | SESSION.touches


@given(st.lists(permissions, max_size=8))
def test_only_what_somebody_allowed_as_a_whole_for_this_purpose_may_be_learned_from(given_: list[Permission]) -> None:
    allows = [
        each
        for each in given_
        if each.act is Act.ALLOW
        and each.purpose == "tuning"
        and (each.selector == "all" or each.selector in SESSION.names)
    ]
    if not why_not(SESSION, given_, "tuning"):
        assert allows
        assert not any(each.act is Act.LOCK and about(each) for each in given_)


@given(st.lists(permissions, max_size=8), st.sampled_from(("all", *sorted(SESSION.names | SESSION.touches))))
def test_a_lock_on_any_part_outweighs_everything(given_: list[Permission], selector: str) -> None:
    assert why_not(SESSION, [*given_, Permission(Act.LOCK, selector, signer="ada")], "tuning")


@given(st.lists(permissions, max_size=8), st.sampled_from(("all", *sorted(SESSION.names | SESSION.touches))))
def test_a_denial_that_nobody_signed_over_outweighs_what_allows(given_: list[Permission], selector: str) -> None:
    assert why_not(SESSION, [*given_, Permission(Act.DENY, selector, signer="ada", at="2026-02-01")], "tuning")


@given(st.lists(permissions, max_size=8))
def test_what_is_about_others_changes_nothing(given_: list[Permission]) -> None:
    mine = [each for each in given_ if about(each)]
    assert why_not(SESSION, given_, "tuning") == why_not(SESSION, mine, "tuning")


def test_a_later_allowance_of_the_same_selector_takes_a_denial_back() -> None:
    denied = Permission(Act.DENY, "spec:a", signer="ada", at="2026-01-01")
    allowed = Permission(Act.ALLOW, "spec:a", "tuning", at="2026-01-02")
    assert why_not(SESSION, [allowed, denied], "tuning") == ""
    assert why_not(SESSION, [allowed, Permission(Act.DENY, "spec:a", signer="ada", at="2026-01-03")], "tuning")


def test_a_requirement_of_it_that_is_allowed_allows_not_the_whole() -> None:
    assert why_not(SESSION, [Permission(Act.ALLOW, "requirement:a/1.1", "tuning")], "tuning") == (
        "nobody has allowed it for tuning"
    )


def test_text_of_others_needs_its_licence() -> None:
    subject = Subject(SESSION.names, third_party=("vendor/x.py", "vendor/y.py"))
    allowed = Permission(Act.ALLOW, "spec:a", "tuning")
    assert why_not(subject, [allowed], "tuning") == (
        "it holds text of others (vendor/x.py and 1 more), and no permission names its licence"
    )
    assert why_not(replace(subject, third_party=("vendor/x.py",)), [allowed], "tuning") == (
        "it holds text of others (vendor/x.py), and no permission names its licence"
    )
    assert why_not(subject, [Permission(Act.ALLOW, "spec:a", "tuning", "MIT")], "tuning") == ""


def test_what_holds_a_hidden_check_is_never_learned_from() -> None:
    hidden, allowed = Subject(SESSION.names, is_hidden=True), Permission(Act.ALLOW, "all", "tuning")
    assert why_not(hidden, [allowed], "tuning") == "a hidden check is in it"


def test_selectors_are_the_listed_ones() -> None:
    assert all(map(is_selector, SELECTORS))
    assert not any(map(is_selector, ("", "spec:", "spec", "hidden", "all ", "file:x")))
