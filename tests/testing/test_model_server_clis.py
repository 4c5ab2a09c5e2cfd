"""Real agent command lines, played by the model server: the shapes that it answers in are the ones they read.

Only the model is scripted. The programs, their tools, their MCP client and the files they change are real. They are
looked for in the folder that AGENT_FOX_TEST_CLIS names, in `bin`, `node_modules/.bin` and `mini/bin`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import JsonValue

from agent_fox.testing.model_server import ModelServer

pytestmark = [pytest.mark.agents, pytest.mark.slow]

SECONDS = 240
"""Some of them take a minute to start on a busy machine."""
CODER = "agent-fox session: 01_a:1 attempt 1 reading 1 archetype coder\n\nDo the work."
VERIFIER = """agent-fox session: 01_a:2 attempt 1 reading 1 archetype verifier

## Give one verdict for each of these ids

01-REQ-1.1, 01-REQ-1.2

Silence about an id is not a PASS.
"""
SCRIPT = """
[[step]]
node = "01_a:1"
actions = [
  {print = "I begin."},
  {write = "src/new.py", text = "x = 'it'\\n"},
  {write = "kept.txt", text = "changed\\n"},
  {replace = "kept.txt", old = "chan", new = "ran"},
  {append = "kept.txt", text = "by {node}\\n"},
  {run = ["{python}", "-c", "open('ran.txt', 'w').write('it ran')"]},
  {delete = "gone.txt"},
  {write = "tool.sh", text = "#!/bin/sh\\n", executable = true},
]
summary = "all done"

[[step]]
node = "01_a:2"
actions = [
  {mcp = "run_unit_tests"},
  {verdicts = {"01-REQ-1.1" = "FAIL", "*" = "PASS"}, evidence = "seen"},
]
"""
REPORT: JsonValue = {
    "verdicts": [
        {"requirement_id": "01-REQ-1.1", "verdict": "FAIL", "evidence": "seen"},
        {"requirement_id": "01-REQ-1.2", "verdict": "PASS", "evidence": "seen"},
    ],
    "overall_verdict": "FAIL",
    "summary": "2 verdicts",
}
MCP_SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("verifier")

@server.tool(description="Run the unit tests")
def run_unit_tests() -> str:
    return "12 passed"

server.run("stdio")
"""


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder to work in, with a home and an MCP server of its own, and the server that plays the model."""

    root: Path
    server: ModelServer

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def mcp(self) -> list[str]:
        return [sys.executable, str(self.root / "mcp_server.py")]

    def file(self, name: str, text: str) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def ran(self, argv: Sequence[str], environment: Mapping[str, str]) -> str:
        """Standard output of a program that must end with 0."""
        own = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        done = subprocess.run(
            argv,
            cwd=self.work,
            env={**own, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout


def program(name: str) -> str:
    folder = os.environ.get("AGENT_FOX_TEST_CLIS")
    if folder is None:
        pytest.skip("AGENT_FOX_TEST_CLIS names no folder with agent command lines")
    for inside in ("bin", "node_modules/.bin", "mini/bin"):
        path = Path(folder).resolve() / inside / name
        if path.exists():
            return str(path)
    pytest.skip(f"{name} is not in {folder}")


def claude(desk: Desk, prompt: str, *more: str) -> str:
    mcp = desk.file(
        "mcp.json", json.dumps({"mcpServers": {"verifier": {"command": desk.mcp[0], "args": desk.mcp[1:]}}})
    )
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "IS_SANDBOX")
    environment = {"ANTHROPIC_BASE_URL": desk.server.url, "ANTHROPIC_API_KEY": "the key", **dict.fromkeys(quiet, "1")}
    own = ["--setting-sources", "", "--strict-mcp-config", "--mcp-config", str(mcp)]
    form = ["--output-format", "stream-json", "--verbose"]
    return desk.ran([program("claude"), "-p", prompt, *form, *own, *more], environment)


def codex(desk: Desk, prompt: str, *more: str) -> str:
    settings = f"""
model = "m"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{desk.server.url}/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
supports_websockets = false
[mcp_servers.verifier]
command = {json.dumps(desk.mcp[0])}
args = {json.dumps(desk.mcp[1:])}
default_tools_approval_mode = "approve"
required = true
"""
    home = desk.file(".codex/config.toml", settings).parent
    argv = [program("codex"), "exec", "--json", "--skip-git-repo-check", *more, prompt]
    return desk.ran(argv, {"CODEX_HOME": str(home), "MODEL_KEY": "the key"})


def gemini(desk: Desk, prompt: str, *more: str) -> str:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "mcpServers": {"verifier": {"command": desk.mcp[0], "args": desk.mcp[1:], "trust": True}},
    }
    desk.file(".gemini/settings.json", json.dumps(settings))
    argv = [program("gemini"), "-p", prompt, "--approval-mode", "yolo", "--skip-trust", *more]
    return desk.ran(argv, {"GEMINI_API_KEY": "the key", "GOOGLE_GEMINI_BASE_URL": desk.server.url})


def opencode(desk: Desk, prompt: str, *more: str) -> str:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{desk.server.url}/v1", "apiKey": "the key"},
        "models": {"m": {"name": "m"}},
    }
    settings = {
        "provider": {"scripted": provider},
        "model": "scripted/m",
        "autoupdate": False,
        "share": "disabled",
        "mcp": {"verifier": {"type": "local", "command": desk.mcp, "enabled": True}},
    }
    desk.file(".config/opencode/opencode.json", json.dumps(settings))
    argv = [program("opencode"), "run", "--format", "json", *more, prompt]
    return desk.ran(argv, {"OPENCODE_DISABLE_MODELS_FETCH": "1"})


def mini(desk: Desk, prompt: str, *more: str) -> str:
    environment = {
        "OPENAI_API_KEY": "the key",
        "OPENAI_BASE_URL": f"{desk.server.url}/v1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "MSWEA_CONFIGURED": "true",
        "MSWEA_COST_TRACKING": "ignore_errors",
    }
    argv = [program("mini"), "-y", "--exit-immediately", "-m", "openai/m", *more, "-t", prompt]
    return desk.ran(argv, environment)


Cli = Callable[..., str]
CODERS: Mapping[str, tuple[Cli, tuple[str, ...]]] = {
    "claude": (claude, ("--permission-mode", "bypassPermissions")),
    "codex": (codex, ("--dangerously-bypass-approvals-and-sandbox",)),
    "codex with a model that it knows": (
        codex,
        ("--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-6.1-sol"),
    ),
    "gemini": (gemini, ()),
    "opencode": (opencode, ()),
    "mini": (mini, ()),
}


@pytest.fixture
def desk_with(tmp_path: Path) -> Callable[[ModelServer], Desk]:
    def make(server: ModelServer) -> Desk:
        desk = Desk(tmp_path, server)
        for folder in (desk.work, desk.home):
            folder.mkdir()
        (tmp_path / "mcp_server.py").write_text(MCP_SERVER)
        for name in ("kept.txt", "gone.txt"):
            (desk.work / name).write_text("as it was\n")
        subprocess.run(["git", "init", "-q"], cwd=desk.work, check=True)
        return desk

    return make


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.toml"
    path.write_text(SCRIPT)
    return path


@pytest.mark.parametrize("name", CODERS)
def test_a_real_agent_does_what_the_script_says(
    name: str, script: Path, desk_with: Callable[[ModelServer], Desk]
) -> None:
    cli, options = CODERS[name]
    with ModelServer(script) as server:
        desk = desk_with(server)
        said = cli(desk, CODER, *options)
    assert "all done" in said
    texts = {path: (desk.work / path).read_text() for path in ("src/new.py", "kept.txt", "ran.txt", "tool.sh")}
    assert texts == {
        "src/new.py": "x = 'it'\n",
        "kept.txt": "ranged\nby 01_a:1\n",
        "ran.txt": "it ran",
        "tool.sh": "#!/bin/sh\n",
    }
    assert not (desk.work / "gone.txt").exists()
    assert os.access(desk.work / "tool.sh", os.X_OK)
    played = [request for request in server.requests if not request.is_side]
    assert [(request.node, request.turn, request.status, request.error) for request in played] == [
        ("01_a:1", turn, 200, None) for turn in range(8)
    ]
    assert all("the key" in json.dumps(dict(request.headers)) for request in played)


@pytest.mark.parametrize("name", ["claude", "codex with a model that it knows", "gemini", "opencode"])
def test_a_verifier_calls_a_tool_over_mcp_and_ends_with_its_report(
    name: str, script: Path, desk_with: Callable[[ModelServer], Desk]
) -> None:
    cli, options = CODERS[name]
    with ModelServer(script) as server:
        said = cli(desk_with(server), VERIFIER, *options)
    last = [request for request in server.requests if not request.is_side][-1]
    assert "01-REQ-1.2" in said
    assert json.loads(last.words) == REPORT
    assert "12 passed" in json.dumps(last.body)


def test_claude_gives_the_report_as_its_structured_answer(
    script: Path, desk_with: Callable[[ModelServer], Desk]
) -> None:
    read_only = ["--restricted", "--tools", "Read,Grep,Glob", "--permission-mode", "dontAsk"]
    allowed = ["--allowedTools", "mcp__verifier__run_unit_tests"]
    with ModelServer(script) as server:
        said = claude(desk_with(server), VERIFIER, *read_only, *allowed, "--json-schema", json.dumps(schema()))
    result = json.loads(said.splitlines()[-1])
    assert (result["structured_output"], result["is_error"]) == (REPORT, False)
    assert "12 passed" in json.dumps(server.requests[-1].body)


def test_codex_gives_the_report_as_the_text_that_its_schema_asks_for(
    script: Path, desk_with: Callable[[ModelServer], Desk], tmp_path: Path
) -> None:
    (tmp_path / "schema.json").write_text(json.dumps(schema()))
    with ModelServer(script) as server:
        options = ["-s", "read-only", "--output-schema", str(tmp_path / "schema.json"), "-o", str(tmp_path / "last")]
        codex(desk_with(server), VERIFIER, *options)
    assert json.loads((tmp_path / "last").read_text()) == REPORT
    assert "12 passed" in json.dumps(server.requests[-1].body)


def schema() -> JsonValue:
    word: JsonValue = {"type": "string"}
    row = strict({"requirement_id": word, "verdict": word, "evidence": word})
    return strict({"verdicts": {"type": "array", "items": row}, "overall_verdict": word, "summary": word})


def strict(properties: dict[str, JsonValue]) -> JsonValue:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def test_claude_goes_on_after_a_stop_hook_has_blocked_it(
    tmp_path: Path, desk_with: Callable[[ModelServer], Desk]
) -> None:
    path = tmp_path / "script.toml"
    path.write_text(
        '[[step]]\nactions = [{say = "finished?"}, {write = "kept.txt", text = "mended"}]\nsummary = "yes"\n'
    )
    gate = f"test -e {tmp_path}/asked && exit 0; touch {tmp_path}/asked; echo 'mend it' >&2; exit 2"
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": gate}]}]}}
    with ModelServer(path) as server:
        desk = desk_with(server)
        said = claude(desk, CODER, "--permission-mode", "bypassPermissions", "--settings", json.dumps(hooks))
    assert (desk.work / "kept.txt").read_text() == "mended"
    assert [request.turn for request in server.requests] == [0, 1, 2]
    assert "mend it" in json.dumps(server.requests[1].body)
    assert json.loads(said.splitlines()[-1])["result"] == "yes"


def test_claude_asked_again_in_the_same_session_hears_the_next_turn(
    tmp_path: Path, desk_with: Callable[[ModelServer], Desk]
) -> None:
    path = tmp_path / "script.toml"
    path.write_text('[[step]]\nactions = [{say = "all is well"}, {verdicts = "PASS", evidence = "seen"}]\n')
    with ModelServer(path) as server:
        desk = desk_with(server)
        first = json.loads(claude(desk, VERIFIER, "--permission-mode", "dontAsk").splitlines()[-1])
        options = ["--resume", first["session_id"], "--tools", "", "--json-schema", json.dumps(schema())]
        again = json.loads(claude(desk, "Say it as JSON.", *options).splitlines()[-1])
    assert first["result"] == "all is well"
    assert [row["verdict"] for row in again["structured_output"]["verdicts"]] == ["PASS", "PASS"]


@pytest.mark.parametrize(
    ("name", "obstacle"),
    [
        ("claude", "{status = 529}"),
        ("claude", "{status = 429}"),
        ("claude", "{drop = true}"),
        ("codex", "{status = 503}"),
        ("codex", "{drop = true}"),
        ("gemini", "{status = 503}"),
        ("opencode", "{status = 503}"),
    ],
)
def test_what_passes_is_overcome_by_asking_again(
    name: str, obstacle: str, tmp_path: Path, desk_with: Callable[[ModelServer], Desk]
) -> None:
    path = tmp_path / "script.toml"
    path.write_text(f'[[step]]\nactions = [{obstacle}, {{say = "there"}}]\n')
    cli, options = CODERS[name]
    with ModelServer(path) as server:
        said = cli(desk_with(server), CODER, *options)
    assert "there" in said
    played = [request for request in server.requests if not request.is_side]
    assert [bool(request.obstacles) for request in played] == [True, False]
