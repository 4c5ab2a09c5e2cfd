"""`python -m agent_fox.testing.model_server SCRIPT`: the model server as a process of its own."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from agent_fox.testing.model_server.server import ModelServer
from agent_fox.testing.scripted.script import ScriptError

LONGEST_SECONDS = 3600.0


def main(arguments: list[str]) -> int:
    """Serve until a signal, or for `--seconds`; 1 and one line where that is impossible."""
    parser = argparse.ArgumentParser(prog="python -m agent_fox.testing.model_server", description=ModelServer.__doc__)
    parser.add_argument("script", type=Path, help="the script to play, TOML or JSON")
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--record", type=Path, help="add one JSON object a request to this file")
    parser.add_argument("--port-file", type=Path, help="write the port there once it listens")
    parser.add_argument("--seconds", type=float, default=LONGEST_SECONDS, help="end after so long (default 3600)")
    given = parser.parse_args(arguments)
    try:
        with ModelServer(given.script, port=given.port, record=given.record) as server:
            _serve(server, given.port_file, given.seconds)
    except (ScriptError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _serve(server: ModelServer, port_file: Path | None, seconds: float) -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if port_file is not None:
        port_file.write_text(server.url.rpartition(":")[2], encoding="utf-8")
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()
    stop.wait(seconds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
