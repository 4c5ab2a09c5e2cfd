"""Orders and ends as JSON: what comes out is what went in, and what is none is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.ledger.close_out import CloseOut, Contract, FindingWaiver, judge
from agent_fox.core.ledger.close_out_scope import Boundary
from agent_fox.core.trace import Node, NodeKind, Observation, Trace
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.order import (
    Agent,
    ClosedOut,
    Closing,
    EndKind,
    Kept,
    LaunchOrder,
    Provisions,
    SessionEnd,
    Sizes,
    Unmerged,
    Work,
)
from agent_fox.session.order_document import UnreadableDocument, end_document, order_document, read_end, read_order

WAIVER = FindingWaiver("nonzero_exit", "ab" * 8, "W-1", "ada", "known")
CONTRACT = Contract(expected=("make test",), boundary=Boundary(("src/*",), ("src/a.py",), (".git/*",), True))
ORDER = LaunchOrder(
    launch="l1", node_id="01_a:1", node_uid="01_a:coder:1", spec_name="01_a", archetype=Archetype.REVIEWER,
    mode=Mode.PRE_REVIEW, group=1, run="7", attempt=2, reading=3, pinned="a" * 40, repo=Path("/repo"),
    state=Path("/state/l1"), log=Path("/logs/1.log"),
    agent=Agent("claude", ("x",), environment={"A": "b"}, inherit=("C",), models={"": "m"}, max_turns=3),
    workspace=Provisions(("make", ("cc", "-o")), ("a",), ("b",)), brief_markdown="# Ü\n",
    brief_json={"a": [1, None, {"b": 2.5}]}, keeps_brief=True, spec_places=("specs",), message="m",
    document={"expected": {"R-1": "x"}, "agreed": [["R-1", 3]]}, changes="note", format_apply=True, artifacts="/art",
    unmerged=Unmerged("b" * 40, ("x.py",)), sizes=Sizes(1, 2), left_usd=3.5, assumed_usd=0.5, other_specs="refuse",
    landed_text="note", closing=Closing(CONTRACT, (WAIVER,), 5.0, True, 9, 8), resume="c" * 40, handoff="so far",
)  # fmt: skip
GIVEN = CloseOut("01_a:1@2", contract=CONTRACT)
NODE = Node(1, NodeKind.EXPLORATION, 1, tools={"Bash": 2}, observation=Observation("d", 5, ("E",)), files=("x",))
TRACE = Trace((NODE,), "d" * 40, {"cut": 2})
END = SessionEnd(
    EndKind.REFUSED, "no", Path("/logs/1.log"), 3, "out", 0.25, 10, 5, "did it",
    Work("e" * 40, "f" * 40, False, ("n",)), 1.5, Infrastructure.LOST, ("odd",),
    ({"cli": "claude", "turns": 3, "tools": {"Bash": 2}},), 30.0,
    ClosedOut(GIVEN, judge(GIVEN, (WAIVER,)), "f" * 40, "e" * 40), Kept("1" * 40, ("big.bin",)), TRACE,
)  # fmt: skip


def sent(document: object) -> object:
    return json.loads(json.dumps(document))


def test_an_order_comes_out_as_it_went_in() -> None:
    assert read_order(sent(order_document(ORDER))) == ORDER  # type: ignore[arg-type]


def test_an_end_comes_out_as_it_went_in() -> None:
    assert read_end(sent(end_document(END))) == END  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "named"),
    [({"kind": "proven"}, "kind"), ({"work": {"commit": 1}}, "work"), ({"seconds": "soon"}, "seconds")],
)
def test_a_document_that_is_no_end_is_named(change: dict[str, object], named: str) -> None:
    with pytest.raises(UnreadableDocument, match=named):
        read_end(sent(end_document(END) | change))  # type: ignore[arg-type]
