"""A full transcript is kept where a person asks for it, and an export has it; else nothing of it is kept.

The agent's program is a script that speaks as Claude Code does; our runner, its sandbox and the export are real.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nat.atif import Trajectory  # type: ignore[import-untyped]

from agent_fox.testing.worlds import rows
from tests.evidence.waiver_world import person
from tests.stories.scene import NOT_PROVEN, run
from tests.stories.test_onset import KEY, world

ONCE = "[retry]\nattempts = 1\nonset = false\n"


def transcripts(root: Path) -> list[Path]:
    return sorted((root / ".agent-fox" / "logs").glob("*.transcript.jsonl"))


def recorded(root: Path) -> list[object]:
    sql = "SELECT json_extract(agents, '$[0].transcript') FROM sessions ORDER BY archetype"
    return [digest for (digest,) in rows(root, sql)]


def test_by_default_no_transcript_is_kept(tmp_path: Path) -> None:
    root = world(tmp_path / "repo", ONCE)
    run(root, ends=NOT_PROVEN, **KEY)
    assert (transcripts(root), recorded(root)) == ([], [None, None])


@pytest.mark.parametrize("is_changed", [False, True], ids=["as recorded", "changed"])
def test_where_it_is_kept_a_trajectory_has_what_was_said_called_and_shown(tmp_path: Path, is_changed: bool) -> None:
    root = world(tmp_path / "repo", f'[training]\nkeep = "full"\n{ONCE}')
    run(root, ends=NOT_PROVEN, **KEY)
    (kept,) = transcripts(root)
    assert [bool(digest) for digest in recorded(root)] == [True, False]
    if is_changed:
        kept.write_text(kept.read_text().replace("1 failed", "1 passed"))
    alice = person(tmp_path / "people")
    words = ("--reason", "our own work", "--purpose", "tuning")
    assert alice.cli(root, "training", "allow", "all", "--expires", "30d", *words, *alice.signing).returncode == 0
    done = alice.cli(root, "export", "trajectories", str(tmp_path / "out"), "--purpose", "tuning", "--json")
    (name,) = json.loads(done.stdout)["files"]
    text = (tmp_path / "out" / name).read_text()
    read = Trajectory.model_validate_json(text)
    calls = [call for step in read.steps for call in step.tool_calls or ()]
    assert any("content" in call.arguments for call in calls) == (not is_changed)
    shown = [str(result.content) for step in read.steps if step.observation for result in step.observation.results]
    assert all(text.startswith("sha256:") for text in shown) == is_changed
    assert "1 passed" not in text
    left_out = json.loads(done.stdout)["left_out"]
    assert [why for _, why in left_out] == (["it is gone, or not the one that was recorded"] if is_changed else [])
