"""What waits for a spec: it starts when that is verified, is blocked or goes on when it is not, by policy."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.worlds import NEVER, Req, World
from tests.stories.scene import NOT_PROVEN, PROVEN, causes, coders, order, outcomes, run


def world(right_at: int, settings: str) -> World:
    """02_top waits for 01_base, 03_side for nobody."""
    specs = {
        "01_base": [Req("01-REQ-1.1", 1, right_at), Req("01-REQ-2.1", 2)],
        "02_top": [Req("02-REQ-1.1", 1)],
        "03_side": [Req("03-REQ-1.1", 1)],
    }
    return World(specs, depends={"02_top": "01_base"}, settings="[retry]\nattempts = 1\n" + settings)


def test_a_dependent_spec_starts_when_the_other_is_verified(tmp_path: Path) -> None:
    root = world(1, "").build(tmp_path)
    run(root, "--parallel", "2", ends=PROVEN)
    assert order(root).index("01_base:3") < order(root).index("02_top:1")


def test_by_default_what_has_not_started_is_blocked_and_names_its_root(tmp_path: Path) -> None:
    root = world(NEVER, "").build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert "02_top:1" not in coders(root)
    assert causes(root) == [
        ("01_base:3", "attempts spent"),
        ("02_top:1", "depends on a blocked node"),
        ("02_top:2", "depends on a blocked node"),
    ]
    assert outcomes(root) == {"01_base:3": "escalated", "02_top:2": "blocked", "03_side:2": "verified"}


def test_with_continue_it_goes_on_and_the_run_is_still_not_proven(tmp_path: Path) -> None:
    root = world(NEVER, '[policy]\non_escalation = "continue"\n').build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root)["02_top:1"] == 1
    assert outcomes(root) == {"01_base:3": "escalated", "02_top:2": "verified", "03_side:2": "verified"}


def test_with_a_group_gate_the_coder_starts_early_and_its_verifier_waits(tmp_path: Path) -> None:
    root = world(1, '[policy]\ngate = "group"\n').build(tmp_path)
    run(root, "--parallel", "1", ends=PROVEN)
    launched = order(root)
    assert launched.index("01_base:1") < launched.index("02_top:1") < launched.index("01_base:3")
    assert launched.index("01_base:3") < launched.index("02_top:2")


def test_with_a_group_gate_what_has_started_ends_but_is_not_verified_on_an_unproven_base(tmp_path: Path) -> None:
    root = world(NEVER, '[policy]\ngate = "group"\n').build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root)["02_top:1"] == 1
    assert outcomes(root)["02_top:2"] == "blocked"
