"""The plan as it is stored: what is saved is what is loaded, and names may be exchanged."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.core.graph import EdgeKind, Node
from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.retry.standing import Outcome, Standing, Status, first_standing
from agent_fox.core.spec import (
    Criterion,
    Dependency,
    Group,
    Requirement,
    SourceIssue,
    Spec,
    Subtask,
    TaskState,
    Trace,
)
from agent_fox.store import plan
from agent_fox.store.plan import PlannedNode, StoredEdge, StoredPart
from agent_fox.store.state import transaction
from tests.store.world import CODER, REVIEWER, VERIFIER, add_nodes, decide, state, stranger

if TYPE_CHECKING:
    from sqlite_utils import Database

FULL = Spec(
    name="01_bell",
    dialect="agent-fox",
    path="specs/01_bell",
    title="The bell ☕",
    requirements=(
        Requirement("R1", "Rings", "It rings.", (Criterion("R1.1", "once"),), (Criterion("R1.E1", "never"),)),
        Requirement("R2", "Is loud"),
    ),
    groups=(
        Group(
            *(1, "Ring", TaskState.IN_PROGRESS, True, True, "coder"),
            subtasks=(Subtask("1.V", "Verify", TaskState.DONE, True, ("R1",), ("a detail",)),),
            requirements=("R1", "R1.1"),
            text="- [-] 1. Ring",
        ),
    ),
    dependencies=(Dependency("00_tower", 2, None, "prd.md:7", is_archived=True),),
    traceability=(Trace("R1.1", ("TS-1",), ("1.1",), ("tests/test_bell.py::test_rings",)),),
    test_commands={"spec_tests": "pytest -q", "all_tests": "make test"},
    withdrawn=("R9",),
    documents={"tasks.md": "specs/01_bell/tasks.md"},
    is_withdrawn=True,
    source=SourceIssue(114, "o/r", "github.com"),
    implied=frozenset({"R2"}),
    places={"R1": "specs/01_bell/requirements.md:3", "task 1.V": "specs/01_bell/tasks.md:4"},
    is_baseline=True,
    origin="kiro, .kiro/specs/bell",
    corrected={"R1.1": (1,)},
)


def saved(folder: Path, spec: Spec) -> Spec:
    with state(folder) as db:
        plan.save_specs(db, [spec], {})
        return plan.load_spec(db, spec.name)


def test_a_spec_with_every_field_filled_comes_back_as_it_was(tmp_path: Path) -> None:
    assert all(getattr(FULL, field.name) for field in fields(FULL)), "a field is not filled"
    assert saved(tmp_path, FULL) == FULL


@settings(max_examples=25, deadline=None)
@given(spec=st.from_type(Spec))
def test_any_spec_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, spec: Spec) -> None:
    assert saved(tmp_path_factory.mktemp("spec"), spec) == spec


def test_the_newest_text_of_a_spec_counts_and_one_that_went_is_kept(tmp_path: Path) -> None:
    changed, other = replace(FULL, title="Louder"), replace(FULL, name="02_clock")
    with state(tmp_path) as db:
        plan.save_specs(db, [FULL, other], {})
        plan.save_specs(db, [changed], {})
        assert plan.load_spec(db, "01_bell") == changed
        assert plan.load_spec(db, "02_clock") == other
        marks = db.execute("SELECT name, is_withdrawn FROM plan_specs ORDER BY name").fetchall()
        assert marks == [("01_bell", 0), ("02_clock", 1)]


def test_what_is_read_and_not_planned_is_kept_for_its_ids(tmp_path: Path) -> None:
    """A test that names `1.1` may mean it, so no other spec's `1.1` is named by the number alone."""
    there = Requirement("1", "Keep", "", (Criterion("1.1", "a"),), (Criterion("1.E1", "b"),))
    baseline = Spec("notes", "openspec", "openspec/specs/notes", requirements=(there,), is_baseline=True)
    with state(tmp_path) as db:
        plan.save_specs(db, [FULL], {}, unplanned=[baseline])
        assert plan.ids_ever(db)["notes"] == frozenset({"1", "1.1", "1.E1"})
        assert db.execute("SELECT name FROM plan_specs WHERE is_withdrawn = 0").fetchall() == [("01_bell",)]


def test_a_broken_spec_keeps_the_text_it_had_until_it_can_be_read_again(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        plan.save_specs(db, [FULL], {})
        plan.save_specs(db, [], {"01_bell": "tasks.md:3: no", "09_new": "binary"})
        assert problems_of(db) == {"01_bell": "tasks.md:3: no", "09_new": "binary"}
        assert plan.load_spec(db, "01_bell") == FULL
        with pytest.raises(KeyError):
            plan.load_spec(db, "09_new")
        plan.save_specs(db, [FULL], {})
        assert problems_of(db) == {"01_bell": ""}


def problems_of(db: Database) -> dict[str, str]:
    """Why the specs of the plan could not be read; empty for those that could."""
    return {
        name: problem for name, problem in db.execute("SELECT name, problem FROM plan_specs WHERE is_withdrawn = 0")
    }


def test_a_broken_spec_lies_where_it_was_found_last(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        plan.save_specs(db, [FULL], {})
        assert plan.spec_paths(db) == (FULL.path,)
        plan.save_specs(db, [], {"01_bell": "no", "09_new": "no"}, places={"01_bell": "moved/01_bell"})
        assert plan.spec_paths(db) == ("moved/01_bell",)
        plan.save_specs(db, [], {"01_bell": "no", "09_new": "no"}, places={"09_new": "moved/09_new"})
        assert plan.spec_paths(db) == ("moved/01_bell", "moved/09_new")


def test_nodes_come_back_in_plan_order_with_where_they_stand(tmp_path: Path) -> None:
    ticked = replace(CODER, uid="bell:9", id="01_bell:9", is_ticked=True, is_optional=True, retry_predecessor=False)
    nodes = [
        PlannedNode(REVIEWER, first_standing(REVIEWER.uid), 3),
        PlannedNode(CODER, first_standing(CODER.uid), 2),
        PlannedNode(ticked, first_standing(ticked.uid, is_ticked=True), 1),
    ]
    with state(tmp_path) as db:
        plan.insert_nodes(db, nodes)
        assert plan.load_nodes(db) == nodes[::-1]
        assert plan.nodes_of_spec(db, CODER.spec_name) == nodes[::-1]
        assert plan.node_by_uid(db, "bell:9") == plan.node_by_id(db, "01_bell:9") == nodes[2]
        assert plan.node_by_id(db, "01_bell:10") is None
        with pytest.raises(KeyError):
            plan.node_by_uid(db, "bell:10")


def test_a_moved_node_stands_where_it_was_moved(tmp_path: Path) -> None:
    there = Standing(CODER.uid, Status.COMPLETED, Outcome.LANDED, 3, 2, 1, 1, 4)
    with state(tmp_path) as db:
        add_nodes(db, CODER, VERIFIER)
        plan.move_node(db, there, decide(db))
        assert plan.node_by_uid(db, CODER.uid).standing == there
        assert plan.node_by_uid(db, VERIFIER.uid).standing == first_standing(VERIFIER.uid)


def test_a_withdrawn_node_gives_its_name_away_and_is_not_in_the_plan(tmp_path: Path) -> None:
    newer = replace(CODER, uid="bell:1~2")
    with state(tmp_path) as db:
        add_nodes(db, CODER)
        plan.move_node(db, Standing(CODER.uid, Status.WITHDRAWN), decide(db, CODER))
        add_nodes(db, newer)
        assert [p.node for p in plan.nodes_of_spec(db, CODER.spec_name)] == [newer]
        assert [p.node.uid for p in plan.load_nodes(db)] == [CODER.uid, newer.uid]
        found = plan.node_by_id(db, CODER.id)
        assert found is not None
        assert found.node == newer


def test_names_can_be_exchanged_between_nodes(tmp_path: Path) -> None:
    coder, verifier = replace(CODER, id=VERIFIER.id, title="Later"), replace(VERIFIER, id=CODER.id)
    with state(tmp_path) as db:
        add_nodes(db, CODER, VERIFIER)
        plan.describe_nodes(db, [(1, coder), (0, verifier)])
        assert [(p.node, p.position) for p in plan.load_nodes(db)] == [(verifier, 0), (coder, 1)]


def test_describing_a_node_changes_all_that_may_change_and_not_where_it_stands(tmp_path: Path) -> None:
    described = replace(
        CODER, id="01_bell:7", group=7, title="Other", is_ticked=True, is_optional=True, retry_predecessor=False
    )
    with state(tmp_path) as db:
        add_nodes(db, CODER)
        plan.move_node(db, Standing(CODER.uid, attempt=2), decide(db, CODER))
        plan.describe_nodes(db, [(5, described)])
        assert plan.load_nodes(db) == [PlannedNode(described, Standing(CODER.uid, attempt=2), 5)]


def test_a_plan_that_stayed_the_same_is_not_written_again(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, CODER, VERIFIER)
        before = db.conn.total_changes
        plan.describe_nodes(db, [(0, CODER), (1, VERIFIER)])
        assert db.conn.total_changes == before


def test_a_withdrawn_node_takes_its_new_name_before_it_comes_back(tmp_path: Path) -> None:
    """The verifier took the name of a coder that went; the coder comes back under it, the verifier moves on."""
    back, moved_on = replace(CODER, group=1), replace(VERIFIER, id="01_bell:3")
    with state(tmp_path) as db:
        add_nodes(db, CODER, VERIFIER)
        plan.move_node(db, Standing(CODER.uid, Status.WITHDRAWN), decide(db, CODER))
        plan.describe_nodes(db, [(0, replace(VERIFIER, id=CODER.id))])
        plan.describe_nodes(db, [(0, back), (1, moved_on)])
        plan.move_node(db, first_standing(CODER.uid), decide(db, CODER))
        assert [p.node for p in plan.load_nodes(db)] == [back, moved_on]


def test_edges_are_those_of_the_newest_plan_each_once(tmp_path: Path) -> None:
    chain = StoredEdge(CODER.uid, VERIFIER.uid, EdgeKind.CHAIN)
    gate = StoredEdge(VERIFIER.uid, CODER.uid, EdgeKind.GATE)
    with state(tmp_path) as db:
        add_nodes(db, CODER, VERIFIER)
        plan.replace_edges(db, [chain])
        plan.replace_edges(db, [gate, chain, gate])
        assert set(plan.load_edges(db)) == {chain, gate}
        assert len(plan.load_edges(db)) == 2


def test_edges_of_a_retry_last_until_its_source_has_ended(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, CODER, REVIEWER, VERIFIER)
        edges = [(CODER.uid, VERIFIER.uid), (REVIEWER.uid, VERIFIER.uid)]
        plan.add_retry_edges(db, [*edges, *edges], decide(db))
        plan.add_retry_edges(db, edges, decide(db))
        assert sorted(plan.load_retry_edges(db)) == sorted(edges)
        plan.drop_retry_edges(db, CODER.uid)
        assert plan.load_retry_edges(db) == edges[1:]


def test_parts_come_back_in_the_order_of_the_files(tmp_path: Path) -> None:
    parts = [StoredPart(spec, part, "R1", "text", "v") for spec in ("b", "a") for part in ("R1.2", "R1.1")]
    with state(tmp_path) as db:
        plan.save_parts(db, [StoredPart("old", "R0", "R0", "", "")])
        plan.save_parts(db, parts)
        assert plan.load_parts(db) == parts
        assert plan.load_parts(db, "a") == parts[2:]


def test_a_plan_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    node = Node("x", "x:1", "x", 1, Archetype.REVIEWER, Mode.DRIFT_REVIEW)
    with state(tmp_path) as db:
        with suppress(KeyboardInterrupt), transaction(db):
            plan.save_specs(db, [FULL], {})
            add_nodes(db, node)
            raise KeyboardInterrupt
        with stranger(tmp_path) as connection:
            assert connection.execute("SELECT * FROM plan_specs, plan_nodes").fetchall() == []
