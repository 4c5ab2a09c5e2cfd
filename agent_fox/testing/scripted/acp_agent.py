"""The scripted agent as one that speaks the Agent Client Protocol: `python acp_agent.py PLAYER SCRIPT`. Standard
library only; PLAYER is the path of `agent.py`, beside this file, whose scripts and actions these are; SCRIPT may be
itself in JSON.

Each action that changes files or runs a program is a call of a tool: it is told, permission is asked for it, and it is
done where that is given. What is printed are the agent's words, and a step's numbers are told as the protocol has it. A
step that exits with another status than 0 ends the process in mid-prompt.

An answer that begins with `script has no step` ends a session that no step fits.
"""

from __future__ import annotations

import importlib.util
import io
import itertools
import json
import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

KINDS = {"write": "edit", "append": "edit", "replace": "edit", "delete": "delete", "run": "execute"}
"""The kind of tool, in the words of the protocol, of each action that needs permission."""

OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
MODELS = ("scripted-small", "scripted-large")
NUMBERS = ("cost_usd", "input_tokens", "output_tokens")
Message = dict[str, Any]


class Agent:
    """Reads requests from its input, one at a time, and writes its messages to what was its standard output."""

    def __init__(self, player: Any, script: Mapping[str, Any], wire: io.TextIOBase) -> None:  # noqa: ANN401 - a module
        self.player, self.script, self.wire = player, script, wire
        self.session, self.numbers, self.calls = "scripted-1", itertools.count(), itertools.count(1)
        self.prompts = 0

    def serve(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if "method" in message and "id" in message:
                self.send(id=message["id"], **self.answer(message["method"], message.get("params") or {}))

    def answer(self, method: str, parameters: Message) -> Message:
        known: Mapping[str, Callable[[Message], Message]] = {
            "initialize": self.introduce,
            "session/new": self.begin,
            "session/fork": self.begin,
            "session/set_config_option": lambda _: {"configOptions": self.options()},
            "session/prompt": self.work,
        }
        if method not in known:
            return {"error": {"code": -32601, "message": f"{method} is not known here"}}
        return {"result": known[method](parameters)}

    def introduce(self, _: Message) -> Message:
        able = {"loadSession": False, "mcpCapabilities": {"http": True}, "sessionCapabilities": {"fork": {}}}
        info = {"name": "scripted-acp", "version": "1.0.0"}
        return {"protocolVersion": 1, "agentCapabilities": able, "agentInfo": info, "authMethods": []}

    def begin(self, parameters: Message) -> Message:
        os.chdir(parameters["cwd"])
        return {"sessionId": self.session, "configOptions": self.options()}

    def options(self) -> list[Message]:
        values = [{"value": name, "name": name} for name in MODELS]
        chosen = {"type": "select", "currentValue": MODELS[0], "options": values}
        return [{"id": "model", "name": "Model", "category": "model", **chosen}]

    def work(self, _: Message) -> Message:
        self.prompts += 1
        step = self.step()
        if step is None:
            self.say(f"script has no step for {os.environ.get('AGENT_FOX_NODE')}")
            return {"stopReason": "end_turn"}
        self.tell_numbers(step)
        for action in step.get("actions", ()):
            self.act(action)
        if step.get("exit"):
            self.wire.flush()
            os._exit(step["exit"])
        counts = {"inputTokens": step.get("input_tokens") or 0, "outputTokens": step.get("output_tokens") or 0}
        usage = {"usage": {**counts, "totalTokens": sum(counts.values())}} if any(counts.values()) else {}
        return {"stopReason": step.get("stop", "end_turn"), **usage}

    def step(self) -> Mapping[str, Any] | None:
        """The first step of the script that fits; `prompt` names the first or a later prompt of a session."""
        node = os.environ.get("AGENT_FOX_NODE", "")
        steps: list[Mapping[str, Any]] = self.script.get("step", [])
        for step in steps:
            wanted = [("attempt", "AGENT_FOX_ATTEMPT"), ("reading", "AGENT_FOX_READING")]
            fits = all(is_one_of(step.get(key), int(os.environ.get(name, "1"))) for key, name in wanted)
            if fits and is_one_of(step.get("prompt"), self.prompts) and fnmatchcase(node, step.get("node", "*")):
                return step
        return None

    def tell_numbers(self, step: Mapping[str, Any]) -> None:
        if step.get("cost_usd") is not None:
            cost = {"amount": step["cost_usd"], "currency": "USD"}
            self.update(sessionUpdate="usage_update", used=0, size=0, cost=cost)

    def act(self, action: Mapping[str, Any]) -> None:
        name = next(key for key in self.player.ACTIONS if key in action)
        if name not in KINDS:
            printed = io.StringIO()
            with redirect_stdout(printed):
                self.player.act(action)
            self.say(printed.getvalue())
            return
        call = f"call-{next(self.calls)}"
        title = " ".join(action["run"]) if name == "run" else action[name]
        raw = {"command": title} if name == "run" else {"path": str(Path.cwd() / title)}
        about = {"toolCallId": call, "title": title, "kind": action.get("kind", KINDS[name]), "rawInput": raw}
        self.update(sessionUpdate="tool_call", status="pending", **about)
        if not self.is_allowed(about):
            self.update(sessionUpdate="tool_call_update", toolCallId=call, status="failed")
            return
        self.player.act(action)
        self.update(sessionUpdate="tool_call_update", toolCallId=call, status="completed")

    def is_allowed(self, about: Message) -> bool:
        number = f"ask-{next(self.numbers)}"
        call = {**about, "status": "pending"}
        self.send(
            id=number, method="session/request_permission",
            params={"sessionId": self.session, "toolCall": call, "options": OPTIONS},
        )  # fmt: skip
        for line in sys.stdin:
            message = json.loads(line)
            if message.get("id") == number:
                return bool(message.get("result", {}).get("outcome", {}).get("optionId") == "yes")
        return False

    def say(self, text: str) -> None:
        if text:
            self.update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})

    def update(self, **update: object) -> None:
        self.send(method="session/update", params={"sessionId": self.session, "update": update})

    def send(self, **message: object) -> None:
        self.wire.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.wire.flush()


def is_one_of(wanted: int | list[int] | None, number: int) -> bool:
    return wanted is None or number in (wanted if isinstance(wanted, list) else [wanted])


def read(script: str) -> Mapping[str, Any]:
    """A script by its path, or itself as JSON."""
    text = script if script.startswith("{") else Path(script).read_text(encoding="utf-8")
    read: Mapping[str, Any] = json.loads(text) if text.startswith("{") else tomllib.loads(text)
    return read


def main(player: str, script: str) -> None:
    """What programs print that an action runs goes to standard error: standard output is the protocol's."""
    spec = importlib.util.spec_from_file_location("player", player)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    wire = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    Agent(module, read(script), wire).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
