"""Real programs behind the metering proxy. Faked: the model, by the scripted model server."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_fox.session.agents.events import Event, Tokens, Trouble, Used
from agent_fox.session.agents.prices import price, read_prices
from agent_fox.session.agents.proxy.server import ModelProxy, fresh_word
from agent_fox.session.agents.task import Provider
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.model_server import ModelServer
from tests.agents.programs import VARIABLE, program

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(
        not (program("claude") and program("codex")), reason=f"no claude and codex below the folder of {VARIABLE}"
    ),
]

KEY = "sk-real-0123456789"
PROMPT = "agent-fox session: n attempt 1 reading 1 archetype coder\nDo it."
WORK = '[[step]]\nnode = "*"\nactions = [{run = ["sh", "-c", "env > seen.txt"]}, {say = "done"}]\n'


@dataclass
class Session:
    """What came of one session: its output's JSON lines, what the proxy heard, which keys the model saw."""

    exit_status: int
    lines: list[dict[str, object]]
    events: list[Event]
    requests: int
    headers: str
    workspace: Path

    @property
    def used(self) -> list[Used]:
        return list({event.message: event for event in self.events if isinstance(event, Used)}.values())


def claude(url: str, word: str, home: Path) -> tuple[list[str], dict[str, str]]:
    flags = ["--output-format", "stream-json", "--verbose", "--setting-sources", "", "--strict-mcp-config"]
    words = [str(program("claude")), "-p", PROMPT, *flags, "--permission-mode", "bypassPermissions"]
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1"}
    keys = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": word, "CLAUDE_CODE_MAX_RETRIES": "1"}
    return [*words, "--model", "claude-opus-5-5"], {**keys, **quiet, "IS_SANDBOX": "1"}


def codex(url: str, word: str, home: Path) -> tuple[list[str], dict[str, str]]:
    (home / "config.toml").write_text(
        f'model = "scripted"\nmodel_provider = "x"\n[model_providers.x]\nname = "x"\nbase_url = "{url}/v1"\n'
        'wire_api = "responses"\nenv_key = "XKEY"\nsupports_websockets = false\nrequest_max_retries = 1\n'
    )
    flags = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    return [str(program("codex")), "exec", *flags, PROMPT], {"CODEX_HOME": str(home), "XKEY": word}


PROGRAMS = {Provider.ANTHROPIC: claude, Provider.OPENAI: codex}


def session(provider: Provider, tmp_path: Path, script: str = WORK, most: int = 100) -> Session:
    home, workspace, events, word = tmp_path / "home", tmp_path / "work", list[Event](), fresh_word()
    home.mkdir()
    workspace.mkdir()
    (tmp_path / "script.toml").write_text(script)

    def why_not() -> str | None:
        asked = {event.message for event in events if isinstance(event, Used)}
        return "the session has reached its ceiling" if len(asked) >= most else None

    with (
        ModelServer(tmp_path / "script.toml") as server,
        ModelProxy(server.url, provider, KEY, word=word, hear=events.append, why_not=why_not) as proxy,
    ):
        words, variables = PROGRAMS[provider](proxy.url, word, home)
        done = subprocess.run(
            words,
            cwd=workspace,
            env={"PATH": os.environ["PATH"], "HOME": str(home), **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        headers = " ".join(str(exchange.headers) for exchange in server.requests)
        return Session(done.returncode, lines, events, len(server.requests), headers, workspace)


@pytest.mark.parametrize("provider", list(PROGRAMS))
def test_a_session_works_without_ever_seeing_the_real_key(provider: Provider, tmp_path: Path) -> None:
    had = session(provider, tmp_path)
    assert had.exit_status == 0
    seen = (had.workspace / "seen.txt").read_text()
    assert "PATH=" in seen
    assert KEY not in seen
    assert KEY in had.headers
    assert "fox-" not in had.headers
    assert len(had.used) == had.requests == 2


def test_what_claude_reports_is_what_was_metered_at_the_listed_price(tmp_path: Path) -> None:
    had = session(Provider.ANTHROPIC, tmp_path)
    costs = [price(event.model, event.tokens, read_prices()) or 0.0 for event in had.used]
    assert sum(costs) == pytest.approx(had.lines[-1]["total_cost_usd"], rel=1e-9)
    assert sum(costs) > 0


def test_what_codex_counts_is_what_was_metered(tmp_path: Path) -> None:
    had = session(Provider.OPENAI, tmp_path)
    usage = had.lines[-1]["usage"]
    assert isinstance(usage, dict)
    metered = sum((event.tokens for event in had.used), Tokens())
    assert (metered.all_input, metered.output) == (usage["input_tokens"], usage["output_tokens"])


@pytest.mark.parametrize("provider", list(PROGRAMS))
def test_a_ceiling_ends_the_session_without_another_try(provider: Provider, tmp_path: Path) -> None:
    had = session(provider, tmp_path, most=1)
    assert had.exit_status != 0
    assert had.requests == 1
    assert "the session has reached its ceiling" in str(had.lines)


@pytest.mark.parametrize("provider", list(PROGRAMS))
def test_a_key_that_the_model_does_not_take_is_heard_as_such(provider: Provider, tmp_path: Path) -> None:
    had = session(provider, tmp_path, '[[step]]\nnode = "*"\nactions = [{status = 401, times = "always"}]\n')
    assert had.exit_status != 0
    kinds = {event.kind for event in had.events if isinstance(event, Trouble)}
    assert kinds == {Infrastructure.AUTHENTICATION}
