"""Writes down what clients are told of the servers, each in its version: `python -m tests.mcp.write_descriptors`."""

from __future__ import annotations

from pathlib import Path

import agent_fox.mcp
from agent_fox.cli.chat.review_desk import undecided_desk
from agent_fox.mcp.catalogue import VERSION
from agent_fox.mcp.descriptors import FOLDER, as_text, describe
from agent_fox.mcp.review.catalogue import VERSION as REVIEW_VERSION
from agent_fox.mcp.review.server import describe_review
from tests.mcp.scripted import ScriptedToolbox, scripted_server


def write() -> None:
    folder = Path(agent_fox.mcp.__file__).parent / FOLDER
    verifier = describe(scripted_server(ScriptedToolbox(may_format=True)))
    (folder / f"verifier-{VERSION}.json").write_text(as_text(verifier), encoding="utf-8")
    review = describe_review(undecided_desk(), "0")
    (folder / f"review-{REVIEW_VERSION}.json").write_text(as_text(review), encoding="utf-8")


if __name__ == "__main__":
    write()
