"""The server over standard input and output with the scripted verifier, as a process.

Detection prints to standard output, as a careless library might: none of it may reach the client.
"""

from __future__ import annotations

import os
import sys

from agent_fox.mcp.serving import serve_stdio
from agent_fox.verifier.projects.systems import Detection
from tests.mcp.scripted import ScriptedToolbox


class ChattyToolbox(ScriptedToolbox):
    """Fakes what the scripted one does, and prints while it detects."""

    def detect(self) -> Detection:
        sys.stdout.write("careless\n")
        os.write(1, b"more careless\n")
        return super().detect()


if __name__ == "__main__":
    serve_stdio(ChattyToolbox(), "0")
