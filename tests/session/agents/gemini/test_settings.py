"""What Gemini CLI is started with: its home, its policies, its words."""

from __future__ import annotations

import json
import shlex
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.session.agents.gemini.adapter import GEMINI
from agent_fox.session.agents.task import AgentTask, Door, Role
from tests.session.agents.tasks import task_in

DOOR = Door("http://127.0.0.1:8000", "word-of-this-launch")
SERVED = replace(DOOR, mcp_url="http://127.0.0.1:8001/mcp", mcp_token="tools-token")


def task(tmp_path: Path, role: Role = Role.CODER, **more: object) -> AgentTask:
    (tmp_path / "home").mkdir(exist_ok=True)
    usual = {"model": "gemini-2.5-pro", "ask_again": "Once more.", "tools": ("run_unit_tests",)}
    return task_in(tmp_path, "gemini", role=role, **{**usual, **more})


def written(task: AgentTask, door: Door) -> dict[str, dict[str, object]]:
    GEMINI.prepare(task, door)
    found: dict[str, dict[str, object]] = json.loads((task.home / ".gemini" / "settings.json").read_text())
    return found


def test_nothing_secret_and_nothing_of_the_prompt_stands_in_the_arguments(tmp_path: Path) -> None:
    for role in Role:
        for start in (
            GEMINI.start(task(tmp_path, role), SERVED),
            GEMINI.again(task(tmp_path, role), SERVED, "11111111-2222-3333-4444-555555555555"),
        ):
            words = " ".join(start.argv)
            assert not any(secret in words for secret in ("word-of-this-launch", "tools-token", "Mend", "Rules"))
            assert start.environment["GEMINI_API_KEY"] == "word-of-this-launch"


def test_the_home_is_only_the_owner_s(tmp_path: Path) -> None:
    GEMINI.prepare(task(tmp_path), SERVED)
    folder = tmp_path / "home" / ".gemini"

    assert folder.stat().st_mode & 0o077 == 0
    assert [file.name for file in folder.iterdir() if file.stat().st_mode & 0o077] == []


@pytest.mark.parametrize("name", ["settings.json", "working.toml", "answering.toml", "hiding.cjs"])
def test_a_link_that_an_earlier_session_has_left_is_not_written_through(name: str, tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "home" / ".gemini"
    outside.write_text("x", encoding="utf-8")
    whole = task(tmp_path)
    folder.mkdir(parents=True)
    (folder / name).symlink_to(outside)
    GEMINI.prepare(whole, SERVED)

    assert outside.read_text(encoding="utf-8") == "x"
    assert not (folder / name).is_symlink()


def test_a_folder_that_an_earlier_session_has_made_a_link_is_not_written_into(tmp_path: Path) -> None:
    whole = task(tmp_path)
    (tmp_path / "outside").mkdir()
    (whole.home / ".gemini").symlink_to(tmp_path / "outside")
    GEMINI.prepare(whole, SERVED)

    assert list((tmp_path / "outside").iterdir()) == []
    assert (whole.home / ".gemini" / "settings.json").is_file()


def test_there_is_no_server_where_none_is_served(tmp_path: Path) -> None:
    assert written(task(tmp_path), DOOR)["mcpServers"] == {}
    server = written(task(tmp_path), SERVED)["mcpServers"]["verifier"]
    assert isinstance(server, dict)
    assert server["headers"] == {"Authorization": "Bearer tools-token"}
    assert (server["timeout"], server["includeTools"]) == (90_000, ["run_unit_tests"])


def test_a_policy_names_what_may_be_called_and_refuses_the_rest(tmp_path: Path) -> None:
    GEMINI.prepare(task(tmp_path, Role.VERIFIER), SERVED)
    rules = tomllib.loads((tmp_path / "home" / ".gemini" / "working.toml").read_text())["rule"]

    assert rules[0] == {"toolName": "*", "decision": "deny", "priority": 900}
    assert {tool for rule in rules[1:] for tool in rule["toolName"]} == {
        *("list_directory", "read_file", "grep_search", "glob", "run_unit_tests")
    }
    answering = tomllib.loads((tmp_path / "home" / ".gemini" / "answering.toml").read_text())["rule"]
    assert answering == [rules[0]]


@pytest.mark.parametrize(
    ("role", "mode"), [(Role.CODER, "yolo"), (Role.VERIFIER, "default"), (Role.REVIEWER, "default")]
)
def test_only_a_coder_at_work_is_never_asked(role: Role, mode: str, tmp_path: Path) -> None:
    argv = GEMINI.start(task(tmp_path, role), DOOR).argv
    assert argv[argv.index("--approval-mode") + 1] == mode
    again = GEMINI.again(task(tmp_path, role), DOOR, "11111111-2222-3333-4444-555555555555").argv
    assert again[again.index("--approval-mode") + 1] == "default"
    assert again[again.index("--resume") + 1] == "11111111-2222-3333-4444-555555555555"


def test_what_a_role_may_call(tmp_path: Path) -> None:
    assert GEMINI.may(Role.CODER, "run_shell_command")
    for role in (Role.VERIFIER, Role.REVIEWER):
        assert GEMINI.may(role, "read_file")
        assert not any(GEMINI.may(role, tool) for tool in ("run_shell_command", "write_file", "replace", "web_fetch"))
    assert GEMINI.may(Role.VERIFIER, "mcp_verifier_run_unit_tests")
    assert not GEMINI.may(Role.REVIEWER, "mcp_verifier_run_unit_tests")
    assert GEMINI.may(Role.VERIFIER, "mcp__verifier__run_unit_tests")
    assert not GEMINI.may(Role.VERIFIER, "mcp_other_run_unit_tests")


def test_the_prompt_holds_no_command_of_the_program(tmp_path: Path) -> None:
    start = GEMINI.start(task(tmp_path, prompt="/quit\nsee @pytest.fixture and \\@kept"), DOOR)

    assert not start.stdin.startswith("/")
    assert "see \\@pytest.fixture and \\@kept" in start.stdin
    assert GEMINI.start(task(tmp_path, prompt="/quit"), DOOR).stdin == "\n/quit"
    assert GEMINI.start(task(tmp_path), DOOR).stdin == "The brief."


def test_the_rules_lie_under_another_name_each_time(tmp_path: Path) -> None:
    names = {str(written(task(tmp_path), DOOR)["context"]["fileName"]) for _ in range(3)}

    assert len(names) == 3
    (left,) = (tmp_path / "home" / ".gemini").glob("rules-*.md")
    assert left.name in names
    assert left.read_text() == "The rules."


def test_a_stop_hook_is_asked_by_coders_only_where_there_is_one(tmp_path: Path) -> None:
    command = ("/usr/bin/python", "-I", "/a folder/hook.py", "http://127.0.0.1:8002/word")
    with_hook = written(task(tmp_path), replace(DOOR, stop_command=command))

    assert shlex.join(command) in json.dumps(with_hook["hooks"])
    assert with_hook["hooksConfig"]["enabled"] is True
    for role, door in ((Role.CODER, DOOR), (Role.VERIFIER, replace(DOOR, stop_command=command))):
        without = written(task(tmp_path, role), door)
        assert (without["hooks"], without["hooksConfig"]["enabled"]) == ({}, False)


@pytest.mark.parametrize(
    ("effort", "thinking"),
    [
        ("low", {"chat-base-2.5": {"thinkingBudget": 2048}, "chat-base-3": {"thinkingLevel": "LOW"}}),
        ("high", {"chat-base-2.5": {"thinkingBudget": 24576}, "chat-base-3": {"thinkingLevel": "HIGH"}}),
        ("", {}),
        ("enormous", {}),
    ],
)
def test_effort_is_how_hard_the_model_thinks(effort: str, thinking: object, tmp_path: Path) -> None:
    aliases = written(task(tmp_path, effort=effort), DOOR)["modelConfigs"]["customAliases"]
    assert isinstance(aliases, dict)
    found = {name: each["modelConfig"]["generateContentConfig"]["thinkingConfig"] for name, each in aliases.items()}
    assert found == thinking


def test_a_person_s_node_options_and_no_proxy_are_kept(tmp_path: Path) -> None:
    around = {"NODE_OPTIONS": "--no-warnings", "NO_PROXY": "intern.example"}
    start = GEMINI.start(task(tmp_path, environment=around), DOOR)

    assert start.environment["NODE_OPTIONS"].endswith(" --no-warnings")
    assert start.environment["NO_PROXY"] == "intern.example,127.0.0.1,localhost"
    assert start.environment["GEMINI_CLI_TRUST_WORKSPACE"] == "false"
