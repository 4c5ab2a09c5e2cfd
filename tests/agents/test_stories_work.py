"""Stories of work with real agents: sent back with a brief, held by the stop hook, a mixed crew, judges that disagree.

Fake: the models. What each story looks at is what a person can: exit codes, `status`, `explain`, logs, the branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.programs import program
from tests.agents.story_world import (
    AGENT,
    CHEAP,
    CODER,
    DONE,
    GOOD,
    MODEL,
    OTHER,
    RIGHT,
    TESTS,
    VERIFIER,
    WRONG,
    Cli,
    Stage,
    settings,
    shell,
    staged,
    step,
    text_of,
    write,
)

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(not (program("claude") and program("codex")), reason="needs claude and codex"),
]
CLIS = ["claude", "codex"]
DOLLARS = {MODEL: (3.0, 15.0), OTHER: (4.0, 20.0)}
"""For a million tokens, in and out: what the table of prices says of these models."""

FIRST_TRY = (write(WRONG), shell("echo seen > notes.txt"), TESTS, DONE)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    yield from staged(tmp_path)


@pytest.mark.landing
@pytest.mark.parametrize("cli", CLIS)
def test_a_fail_sends_the_coder_back_with_a_brief_and_a_pass_ends_it(stage: Stage, cli: Cli) -> None:
    """The judges are the tests and a model that always says PASS: where the tests fail, that is what counts."""
    judge = f'backend = ["checks", "{cli}"]\nmodel = "{MODEL if cli == "claude" else OTHER}"\n'
    scene = stage.scene(
        settings(AGENT[cli], judge),
        step(*FIRST_TRY, attempt=1),
        step(*GOOD, attempt=2),
        step(TESTS, {"verdicts": "PASS", "evidence": "read it"}, node=VERIFIER),
    )
    scene.run(ends=0)
    assert scene.decisions(CODER) == ["Land", "Land"]
    assert scene.decisions(VERIFIER) == ["Recode", "Accept"]
    assert (scene.landed("cart.py"), scene.landed("notes.txt")) == (RIGHT, "seen\n")

    retry = text_of(scene.asked(attempt=2)[:1])
    assert all(words in retry for words in ("01-REQ-1.1", "assert 7 == 3", "-m pytest", "tests/test_cart.py"))
    assert "assert 7 == 3" not in text_of(scene.asked(attempt=1)[:1])

    status = scene.document("status")
    price, priced = DOLLARS[MODEL if cli == "claude" else OTHER]
    spent = sum(one.input_tokens * price + one.output_tokens * priced for one in scene.server.requests) / 1e6
    assert status["cost"]["known_usd"] == pytest.approx(spent, abs=2e-6)
    assert status["cost"]["assumed_usd"] == 0
    first, second = scene.sessions(VERIFIER)
    assert {row["word"] for row in first["verdicts"]} == {"FAIL"}
    assert {row["word"] for row in second["verdicts"]} == {"PASS"}
    assert [one["backend"] for one in first["agents"]] == ["checks", cli]


@pytest.mark.landing
@pytest.mark.parametrize("cli", CLIS)
def test_a_coder_that_has_not_run_the_tests_is_held_back_and_let_go_in_the_end(stage: Stage, cli: Cli) -> None:
    """Attempt 1 never runs them, and is wrong; attempt 2 runs them when it is told to."""
    scene = stage.scene(
        settings(AGENT[cli]),
        step(write(WRONG), *[{"say": f"Done, I say for the {n}. time."} for n in range(9)], attempt=1),
        step(write(RIGHT), {"say": "Done already."}, TESTS, DONE, attempt=2),
    )
    scene.run(ends=0)
    assert scene.decisions(CODER) == ["Land", "Land"]
    assert "run_unit_tests" in text_of(scene.asked(attempt=1)[-1:])
    told = scene.told()
    assert "held back 3 times by the stop hook" in told
    assert "held back once by the stop hook" in told


@pytest.mark.landing
def test_a_stronger_agent_of_another_vendor_is_called_only_when_there_is_no_progress(stage: Stage) -> None:
    cheap = f'backend = "claude"\nmodel = "{CHEAP}"\n'
    judge = f'backend = ["checks", "codex"]\nmodel = "{OTHER}"\n'
    rung = f'[[agents.coder.rungs]]\nbackend = "codex"\nmodel = "{OTHER}"\nlabel = "the strong one"\n'
    scene = stage.scene(
        settings(cheap, judge + rung, '[retry]\nattempts = 4\nswitch = "repeat"\n'),
        step(*FIRST_TRY, attempt=1),
        step(write(WRONG + "# again\n"), TESTS, DONE, attempt=2),
        step(*GOOD, attempt=3),
        step({"verdicts": "PASS", "evidence": "read it"}, node=VERIFIER),
    )
    scene.run(ends=0)
    coders = scene.sessions()
    assert [(one["rung"], one["agents"][0]["backend"], one["agents"][0]["model"]) for one in coders] == [
        (0, "claude", CHEAP), (0, "claude", CHEAP), (1, "codex", OTHER),
    ]  # fmt: skip
    judged = scene.explain(VERIFIER)
    assert [(one["kind"], one["progress"]) for one in judged["rulings"]][1] == ("Recode", "repeat")
    assert judged["sessions"][0]["agents"][1]["model"] == OTHER
    assert "rung" in scene.told(VERIFIER) + scene.told()
    assert "the strong one" in scene.told(VERIFIER) + scene.told() or "codex" in scene.told()


@pytest.mark.landing
def test_a_judge_that_crashes_before_it_asks_its_model_pauses_the_run_and_proves_nothing(stage: Stage) -> None:
    """The program of the second judge is a script that kills itself."""
    scene = stage.scene(settings(AGENT["claude"]), step(*GOOD))
    judge = scene.base / "claude"
    judge.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "2.1.330 (Claude Code)" && exit 0\nkill -9 $$\n')
    judge.chmod(0o755)
    scene.configure(settings(AGENT["claude"], f'backend = ["checks", "claude"]\nprogram = "{judge}"\n'))
    said = scene.run(ends=4)
    assert scene.decisions(VERIFIER) == []
    assert scene.document("status")["requirements"]["proven"] == 0
    assert "before its first request to the model" in str(said)
