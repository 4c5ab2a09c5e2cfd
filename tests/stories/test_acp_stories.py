"""Twenty runs with scripted agents, each had twice: with the backend `scripted`, and over the Agent Client Protocol in
the sandbox. Both come to the same exit code, decisions, verdicts, causes, costs and files.

Fake: the agents' minds. Real: their processes, the protocol, the sandbox, the engine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_fox.system.sandbox.bubblewrap import why_missing
from agent_fox.testing.scripted import acp_agent, agent
from agent_fox.testing.worlds import Req, World, git, rows
from tests.stories.scene import (
    CANNOT_GO_ON,
    CEILING,
    NOT_PROVEN,
    PROVEN,
    causes,
    decisions,
    outcomes,
    report,
    run,
    verdicts,
)

pytestmark = pytest.mark.skipif(bool(why_missing()), reason="no sandbox here, and no role of a judge without one")

REQS = [Req("01-REQ-1.1", 1), Req("01-REQ-1.2", 1)]
CODER, VERIFIER, REVIEWER = "01_calc:1", "01_calc:2", "*reviewer*"
Step = dict[str, Any]


def step(node: str, *actions: object, **more: object) -> Step:
    return {"node": node, "actions": list(actions), **more}


def code(text: str = "right", **more: object) -> Step:
    return step(CODER, {"write": "a.txt", "text": text}, {"print": "Done."}, **more)


def judge(word: str | dict[str, str], **more: object) -> Step:
    return step(VERIFIER, {"verdicts": word, "evidence": "read a.txt"}, **more)


def said(text: str, **more: object) -> Step:
    return step(VERIFIER, {"print": text}, **more)


ONE_FAILS = {"01-REQ-1.2": "FAIL", "*": "PASS"}
FAST = "[infrastructure]\nfirst_wait = 0.1\nlongest_wait = 0.1\npatience = 0.5\n"
STORIES: dict[str, tuple[int, str, Sequence[Step]]] = {
    "proven at once": (PROVEN, "", [code(), judge("PASS")]),
    "a FAIL goes back and is repaired": (
        PROVEN, "", [code("wrong", attempt=1), code(attempt=2), judge("FAIL", attempt=1), judge("PASS")]
    ),
    "one of two fails": (PROVEN, "", [code("wrong", attempt=1), code(), judge(ONE_FAILS, attempt=1), judge("PASS")]),
    "never repaired": (NOT_PROVEN, "", [step(CODER, {"append": "a.txt", "text": "wrong {attempt}"}), judge("FAIL")]),
    "the same failure twice": (NOT_PROVEN, "[retry]\nattempts = 5\n", [code("wrong"), judge("FAIL")]),
    "prose, then a verdict": (PROVEN, "", [code(), said("All good: PASS.", reading=1), judge("PASS")]),
    "prose for ever": (NOT_PROVEN, "", [code(), said("All good, trust me.")]),
    "silence, then a verdict": (PROVEN, "", [code(), step(VERIFIER, reading=1), judge("PASS")]),
    "half a report": (PROVEN, "", [code(), said(report({"01-REQ-1.1": "PASS"}), reading=1), judge("PASS")]),
    "an unknown word": (
        PROVEN, "", [code(), said(report({"01-REQ-1.1": "PASS", "01-REQ-1.2": "SURE"}), reading=1), judge("PASS")]
    ),
    "foreign ids": (PROVEN, "", [code(), said(report({"07-REQ-1.1": "PASS"}), reading=1), judge("PASS")]),
    "a cut report": (
        PROVEN, "", [code(), said(report({"01-REQ-1.1": "PASS", "01-REQ-1.2": "PASS"})[:-9], reading=1), judge("PASS")]
    ),
    "a coder that crashes once": (PROVEN, "", [code("half", attempt=1, exit=7), code(), judge("PASS")]),
    "a coder that always crashes": (NOT_PROVEN, "", [code("half", exit=7)]),
    "a coder that does nothing": (NOT_PROVEN, "", [step(CODER, {"print": "Nothing to do."}), judge("FAIL")]),
    "a judge that crashes once": (PROVEN, "", [code(), judge("PASS", reading=1, exit=3), judge("PASS")]),
    "overload that stays": (CANNOT_GO_ON, FAST, [step(CODER, {"print": "I begin."}, {"fail": "overload"})]),
    "a key that is refused": (CANNOT_GO_ON, FAST, [step(CODER, {"print": "I begin."}, {"fail": "authentication"})]),
    "money that is spent": (
        CEILING, "[limits]\ncost_usd = 1.0\n",
        [code("wrong", cost_usd=0.9), judge("FAIL", cost_usd=0.2)],
    ),
    "a review with a finding": (
        PROVEN, "[plan]\npre_review = true\naudit_review = false\n",
        [
            step(REVIEWER, {"print": json.dumps({"findings": [{"severity": "minor", "description": "a word"}]})}),
            code(), judge("PASS"),
        ],
    ),
}  # fmt: skip
SCRIPTED = 'backend = "scripted"\nscript = {script}\n'
OVER_ACP = 'backend = "acp"\ncommand = {command}\ntools = false\nsandbox = "require"\n'


def world(folder: Path, agent_lines: str, steps: Sequence[Step], more: str) -> Path:
    """A repository whose three agents are these lines, with the script beside it."""
    script = folder / "script.json"
    folder.mkdir()
    script.write_text(json.dumps({"step": steps}))
    command = [sys.executable, "-I", "-S", "-B", acp_agent.__file__, agent.__file__, str(script)]
    lines = agent_lines.replace("{script}", json.dumps(str(script))).replace("{command}", json.dumps(command))
    agents = "".join(f"[agents.{role}]\n{lines}" for role in ("coder", "reviewer", "verifier"))
    return World({"01_calc": REQS}, settings=agents + more).build(folder)


def came_to(root: Path, ends: int) -> dict[str, object]:
    """What a run has come to, as far as it does not depend on times and ids."""
    run(root, ends=ends)
    known = rows(root, "SELECT node_id, attempt, reading, end_kind, cost_usd FROM sessions ORDER BY id")
    files = git(root, "ls-tree", "-r", "agent-fox/integration").splitlines()
    return {
        "decisions": {node: decisions(root, node) for node in (CODER, VERIFIER)}, "verdicts": verdicts(root),
        "outcomes": outcomes(root), "causes": causes(root), "sessions": known,
        "files": [line for line in files if not line.endswith(".agent-fox/config.toml")],
    }  # fmt: skip


@pytest.mark.parametrize("story", STORIES)
def test_a_run_comes_to_the_same_over_the_protocol(tmp_path: Path, story: str) -> None:
    ends, more, steps = STORIES[story]
    native = came_to(world(tmp_path / "native", SCRIPTED, steps, more), ends)
    assert came_to(world(tmp_path / "acp", OVER_ACP, steps, more), ends) == native
    assert native["sessions"]
