"""A subscription's login in place of a key, with the real programs: it is renewed, used, and nowhere to be found.

Fake: the models and the server that exchanges tokens. The login is made up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from agent_fox.session.agents.registry import command_line
from tests.agents.programs import program
from tests.agents.story_world import AGENT, GOOD, RIGHT, TESTS, WRONG, Cli, Stage, settings, staged, step, write
from tests.session.agents.model_upstream import Answering, upstream
from tests.session.agents.test_clouds import GOOGLES, giving, service_account
from tests.session.agents.test_logins import NEW, OLD, RENEWER, file_of, jwt

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(not (program("claude") and program("codex")), reason="needs claude and codex"),
]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    yield from staged(tmp_path)


def test_a_cloud_is_opened_by_the_runner_and_the_program_sees_nothing_of_its_chain(stage: Stage) -> None:
    """Fake: Google's token server, and Vertex AI, which hands what it is asked on to the scripted model."""
    scene = stage.scene(settings(AGENT["claude"]), step(write(WRONG), TESTS, attempt=1), step(*GOOD, attempt=2))

    def as_vertex(handler: Answering) -> None:
        model = handler.path.partition("/models/")[2].partition(":")[0]
        body = json.dumps({**json.loads(handler.body), "model": model})
        asked = requests.post(f"{scene.server.url}/v1/messages", body, headers={"x-api-key": "any"}, timeout=60)
        handler.send_response(asked.status_code)
        handler.send_header("Content-Type", asked.headers["Content-Type"])
        handler.send_header("Content-Length", str(len(asked.content)))
        handler.end_headers()
        handler.wfile.write(asked.content)

    with upstream(giving(200, {"access_token": GOOGLES, "expires_in": 3600})) as google, upstream(as_vertex) as vertex:
        account = service_account(scene.base, google.url)
        scene.variables |= {
            "ANTHROPIC_API_KEY": "", "CLAUDE_CODE_USE_VERTEX": "1", "CLOUD_ML_REGION": "us-east5",
            "ANTHROPIC_VERTEX_PROJECT_ID": "proj", "ANTHROPIC_VERTEX_BASE_URL": vertex.url,
            "GOOGLE_APPLICATION_CREDENTIALS": str(account),
        }  # fmt: skip
        scene.run(ends=0)
    assert scene.landed("cart.py") == RIGHT
    assert {asked.headers["authorization"] for asked in vertex.asked} == {f"Bearer {GOOGLES}"}
    assert scene.document("status")["cost"]["known_usd"] > 0
    logs = [path for path in scene.base.rglob("*") if path.is_file() and GOOGLES.encode() in path.read_bytes()]
    assert logs == []


@pytest.mark.landing
@pytest.mark.parametrize("cli", ["claude", "codex"])
def test_a_login_that_has_ended_is_renewed_and_its_tokens_stay_with_us(stage: Stage, cli: Cli) -> None:
    kind = command_line(cli).facts.login
    assert kind is not None
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
