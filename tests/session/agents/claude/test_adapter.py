"""What Claude Code is started with: words, variables and files. The program itself is tried in `tests/agents`."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.session.agents.claude.adapter import CLAUDE
from agent_fox.session.agents.command_line import CommandLine, Start
from agent_fox.session.agents.task import AgentTask, Door, Limits, Provider, Role
from tests.session.agents.tasks import task_in

DOOR = Door("http://127.0.0.1:1", "word", "http://127.0.0.1:2/mcp", "token", ("/usr/bin/python3", "a hook.py"))
LIMITS = Limits(wall=3600, idle=600, answer=900)
BARE = Door("http://127.0.0.1:1", "word")


@pytest.fixture
def task(tmp_path: Path) -> AgentTask:
    for name in ("workspace", "home", "scratch"):
        (tmp_path / name).mkdir()
    return task_in(tmp_path, "claude", limits=LIMITS, tools=("run_unit_tests", "run_linters"))


def value(start: Start, option: str) -> str | None:
    """What follows an option, None where it is not given."""
    return start.argv[start.argv.index(option) + 1] if option in start.argv else None


def seconds(start: Start, name: str) -> float:
    return int(start.environment[name]) / 1000


def written(task: AgentTask, name: str) -> dict[str, object]:
    found = json.loads((task.home / ".claude-session" / name).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_it_is_a_command_line() -> None:
    cli: CommandLine = CLAUDE
    assert (cli.facts.name, cli.provider("any")) == ("claude", Provider.ANTHROPIC)
    assert not set(cli.facts.direct) & {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}
    assert cli.facts.keys[Provider.ANTHROPIC] == ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    assert cli.facts.token == "CLAUDE_CODE_OAUTH_TOKEN"
    assert cli.facts.token not in cli.facts.direct


@pytest.mark.parametrize("role", list(Role))
def test_nothing_of_a_workspace_is_read_in_any_process(task: AgentTask, role: Role) -> None:
    task = replace(task, role=role)
    for start in (CLAUDE.start(task, DOOR), CLAUDE.again(task, DOOR, "a-session")):
        assert {"--restricted", "--strict-mcp-config", "--disable-slash-commands"} <= set(start.argv)
        assert value(start, "--setting-sources") == ""
        assert start.environment["CLAUDE_CODE_DISABLE_CLAUDE_MDS"] == "1"
        assert start.environment["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] == "1"
        assert start.environment["HOME"] == str(task.home)
        assert Path(start.environment["CLAUDE_CONFIG_DIR"]).is_relative_to(task.home)


def test_prompts_and_secrets_are_in_no_argument(task: AgentTask) -> None:
    door = replace(DOOR, model_key="the-key", mcp_token="the-token")
    start = CLAUDE.start(task, door)
    words = " ".join(start.argv)
    assert not [secret for secret in ("the-key", "the-token", "The brief.", "The rules.") if secret in words]
    assert start.stdin == "The brief."
    assert start.environment["ANTHROPIC_API_KEY"] == "the-key"
    assert start.environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert "the-token" not in start.environment.values()


@pytest.mark.parametrize(
    ("role", "tools", "allowed", "mode"),
    [
        (
            Role.CODER,
            "Read,Grep,Glob,Edit,Write,NotebookEdit,Bash",
            "Bash,mcp__verifier__run_unit_tests,mcp__verifier__run_linters",
            "acceptEdits",
        ),
        (
            Role.VERIFIER,
            "Read,Grep,Glob",
            "mcp__verifier__run_unit_tests,mcp__verifier__run_linters",
            "dontAsk",
        ),
        (Role.REVIEWER, "Read,Grep,Glob", None, "dontAsk"),
    ],
)
def test_a_role_gets_its_tools_and_no_others(
    task: AgentTask, role: Role, tools: str, allowed: str | None, mode: str
) -> None:
    start = CLAUDE.start(replace(task, role=role), DOOR)
    assert (value(start, "--tools"), value(start, "--allowedTools")) == (tools, allowed)
    assert value(start, "--permission-mode") == mode
    assert ("--mcp-config" in start.argv) == (role is not Role.REVIEWER)
    assert all(CLAUDE.may(role, tool) for tool in tools.split(","))


@pytest.mark.parametrize(
    ("tool", "roles"),
    [
        ("Read", {Role.CODER, Role.VERIFIER, Role.REVIEWER}),
        ("StructuredOutput", {Role.CODER, Role.VERIFIER, Role.REVIEWER}),
        ("mcp__verifier__run_unit_tests", {Role.CODER, Role.VERIFIER}),
        ("mcp__other__run_unit_tests", set()),
        ("Bash", {Role.CODER}),
        ("Edit", {Role.CODER}),
        ("Agent", set()),
        ("WebFetch", set()),
        ("", set()),
    ],
)
def test_who_may_call_what(tool: str, roles: set[Role]) -> None:
    assert {role for role in Role if CLAUDE.may(role, tool)} == roles


def test_without_tools_of_the_verifier_there_is_no_server(task: AgentTask) -> None:
    CLAUDE.prepare(task, BARE)
    start = CLAUDE.start(task, BARE)
    assert (value(start, "--mcp-config"), value(start, "--allowedTools")) == (None, "Bash")
    assert written(task, "mcp.json") == {"mcpServers": {}}


def test_the_files_are_the_owners_alone_and_hold_what_the_options_name(task: AgentTask) -> None:
    CLAUDE.prepare(task, DOOR)
    start = CLAUDE.start(task, DOOR)
    server = {"type": "http", "url": "http://127.0.0.1:2/mcp", "headers": {"Authorization": "Bearer token"}}
    assert written(task, "mcp.json") == {"mcpServers": {"verifier": server}}
    for option in ("--settings", "--mcp-config", "--append-system-prompt-file"):
        path = Path(str(value(start, option)))
        assert path.is_relative_to(task.home)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Path(str(value(start, "--append-system-prompt-file"))).read_text(encoding="utf-8") == "The rules."
    assert list(task.workspace.iterdir()) == []


def test_the_stop_hook_is_a_coders_alone(task: AgentTask) -> None:
    CLAUDE.prepare(task, DOOR)
    hook = {"type": "command", "command": "/usr/bin/python3 'a hook.py'", "timeout": 120}
    assert written(task, "settings.json")["hooks"] == {"Stop": [{"hooks": [hook]}]}
    for other, door in (
        (task, BARE),
        (replace(task, role=Role.VERIFIER), DOOR),
        (replace(task, role=Role.REVIEWER), DOOR),
    ):
        CLAUDE.prepare(other, door)
        settings = written(other, "settings.json")
        assert (settings.get("hooks"), settings["disableAllHooks"]) == (None, True)


def test_what_an_earlier_session_left_is_gone_but_for_its_transcripts(task: AgentTask, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "projects").mkdir(parents=True)
    (outside / "mcp.json").write_text("theirs", encoding="utf-8")
    (task.home / ".claude-session").symlink_to(outside)
    (task.home / ".claude.json").write_text("theirs", encoding="utf-8")
    for name in ("settings.json", "plugins/x.json", "projects/here/talk.jsonl"):
        (task.home / ".claude" / name).parent.mkdir(parents=True, exist_ok=True)
        (task.home / ".claude" / name).write_text("theirs", encoding="utf-8")
    CLAUDE.prepare(task, DOOR)
    left = sorted(path.relative_to(task.home).as_posix() for path in task.home.rglob("*") if path.is_file())
    ours = [f".claude-session/{name}" for name in ("mcp.json", "settings.json", "system.md")]
    assert left == [*ours, ".claude/projects/here/talk.jsonl"]
    assert (outside / "mcp.json").read_text(encoding="utf-8") == "theirs"


def test_a_configuration_folder_that_is_a_link_is_not_followed(task: AgentTask, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/kept.txt").write_text("kept", encoding="utf-8")
    (task.home / ".claude").symlink_to(tmp_path / "outside")
    CLAUDE.prepare(task, DOOR)
    assert not (task.home / ".claude").exists()
    assert (tmp_path / "outside/kept.txt").exists()


def test_limits_and_choices_become_options(task: AgentTask) -> None:
    limits = replace(task.limits, turns=40, cost_usd=2.5)
    schema = {"type": "object"}
    start = CLAUDE.start(
        replace(task, limits=limits, model="claude-x", effort="high", schema=schema, arguments=("--betas", "b")), DOOR
    )
    assert (value(start, "--max-turns"), value(start, "--max-budget-usd")) == ("40", "2.500000")
    assert (value(start, "--model"), value(start, "--effort")) == ("claude-x", "high")
    assert json.loads(str(value(start, "--json-schema"))) == schema
    assert start.argv[-2:] == ("--betas", "b")
    plain = CLAUDE.start(task, DOOR).argv
    assert not {"--max-turns", "--max-budget-usd", "--model", "--effort", "--json-schema"} & set(plain)


@pytest.mark.parametrize(("idle", "quiet"), [(5, 10), (60, 20), (600, 40)])
def test_silence_ends_long_before_the_watchdog_does(task: AgentTask, idle: float, quiet: float) -> None:
    start = CLAUDE.start(replace(task, limits=replace(task.limits, idle=idle)), DOOR)
    assert seconds(start, "API_TIMEOUT_MS") == quiet
    assert seconds(start, "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS") == quiet
    assert quiet * (1 + int(start.environment["CLAUDE_CODE_MAX_RETRIES"])) <= 120


def test_tools_get_the_time_that_the_limits_give(task: AgentTask) -> None:
    start = CLAUDE.start(task, DOOR)
    assert seconds(start, "MCP_TOOL_TIMEOUT") == seconds(start, "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT") == 900
    assert (seconds(start, "BASH_DEFAULT_TIMEOUT_MS"), seconds(start, "BASH_MAX_TIMEOUT_MS")) == (300, 3600)
    short = CLAUDE.start(replace(task, limits=replace(task.limits, wall=60)), DOOR)
    assert (seconds(short, "BASH_DEFAULT_TIMEOUT_MS"), seconds(short, "BASH_MAX_TIMEOUT_MS")) == (60, 60)


def test_credentials_of_another_kind_are_handed_on_where_there_is_no_key(task: AgentTask) -> None:
    door = replace(BARE, model_key="", credentials={"CLAUDE_CODE_USE_BEDROCK": "1"})
    environment = CLAUDE.start(task, door).environment
    assert environment["CLAUDE_CODE_USE_BEDROCK"] == "1"
    assert "ANTHROPIC_API_KEY" not in environment


def test_with_a_login_the_word_of_the_launch_stands_for_its_token(task: AgentTask) -> None:
    environment = CLAUDE.start(task, replace(DOOR, is_login=True)).environment
    assert environment["CLAUDE_CODE_OAUTH_TOKEN"] == DOOR.model_key
    assert "ANTHROPIC_API_KEY" not in environment


@pytest.mark.parametrize(
    ("given", "handed"),
    [
        ({"CLAUDE_CODE_USE_VERTEX", "AWS_SECRET_ACCESS_KEY"}, {"CLAUDE_CODE_USE_VERTEX"}),
        (
            {"CLAUDE_CODE_USE_BEDROCK", "AWS_SECRET_ACCESS_KEY", "ANTHROPIC_FOUNDRY_API_KEY"},
            {"CLAUDE_CODE_USE_BEDROCK", "AWS_SECRET_ACCESS_KEY"},
        ),
        ({"AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS"}, set()),
    ],
)
def test_only_the_secrets_of_the_login_that_is_used_are_handed_on(
    task: AgentTask, given: set[str], handed: set[str]
) -> None:
    door = replace(BARE, model_key="", credentials=dict.fromkeys(given, "x"))
    assert set(CLAUDE.start(task, door).environment) & set(CLAUDE.facts.direct) == handed


def test_what_another_session_or_a_proxy_has_set_does_not_lead_past_the_door(task: AgentTask) -> None:
    given = {"CLAUDECODE": "1", "ANTHROPIC_UNIX_SOCKET": "/x", "HTTP_PROXY": "http://p", "NO_PROXY": "intern.example"}
    environment = CLAUDE.start(replace(task, environment=given), DOOR).environment
    assert (environment["CLAUDECODE"], environment["ANTHROPIC_UNIX_SOCKET"]) == ("", "")
    assert environment["NO_PROXY"] == "intern.example,127.0.0.1,localhost"
    assert environment["no_proxy"] == "intern.example,127.0.0.1,localhost"
    assert "CLAUDE_CODE_SIMPLE" not in environment


def test_who_judges_is_told_how_to_search_everything(task: AgentTask) -> None:
    CLAUDE.prepare(replace(task, role=Role.VERIFIER), DOOR)
    rules = (task.home / ".claude-session/system.md").read_text(encoding="utf-8")
    assert rules.startswith("The rules.\n\n")
    assert 'glob with the value "**"' in rules
    bare = replace(task, role=Role.REVIEWER, system="")
    assert "--append-system-prompt-file" in CLAUDE.start(bare, DOOR).argv
    assert "--append-system-prompt-file" not in CLAUDE.start(replace(task, system=""), DOOR).argv


def test_who_is_asked_again_has_no_tool_and_the_same_rules(task: AgentTask) -> None:
    task = replace(task, role=Role.VERIFIER, schema={"type": "object"}, ask_again="once more", model="claude-x")
    start = CLAUDE.again(task, DOOR, "a-session")
    assert (value(start, "--resume"), value(start, "--tools"), start.stdin) == ("a-session", "", "once more")
    assert "--json-schema" in start.argv
    assert "--append-system-prompt-file" in start.argv
    assert (value(start, "--model"), value(start, "--permission-mode")) == ("claude-x", "dontAsk")
    assert not {"--mcp-config", "--allowedTools"} & set(start.argv)


def test_the_same_task_gives_the_same_words(task: AgentTask) -> None:
    assert CLAUDE.start(task, DOOR) == CLAUDE.start(task, DOOR)
