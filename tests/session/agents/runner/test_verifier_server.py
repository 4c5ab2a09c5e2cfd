"""The verifier's tools as a session is offered them: our own server, started, reached and ended."""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.ids import Archetype
from agent_fox.session.agents.backend import verifier_argv
from agent_fox.session.agents.runner.services import NotServed, verifier_served
from agent_fox.session.agents.task import AgentTask
from agent_fox.session.backends import module_argv
from agent_fox.session.order import Paths
from tests.session.agents.toy import make_task
from tests.session.world import make_order, make_repo


def offered(tmp_path: Path, *words: str) -> AgentTask:
    task = make_task(tmp_path)
    return replace(task, verifier=words, environment={"PATH": os.environ["PATH"], "HOME": str(task.home)})


def status(url: str, token: str) -> int:
    request = urllib.request.Request(
        url, b"{}", {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_it_listens_and_knows_its_token_and_is_gone_afterwards(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace/pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')
    words = ["mcp", "verifier", "--http", "--port", "0", "--root", str(tmp_path / "workspace")]
    argv = module_argv("agent_fox.cli.main", [*words, "--artifacts", str(tmp_path / "artifacts")])
    with verifier_served(offered(tmp_path, *argv)) as served:
        assert served.url.startswith("http://127.0.0.1:")
        assert status(served.url, "a wrong token") == 401
        assert status(served.url, served.token) != 401
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(served.url, timeout=5)


def test_without_a_command_nothing_is_offered(tmp_path: Path) -> None:
    with verifier_served(make_task(tmp_path)) as served:
        assert (served.url, served.token) == ("", "")


def test_a_server_that_ends_at_once_says_why(tmp_path: Path) -> None:
    task = offered(tmp_path, sys.executable, "-c", "raise SystemExit('no such profile')")
    with pytest.raises(NotServed, match="no such profile"), verifier_served(task):
        raise AssertionError("nothing is served")


def test_formats_of_the_settings_are_read_from_the_repository_and_not_from_the_workspace(tmp_path: Path) -> None:
    order = replace(make_order(make_repo(tmp_path / "repo")), formats=("lint/mine.toml",))
    words = verifier_argv(order, Paths(order.state))
    assert words[words.index("--format") + 1] == str(order.repo / "lint/mine.toml")


def test_a_coder_may_read_the_recorded_evidence_and_who_judges_may_not(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    (repo / ".agent-fox" / "state.db").write_bytes(b"")
    shown = ("--state", str(repo / ".agent-fox" / "state.db"))
    for archetype, is_told in ((Archetype.CODER, True), (Archetype.REVIEWER, False), (Archetype.VERIFIER, False)):
        order = make_order(repo, archetype=archetype)
        words = verifier_argv(order, Paths(order.state))
        assert (words[-2:] == shown) is is_told
        assert is_told or "--state" not in words
