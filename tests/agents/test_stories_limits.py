"""Stories of ceilings of a session and of a run, and of a machine without a sandbox.

Fake: the models; and for the machine without bubblewrap, a PATH that leaves it out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.programs import program
from tests.agents.story_world import (
    AGENT,
    CLAUDE,
    CODER,
    DONE,
    GOOD,
    RIGHT,
    TESTS,
    WRONG,
    Action,
    Cli,
    Scene,
    Stage,
    settings,
    shell,
    staged,
    step,
    write,
)

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(not (program("claude") and program("codex")), reason="needs claude and codex"),
]
CLIS = ["claude", "codex"]
LONG: tuple[Action, ...] = (write(WRONG), *[shell(f"echo {number}") for number in range(9)], TESTS, DONE)
SLOW: tuple[Action, ...] = (write(WRONG), {"hang": 600}, TESTS, DONE)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    yield from staged(tmp_path)


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize(
    ("limit", "actions", "end", "words"),
    [
        ("max_turns = 3\n", LONG, "failed", "turns"),
        ("max_cost_usd = 0.05\n", LONG, "failed", "its ceiling is $0.05"),
        ("timeout = 15.0\n", SLOW, "timed out", "did not end within"),
    ],
    ids=["turns", "dollars", "seconds"],
)
def test_a_session_that_goes_over_a_limit_is_ended_and_charged(
    stage: Stage, cli: Cli, limit: str, actions: tuple[Action, ...], end: str, words: str
) -> None:
    scene = stage.scene(settings(AGENT[cli] + limit, more="[retry]\nattempts = 1\n"), step(*actions))
    scene.run(ends=2)
    (session,) = scene.sessions()
    assert (session["end"], words in session["reason"]) == (end, True), session
    assert words in scene.told()
    assert scene.decisions(CODER) == ["Block"]
    budget = scene.explain()["budgets"][0]
    assert (budget["spent"], budget["total"]) == (1, 1)
    assert scene.landed("cart.py") is None
    assert session["cost_usd"] > 0
    assert scene.document("status")["cost"]["known_usd"] == pytest.approx(session["cost_usd"])


def test_a_small_ceiling_of_the_run_pauses_it_and_a_larger_one_goes_on(stage: Stage) -> None:
    scene = stage.scene(settings(CLAUDE), step(*GOOD[:2], DONE))
    said = scene.run("--max-cost", "0.01", ends=3)
    assert "0.01" in said
    assert scene.document("status")["status"] == "paused"
    scene.run("--max-cost", "5", ends=0)
    assert scene.landed("cart.py") == RIGHT


def without_bubblewrap(scene: Scene) -> str:
    """A PATH with everything of this machine's but bubblewrap."""
    folder = scene.base / "bin"
    folder.mkdir()
    for found in (path for place in ("/bin", "/usr/bin", "/usr/local/bin") for path in Path(place).iterdir()):
        if found.name != "bwrap" and not (folder / found.name).is_symlink():
            (folder / found.name).symlink_to(found)
    agents = [str(path.parent) for name in CLIS if (path := program(name))]
    return os.pathsep.join([*agents, str(Path(sys.executable).parent), str(folder)])


def test_without_bubblewrap_it_works_and_says_so_in_doctor_and_log(stage: Stage) -> None:
    scene = stage.scene(settings(CLAUDE), step(*GOOD))
    scene.variables["PATH"] = without_bubblewrap(scene)
    doctor = scene.fox("doctor")
    assert "bubblewrap" in doctor.stdout
    assert "warning: bubblewrap is not installed" in scene.run(ends=0)
    assert "sandbox: none: bubblewrap is not installed" in scene.logs()


def test_a_required_sandbox_that_is_not_there_is_refused_before_anything_starts(stage: Stage) -> None:
    scene = stage.scene(settings(CLAUDE + 'sandbox = "require"\n'), step(*GOOD))
    scene.variables["PATH"] = without_bubblewrap(scene)
    refused = scene.run(ends=1)
    assert "bubblewrap" in refused
    assert scene.server.requests == ()
    assert "bubblewrap" in scene.fox("doctor").stdout
