"""The program as agents start it, on a real project in each language, over both transports. Nothing is scripted."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.cli.program import PROGRAM, SOURCE
from tests.mcp.clients import Asking, served
from tests.verifier.language_projects import CMAKE, GO, MAVEN, NODE, PYTHON, RUST, Language
from tests.verifier.made_projects import OWN_PATH, committed, write
from tests.verifier.profiles.projects import needs

TOKEN = "a-token-for-tests-alone"


@pytest.fixture
def project(language: Language, tmp_path: Path) -> Path:
    needs(*language.programs)
    root = tmp_path / "project"
    root.mkdir()
    committed(root, language.files)
    return root


def environment(project: Path) -> dict[str, str]:
    """The person's own variables: where tools and their caches are is found by them."""
    state = {"XDG_STATE_HOME": str(project.parent / "state"), "AGENT_FOX_VERIFIER_TOKEN": TOKEN}
    return {**os.environ, "PATH": OWN_PATH, "PYTHONPATH": str(SOURCE), **state}


def over_stdio(project: Path, profile: str, ask: Asking[None]) -> None:
    served(project, ask, "verifier", "--profile", profile, variables=environment(project))


@contextmanager
def listening(project: Path, profile: str) -> Iterator[str]:
    """The address of a server on loopback, which is ended with the block."""
    argv = [*PROGRAM, "mcp", "verifier", "--profile", profile, "--http", "--port", "0"]
    process = subprocess.Popen(argv, cwd=project, env=environment(project), stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    with process:
        try:
            yield process.stderr.readline().split()[-1]
        finally:
            process.terminate()
            process.wait(timeout=20)


def over_http(project: Path, profile: str, ask: Asking[None]) -> None:
    async def main(url: str) -> None:
        http = httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}, timeout=120)
        async with http, Client(streamable_http_client(url, http_client=http)) as client:
            await ask(client)

    with listening(project, profile) as url:
        anyio.run(main, url)


@pytest.mark.parametrize("over", [over_stdio, over_http])
@pytest.mark.parametrize("language", [PYTHON, MAVEN, NODE, GO, RUST, CMAKE], ids=lambda one: one.name)
def test_an_agent_sees_what_fails_and_where_and_that_a_repair_passes(
    project: Path, language: Language, over: Callable[[Path, str, Asking[None]], None]
) -> None:
    async def ask(client: Client) -> None:
        found = (await client.call_tool("detect_build_system", {})).structured_content
        assert language.profile in {one["recommendedProfile"] for one in found["buildSystems"]}
        failed = (await client.call_tool("run_unit_tests", {})).structured_content
        if failed["failures"][0]["kind"] == "dependency_resolution_failure":
            pytest.skip(f"the build tool lacks plugins or packages here: {failed['summary']}")
        shown = failed["failures"][0]
        assert (failed["status"], shown["file"], shown["line"]) == (
            "failed",
            language.failing.file,
            language.failing.line,
        )
        if not language.repair:
            return
        write(project, language.repair)
        passed = (await client.call_tool("run_unit_tests", {})).structured_content
        assert (passed["status"], passed["testSummary"]["passed"]) == ("passed", 2), passed

    over(project, language.profile, ask)
