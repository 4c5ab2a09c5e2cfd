"""Real agents by the Agent Client Protocol, through whole runs: a FAIL goes back, is repaired, and a PASS ends it.

Fake: the models. Real: the agents' programs, the protocol, the proxy, the sandbox, the verifier's tools, git.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_fox.system.sandbox.bubblewrap import why_missing
from tests.agents.programs import program
from tests.agents.story_world import (
    CODER,
    KEY,
    OTHER_KEY,
    RIGHT,
    VERIFIER,
    WRONG,
    Stage,
    settings,
    staged,
    step,
    text_of,
    write,
)

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(bool(why_missing()), reason="no role of a judge without a sandbox"),
]


@dataclass(frozen=True)
class Spoken:
    """An agent: its program, whose models it asks, and what its words need beside that."""

    program: str
    provider: str
    arguments: tuple[str, ...] = ()
    environment: str = ""


OPENCODE = {"provider": {"anthropic": {"options": {"baseURL": "{model_url}/v1", "apiKey": "{model_key}"}}}}
CODEX = 'model_providers.ours={name="ours", base_url="{model_url}", env_key="OPENAI_API_KEY", wire_api="responses"}'
AGENTS = {
    "claude-agent-acp": Spoken("claude-agent-acp", "anthropic"),
    "gemini": Spoken("gemini", "gemini", ("--acp", "--skip-trust")),
    "opencode": Spoken("opencode", "anthropic", ("acp",), f"OPENCODE_CONFIG_CONTENT = '{json.dumps(OPENCODE)}'"),
    "codex-acp": Spoken("codex-acp", "openai", ("-c", 'model_provider="ours"', "-c", CODEX)),
    "qwen": Spoken("qwen", "openai", ("--acp",)),
}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    yield from staged(tmp_path)


def table(spoken: Spoken, backend: str, more: str = "") -> str:
    path = program(spoken.program)
    command = json.dumps([str(path), *spoken.arguments])
    return (
        f'backend = {backend}\ncommand = {command}\nprovider = "{spoken.provider}"\nsandbox = "require"\n'
        f"environment = {{ {spoken.environment} }}\n{more}"
    )


@pytest.mark.parametrize("name", AGENTS)
def test_a_fail_sends_it_back_and_a_pass_ends_it(stage: Stage, name: str) -> None:
    """The judges are the tests and the same agent, whose model always says PASS."""
    spoken = AGENTS[name]
    if program(spoken.program) is None or shutil.which("node") is None:
        pytest.skip(f"{spoken.program} is not there; see `make test-agents`")
    scene = stage.scene(
        settings(table(spoken, '"acp"'), table(spoken, '["checks", "acp"]')),
        step(write(WRONG), {"say": "Done."}, attempt=1),
        step(write(RIGHT), {"say": "Done."}, attempt=2),
        step({"verdicts": "PASS", "evidence": "read it"}, node=VERIFIER),
    )
    scene.variables |= {"GOOGLE_GEMINI_BASE_URL": scene.server.url, "GEMINI_API_KEY": OTHER_KEY}
    scene.run(ends=0)
    assert scene.decisions(CODER) == ["Land", "Land"]
    assert scene.decisions(VERIFIER) == ["Recode", "Accept"]
    assert scene.landed("cart.py") == RIGHT
    assert "assert 7 == 3" in text_of(scene.asked(attempt=2)[:1])
    first = scene.sessions()[0]["agents"][0]
    assert (first["backend"], first["cost_source"]) == ("acp", "metered") or first["cost_source"] == "reported"
    assert KEY not in scene.logs()
