"""`agent-fox mcp review` as a person starts it: the program, a client, git and the reviewer's program are all real."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import cast

import anyio
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.client import Client, ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsResult, RequestParamsMeta, Root
from pydantic import FileUrl

import agent_fox.mcp
from agent_fox.cli.chat.review_desk import undecided_desk
from agent_fox.mcp.descriptors import FOLDER, as_text
from agent_fox.mcp.review.catalogue import ENTRIES, VERSION
from agent_fox.mcp.review.server import describe_review
from agent_fox.review.clearing import FILE, set_password
from agent_fox.review.tasks import Word, standing
from agent_fox.store.reviews import task_row
from agent_fox.store.state import read_state
from agent_fox.testing.worlds import wait_until
from tests.cli.program import said, start
from tests.mcp import clients
from tests.mcp.clients import MODES, children_of, error_code, text
from tests.review.worlds import OK, TASK, git, program, repository, saying

CODEX = cast(RequestParamsMeta, {"sessionId": "from-the-call"})
CRITERION = "def greet(name='world'): return f'Hello, {name}'\n"
# Says OK where the greeting has its default, as a reviewer that reads the diff would.
READING = (
    "ok = \"+def greet(name='world')\" in prompt\n"
    'print(\'{"status": "OK"}\' if ok else \'{"status": "NOK", "feedback": "greet() has no default"}\')'
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", **{"app.py": "x = 1\n"})


def environment(root: Path, **variables: str) -> dict[str, str]:
    home = root.parent / "home"
    home.mkdir(exist_ok=True)
    return clients.environment(home, **variables)


def served(
    root: Path,
    ask: clients.Asking[None],
    *options: str,
    mode: str = "legacy",
    roots: tuple[Path, ...] = (),
    **variables: str,
) -> None:
    """Let a client ask the program, which is started in `root`."""

    async def listed(context: ClientRequestContext) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(each.as_uri())) for each in roots])

    own = environment(root, **variables)
    clients.served(root, ask, "review", *options, variables=own, mode=mode, roots=listed if roots else None)


async def registered(client: Client, name: str = "todoWrite") -> str:
    result = await client.call_tool(name, {"description": TASK})
    assert not result.is_error, text(result)
    assert json.loads(text(result)) == result.structured_content
    return str(result.structured_content["task_id"])


async def verified(client: Client, task: str, name: str = "todoCompleteAndVerify") -> dict[str, str]:
    result = await client.call_tool(name, {"task_id": task})
    assert not result.is_error, text(result)
    found: dict[str, str] = result.structured_content
    return found


def word(root: Path, task: str) -> Word:
    db = read_state(root / ".agent-fox" / "state.db")
    try:
        return standing(db, task).word
    finally:
        db.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_task_is_registered_refused_mended_and_verified(root: Path, mode: str) -> None:
    async def ask(client: Client) -> None:
        task = await registered(client)
        assert task.startswith("afx-")
        assert len(task) == 16
        (root / "app.py").write_text("def greet(name): return f'Hello, {name}'\n")
        nok = await verified(client, task)
        assert (nok["status"], nok["feedback"]) == ("NOK", "greet() has no default")
        (root / "app.py").write_text(CRITERION)
        assert (await verified(client, task))["status"] == "OK"
        assert word(root, task) is Word.VERIFIED

    served(root, ask, "--", str(program(root.parent / "bin", READING)), mode=mode)


def test_the_snake_case_names_do_the_same(root: Path) -> None:
    async def ask(client: Client) -> None:
        task = await registered(client, "todo_write")
        (root / "app.py").write_text(CRITERION)
        assert (await verified(client, task, "todo_complete_and_verify"))["status"] == "OK"
        assert error_code(await client.call_tool("todo_clear", {"task_ids": [task], "password": "p"})) == "clearing_off"

    served(root, ask, "--", str(program(root.parent / "bin", READING)))


def test_a_task_knows_the_session_that_registered_it(root: Path) -> None:
    tasks: list[str] = []

    async def ask(client: Client) -> None:
        tasks.append(await registered(client))
        told = await client.call_tool("todoWrite", {"description": TASK}, meta=CODEX)
        tasks.append(str(told.structured_content["task_id"]))

    options = ("--", str(saying(root.parent / "bin", OK)))
    served(root, ask, *options)
    served(root, ask, *options, CLAUDE_CODE_SESSION_ID="from-the-server")
    db = read_state(root / ".agent-fox" / "state.db")
    clients = [row.client.partition("session=")[2] for task in tasks if (row := task_row(db, task))]
    db.close()
    assert clients == ["", "from-the-call", "from-the-server", "from-the-server"]


def test_a_restart_forgets_nothing(root: Path) -> None:
    options = ("--", str(program(root.parent / "bin", READING)))
    tasks: list[str] = []

    async def first(client: Client) -> None:
        tasks.append(await registered(client))

    async def second(client: Client) -> None:
        (root / "app.py").write_text(CRITERION)
        git(root, "commit", "-qam", "work")
        assert (await verified(client, tasks[0]))["status"] == "OK"

    served(root, first, *options)
    served(root, second, *options)


def test_the_state_comes_with_its_gitignore_and_nothing_else_is_touched(root: Path) -> None:
    async def ask(client: Client) -> None:
        await registered(client)

    served(root, ask, "--", str(saying(root.parent / "bin", OK)))
    assert git(root, "status", "--porcelain", "--untracked-files=all") == "?? .agent-fox/.gitignore"
    assert sorted(file.name for file in root.iterdir()) == [".agent-fox", ".git", "README.md", "app.py"]


def test_the_roots_of_the_client_are_reviewed_each_in_its_block(root: Path, tmp_path: Path) -> None:
    other = repository(tmp_path / "other space", **{"lib.py": "l = 1\n"})
    note = tmp_path / "seen"

    async def ask(client: Client) -> None:
        task = await registered(client)
        (other / "lib.py").write_text("l = 2\n")
        assert (await verified(client, task))["status"] == "OK"

    reviewer = program(tmp_path / "bin", f"open({str(note)!r}, 'w').write(prompt); print('{OK}')")
    served(root, ask, "--", str(reviewer), roots=(root, other))
    assert [f'<REPO path="{one}" ' in note.read_text() for one in (root, other)] == [True, True]


def test_configured_folders_go_before_roots(root: Path, tmp_path: Path) -> None:
    other = repository(tmp_path / "other")

    async def ask(client: Client) -> None:
        task = await registered(client)
        (other / "README.md").write_text("changed\n")
        assert "nothing changed" in (await verified(client, task))["feedback"]

    served(root, ask, "--repo", str(root), "--", str(saying(tmp_path / "bin", OK)), roots=(other,))


@pytest.mark.parametrize("mode", MODES)
def test_without_roots_the_project_of_the_client_is_reviewed(root: Path, tmp_path: Path, mode: str) -> None:
    other = repository(tmp_path / "other")

    async def ask(client: Client) -> None:
        task = await registered(client)
        (other / "README.md").write_text("changed\n")
        assert (await verified(client, task))["status"] == "OK"
        assert word(other, task) is Word.VERIFIED

    served(root, ask, "--", str(saying(tmp_path / "bin", OK)), mode=mode, CLAUDE_PROJECT_DIR=str(other))


def test_descriptions_without_criteria_are_refused_with_what_is_missing(root: Path) -> None:
    async def ask(client: Client) -> None:
        for description in ("fix the login bug", "## Title\n\nprose\n", "x" * 40_000):
            refused = await client.call_tool("todoWrite", {"description": description})
            assert error_code(refused) == "description_refused"
        assert "Acceptance Criteria" in text(await client.call_tool("todoWrite", {"description": "fix it"}))

    served(root, ask, "--", str(saying(root.parent / "bin", OK)))


def test_arguments_that_are_none_are_refused(root: Path) -> None:
    async def ask(client: Client) -> None:
        for name, arguments in (
            ("todoWrite", {}),
            ("todoWrite", {"description": 7}),
            ("todoWrite", {"description": TASK, "project": "/etc"}),
            ("todoCompleteAndVerify", {"task_id": "../../etc/passwd"}),
            ("todoCompleteAndVerify", {"task_id": ["afx-0123456789ab"]}),
            ("todoClear", {"task_ids": "afx-0123456789ab", "password": "p"}),
            ("todoClear", {"task_ids": [], "password": "p"}),
        ):
            assert error_code(await client.call_tool(name, arguments)) == "invalid_arguments", (name, arguments)
        assert (
            error_code(await client.call_tool("todoCompleteAndVerify", {"task_id": "afx-0123456789ab"}))
            == "unknown_task"
        )
        with pytest.raises(MCPError, match="todoCompleteAndVerify"):
            await client.call_tool("todoFinish", {})

    served(root, ask, "--", str(saying(root.parent / "bin", OK)))


def test_a_reviewer_that_hangs_is_no_ok_and_leaves_nothing(root: Path) -> None:
    async def ask(client: Client) -> None:
        task = await registered(client)
        (root / "app.py").write_text(CRITERION)
        answer = await verified(client, task)
        assert answer["status"] == "UNKNOWN"
        assert "did not answer" in answer["reason"]
        assert answer["remedy"]
        assert word(root, task) is Word.FAILED

    served(root, ask, "--timeout", "1", "--", str(program(root.parent / "bin", "time.sleep(300)")))


def test_a_cancelled_review_ends_the_reviewer_and_is_no_ok(root: Path) -> None:
    note = root.parent / "pid"
    tasks: list[str] = []

    async def ask(client: Client) -> None:
        tasks.append(await registered(client))
        (root / "app.py").write_text(CRITERION)
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "todoCompleteAndVerify", {"task_id": tasks[0]})
            with anyio.fail_after(20):
                while not (note.exists() and note.read_text()):
                    await anyio.sleep(0.05)
            calls.cancel_scope.cancel()
        assert (await client.list_tools()).tools

    body = f"open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(300)"
    served(root, ask, "--", str(program(root.parent / "bin", body)))
    wait_until(lambda: not Path(f"/proc/{note.read_text()}").exists(), "the reviewer was gone")
    assert word(root, tasks[0]) is not Word.VERIFIED


def test_clearing_by_password_is_on_record_and_verifies_nothing(root: Path) -> None:
    set_password(root.parent / "config" / "agent-fox" / FILE, "open sesame")

    async def ask(client: Client) -> None:
        task = await registered(client)
        wrong = await client.call_tool("todoClear", {"task_ids": [task], "password": "open barley"})
        assert error_code(wrong) == "wrong_password"
        done = await client.call_tool("todoClear", {"task_ids": [task, "afx-000000000000"], "password": "open sesame"})
        assert done.structured_content == {"status": "OK", "cleared": [task], "not_found": ["afx-000000000000"]}
        assert word(root, task) is Word.CLEARED

    options = ("--", str(saying(root.parent / "bin", OK)))
    served(root, ask, *options, XDG_CONFIG_HOME=str(root.parent / "config"))


def test_a_folder_without_git_is_refused_with_the_remedy(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()

    async def ask(client: Client) -> None:
        refused = await client.call_tool("todoWrite", {"description": TASK})
        assert error_code(refused) == "no_repository"
        assert "git init" in text(refused)

    served(plain, ask, "--", str(saying(tmp_path / "bin", OK)))


def test_a_broken_state_is_said_and_not_overwritten(root: Path) -> None:
    (root / ".agent-fox").mkdir()
    (root / ".agent-fox" / "state.db").write_bytes(b"SQLite format 3\0" + b"half" * 300)

    async def ask(client: Client) -> None:
        assert error_code(await client.call_tool("todoWrite", {"description": TASK})) == "state_unusable"

    served(root, ask, "--", str(saying(root.parent / "bin", OK)))
    assert (root / ".agent-fox" / "state.db").read_bytes().endswith(b"half")


def test_a_file_of_the_workspace_cannot_name_the_reviewer(root: Path) -> None:
    (root / ".agent-fox").mkdir()
    evil = saying(root / "bin", OK, "evil")
    (root / ".agent-fox" / "review.toml").write_text(f'[review]\ncommand = ["{evil}"]\n')
    refused = start(root, "mcp", "review", **environment(root))
    assert refused.returncode == 1
    assert "no reviewer is set" in said(refused)
    assert "review.toml" in said(refused)


def test_own_settings_inside_of_the_workspace_are_refused(root: Path) -> None:
    (root / "config" / "agent-fox").mkdir(parents=True)
    (root / "config" / "agent-fox" / "review.toml").write_text('[review]\ncommand = ["cat"]\n')
    refused = start(root, "mcp", "review", **environment(root, XDG_CONFIG_HOME=str(root / "config")))
    assert refused.returncode == 1
    assert "lies in the workspace under review" in said(refused)


def test_own_settings_name_the_reviewer(root: Path) -> None:
    config = root.parent / "config"
    (config / "agent-fox").mkdir(parents=True)
    reviewer = program(root.parent / "bin", READING)
    (config / "agent-fox" / "review.toml").write_text(f'[review]\ncommand = ["{reviewer}"]\ntimeout = 30.0\n')

    async def ask(client: Client) -> None:
        task = await registered(client)
        (root / "app.py").write_text(CRITERION)
        assert (await verified(client, task))["status"] == "OK"

    served(root, ask, XDG_CONFIG_HOME=str(config))


@pytest.mark.parametrize("content", ["[review]\ncommand = 7\n", "[review]\nreviewer = 'x'\n", "command = ", "[gate]\n"])
def test_own_settings_that_are_none_are_said(root: Path, content: str) -> None:
    config = root.parent / "config"
    (config / "agent-fox").mkdir(parents=True)
    (config / "agent-fox" / "review.toml").write_text(content)
    refused = start(root, "mcp", "review", **environment(root, XDG_CONFIG_HOME=str(config)))
    assert refused.returncode == 1
    assert "review.toml" in said(refused)


def test_a_reviewer_on_the_path_of_the_workspace_is_not_taken(root: Path) -> None:
    evil = saying(root / "bin", OK, "judge")
    path = os.pathsep.join((str(evil.parent), os.environ["PATH"]))
    refused = start(root, "mcp", "review", "--", "judge", **environment(root, PATH=path))
    assert refused.returncode == 1
    assert "not found on PATH outside of the workspace" in said(refused)


def test_the_server_ends_with_its_client_and_so_does_the_reviewer(root: Path) -> None:
    note, others = root.parent / "pid", set(children_of(os.getpid()))

    async def ask(client: Client) -> None:
        task = await registered(client)
        (root / "app.py").write_text(CRITERION)
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "todoCompleteAndVerify", {"task_id": task})
            with anyio.fail_after(20):
                while not (note.exists() and note.read_text()):
                    await anyio.sleep(0.05)
            for server in set(children_of(os.getpid())) - others:
                os.kill(server, 15)
            calls.cancel_scope.cancel()

    body = f"open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(300)"
    served(root, ask, "--", str(program(root.parent / "bin", body)))
    wait_until(lambda: not Path(f"/proc/{note.read_text()}").exists(), "the reviewer was gone")


def test_the_tools_are_these_and_described() -> None:
    described = describe_review(undecided_desk(), "0")
    tools = described["tools"]
    assert isinstance(tools, list)
    names = {str(tool["name"]) for tool in tools if isinstance(tool, dict)}
    assert names == {
        *("todoWrite", "todoCompleteAndVerify", "todoClear"),
        *("todo_write", "todo_complete_and_verify", "todo_clear"),
    }
    for tool in tools:
        assert isinstance(tool, dict)
        assert len(str(tool["description"])) > 60
        schema = tool["inputSchema"]
        assert isinstance(schema, dict)
        Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False


def test_only_a_review_reaches_the_world_and_only_clearing_destroys() -> None:
    tools = describe_review(undecided_desk(), "0")["tools"]
    assert isinstance(tools, list)
    hints = {str(tool["name"]): tool["annotations"] for tool in tools if isinstance(tool, dict)}
    assert {entry.name for entry in ENTRIES} == set(hints)
    reaching = {name for name, hint in hints.items() if isinstance(hint, dict) and hint["openWorldHint"]}
    destroying = {name for name, hint in hints.items() if isinstance(hint, dict) and hint["destructiveHint"]}
    assert reaching == {"todoCompleteAndVerify", "todo_complete_and_verify"}
    assert destroying == {"todoClear", "todo_clear"}


def test_descriptors_change_only_with_their_version() -> None:
    file = Path(agent_fox.mcp.__file__).parent / FOLDER / f"review-{VERSION}.json"
    again = f"python -m tests.mcp.write_descriptors writes {file.name}; raise review_catalogue.VERSION first"
    assert as_text(describe_review(undecided_desk(), "0")) == file.read_text(encoding="utf-8"), again


def test_the_descriptors_can_be_read_without_a_reviewer(root: Path) -> None:
    done = start(root, "mcp", "review", "--json", **environment(root))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["tools"]) == 6
    assert not (root / ".agent-fox").exists()
