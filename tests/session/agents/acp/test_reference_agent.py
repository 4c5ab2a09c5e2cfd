"""Our side of the protocol against the agent's side of the protocol's own library, as a process."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from agent_fox.session.agents.credentials import Credentials
from agent_fox.session.agents.prices import read_prices
from agent_fox.session.agents.registry import command_line
from agent_fox.session.agents.report import Ending
from agent_fox.session.agents.runner.attending import Orders
from agent_fox.session.agents.runner.listening import Hearing
from agent_fox.session.agents.runner.main import Conversation
from tests.session.agents.toy import make_task

PROGRAM = """
import asyncio
from pathlib import Path
import acp
from acp import schema

class Agent(acp.Agent):
    def on_connect(self, client):
        self.client = client
    async def initialize(self, protocol_version, **_):
        info = schema.Implementation(name="reference", version="9")
        return schema.InitializeResponse(protocol_version=protocol_version, agent_info=info)
    async def new_session(self, cwd, **_):
        self.cwd = cwd
        return schema.NewSessionResponse(session_id="r-1")
    async def prompt(self, prompt, session_id, **_):
        call = acp.start_edit_tool_call("c-1", "Write it", str(Path(self.cwd, "a.txt")), "x")
        await self.client.session_update(session_id, call)
        options = [
            schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
            schema.PermissionOption(option_id="no", name="No", kind="reject_once"),
        ]
        asked = schema.ToolCallUpdate(tool_call_id="c-1", kind="edit", title="Write it")
        answer = await self.client.request_permission(options=options, session_id=session_id, tool_call=asked)
        Path(self.cwd, "a.txt").write_text(answer.outcome.option_id + prompt[0].text)
        await self.client.session_update(session_id, acp.update_tool_call("c-1", status="completed"))
        await self.client.session_update(session_id, acp.update_agent_message_text("Done by the book."))
        return schema.PromptResponse(stop_reason="end_turn")

asyncio.run(acp.run_agent(Agent()))
"""


def test_a_session_with_the_reference_goes_its_way(tmp_path: Path) -> None:
    program = tmp_path / "reference.py"
    program.write_text(PROGRAM)
    task = replace(
        make_task(tmp_path, "The brief."), cli="acp", provider=None, upstream="", program=sys.executable,
        arguments=(str(program),),
    )  # fmt: skip
    line = command_line("acp")
    report = Conversation(task, line, Hearing(task, line, read_prices(None)), Orders()).hold(Credentials())
    assert (report.ending, report.summary, report.version) == (Ending.ENDED, "Done by the book.", "reference 9"), report
    assert (task.workspace / "a.txt").read_text() == "yesThe brief."
    assert report.tools == {"edit": 1}
