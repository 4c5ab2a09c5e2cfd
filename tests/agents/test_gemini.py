"""The real Gemini CLI, started by its adapter. Fake: the model."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.session.agents.events import Answered, Began, Called, Finished, Spoke, Tokens, Turn, Unreadable, Used
from agent_fox.session.agents.gemini.adapter import GEMINI
from agent_fox.session.agents.report import Ending
from agent_fox.session.agents.task import Door, Limits, Role
from agent_fox.testing.model_server import ModelServer
from agent_fox.testing.worlds import SOURCE
from tests.agents.gemini_world import World, made
from tests.agents.mcp_tools import Tools, tools
from tests.agents.programs import VARIABLE, program
from tests.agents.world import PROMPT, WORD, asked, nobody, offered, run, script

__all__ = ["tools"]

FOUND = program("gemini")
pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(FOUND is None, reason=f"gemini is not below the folder that {VARIABLE} names"),
]

READ = {"tool": "read_file", "arguments": {"file_path": "a.txt"}}


@pytest.fixture
def world(tmp_path: Path) -> World:
    assert FOUND is not None
    return made(tmp_path, FOUND)


def test_a_coder_edits_and_runs(world: World) -> None:
    actions = (
        READ,
        {"tool": "write_file", "arguments": {"file_path": "b.txt", "content": "new\n"}},
        {
            "tool": "replace",
            "arguments": {"file_path": "a.txt", "old_string": "hello", "new_string": "bye", "instruction": "Part."},
        },
        {
            "tool": "run_shell_command",
            "arguments": {"command": "git status --short > out.txt && rm -f b.txt; ls | cat"},
        },
        {"say": "Done."},
    )
    with ModelServer(script(*actions, input_tokens=100, output_tokens=7)) as server:
        ran = world.run(server, world.task())

    assert (world.workspace / "a.txt").read_text() == "bye\n"
    assert "b.txt" in (world.workspace / "out.txt").read_text()
    assert not (world.workspace / "b.txt").exists()
    assert [call.tool for call in ran.of(Called)] == ["read_file", "write_file", "replace", "run_shell_command"]
    assert not [end for end in ran.of(Answered) if end.is_error]
    assert [used.tokens for used in ran.of(Used)] == [Tokens(input=100, output=7)] * 5
    assert (len(ran.of(Turn)), ran.of(Unreadable)) == (5, [])
    assert (ran.of(Finished)[-1].text, ran.outcome.ending) == ("Done.", Ending.ENDED)
    assert {exchange.headers["x-goog-api-key"] for exchange in server.requests} == {WORD}
    assert "RULES-OF-THE-ROLE" in asked(server)[0]


def test_a_coder_leaves_nothing_running_and_has_no_other_tools(world: World) -> None:
    actions = (
        {"tool": "run_shell_command", "arguments": {"command": "sleep 60", "is_background": True}},
        {"tool": "google_web_search", "arguments": {"query": "x"}},
        {"tool": "web_fetch", "arguments": {"prompt": "http://127.0.0.1:9/"}},
        {"tool": "read_file", "arguments": {"file_path": "/etc/passwd"}},
        {"say": "Done."},
    )
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, world.task())

    assert [end.is_error for end in ran.of(Answered)] == [True] * 4
    assert [end.is_refused for end in ran.of(Answered)] == [True, True, True, False]
    assert "root:" not in " ".join(asked(server))
    assert offered(server.requests[0]) == {
        *("list_directory", "read_file", "grep_search", "glob"),
        *("replace", "write_file", "run_shell_command", "write_todos"),
    }


@pytest.mark.parametrize("role", [Role.VERIFIER, Role.REVIEWER])
def test_who_judges_reads_and_calls_our_tools_only(role: Role, world: World, tools: Tools) -> None:
    served = tools.door if role is Role.VERIFIER else {}
    actions = (
        {"tool": "mcp_verifier_run_unit_tests", "arguments": {"scope": "all"}},
        {"tool": "mcp_verifier_erase_everything", "arguments": {}},
        {"tool": "run_shell_command", "arguments": {"command": "touch ran.txt"}},
        {"tool": "write_file", "arguments": {"file_path": "written.txt", "content": "x"}},
        {
            "tool": "replace",
            "arguments": {"file_path": "a.txt", "old_string": "hello", "new_string": "bye", "instruction": "Part."},
        },
        READ,
        {"say": "Verdict."},
    )
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, world.task(role, tools=("run_unit_tests",)), **served)

    refused = [end.is_refused for end in ran.of(Answered)]
    assert refused == [not served, True, True, True, True, False]
    assert [call.tool for call in ran.of(Called) if not GEMINI.may(role, call.tool)] == [
        *([] if served else ["mcp__verifier__run_unit_tests", "mcp__verifier__erase_everything"]),
        *("run_shell_command", "write_file", "replace"),
    ]
    assert tools.called == (["run_unit_tests all"] if served else [])
    reading = {"list_directory", "read_file", "grep_search", "glob"}
    assert offered(server.requests[0]) == reading | ({"mcp_verifier_run_unit_tests"} if served else set())
    assert sorted(path.name for path in world.workspace.iterdir()) == [".git", "a.txt"]
    assert (world.workspace / "a.txt").read_text() == "hello\n"


def test_a_server_of_tools_that_cannot_be_reached_is_told(world: World) -> None:
    with ModelServer(script({"say": "Verdict."})) as server:
        task = world.task(Role.VERIFIER, tools=("run_unit_tests",))
        ran = world.run(server, task, mcp_url=f"{nobody()}/mcp", mcp_token="tools-token")

    assert [began.servers for began in ran.of(Began) if began.servers] == [{"verifier": "failed"}]


def test_it_is_asked_again_in_the_same_session_without_any_tool(world: World, tools: Tools) -> None:
    task = world.task(Role.VERIFIER, tools=("run_unit_tests",))
    actions = (READ, {"say": "No JSON."}, {"tool": "read_file", "arguments": {"file_path": "b.txt"}}, {"say": "{}"})
    with ModelServer(script(*actions, input_tokens=100, output_tokens=7)) as server:
        first = world.run(server, task, **tools.door)
        session = first.of(Began)[0].session
        asked_before = len(server.requests)
        again = run(task, GEMINI.again(task, Door(server.url, WORD, tools.url, tools.token), session))

    assert again.of(Began)[0].session == session
    assert offered(server.requests[asked_before]) == set()
    assert "No JSON." in asked(server)[asked_before]
    assert again.outcome.ending is Ending.ENDED
    assert not {used.message for used in first.of(Used)} & {used.message for used in again.of(Used)}
    assert all(used.tokens == Tokens(input=100, output=7) for used in (*first.of(Used), *again.of(Used)))


def test_a_coder_is_held_by_the_stop_hook(world: World) -> None:
    hook = world.root / "hook.py"
    hook.write_text(
        "import pathlib, sys\n"
        "seen = pathlib.Path(__file__).with_suffix('.seen')\n"
        "if not seen.exists():\n"
        "    seen.write_text(sys.stdin.read())\n"
        "    print('Run the tests first.', file=sys.stderr)\n"
        "    sys.exit(2)\n"
    )
    actions = ({"say": "Done."}, READ, {"say": "Tests pass."})
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, world.task(), stop_command=(sys.executable, str(hook)))

    assert '"AfterAgent"' in hook.with_suffix(".seen").read_text()
    assert "Run the tests first." in asked(server)[1]
    assert [said.text for said in ran.of(Spoke)] == ["Done.", "Tests pass."]
    assert ran.outcome.ending is Ending.ENDED


def test_a_prompt_attaches_no_file(world: World) -> None:
    world.plant("pytest.fixture", "PLANTED")
    with ModelServer(script({"say": "Done."})) as server:
        world.run(server, world.task(prompt=f"{PROMPT}\nUse @pytest.fixture and @a.txt, tell me@example.org.\n"))

    assert "PLANTED" not in asked(server)[0]
    assert "hello" not in asked(server)[0]
    assert re.search(r"Use \\+@pytest\.fixture and", asked(server)[0])


def test_effort_reaches_the_model(world: World) -> None:
    with ModelServer(script({"say": "Done."})) as server:
        world.run(server, world.task(effort="low"))
        world.run(server, world.task(model="gemini-3-pro-preview", effort="low"))

    first, second = asked(server)
    assert '"thinkingBudget": 2048' in first
    assert '"thinkingLevel": "LOW"' in second


def test_a_ceiling_of_turns_is_kept_and_no_success(world: World) -> None:
    actions = [{"tool": "read_file", "arguments": {"file_path": f"{number}.txt"}} for number in range(6)]
    with ModelServer(script(*actions)) as server:
        ran = world.run(server, world.task(limits=Limits(wall=600, idle=300, answer=60, turns=2)))

    assert (len(server.requests), ran.status, ran.outcome.ending) == (2, 53, Ending.FAILED)


def test_the_key_is_not_in_its_arguments(world: World) -> None:
    """Arguments are visible to everybody on the machine; an environment is not."""
    start = GEMINI.start(world.task(), Door("http://127.0.0.1:9", WORD))

    assert WORD not in " ".join(start.argv)
    assert os.access(start.argv[0], os.X_OK)


def test_it_takes_the_extension_of_this_repository(tmp_path: Path) -> None:
    assert FOUND is not None
    home = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def extensions(*words: str | Path) -> str:
        command = (FOUND, "extensions", *words)
        tried = subprocess.run(command, cwd=tmp_path, env=home, capture_output=True, text=True, timeout=120, check=True)
        return tried.stdout + tried.stderr

    extensions("validate", SOURCE / "plugins/agent-fox")
    extensions("install", "--consent", "--skip-settings", SOURCE / "plugins/agent-fox")
    listed = extensions("list")
    assert all(name in listed for name in ("agent-fox-verifier", "agent-fox-review", "AGENTS.md", "agent-fox: Plan,"))
