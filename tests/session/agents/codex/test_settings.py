"""What codex is started with: its configuration is read back as TOML, its arguments and environment as they are."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.session.agents.codex.adapter import CODEX
from agent_fox.session.agents.task import AgentTask, Door, Limits, Role
from tests.session.agents.tasks import task_in

DOOR = Door("http://127.0.0.1:1/v1", "the-word", "http://127.0.0.1:2/mcp", "the-token", ("stop", "a b"))


@pytest.fixture
def task(tmp_path: Path) -> AgentTask:
    workspace = tmp_path / 'clone "of" spec'
    (workspace / ".git").mkdir(parents=True)
    return task_in(
        tmp_path,
        "codex",
        workspace=workspace,
        system='Rules: "these"\n\x7f',
        environment={"PATH": "/bin", "RUST_LOG": "debug", "NO_PROXY": "intranet"},
        limits=Limits(600, 90, 240),
        model="gpt-x",
        effort="high",
        ask_again="again?",
        tools=("run_unit_tests",),
    )


def read(task: AgentTask, door: Door = DOOR) -> dict[str, object]:
    CODEX.prepare(task, door)
    return tomllib.loads((task.home / ".codex/config.toml").read_text(encoding="utf-8"))


def part(found: object, *names: str) -> object:
    for name in names:
        assert isinstance(found, dict)
        found = found[name]
    return found


def test_the_model_is_reached_through_the_door(task: AgentTask) -> None:
    found = read(task)
    assert (found["model"], found["model_reasoning_effort"]) == ("gpt-x", "high")
    assert found["developer_instructions"] == task.system
    provider = part(found, "model_providers", str(found["model_provider"]))
    assert isinstance(provider, dict)
    assert provider["base_url"] == DOOR.model_url
    assert provider["stream_idle_timeout_ms"] == 30_000
    assert CODEX.start(task, DOOR).environment[provider["env_key"]] == "the-word"


def test_nothing_secret_is_in_an_argument_or_a_file(task: AgentTask) -> None:
    CODEX.prepare(task, DOOR)
    words = CODEX.start(task, DOOR).argv + CODEX.again(task, DOOR, "id").argv
    files = [path.read_text(encoding="utf-8") for path in task.home.rglob("*") if path.is_file()]
    for secret in ("the-word", "the-token", "The brief."):
        assert not any(secret in text for text in (*words, *files))


def test_the_shell_gets_none_of_our_secrets(task: AgentTask) -> None:
    policy = part(read(task), "shell_environment_policy")
    assert isinstance(policy, dict)
    secret = {name for name, value in CODEX.start(task, DOOR).environment.items() if value in {"the-word", "the-token"}}
    assert len(secret) == 2
    assert secret <= set(policy["exclude"])
    assert policy["set"] == {"RUST_LOG": "debug"}


def test_a_coder_may_write_and_who_judges_may_not(task: AgentTask) -> None:
    coder, verifier = read(task), read(replace(task, role=Role.VERIFIER))
    assert (coder["sandbox_mode"], verifier["sandbox_mode"]) == ("workspace-write", "read-only")
    roots = part(coder, "sandbox_workspace_write", "writable_roots")
    assert roots == [str(task.workspace / ".git"), str(task.home)]


def test_a_git_folder_that_is_none_is_not_named(task: AgentTask) -> None:
    (task.workspace / ".git").rmdir()
    (task.workspace / ".git").symlink_to("/etc")
    assert part(read(task), "sandbox_workspace_write", "writable_roots") == [str(task.home)]


@pytest.mark.parametrize("role", list(Role))
def test_the_workspace_says_nothing(task: AgentTask, role: Role) -> None:
    found = read(replace(task, role=role))
    assert found["project_doc_max_bytes"] == 0
    assert part(found, "projects", str(task.workspace)) == {"trust_level": "untrusted"}
    assert part(found, "skills", "include_instructions") is False
    assert part(found, "features", "plugins") is False


def test_the_verifiers_tools_are_offered_to_whom_they_are_for(task: AgentTask) -> None:
    server = part(read(task), "mcp_servers", "verifier")
    assert isinstance(server, dict)
    assert server["enabled_tools"] == ["run_unit_tests"]
    assert server["tool_timeout_sec"] == 240
    assert server["required"] is True
    assert "mcp_servers" not in read(replace(task, role=Role.REVIEWER))
    assert "mcp_servers" not in read(task, replace(DOOR, mcp_url="", mcp_token=""))


def hooks_of(task: AgentTask, door: Door) -> dict[str, object]:
    CODEX.prepare(task, door)
    path = task.home / ".codex" / "hooks.json"
    if not path.exists():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))["hooks"]
    assert isinstance(found, dict)
    return found


def test_only_a_coder_has_a_stop_hook_and_only_who_judges_a_guard(task: AgentTask) -> None:
    assert list(hooks_of(task, DOOR)) == ["Stop"]
    assert list(hooks_of(replace(task, role=Role.VERIFIER), DOOR)) == ["PreToolUse"]
    assert list(hooks_of(replace(task, role=Role.REVIEWER), DOOR)) == ["PreToolUse"]
    assert hooks_of(task, replace(DOOR, stop_command=())) == {}


def test_hooks_run_only_where_there_are_ours(task: AgentTask) -> None:
    trust = "--dangerously-bypass-hook-trust"
    assert trust in CODEX.start(task, DOOR).argv
    assert trust not in CODEX.start(task, replace(DOOR, stop_command=())).argv


def test_the_prompt_goes_to_standard_input(task: AgentTask) -> None:
    start, again = CODEX.start(task, DOOR), CODEX.again(task, DOOR, "the-id")
    assert (start.argv[-1], start.stdin) == ("-", "The brief.")
    assert (again.argv[-2:], again.stdin) == (("the-id", "-"), "again?")


def test_a_persons_own_arguments_are_kept(task: AgentTask) -> None:
    own = replace(task, arguments=("-c", "x=1"))
    for start in (CODEX.start(own, DOOR), CODEX.again(own, DOOR, "id")):
        assert ("-c", "x=1") in zip(start.argv, start.argv[1:], strict=False)


def test_what_an_earlier_session_left_is_not_read(task: AgentTask, tmp_path: Path) -> None:
    folder = task.home / ".codex"
    (folder / "sessions" / "2026").mkdir(parents=True)
    (folder / "skills" / "evil").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x", encoding="utf-8")
    (folder / "rules").symlink_to(outside)
    (folder / "config.toml").symlink_to(outside / "kept")
    for name in ("AGENTS.md", ".env", "auth.json", "evil.config.toml", "hooks.json", "state_5.sqlite"):
        (folder / name).write_text("evil", encoding="utf-8")
    CODEX.prepare(task, replace(DOOR, stop_command=()))
    assert sorted(path.name for path in folder.iterdir()) == ["config.toml", "sessions", "state_5.sqlite"]
    assert (outside / "kept").read_text(encoding="utf-8") == "x"


def test_a_configuration_folder_that_is_a_link_is_not_followed(task: AgentTask, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x", encoding="utf-8")
    task.home.mkdir()
    (task.home / ".codex").symlink_to(outside)
    CODEX.prepare(task, DOOR)
    assert [path.name for path in outside.iterdir()] == ["kept"]


def test_the_schema_is_a_file_that_is_named(task: AgentTask) -> None:
    wanted = replace(task, schema={"type": "object"})
    CODEX.prepare(wanted, DOOR)
    for start in (CODEX.start(wanted, DOOR), CODEX.again(wanted, DOOR, "id")):
        path = start.argv[start.argv.index("--output-schema") + 1]
        assert json.loads(Path(path).read_text(encoding="utf-8")) == {"type": "object"}


def test_loopback_is_reached_without_a_proxy(task: AgentTask) -> None:
    assert CODEX.start(task, DOOR).environment["NO_PROXY"] == "intranet,127.0.0.1,localhost"


def test_an_access_token_reaches_codex_itself_and_no_key_is_asked_for(task: AgentTask) -> None:
    door = Door("https://upstream", "", credentials={"CODEX_ACCESS_TOKEN": "at"})
    provider = part(read(task, door), "model_providers", "door")
    assert isinstance(provider, dict)
    assert provider["requires_openai_auth"] is True
    assert "base_url" not in provider
    assert CODEX.start(task, door).environment["CODEX_ACCESS_TOKEN"] == "at"


def test_tools_belong_to_roles() -> None:
    tools = ("exec_command", "apply_patch", "mcp__verifier__run_unit_tests", "mcp__planted__run", "nosuch")
    allowed = {role: [tool for tool in tools if CODEX.may(role, tool)] for role in Role}
    assert allowed == {
        Role.CODER: ["exec_command", "apply_patch", "mcp__verifier__run_unit_tests"],
        Role.VERIFIER: ["exec_command", "mcp__verifier__run_unit_tests"],
        Role.REVIEWER: ["exec_command"],
    }


@given(text=st.text())
def test_any_words_can_be_rules(text: str) -> None:
    with TemporaryDirectory() as folder:
        found = read(task_in(Path(folder), "codex", system=text, environment={"RUST_LOG": text}))
    clean = text.encode("utf-8", "replace").decode("utf-8")
    assert found.get("developer_instructions", "") == clean
    assert part(found, "shell_environment_policy", "set", "RUST_LOG") == clean
