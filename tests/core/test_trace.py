"""A session's events as a tree of nodes: kinds, places, names, bounds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agent_fox.core.ids import digest_of
from agent_fox.core.trace import (
    BEGUN,
    LEFT,
    Action,
    Node,
    NodeKind,
    Observation,
    Recording,
    Trace,
    bounded,
    canonical,
    children,
    dispensable,
    normalised,
    red_before_end,
    way_to,
)
from agent_fox.core.values import Json

E, C, V, R = NodeKind.EXPLORATION, NodeKind.STATE_CHANGE, NodeKind.VERIFICATION, NodeKind.ROLLBACK


def files(old: str, new: str) -> tuple[str, ...]:
    return (f"{old}-{new}.py",)


def nodes_of(*actions: Action, base: str = "t0", work: str = "") -> tuple[Node, ...]:
    return normalised(Recording(actions), base, work, files)


def shape(nodes: tuple[Node, ...]) -> list[tuple[NodeKind, int, int]]:
    return [(node.kind, node.step, node.calls) for node in nodes]


READ = Action("Read")
NOTHING = Observation()
RED = Observation("d", 40, ("FAILED tests/test_a.py::test_adds - assert 1 == 2",))


def edit(tree: str, path: str = "a.py") -> Action:
    return Action("Edit", (path,), tree=tree)


def run(command: str, tree: str = "", seen: Observation = NOTHING) -> Action:
    return Action("Bash", (), command, seen, tree)


def test_states_are_the_spine_and_what_was_looked_at_or_tested_hangs_under_them() -> None:
    nodes = nodes_of(READ, READ, edit("t1"), run("pytest -q", seen=RED), READ, edit("t2"), work="t2")
    assert shape(nodes) == [(C, 0, 0), (E, 0, 2), (C, 1, 1), (V, 1, 1), (E, 1, 1), (C, 2, 1)]
    base, looked, first, tested, _, second = nodes
    assert (looked.parent, first.parent, tested.parent, second.parent) == (base.id, base.id, first.id, first.id)
    assert (second.diff, second.files, tested.observation.red) == ("t1..t2", ("t1-t2.py",), RED.red)
    assert [node.action for node in children(nodes)[base.id]] == ["", "Edit a.py"]


def test_a_node_says_which_calls_it_stands_for_what_they_did_and_what_they_were_shown() -> None:
    looked = Action("Read", observation=Observation("seen", 7))
    tested = replace(run("pytest -q", seen=RED), failed=True)
    nodes = nodes_of(looked, Action("Edit", ("a.py", "b.py")), tested, Action("Grep"), READ, work="t9")
    begun, _, changed, *_ = nodes
    assert nodes == (
        Node(0, C, 0, action="what the session began with", calls=0, tree="t0"),
        Node(1, E, 0, begun.id, "Read", 1, 1, {"Read": 1}, Observation(digest_of("seen"), 7)),
        Node(2, C, 1, begun.id, "Edit a.py, b.py", 2, 1, {"Edit": 1}, files=("a.py", "b.py")),
        Node(3, V, 1, changed.id, "Bash pytest -q", 3, 1, {"Bash": 1}, RED, failed=True),
        Node(4, E, 1, changed.id, "", 4, 2, {"Grep": 1, "Read": 1}, Observation(digest_of("", ""), 0)),
        Node(
            5, C, 2, changed.id, "what the session left", calls=0, files=("t0-t9.py",), tree="t9", diff="t0..t9",
        ),
    )  # fmt: skip


def test_a_trace_is_written_down_without_what_is_empty_in_it() -> None:
    [begun] = nodes_of()
    assert Trace((begun,), "c0", {"states": 2}).document() == {
        "format": 1,
        "commit": "c0",
        "left_out": {"states": 2},
        "nodes": [
            {
                "id": begun.id, "number": 0, "kind": "state change", "step": 0, "call": 0, "calls": 0, "tree": "t0",
                "action": "what the session began with", "observation": {"characters": 0}, "more_files": 0,
            }
        ],
    }  # fmt: skip


def test_a_content_has_one_spelling_and_nothing_empty_in_it() -> None:
    content: dict[str, Json] = {
        "z": {"none": None, "no": False, "yes": True},
        "b": [1, "x"],
        "a": {"text": "", "l": []},
    }
    assert canonical({**content, "n": 0}) == '{"b":[1,"x"],"n":0,"z":{"yes":true}}'


def test_a_session_without_events_has_its_coarse_trace() -> None:
    assert [(node.action, node.tree) for node in nodes_of(work="t9")] == [(BEGUN, "t0"), (LEFT, "t9")]
    assert shape(nodes_of(work="t0")) == shape(nodes_of()) == [(C, 0, 0)]


def test_what_was_left_without_a_call_that_is_known_to_have_made_it_is_a_state_of_its_own() -> None:
    nodes = nodes_of(edit("t1"), work="t2")
    assert [(node.step, node.action, node.tree) for node in nodes[1:]] == [(1, "Edit a.py", "t1"), (2, LEFT, "t2")]


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        (run("ls"), E),
        (run("sed -i s/a/b/ a.py", "t1"), C),
        (run("sed -i s/a/b/ a.py", "t0"), E),  # it changed nothing
        (run("python -m pytest tests"), V),
        (run("cd app && npm test"), V),
        (run("go test ./..."), V),
        (run("make check"), V),
        (run("cargo nextest run"), V),
        (run("cat pytest.ini"), E),
        (run("vim tests/latest"), E),
        (Action("run_unit_tests"), V),
        (Action("run_dependency_tree"), E),
        (Action("Edit", None), C),  # nobody can tell which files, and nobody looked
        (Action("Edit", ("a.py",), failed=True), E),
        (Action("Edit", ("a.py",), is_ended=False), E),
        (Action("Edit", ("a.py",), tree="t0"), E),
        (run("git checkout -- ."), E),
        (run("git checkout -- .", "t5"), R),
        (run("git -C x stash", "t5"), R),
        (run("git status", "t5"), C),
    ],
)
def test_an_action_is_what_became_of_the_files_or_what_it_asks(action: Action, kind: NodeKind) -> None:
    assert nodes_of(action)[-1].kind is kind


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (READ, "Read"),
        (Action("Edit", None), "Edit"),
        (Action("Edit", ("a.py", "b.py"), "ignored"), "Edit a.py, b.py"),
        (run("ls"), "Bash ls"),
        (Action("Bash", command=None), "Bash"),
    ],
)
def test_an_action_is_told_by_its_tool_and_its_files_or_else_its_command(action: Action, words: str) -> None:
    assert action.words == words


def test_an_action_that_changes_files_and_tests_them_is_both() -> None:
    nodes = nodes_of(run("sed -i s/a/b/ a.py && pytest", "t1", RED))
    assert shape(nodes) == [(C, 0, 0), (C, 1, 1), (V, 1, 0)]
    assert nodes[2].parent == nodes[1].id


def test_files_that_are_as_they_were_before_are_a_rollback_that_names_the_step() -> None:
    nodes = nodes_of(edit("t1"), edit("t2"), run("git checkout .", "t1"))
    assert [(node.kind, node.step, node.back_to) for node in nodes[1:]] == [(C, 1, None), (C, 2, None), (R, 3, 1)]
    assert nodes_of(edit("t1"), edit("t0"))[-1].back_to == 0


def test_a_change_after_which_nobody_looked_goes_back_to_nothing_even_where_the_beginning_is_not_known() -> None:
    assert [(node.kind, node.back_to) for node in nodes_of(edit(""), base="")] == [(C, None), (C, None)]


def test_a_node_is_named_by_its_content_and_by_all_that_it_hangs_under() -> None:
    one, other = nodes_of(edit("t1"), edit("t2")), nodes_of(edit("t1", "b.py"), edit("t2"))
    assert one == nodes_of(edit("t1"), edit("t2"))
    assert one[0].id == other[0].id
    assert len(one[1].id) == 64
    assert one[1].id != other[1].id
    assert one[2].id != other[2].id


def test_fifty_thousand_looks_are_a_few_nodes_with_counts() -> None:
    trace = Trace(nodes_of(*[READ] * 50_000, edit("t1"), *[Action("Grep")] * 9))
    assert shape(trace.nodes) == [(C, 0, 0), (E, 0, 50_000), (C, 1, 1), (E, 1, 9)]
    assert trace.nodes[1].tools == {"Read": 50_000}
    assert trace.counts == {"exploration": 2, "state change": 2, "verification": 0, "rollback": 0, "calls": 50_010}
    assert len(json.dumps(trace.document())) < 4_000


def test_a_trace_that_is_too_long_keeps_its_states_first_and_counts_what_it_leaves_out() -> None:
    actions = [each for n in range(100) for each in (READ, edit(f"t{n + 1}"), run("pytest"))]
    whole = Trace(nodes_of(*actions))
    cut = bounded(whole, 120)
    assert len(cut.nodes) == 120
    assert len(cut.states) == 101
    assert cut.left_out == {"exploration nodes": 100, "verification nodes": 81}
    assert cut.nodes[-1].kind is V
    assert len(children(cut.nodes)[""]) == 1
    short = bounded(whole, 50)
    assert (short.states[0], short.states[-1]) == (whole.states[0], whole.states[-1])
    assert [node.step for node in short.states] == [*range(25), *range(76, 101)]
    assert bounded(whole, 1000) is bounded(whole, len(whole.nodes)) is whole
    assert len(bounded(whole, len(whole.nodes) - 1).nodes) == len(whole.nodes) - 1
    assert bounded(replace(whole, left_out={"calls": 3}), 300).left_out == {"calls": 3, "exploration nodes": 1}


def test_of_one_kind_what_is_nearest_to_the_middle_goes_first() -> None:
    nodes = nodes_of(edit("t1"), run("pytest"), edit("t2"), run("pytest"), edit("t1"), edit("t3"), edit("t4"), READ)
    assert [(node.kind, node.number) for node in dispensable(nodes)] == [
        (E, 8), (V, 4), (V, 2), (R, 5), (C, 3), (C, 6), (C, 7), (C, 1), (C, 0),
    ]  # fmt: skip


def test_a_node_whose_parent_is_not_among_them_hangs_under_nothing() -> None:
    _, first, second = nodes_of(edit("t1"), edit("t2"))
    assert children([first, second]) == {"": [first], first.id: [second]}


def test_more_files_than_a_node_names_are_counted() -> None:
    many = tuple(f"{n}.py" for n in range(50))
    node = normalised(Recording(), "t0", "t1", lambda old, new: many)[-1]
    assert (len(node.files), node.more_files) == (20, 30)


def test_the_way_to_an_onset_has_states_and_verifications_up_to_it() -> None:
    nodes = nodes_of(READ, edit("t1"), run("pytest"), edit("t2"), run("pytest"), edit("t3"))
    assert [(node.kind, node.step) for node in way_to(nodes, 2)] == [(C, 0), (C, 1), (V, 1), (C, 2), (V, 2)]


def test_red_output_counts_as_seen_from_the_step_on_that_broke_the_test() -> None:
    nodes = nodes_of(edit("t1"), run("pytest", seen=RED), edit("t2"), run("pytest", seen=RED), READ)
    assert red_before_end(nodes, 2, ["test_adds"]) is nodes[4]
    assert red_before_end(nodes, 1, ["test_adds"]) is nodes[2]
    assert red_before_end(nodes, 3, ["test_adds"]) is None
    assert red_before_end(nodes, 1, ["test_subtracts", ""]) is None
