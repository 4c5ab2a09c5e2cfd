"""A subscription's login in place of a key, with the real programs: it is renewed, used, and nowhere to be found.

Fake: the models and the server that exchanges tokens. The login is made up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_fox.session.agents.logins import CHATGPT_LOGIN, CLAUDE_LOGIN
from tests.agents.programs import program
from tests.agents.story_world import AGENT, GOOD, RIGHT, TESTS, WRONG, Cli, Stage, settings, staged, step, write
from tests.session.agents.model_upstream import upstream
from tests.session.agents.test_logins import NEW, OLD, RENEWER, file_of, jwt

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(not (program("claude") and program("codex")), reason="needs claude and codex"),
]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    yield from staged(tmp_path)


@pytest.mark.landing
@pytest.mark.parametrize("cli", ["claude", "codex"])
def test_a_login_that_has_ended_is_renewed_and_its_tokens_stay_with_us(stage: Stage, cli: Cli) -> None:
    kind = {"claude": CLAUDE_LOGIN, "codex": CHATGPT_LOGIN}[cli]
    scene = stage.scene(settings(AGENT[cli]), step(write(WRONG), TESTS, attempt=1), step(*GOOD, attempt=2))
    folder = scene.base / "home" / kind.folder
    folder.mkdir()
    file = file_of(folder, kind, -60)
    given = {**NEW, "access_token": jwt(2e9)} if cli == "codex" else NEW
    with upstream(lambda handler: handler.plain(200, json.dumps(given).encode())) as renewing:
        scene.variables |= {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", "AGENT_FOX_TOKEN_URL": renewing.url}
        scene.run(ends=0)
        assert len(renewing.asked) == 1
    assert scene.landed("cart.py") == RIGHT
    assert str(given["access_token"]) in file.read_text()
    tokens = [token.encode() for token in (OLD, RENEWER, str(given["access_token"]), str(given["refresh_token"]))]
    found = [
        path
        for path in scene.base.rglob("*")
        if path != file and path.is_file() and any(token in path.read_bytes() for token in tokens)
    ]
    assert found == []
