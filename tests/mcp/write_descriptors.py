"""Writes down what clients are told of the server, for the present version: `python -m tests.mcp.write_descriptors`."""

from __future__ import annotations

from pathlib import Path

import agent_fox.mcp
from agent_fox.mcp.catalogue import VERSION
from agent_fox.mcp.descriptors import FOLDER, as_text, describe
from tests.mcp.scripted import ScriptedToolbox, scripted_server


def write() -> None:
    file = Path(agent_fox.mcp.__file__).parent / FOLDER / f"verifier-{VERSION}.json"
    file.write_text(as_text(describe(scripted_server(ScriptedToolbox(may_format=True)))), encoding="utf-8")


if __name__ == "__main__":
    write()
