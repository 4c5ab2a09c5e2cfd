"""The stop hook that an agent's program runs: asks the gate of its session. Standard library only.

Exit 0: it may stop. Exit 2: it may not, and standard error says why. Any error is a 2 as well: who cannot be asked has
not agreed.
"""

from __future__ import annotations

import http.client
import sys
import urllib.parse

SECONDS = 60


def ask(url: str) -> str:
    """Why it may not stop; empty where it may. Raises OSError and HTTPException where nobody answers."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=SECONDS)
    connection.request("POST", parts.path, b"", {"Content-Length": "0"})
    answer = connection.getresponse()
    text = answer.read().decode("utf-8", "replace")
    if answer.status == 200:
        return ""
    return text or f"the gate answered {answer.status}"


def main(url: str) -> int:
    try:
        reason = ask(url)
    except (OSError, http.client.HTTPException) as error:
        reason = f"the gate of this session cannot be asked: {error}"
    if reason:
        sys.stderr.write(f"{reason}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
