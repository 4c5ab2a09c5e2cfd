"""A hidden check is planted, a run comes to a block, and nothing of the check stands anywhere but in its own folder.

A new command, document or folder is one line more in COMMANDS, RESOURCES or `places`.
"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from agent_fox.testing.worlds import rows, run_cli
from tests.evidence.waiver_world import person
from tests.stories.scene import NOT_PROVEN, run
from tests.stories.test_checks_in_a_run import world
from tests.stories.test_hidden_checks import FAKED, configured

FILE, NAME, BODY, OUTPUT = "zebrafile", "zebraname", "zebrabody", "zebraoutput"
PLANTED = f"tests/test_{FILE}.py"
CHECK = f"""\
from cart import total


def test_{NAME}():
    '01-REQ-1.1'
    print("{OUTPUT}")
    expected = {{"{BODY}": 42}}
    assert total([17, 25]) == expected["{BODY}"], "{BODY}"
"""
TOLD = """
[notify]
command = ["sh", "-c", "cat >> '{notes}'"]
[retry]
attempts = 2
[workspace]
state = "{state}"
"""
COMMANDS = (
    *("status", "explain 01_cart:1", "explain 01_cart:2", "logs 01_cart:1", "logs 01_cart:2", "plan", "lint", "doctor"),
    *("ledger show --all", "ledger show 01-REQ-1.1", "ledger show 01-REQ-1.1 --all", "ledger verify", "issues list"),
    *("issues show 1", "issues list", "waive --list", "agree --list", "library list", "review tasks", "plan --red"),
    *("gate --task-id 01_cart:1", "trace 01_cart:1", "memory", "training list", "run --dry-run", "reset 01_cart:2"),
)
WRITTEN = ("report --output {file}", "ledger export --unsigned {file}", "issues export --output {file}")
RESOURCES = (
    "evidence://specifications/01_cart", "evidence://gates/01_cart", "evidence://gates/01_cart/01-REQ-1.1",
    "verifier://regressions", "verifier://trace/01_cart/1", "verifier://gates/01_cart",
    "verifier://gates/01_cart/01-REQ-1.1",
)  # fmt: skip


@pytest.fixture(scope="module", params=["criterion", "assertion"])
def blocked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, ...]]:
    """A repository whose run stopped at a hidden check, and the words that may be nowhere."""
    at = tmp_path_factory.mktemp("hidden")
    root, folder = at / "repo", at / "hidden"
    (folder / PLANTED).parent.mkdir(parents=True)
    (folder / PLANTED).write_text(CHECK)
    files = configured(folder)
    more = TOLD.format(notes=at / "notes.json", state=at / "state")
    settings = f'{files[".agent-fox/config.toml"]}reveal = "{request.param}"\n{more}'
    steps = {str(attempt): {"cart.py": FAKED} for attempt in range(1, 4)}
    world(root, steps, {**files, ".agent-fox/config.toml": settings})
    run(root, ends=NOT_PROVEN)
    assert rows(root, "SELECT outcome FROM plan_nodes WHERE id = '01_cart:2'") == [("escalated",)]
    return root, (FILE, NAME, OUTPUT, *([BODY] if request.param == "criterion" else []))


def found_in(text: bytes, words: tuple[str, ...]) -> list[str]:
    return [word for word in words if word.encode() in text]


def places(root: Path) -> Iterator[tuple[str, bytes]]:
    """Every file that a run leaves, by its name and its bytes; what git holds; the rows of the state."""
    for folder in (root, root.parent / "state"):
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                yield str(path), path.read_bytes()
    yield str(root.parent / "notes.json"), (root.parent / "notes.json").read_bytes()
    argv = ["git", "cat-file", "--batch", "--batch-all-objects"]
    yield "objects of git", subprocess.run(argv, cwd=root, check=True, capture_output=True).stdout
    with closing(sqlite3.connect(root / ".agent-fox" / "state.db")) as db:
        yield "rows of the state", "\n".join(db.iterdump()).encode()


def test_no_file_of_a_run_holds_anything_of_it(blocked: tuple[Path, tuple[str, ...]]) -> None:
    root, words = blocked
    leaks = [
        (name, word) for name, content in places(root) for word in found_in(name.encode() + b"\n" + content, words)
    ]
    assert leaks == []


def test_what_may_be_told_is_found_where_it_is_looked_for(blocked: tuple[Path, tuple[str, ...]]) -> None:
    """Otherwise the search would find nothing of the check either."""
    root, _ = blocked
    told = {name.replace(str(root.parent), "") for name, content in places(root) if b"a hidden check of" in content}
    wanted = ("/.agent-fox/issues/", ".log", ".brief.md", "/verification.md", "rows of the state", "/state.db")
    assert [part for part in wanted if not any(part in name for name in told)] == []
    assert any(b"assert" in content for name, content in places(root) if "/artifacts/" in name)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_anything_of_it(blocked: tuple[Path, tuple[str, ...]], command: str) -> None:
    root, words = blocked
    for arguments in (command.split(), [*command.split(), "--json"]):
        done = run_cli(root, *arguments)
        assert done.stdout or done.stderr
        assert found_in(f"{done.stdout}{done.stderr}".encode(), words) == []


@pytest.mark.parametrize("command", WRITTEN)
def test_no_document_that_is_written_holds_anything_of_it(
    blocked: tuple[Path, tuple[str, ...]], command: str, tmp_path: Path
) -> None:
    root, words = blocked
    file = tmp_path / "document"
    done = run_cli(root, *command.format(file=file).split())
    assert done.returncode == 0, done
    for path in [file, *file.rglob("*")] if file.is_dir() else [file]:
        assert found_in(str(path).encode() + (path.read_bytes() if path.is_file() else b""), words) == []


@pytest.mark.parametrize("what", ["trajectories", "preferences", "tasks"])
def test_no_export_for_training_holds_anything_of_it(
    blocked: tuple[Path, tuple[str, ...]], what: str, tmp_path: Path
) -> None:
    """Although a person allows all of it."""
    root, words = blocked
    alice = person(tmp_path / "people")
    grant = ("--purpose", "tuning", "--reason", "ours", "--expires", "9d", *alice.signing)
    assert alice.cli(root, "training", "allow", "all", *grant).returncode == 0
    done = alice.cli(root, "export", what, str(tmp_path / "out"), "--purpose", "tuning")
    assert done.returncode == 0, done
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    if what == "trajectories":
        assert any(b"01_cart:1" in path.read_bytes() for path in written)
    assert [word for path in written for word in found_in(str(path).encode() + path.read_bytes(), words)] == []
    assert found_in(f"{done.stdout}{done.stderr}".encode(), words) == []


def test_no_resource_for_agents_holds_anything_of_it(blocked: tuple[Path, tuple[str, ...]]) -> None:
    pytest.importorskip("mcp")
    from mcp.client import Client  # noqa: PLC0415 - an extra

    from agent_fox.mcp.runs import Runs  # noqa: PLC0415 - needs the extra
    from agent_fox.mcp.server import build_server  # noqa: PLC0415 - the same
    from tests.mcp.scripted import ScriptedToolbox  # noqa: PLC0415 - the same

    root, words = blocked

    async def read() -> str:
        async with Client(build_server(ScriptedToolbox(), "0", Runs(), root / ".agent-fox" / "state.db")) as client:
            listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
            texts = []
            for uri in (*listed, *RESOURCES):
                texts += [getattr(each, "text", "") for each in (await client.read_resource(uri)).contents]
            return "\n".join(texts)

    text = anyio.run(read)
    assert "01-REQ-1.1" in text
    assert found_in(text.encode(), words) == []


def test_what_may_be_told_is_told(blocked: tuple[Path, tuple[str, ...]]) -> None:
    """The requirement, its text and the kind of failure: in the issue, the message, and the coder's brief."""
    root, _ = blocked
    (evidence,) = rows(root, "SELECT evidence FROM verification_results WHERE superseded_by IS NULL")
    assert str(evidence[0]).startswith("a hidden check of 01-REQ-1.1: what it asserts does not hold")
    (issue,) = (root / ".agent-fox" / "issues").glob("*.md")
    assert "a hidden check of 01-REQ-1.1" in issue.read_text()
    first = json.loads(re.match(r"\{.*?\}(?=\{|\Z)", (root.parent / "notes.json").read_text())[0])  # type: ignore[index]
    assert first["kind"] == "blocked"
