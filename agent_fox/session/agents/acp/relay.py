"""The verifier's tools for an agent that knows MCP over standard input and output only: each line goes to the server
over HTTP, and each answer comes back as a line. Runs beside the agent. Standard library only.

The address and the word are in its environment, under the names below.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import threading
import urllib.parse

URL, TOKEN = "AGENT_FOX_RELAY_URL", "AGENT_FOX_RELAY_TOKEN"
SECONDS = 3600.0
FAILED = -32603


class Relay:
    """Hands lines over. Requests wait for each other no more than the server has them."""

    def __init__(self, url: str, token: str) -> None:
        self._place = urllib.parse.urlsplit(url)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._lock = threading.Lock()

    def hand_over(self, line: str) -> None:
        try:
            self.post(line)
        except (OSError, http.client.HTTPException) as error:
            self.fail(line, str(error))

    def post(self, line: str) -> None:
        connection = http.client.HTTPConnection(self._place.hostname or "", self._place.port or 80, timeout=SECONDS)
        connection.request("POST", self._place.path or "/", line.encode(), self._headers)
        answer = connection.getresponse()
        if answer.status >= 400:
            self.fail(line, f"the verifier's server answered {answer.status}")
            return
        session = answer.getheader("Mcp-Session-Id")
        if session:
            self._headers["Mcp-Session-Id"] = session
        if "event-stream" in (answer.getheader("Content-Type") or ""):
            for raw in answer:
                self.tell(raw.decode().removeprefix("data:").strip() if raw.startswith(b"data:") else "")
        else:
            self.tell(answer.read().decode().strip())

    def tell(self, text: str) -> None:
        if not text:
            return
        result = json.loads(text).get("result")
        if isinstance(result, dict) and "protocolVersion" in result:
            self._headers["MCP-Protocol-Version"] = result["protocolVersion"]
        with self._lock:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()

    def fail(self, line: str, why: str) -> None:
        """An answer to a request; a notification has none."""
        number = json.loads(line).get("id")
        if number is not None:
            error = {"code": FAILED, "message": why}
            self.tell(json.dumps({"jsonrpc": "2.0", "id": number, "error": error}))


def main() -> None:
    relay = Relay(os.environ[URL], os.environ[TOKEN])
    threads = []
    for line in sys.stdin:
        if line.strip():
            threads.append(threading.Thread(target=relay.hand_over, args=(line,), daemon=True))
            threads[-1].start()
            if '"initialize"' in line:
                threads[-1].join()  # what follows names the session that its answer gives
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
