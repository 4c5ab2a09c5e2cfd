"""What opencode is told: the files below its home, its words and its variables. The program itself is not run."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_fox.session.agents.opencode.adapter import OPENCODE, base_url, quiet_of
from agent_fox.session.agents.task import AgentTask, Door, Limits, Provider, Role
from tests.session.agents.tasks import task_in

DOOR = Door("http://127.0.0.1:8000", "the-word", "http://127.0.0.1:9000/mcp", "the-token")


@pytest.fixture
def task(tmp_path: Path) -> AgentTask:
    for name in ("workspace", "home", "scratch", "shown"):
        (tmp_path / name).mkdir()
    return task_in(
        tmp_path,
        "opencode",
        limits=Limits(wall=600, idle=100, answer=900),
        environment={"PATH": "/nowhere", "NO_PROXY": "intranet"},
        model="anthropic/claude-sonnet-4-5",
        tools=("run_unit_tests",),
        readable=(str(tmp_path / "shown"), str(tmp_path / "report.json")),
    )


def settings(task: AgentTask, door: Door = DOOR) -> dict[str, Any]:
    OPENCODE.prepare(task, door)
    found: dict[str, Any] = json.loads((task.home / ".config/opencode/opencode.json").read_text())
    return found


def test_keys_and_the_brief_are_neither_words_nor_variables(task: AgentTask) -> None:
    OPENCODE.prepare(task, DOOR)
    start = OPENCODE.start(task, DOOR)
    seen = " ".join((*start.argv, *start.environment.values()))
    assert (start.stdin, "the-word" in seen, "the-token" in seen, "The brief." in seen) == ("The brief.", *[False] * 3)
    for path in (task.home / ".config/opencode").glob("*.*"):
        assert path.stat().st_mode & 0o077 == 0


def test_the_configuration_is_written_anew_and_links_are_not_followed(task: AgentTask) -> None:
    OPENCODE.prepare(task, DOOR)
    victim = task.home.parent / "victim.txt"
    victim.write_text("mine")
    folder = task.home / ".config/opencode"
    (folder / "plugin").mkdir()
    (folder / "plugin/evil.js").write_text("evil")
    (folder / "opencode.json").unlink()
    (folder / "opencode.json").symlink_to(victim)
    (task.home / ".opencode").symlink_to(task.home.parent / "shown")
    OPENCODE.prepare(task, DOOR)
    assert victim.read_text() == "mine"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("node_modules", "opencode.json", "package-lock.json", "rules.md")
    ]
    assert not (task.home / ".opencode").is_symlink()
    assert (task.home.parent / "shown").is_dir()


@pytest.mark.parametrize("role", list(Role))
def test_who_has_which_tools(task: AgentTask, role: Role) -> None:
    permission = settings(replace(task, role=role))["permission"]
    allowed = {tool for tool, action in permission.items() if action == "allow"} - {"doom_loop"}
    served = {"verifier_run_unit_tests"}
    writing = {"edit", "write", "apply_patch", "bash", "todowrite"}
    expected = {Role.CODER: writing | served, Role.VERIFIER: served, Role.REVIEWER: set()}[role]
    assert allowed - {"list"} == expected
    assert (permission["*"], permission["read"]) == ("deny", {"*": "allow", "mcp:*": "deny"})
    assert bool(settings(replace(task, role=role))["mcp"]) == (role is not Role.REVIEWER)


def test_searching_is_offered_where_its_program_is(task: AgentTask, tmp_path: Path) -> None:
    (tmp_path / "shown/rg").write_text("#!/bin/sh\n")
    (tmp_path / "shown/rg").chmod(0o755)
    found = settings(replace(task, environment={"PATH": f"{tmp_path}/shown:{os.defpath}"}))["permission"]
    assert (found["grep"], found["glob"]) == ("allow", "allow")


def test_outside_of_the_workspace_only_the_shown_folders_may_be_named(task: AgentTask) -> None:
    places = settings(task)["permission"]["external_directory"]
    outputs = task.home / ".local/share/opencode/tool-output"
    shown = [f"{folder}/*" for folder in (task.scratch, outputs, task.home.parent / "shown")]
    assert list(places.items()) == [("*", "deny"), *((place, "allow") for place in shown)]


def test_whoever_has_no_mcp_door_gets_no_server(task: AgentTask) -> None:
    assert settings(task, Door("http://127.0.0.1:8000", "w"))["mcp"] == {}


@pytest.mark.parametrize(
    ("role", "tool", "may"),
    [
        (Role.CODER, "bash", True),
        (Role.CODER, "apply_patch", True),
        (Role.CODER, "webfetch", False),
        (Role.CODER, "task", False),
        (Role.VERIFIER, "read", True),
        (Role.VERIFIER, "verifier_run_unit_tests", True),
        (Role.VERIFIER, "bash", False),
        (Role.VERIFIER, "read_mcp_resource", False),
        (Role.REVIEWER, "grep", True),
        (Role.REVIEWER, "verifier_run_unit_tests", False),
        (Role.REVIEWER, "edit", False),
    ],
)
def test_what_a_role_may_call(role: Role, tool: str, may: bool) -> None:
    assert OPENCODE.may(role, tool) is may


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("anthropic/claude-x", Provider.ANTHROPIC),
        ("openai/gpt-5.1", Provider.OPENAI),
        ("google/gemini-3-pro", Provider.GEMINI),
        ("gpt-5.1", Provider.OPENAI),
        ("gemini-3-pro", Provider.GEMINI),
        ("claude-x", Provider.ANTHROPIC),
        ("", Provider.ANTHROPIC),
    ],
)
def test_the_provider_of_a_model(model: str, provider: Provider) -> None:
    assert OPENCODE.provider(model) is provider


def test_a_provider_that_cannot_be_pointed_elsewhere_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="'elsewhere/x': opencode can be used with the providers anthropic, openai"):
        OPENCODE.provider("elsewhere/x")


@pytest.mark.parametrize(
    ("provider", "url", "base"),
    [
        (Provider.ANTHROPIC, "https://api.anthropic.com", "https://api.anthropic.com/v1"),
        (Provider.OPENAI, "https://api.openai.com/v1", "https://api.openai.com/v1"),
        (Provider.OPENAI, "http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1"),
        (Provider.GEMINI, "http://127.0.0.1:8000", "http://127.0.0.1:8000/v1beta"),
    ],
)
def test_the_address_has_the_version_of_the_interface(provider: Provider, url: str, base: str) -> None:
    assert base_url(provider, url) == base


@pytest.mark.parametrize(("idle", "quiet"), [(1, 10), (100, 45), (1000, 60)])
def test_two_silent_requests_end_before_the_watchdog_bites(idle: float, quiet: float) -> None:
    assert quiet_of(Limits(600, idle, 60)) == quiet


def test_words_of_the_first_process_and_of_the_one_that_is_asked_again(task: AgentTask) -> None:
    task = replace(task, effort="high", arguments=("--print-logs",), ask_again="Once more.", model="gpt-5.1")
    common = ("/opt/opencode", "run", "--format", "json", "--title", "agent-fox", "--model", "openai/gpt-5.1")
    assert OPENCODE.start(task, DOOR).argv == (*common, "--variant", "high", "--agent", "coder", "--print-logs")
    again = OPENCODE.again(task, DOOR, "ses_1")
    assert again.argv == (*common, "--variant", "high", "--agent", "again", "--print-logs", "--session", "ses_1")
    assert (again.stdin, again.environment["NO_PROXY"]) == ("Once more.", "intranet,127.0.0.1,localhost")
