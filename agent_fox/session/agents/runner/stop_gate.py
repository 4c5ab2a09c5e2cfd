"""The stop hook's other end: a coder may not stop before it has run the verifier's tests on what it leaves.

The hook asks over loopback; what it is told is decided here, outside of all that the agent can change. A hook is no
barrier, for programs give up on it: the work is looked at after the session in any case. It only spares an attempt.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from agent_fox.session.agents.runner import stop_hook
from agent_fox.session.workspaces.leavings import CACHES, PRODUCTS
from agent_fox.verifier.source.scope import SourceScope
from agent_fox.verifier.source.watch import SourceMissing, TreeState, changed, read_tree

CHECKS = frozenset({"run_unit_tests", "run_selected_test"})
"""The verifier's tools of which one must have been run."""

MOST_BLOCKS = 3
"""How often a session is held back: one that still does not run them is let go, and its work judged as it is."""

MOST_NAMED = 5
REPOSITORY = ".git/"
"""A commit changes what git keeps, and no file of the work."""

LEFT_BEHIND = SourceScope(exclude=(*CACHES, *PRODUCTS))
"""What a build or a test run leaves behind is no change of the coder's."""


class StopGate:
    """Knows what the workspace held when it was checked last. May be asked from any thread."""

    def __init__(self, workspace: Path, most_blocks: int = MOST_BLOCKS) -> None:
        self._workspace, self._most, self._lock = workspace, most_blocks, threading.Lock()
        self._checked = self._read()
        self.blocks = 0

    def _read(self) -> TreeState | None:
        with contextlib.suppress(SourceMissing, OSError):
            return read_tree(self._workspace, LEFT_BEHIND)
        return None

    def note_check(self) -> None:
        """The verifier has just looked at the workspace."""
        with self._lock:
            self._checked = self._read()

    def why_not(self) -> str:
        """Why the session may not stop, for the agent to read; empty where it may."""
        with self._lock:
            now = self._read()
            paths = [change.path for change in changed(self._checked, now)] if now and self._checked else []
            changes = [path for path in paths if not path.startswith(REPOSITORY)]
            if not changes or self.blocks >= self._most:
                return ""
            self.blocks += 1
        named = ", ".join(changes[:MOST_NAMED]) + (" and more" if len(changes) > MOST_NAMED else "")
        return (
            f"You changed files after you last ran the verifier's tests: {named}. Run the verifier's tool "
            "run_unit_tests (or run_selected_test) and look at what it says; repair what is yours. Then stop."
        )


@contextlib.contextmanager
def served(gate: StopGate) -> Iterator[tuple[str, ...]]:
    """Serve the gate on loopback; the argv of a hook that asks it. Ended when the block is left."""
    word = secrets.token_urlsafe(24)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(gate, f"/{word}"))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/{word}"
        yield (sys.executable, "-I", "-S", "-B", stop_hook.__file__, url)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(gate: StopGate, path: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 30

        def do_POST(self) -> None:
            if not hmac.compare_digest(self.path.encode(), path.encode()):
                self.send_error(404)
                return
            reason = gate.why_not().encode()
            self.send_response(409 if reason else 200)
            self.send_header("Content-Length", str(len(reason)))
            self.end_headers()
            self.wfile.write(reason)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is logged: standard error is the session's."""

    return Handler
