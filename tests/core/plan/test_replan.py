"""A new plan over what is stored: every node keeps its history, and only what changed is done again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.graph import Node, Plan
from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.plan.replan import PlanChange, StoredNode, StoredPart, describe, parts_of, replan
from agent_fox.core.spec import Criterion, Group, Requirement, Spec

PARTS = {"1": "THE a SHALL b.", "2": "THE c SHALL d."}


def plan(*titles: str, parts: dict[str, str] = PARTS, spec: str = "01_a") -> Plan:
    """A spec whose groups have these titles; part N belongs to group N. The tests of group 1 are reviewed."""
    groups = tuple(Group(n, title, requirements=(f"01-REQ-1.{n}",)) for n, title in enumerate(titles, 1))
    criteria = tuple(Criterion(f"01-REQ-1.{n}", text) for n, text in parts.items())
    coders = [
        Node(f"{spec}:coder:{g.number}", f"{spec}:{g.number}", spec, g.number, Archetype.CODER, title=g.title)
        for g in groups
    ]
    audit = Node(
        f"{spec}:reviewer:audit-review:1",
        f"{spec}:1:reviewer:audit-review",
        spec,
        1,
        Archetype.REVIEWER,
        Mode.AUDIT_REVIEW,
    )
    last = len(titles) + 1
    verifier = Node(f"{spec}:verifier", f"{spec}:{last}", spec, last, Archetype.VERIFIER)
    requirements = (Requirement("01-REQ-1", "T", criteria=criteria),) if criteria else ()
    return Plan(
        (Spec(spec, "agent-fox", spec, requirements=requirements, groups=groups),),
        (*coders[:1], audit, *coders[1:], verifier),
        (),
    )


def stored(nodes: tuple[Node, ...], status: str = "completed") -> list[StoredNode]:
    return [StoredNode(n.uid, n.id, n.spec_name, n.archetype, n.mode, n.group, n.title, status) for n in nodes]


def change(before: Plan, after: Plan) -> PlanChange:
    return replan(stored(before.nodes), parts_of(before), after)


def uids(found: PlanChange) -> dict[str, str]:
    return {node.id: node.uid for node in found.nodes}


def reviewed(found: Plan, spec: str = "01_a") -> Plan:
    """The same plan with a final review."""
    last = found.nodes[-1].group
    review = Node(
        f"{spec}:reviewer:final-review", f"{spec}:{last}:reviewer:final-review", spec, last, Archetype.REVIEWER,
        Mode.FINAL_REVIEW,
    )  # fmt: skip
    return replace(found, nodes=(*found.nodes, review))


def test_a_final_review_is_added_alone() -> None:
    found = change(plan("A", "B"), reviewed(plan("A", "B")))
    assert [node.id for node in found.added] == ["01_a:3:reviewer:final-review"]
    assert found.pending == ()


def test_a_final_review_is_made_again_with_its_verifier_and_keeps_its_history() -> None:
    found = change(reviewed(plan("A", "B")), reviewed(plan("A", "B", "C", parts={**PARTS, "3": "THE e SHALL f."})))
    assert uids(found)["01_a:4:reviewer:final-review"] == "01_a:reviewer:final-review"
    assert {"01_a:verifier", "01_a:reviewer:final-review"} <= set(found.pending)


def test_the_same_plan_is_no_change() -> None:
    found = change(plan("A", "B"), plan("A", "B"))
    assert found.is_empty
    assert found.nodes == plan("A", "B").nodes
    assert (found.pending, describe(found)) == ((), ())


def test_a_first_plan_is_all_new_and_nothing_is_redone() -> None:
    found = replan([], [], plan("A"))
    assert found.added == plan("A").nodes
    assert (found.kept, found.removed, found.pending) == ((), (), ())


def test_an_added_group_takes_the_verifiers_name_and_not_its_history() -> None:
    found = change(plan("A", "B"), plan("A", "B", "C", parts={**PARTS, "3": "THE e."}))
    assert uids(found)["01_a:3"] == "01_a:coder:3"
    assert uids(found)["01_a:4"] == "01_a:verifier"
    assert [kept.now.id for kept in found.renamed] == ["01_a:4"]
    assert found.pending == ("01_a:verifier",)


def test_a_group_put_in_front_moves_the_others_with_their_histories() -> None:
    found = change(plan("A", "B"), plan("X", "A", "B"))
    assert uids(found) == {
        "01_a:1": "01_a:coder:1~2",
        "01_a:1:reviewer:audit-review": "01_a:reviewer:audit-review:1~2",
        "01_a:2": "01_a:coder:1",
        "01_a:3": "01_a:coder:2",
        "01_a:4": "01_a:verifier",
    }
    assert [node.uid for node in found.removed] == ["01_a:reviewer:audit-review:1"]


def test_a_uid_is_never_given_to_another_thing_twice() -> None:
    first = change(plan("A", "B"), plan("X", "A", "B"))
    again = replan(
        [*stored(first.nodes), *stored(tuple(plan("Gone").nodes[1:2]), "withdrawn")],
        parts_of(plan("X", "A", "B")),
        plan("Y", "X", "A", "B"),
    )
    assert uids(again)["01_a:1"] == "01_a:coder:1~3" or uids(again)["01_a:1"] not in {n.uid for n in first.nodes}
    assert len(set(uids(again).values())) == len(again.nodes)


def test_a_retitled_group_is_the_same_group_and_its_verifier_reads_again() -> None:
    found = change(plan("A", "B"), plan("A", "B better"))
    assert uids(found)["01_a:2"] == "01_a:coder:2"
    assert (found.added, found.removed, found.pending) == ((), (), ("01_a:verifier",))
    assert describe(found) == ("retitled: 01_a:2 (B better)", "to be done again: 01_a:3")


def test_groups_with_one_title_keep_their_order() -> None:
    found = change(plan("A", "Wiring", "Wiring"), plan("A", "Wiring", "Wiring"))
    assert found.is_empty


def test_a_removed_group_goes_and_the_verifier_reads_again() -> None:
    found = change(plan("A", "B"), plan("A"))
    assert [node.uid for node in found.removed] == ["01_a:coder:2"]
    assert found.pending == ("01_a:verifier",)
    assert "removed: 01_a:2 (B)" in describe(found)


def test_a_removed_spec_takes_all_its_nodes_and_parts_with_it() -> None:
    found = change(plan("A"), Plan((), (), ()))
    assert len(found.removed) == 3
    assert [part.id for part in found.parts_removed] == ["01-REQ-1.1", "01-REQ-1.2"]
    assert found.pending == ()


def test_a_changed_text_sends_its_owner_and_the_verifier_back() -> None:
    found = change(plan("A", "B"), plan("A", "B", parts={**PARTS, "2": "THE c SHALL e."}))
    assert [part.id for part in found.parts_changed] == ["01-REQ-1.2"]
    assert found.pending == ("01_a:coder:2", "01_a:verifier")
    assert describe(found)[0] == "changed requirement: 01-REQ-1.2 of 01_a loses its verdict"


def test_the_owner_of_a_changed_text_need_not_be_the_last_group() -> None:
    found = change(plan("A", "B"), plan("A", "B", parts={**PARTS, "1": "THE a SHALL z."}))
    assert found.pending == ("01_a:coder:1", "01_a:verifier")


def test_a_group_that_moves_up_keeps_its_history_and_not_its_neighbours() -> None:
    found = change(plan("A", "B"), plan("B"))
    assert uids(found)["01_a:1"] == "01_a:coder:2"
    assert "01_a:coder:1" in {node.uid for node in found.removed}


def test_a_group_that_verifies_is_not_the_specs_verifier() -> None:
    verifies = Node("01_a:verifier:2", "01_a:2", "01_a", 2, Archetype.VERIFIER, title="Verify it")
    before, after = plan("A"), plan("A", "B")
    nodes = tuple(verifies if node.id == "01_a:2" else node for node in after.nodes)
    found = replan(stored(before.nodes), parts_of(before), replace(after, nodes=nodes))
    assert (uids(found)["01_a:2"], uids(found)["01_a:3"]) == ("01_a:verifier:2", "01_a:verifier")


def test_two_new_things_never_get_one_uid() -> None:
    one = Node("01_a:coder:1", "01_a:1", "01_a", 1, Archetype.CODER, title="A")
    found = replan([], [], Plan((), (one, replace(one, id="01_a:2", title="B")), ()))
    assert [node.uid for node in found.nodes] == ["01_a:coder:1", "01_a:coder:1~2"]


@pytest.mark.parametrize(
    "after",
    [
        plan("A"),
        plan("A", "B", "C"),
        plan("A", "B better"),
        plan("A", "B", parts={"1": PARTS["1"]}),
        plan("A", "B", parts={**PARTS, "3": "THE e."}),
        plan("A", "B", parts={**PARTS, "2": "other"}),
    ],
)
def test_any_difference_is_a_change(after: Plan) -> None:
    assert not change(plan("A", "B"), after).is_empty


def test_what_only_came_and_what_only_went_is_a_change() -> None:
    one, two = (replace(found, nodes=found.nodes[:-1]) for found in (plan("A"), plan("A", "B")))
    assert not change(one, two).is_empty
    assert not change(two, one).is_empty


def test_a_review_is_read_again_only_where_its_own_spec_changed_and_it_is_not_of_tests() -> None:
    drift = Node(
        "01_a:reviewer:drift", "01_a:0:reviewer:drift-review", "01_a", 0, Archetype.REVIEWER, Mode.DRIFT_REVIEW
    )
    other = replace(drift, uid="02_b:reviewer:drift", id="02_b:0:reviewer:drift-review", spec_name="02_b")
    before, after = plan("A"), plan("A", parts={**PARTS, "1": "other"})
    nodes = (drift, other, *after.nodes)
    found = replan(stored(nodes, "blocked"), parts_of(before), replace(after, nodes=nodes))
    assert found.pending == ("01_a:reviewer:drift", "01_a:coder:1", "01_a:verifier")


def test_another_name_alone_or_a_return_alone_is_a_change() -> None:
    before = plan("A", "B")
    verifier = stored(before.nodes)[-1]
    for was in (replace(verifier, id="01_a:9"), replace(verifier, status="withdrawn")):
        found = replan([*stored(before.nodes)[:-1], was], parts_of(before), before)
        assert not found.is_empty


def test_what_is_new_is_told_with_its_title_where_it_has_one() -> None:
    assert describe(replan([], parts_of(plan("A")), plan("A"))) == (
        "added: 01_a:1 (A)",
        "added: 01_a:1:reviewer:audit-review",
        "added: 01_a:2",
    )


def test_other_line_breaks_are_not_another_text() -> None:
    assert change(plan("A", "B"), plan("A", "B", parts={"1": "THE a\n  SHALL b.", "2": PARTS["2"]})).is_empty


def test_an_added_requirement_goes_to_its_owner() -> None:
    found = change(plan("A", "B", parts={"1": PARTS["1"]}), plan("A", "B"))
    assert [part.id for part in found.parts_added] == ["01-REQ-1.2"]
    assert found.pending == ("01_a:coder:2", "01_a:verifier")


def test_a_removed_requirement_is_read_about_again_but_built_by_nobody() -> None:
    found = change(plan("A", "B"), plan("A", "B", parts={"1": PARTS["1"]}))
    assert [part.id for part in found.parts_removed] == ["01-REQ-1.2"]
    assert found.pending == ("01_a:verifier",)


def test_another_spec_is_not_touched() -> None:
    one, other = plan("A", "B"), plan("A", "B", spec="02_b")
    both = Plan((*one.specs, *other.specs), (*one.nodes, *other.nodes), ())
    longer = plan("A", "B", "C")
    after = Plan((*longer.specs, *other.specs), (*longer.nodes, *other.nodes), ())
    assert {node.spec_name for node in change(both, after).added} == {"01_a"}
    assert change(both, after).removed == ()
    assert change(both, after).pending == ("01_a:verifier",)


def test_owners_may_be_given() -> None:
    after = plan("A", "B", parts={**PARTS, "2": "other"})
    before = plan("A", "B")
    found = replan(stored(before.nodes), parts_of(before), after, lambda spec, part: (1,))
    assert found.pending == ("01_a:coder:1", "01_a:verifier")


def test_what_was_withdrawn_comes_back_under_its_title_alone() -> None:
    gone = [replace(node, status="withdrawn") for node in stored(plan("A", "B").nodes) if node.id == "01_a:2"]
    there = stored(plan("A").nodes)
    back = replan([*there, *gone], parts_of(plan("A")), plan("A", "B"))
    assert uids(back)["01_a:2"] == "01_a:coder:2"
    assert "01_a:coder:2" in back.pending
    assert not back.is_empty
    other = replan([*there, *gone], parts_of(plan("A")), plan("A", "C"))
    assert uids(other)["01_a:2"] == "01_a:coder:2~2"


@pytest.mark.parametrize("status", ["completed", "withdrawn"])
def test_withdrawn_nodes_are_not_withdrawn_again(status: str) -> None:
    found = replan(stored(plan("A").nodes, status), [StoredPart("01_a", "x", "0")], Plan((), (), ()))
    assert len(found.removed) == (3 if status == "completed" else 0)


TITLES = st.lists(st.sampled_from("ABC"), min_size=1, max_size=5)


@given(before=TITLES, after=TITLES)
def test_uids_stay_unique_and_a_second_look_finds_nothing(before: list[str], after: list[str]) -> None:
    found = change(plan(*before), plan(*after))
    now = [node.uid for node in found.nodes]
    assert len(set(now)) == len(now)
    assert {node.uid for node in found.removed}.isdisjoint(now)
    kept = [*stored(found.nodes), *(replace(node, status="withdrawn") for node in found.removed)]
    again = replan(kept, parts_of(plan(*after)), plan(*after))
    assert again.is_empty
    assert again.nodes == found.nodes


@pytest.mark.parametrize(("status", "is_due"), [("blocked", True), ("completed", False)])
def test_only_a_review_that_held_the_spec_back_reads_its_new_text(status: str, is_due: bool) -> None:
    review = Node("01_a:reviewer:pre", "01_a:0:reviewer:pre-review", "01_a", 0, Archetype.REVIEWER, Mode.PRE_REVIEW)
    before, after = plan("A", "B"), plan("A", "B", parts={**PARTS, "1": "THE a SHALL c."})
    found = replan(
        [*stored((review,), status), *stored(before.nodes)],
        parts_of(before),
        replace(after, nodes=(review, *after.nodes)),
    )
    assert (review.uid in found.pending) is is_due
    untouched = replan(
        [*stored((review,), status), *stored(before.nodes)],
        parts_of(before),
        replace(before, nodes=(review, *before.nodes)),
    )
    assert untouched.pending == ()


@pytest.mark.parametrize(("is_proven", "says"), [(True, 1), (False, 0)])
def test_a_proven_spec_with_requirements_that_were_passed_over_is_told_first(is_proven: bool, says: int) -> None:
    before, after = plan("A"), plan("A", parts={**PARTS, "3": "THE e SHALL f.", "4": "THE g SHALL h."})
    was = [replace(one, is_proven=is_proven and one.archetype is Archetype.VERIFIER) for one in stored(before.nodes)]
    lines = describe(replan(was, parts_of(before), after))
    told = "no longer proven: 01_a has 2 requirements that no verdict was asked about: 01-REQ-1.3, 01-REQ-1.4"
    assert lines[:says] == (told,) * says
    assert sum(line.startswith("no longer proven") for line in lines) == says
    assert not any("proven" in line for line in describe(replan(was, parts_of(before), before)))
    one_more = describe(replan(was, parts_of(before), plan("A", parts={**PARTS, "3": "THE e SHALL f."})))
    told = "no longer proven: 01_a has a requirement that no verdict was asked about: 01-REQ-1.3"
    assert one_more[:says] == (told,) * says
