"""The next attempt by its worth: a project's own costs and attempts choose otherwise than the ladder, and say so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, agent_table, rows, run_cli
from tests.stories.scene import CEILING, PROVEN, configure, decisions, run

SECOND = "02_calc:1"
USED = "SELECT attempt, rung FROM sessions WHERE archetype = 'coder' AND node_id = '{}' ORDER BY id"
WORLD = World(
    {"01_calc": [Req("01-REQ-1.1", right_at=2)], "02_calc": [Req("02-REQ-1.1", right_at=2)]},
    depends={"02_calc": "01_calc"},
)


def two_agents(folder: Path, policy: str) -> Path:
    """A cheap agent, and above it one whose sessions cost $30; both get it right at the second attempt."""
    story, dear = (json.dumps(str(folder / "tools" / name)) for name in ("story.json", "dear.json"))
    rung = f'[[agents.coder.rungs]]\nmodel = "large"\nenvironment = {{ STORY = {dear} }}\n'
    world = replace(WORLD, settings=f'[retry]\npolicy = "{policy}"\n{agent_table("coder", story)}{rung}')
    root = world.build(folder)
    told = json.loads((folder / "tools" / "story.json").read_text())
    (folder / "tools" / "dear.json").write_text(json.dumps({**told, "cost": 30.0}))
    return root


@pytest.fixture(scope="module")
def by_worth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = two_agents(tmp_path_factory.mktemp("arms"), "arms")
    run(root, ends=PROVEN)
    return root


def rulings(root: Path, node: str) -> list[dict[str, object]]:
    story = json.loads(run_cli(root, "explain", node, "--json").stdout)
    return [ruling for ruling in story["rulings"] if ruling["kind"] == "Recode"]


def test_without_figures_of_its_own_a_project_does_as_the_ladder(by_worth: Path) -> None:
    assert rows(by_worth, USED.format("01_calc:1")) == [(1, 0), (2, 1)]
    assert (
        "chosen by worth: rung 1 from the tip, chance 0.25 (n = 0)" in run_cli(by_worth, "explain", "01_calc:2").stdout
    )


def test_what_the_dear_agent_cost_leaves_the_next_spec_to_the_cheap_one(by_worth: Path) -> None:
    assert rows(by_worth, USED.format(SECOND)) == [(1, 0), (2, 0)]
    assert decisions(by_worth, "02_calc:2") == ["Recode", "Accept"]


def test_the_ladder_alone_climbs_both_times(tmp_path: Path) -> None:
    root = two_agents(tmp_path, "ladder")
    run(root, ends=PROVEN)
    assert rows(root, USED.format("01_calc:1")) == rows(root, USED.format(SECOND)) == [(1, 0), (2, 1)]
    assert rulings(root, "02_calc:2")[0]["arms"] == {}


def test_explain_says_which_and_why_with_n(by_worth: Path) -> None:
    told = " ".join(run_cli(by_worth, "explain", "02_calc:2").stdout.split())
    assert "chosen by worth: rung 0 from the tip, chance 0.10 (n = 0), cost $0.50 by 2 sessions" in told
    assert "(the ladder: rung 1 from the tip)" in told
    whole = " ".join(run_cli(by_worth, "explain", "02_calc:2", "--all").stdout.split())
    assert "weighed for 02_calc:1, with $20.00 at stake:" in whole
    assert "rung 1 from the tip, chance 0.40 (1 of n = 1 like it passed), cost $30.00 by 1 session" in whole


def test_a_choice_holds_whatever_is_set_or_learned_before_its_launch(tmp_path: Path) -> None:
    """The run stops between the decision and the launch, and goes on under the ladder."""
    root = two_agents(tmp_path, "arms")
    configure(root, "[retry]", "[limits]\nsessions = 6\n[retry]")
    run(root, ends=CEILING)
    assert decisions(root, "02_calc:2") == ["Recode"]
    assert rows(root, USED.format(SECOND)) == [(1, 0)]
    configure(root, "sessions = 6", "sessions = 60")
    configure(root, 'policy = "arms"', 'policy = "ladder"')
    run(root, ends=PROVEN)
    assert rows(root, USED.format(SECOND)) == [(1, 0), (2, 0)]


def test_the_run_and_the_page_say_so_too(by_worth: Path) -> None:
    shown = json.loads(run_cli(by_worth, "report", "--json").stdout)
    words = [decision["words"] for decision in shown["decisions"] if decision["kind"] == "Recode"]
    assert ["; chosen by worth: rung 0 from the tip" in each for each in words] == [False, True]


def test_the_document_has_all_that_was_weighed(by_worth: Path) -> None:
    (ruling,) = rulings(by_worth, "02_calc:2")
    choice = ruling["arms"][SECOND]  # type: ignore[index]
    assert (choice["arm"]["rung"], choice["ladder_rung"], choice["stake_usd"]) == (0, 1, 20.0)
    assert [(arm["rung"], arm["passed"], arm["tried"], arm["cost_usd"]) for arm in choice["arms"]] == [
        (0, 0, 0, 0.5),
        (1, 1, 1, 30.0),
    ]
