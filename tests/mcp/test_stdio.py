"""The server over standard input and output: a process of its own, spoken to line by line; the verifier is scripted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_fox.testing.worlds import wait_until
from tests.mcp.clients import children_of

ROOT = Path(__file__).resolve().parents[2]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SLOW = {"name": "run_unit_tests", "arguments": {"module": "slow"}}


@dataclass
class Line:
    """A server at the other end of two pipes."""

    process: subprocess.Popen[str]

    def send(self, message: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{message if isinstance(message, str) else json.dumps(message)}\n")
        self.process.stdin.flush()

    def ask(self, number: int, method: str, params: object) -> None:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def answer(self, number: int) -> dict[str, object]:
        """The answer to a request; every line before it must be a message of the protocol, too."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message: dict[str, object] = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == number:
                return message
        raise AssertionError("the server has closed its output")

    def greet(self, version: str = "2025-11-25") -> dict[str, object]:
        client = {"name": "test", "version": "1"}
        self.ask(1, "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})
        answered = self.answer(1)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answered

    def child(self) -> int:
        wait_until(lambda: bool(children_of(self.process.pid)), "the call ran")
        return children_of(self.process.pid)[0]


@pytest.fixture
def line() -> Iterator[Line]:
    command = [sys.executable, "-m", "tests.mcp.scripted_stdio"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        yield Line(process)
        process.terminate()


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_revision_with_a_handshake_is_answered_in_its_own_version(line: Line, version: str) -> None:
    assert line.greet(version)["result"]["protocolVersion"] == version  # type: ignore[index]
    line.ask(2, "tools/call", {"name": "run_unit_tests", "arguments": {}})
    assert line.answer(2)["result"]["structuredContent"]["status"] == "failed"  # type: ignore[index]


def test_the_revision_without_a_handshake_is_answered_too(line: Line) -> None:
    line.ask(1, "tools/call", {"name": "run_unit_tests", "arguments": {}, "_meta": MODERN})
    assert line.answer(1)["result"]["structuredContent"]["status"] == "failed"  # type: ignore[index]


def test_nothing_but_the_protocol_is_on_standard_output(line: Line) -> None:
    line.greet()
    line.ask(2, "tools/call", {"name": "detect_build_system", "arguments": {}})
    assert line.answer(2)["result"]["structuredContent"]["status"] == "passed"  # type: ignore[index]


def test_a_client_that_closes_its_end_ends_the_server_and_what_runs(line: Line) -> None:
    line.greet()
    line.ask(2, "tools/call", SLOW)
    child = line.child()
    assert line.process.stdin is not None
    line.process.stdin.close()
    assert line.process.wait(timeout=15) == 0
    assert not Path(f"/proc/{child}").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_and_what_runs(line: Line, number: signal.Signals) -> None:
    line.greet()
    line.ask(2, "tools/call", SLOW)
    child = line.child()
    line.process.send_signal(number)
    assert line.process.wait(timeout=15) == 128 + number
    assert not Path(f"/proc/{child}").exists()


def test_a_cancelled_call_ends_what_runs_and_the_server_goes_on(line: Line) -> None:
    line.greet()
    line.ask(2, "tools/call", SLOW)
    line.child()
    line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2, "reason": "enough"}})
    wait_until(lambda: not children_of(line.process.pid), "what the call had started was gone")
    line.ask(3, "tools/list", {})
    assert len(line.answer(3)["result"]["tools"]) == 11  # type: ignore[index]


@pytest.mark.parametrize("garbage", ["{", "[]", "7", "null", '{"jsonrpc":"2.0"}', "\x00", "[" * 10_000])
def test_a_line_that_is_no_message_does_not_end_the_server(line: Line, garbage: str) -> None:
    line.greet()
    line.send(garbage)
    line.ask(2, "ping", {})
    assert line.answer(2)["result"] == {}


def test_an_unknown_method_is_refused(line: Line) -> None:
    line.greet()
    line.ask(2, "tools/destroy", {})
    assert line.answer(2)["error"]["code"] == -32601  # type: ignore[index]
