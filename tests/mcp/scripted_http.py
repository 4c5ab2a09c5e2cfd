"""The server over HTTP with the scripted verifier, as a process: `python -m tests.mcp.scripted_http TOKEN`.

Its first line of output is its address. The token is an argument here, for tests alone.
"""

from __future__ import annotations

import sys

from agent_fox.mcp.http import Door, address, listen, serve_http
from tests.mcp.scripted import ScriptedToolbox


def main(token: str) -> None:
    door = Door(token)
    with listen(door) as listening:
        sys.stdout.write(f"{address(door.host, listening.getsockname()[1])}\n")
        sys.stdout.flush()
        serve_http(ScriptedToolbox(), "0", door, listening)


if __name__ == "__main__":
    main(sys.argv[1])
