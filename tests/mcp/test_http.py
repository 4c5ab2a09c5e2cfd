"""The server over streamable HTTP: a process of its own, real sockets; the verifier behind it is scripted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from agent_fox.mcp.http import LARGEST_BODY
from agent_fox.testing.worlds import wait_until
from tests.mcp.clients import children_of

TOKEN = "a-token-for-tests-alone"
ROOT = Path(__file__).resolve().parents[2]
ACCEPT = "application/json, text/event-stream"
SLOW = {"name": "run_unit_tests", "arguments": {"module": "slow"}}


@dataclass(frozen=True)
class Place:
    """A server that listens."""

    url: str
    process: subprocess.Popen[str]

    def post(self, method: str, params: object, **headers: str) -> httpx2.Response:
        """One request as a program without an SDK would send it, with the token unless the headers say otherwise."""
        sent = {"authorization": f"Bearer {TOKEN}", "accept": ACCEPT, **_named(headers)}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return httpx2.post(
            self.url, json=body, headers={key: value for key, value in sent.items() if value}, timeout=20
        )

    @contextmanager
    def streaming_slow_call(self) -> Iterator[None]:
        """Within the block a call runs, and its answer is read by nobody."""
        session = self.post("initialize", initialized("2025-11-25")).headers["mcp-session-id"]
        headers = {"authorization": f"Bearer {TOKEN}", "accept": ACCEPT, "mcp-session-id": session}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": SLOW}
        with httpx2.Client(headers=headers, timeout=30) as client, client.stream("POST", self.url, json=body):
            yield

    def has_children(self) -> bool:
        return bool(children_of(self.process.pid))


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    yield from started()


@pytest.fixture
def own_place() -> Iterator[Place]:
    yield from started()


def started() -> Iterator[Place]:
    command = [sys.executable, "-m", "tests.mcp.scripted_http", TOKEN]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        yield Place(process.stdout.readline().strip(), process)
        process.terminate()
        process.wait(timeout=20)


def initialized(version: str) -> dict[str, object]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def answer(response: httpx2.Response) -> dict[str, object]:
    """The JSON-RPC answer in a response, whether it came as JSON or as the last event of a stream."""
    if response.headers["content-type"].startswith("application/json"):
        found: dict[str, object] = response.json()
    else:
        found = json.loads([line for line in response.text.splitlines() if line.startswith("data: {")][-1][6:])
    return found


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28", "auto"])
def test_a_client_with_the_token_lists_and_calls_tools(place: Place, mode: str) -> None:
    async def main() -> None:
        http = httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"})
        async with http, Client(streamable_http_client(place.url, http_client=http), mode=mode) as client:
            assert len((await client.list_tools()).tools) == 11
            result = await client.call_tool("run_unit_tests", {})
            assert result.structured_content["status"] == "failed"

    anyio.run(main)


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_revision_with_a_handshake_is_answered_in_its_own_version(place: Place, version: str) -> None:
    greeted = place.post("initialize", initialized(version))
    assert answer(greeted)["result"]["protocolVersion"] == version  # type: ignore[index]
    session = greeted.headers["mcp-session-id"]
    ask = place.post("tools/list", {}, mcp_session_id=session, mcp_protocol_version=version)
    assert len(answer(ask)["result"]["tools"]) == 11  # type: ignore[index]


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wrong", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN[:-1]}"]
)
def test_nobody_gets_in_without_the_token(place: Place, header: str) -> None:
    refused = place.post("initialize", initialized("2025-11-25"), authorization=header)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert "mcp-session-id" not in refused.headers


def test_without_the_token_no_path_is_told_from_another(place: Place) -> None:
    other = place.url.replace("/mcp", "/elsewhere")
    assert {httpx2.get(url).status_code for url in (place.url, other)} == {401}


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:80"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"content_type": "text/plain"}, 400),
    ],
)
def test_a_page_that_was_led_here_is_refused_even_with_the_token(
    place: Place, header: dict[str, str], status: int
) -> None:
    assert place.post("initialize", initialized("2025-11-25"), **header).status_code == status


def test_a_body_that_is_too_large_is_refused(place: Place) -> None:
    assert place.post("tools/call", {"name": "x" * LARGEST_BODY}).status_code == 413


def test_a_client_that_hangs_up_in_the_middle_leaves_no_process(place: Place) -> None:
    with place.streaming_slow_call():
        wait_until(place.has_children, "the call ran")
    wait_until(lambda: not place.has_children(), "what the call had started was gone")
    assert place.post("initialize", initialized("2025-11-25")).status_code == 200


def test_the_end_of_a_session_ends_what_runs_in_it(place: Place) -> None:
    async def main() -> None:
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}) as http:
            transport = streamable_http_client(place.url, http_client=http)
            async with Client(transport, mode="legacy") as client, anyio.create_task_group() as calls:
                calls.start_soon(lambda: client.call_tool("run_unit_tests", {"module": "slow"}))
                with anyio.fail_after(30):
                    while not place.has_children():
                        await anyio.sleep(0.05)
                calls.cancel_scope.cancel()

    anyio.run(main)
    wait_until(lambda: not place.has_children(), "what the call had started was gone")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_and_what_runs(own_place: Place, number: signal.Signals) -> None:
    with own_place.streaming_slow_call():
        wait_until(own_place.has_children, "the call ran")
        (child,) = children_of(own_place.process.pid)
        own_place.process.send_signal(number)
        own_place.process.wait(timeout=15)
    assert not Path(f"/proc/{child}").exists()


def test_wrong_json_is_an_error_and_the_server_stays_up(place: Place) -> None:
    headers = {"authorization": f"Bearer {TOKEN}", "accept": ACCEPT, "content-type": "application/json"}
    for content in (b"{", b"[]", b'"text"', b"\xff\xfe", b"[" * 50_000, b'{"jsonrpc":"2.0","id":1,"method":7}'):
        assert 400 <= httpx2.post(place.url, content=content, headers=headers).status_code < 500
    started = time.monotonic()
    assert place.post("initialize", initialized("2025-11-25")).status_code == 200
    assert time.monotonic() - started < 5


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {key.replace("_", "-"): value for key, value in headers.items()}
