"""What a session of this backend does, standard library only: coders keep odd ids at once, even ids from their
second attempt on, and ids that end in 9 never.
"""

import json
import os
import sys
from pathlib import Path

KEPT = Path(f"kept-{os.environ['PLAYER_OF']}.txt")


def code(brief: dict[str, list[dict[str, str]]]) -> None:
    ids = [requirement["id"] for requirement in brief["requirements"]]
    is_first = os.environ["AGENT_FOX_ATTEMPT"] == "1"
    kept = [part for part in ids if not (is_first and part[-1] in "02468")]
    KEPT.write_text("\n".join(part for part in kept if not part.endswith("9")))


def verify(brief: dict[str, list[dict[str, str]]]) -> None:
    kept = KEPT.read_text().splitlines()
    ids = [requirement["id"] for requirement in brief["requirements"]]
    rows = [{"requirement_id": part, "verdict": "PASS" if part in kept else "FAIL"} for part in ids]
    sys.stdout.write(json.dumps({"verdicts": rows}))


def review(brief: dict[str, list[dict[str, str]]]) -> None:
    sys.stdout.write(json.dumps({"findings": [{"severity": "minor", "description": "short, but clear"}]}))


if __name__ == "__main__":
    document = json.loads(Path(os.environ["AGENT_FOX_BRIEF_JSON"]).read_text())
    {"coder": code, "verifier": verify, "reviewer": review}[sys.argv[1]](document)
