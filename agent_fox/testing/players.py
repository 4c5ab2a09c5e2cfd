"""The scripted coder and verifier of a `World`: programs of their own, standard library only. They decide nothing.

`python players.py coder` (or `verifier`) plays what the story file named by `STORY` says about this session: the
coder writes one proof file a requirement, the verifier reads those files and says one verdict about each.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

PROOFS = Path("proof")
RIGHT = "right"
CODER_EXIT, VERIFIER_EXIT = 7, 3

Story = Mapping[str, Any]


def play(role: str) -> None:
    story = json.loads(Path(os.environ["STORY"]).read_text(encoding="utf-8"))
    time.sleep(story["seconds"])
    {"coder": code, "verifier": verify}[role](story)


def code(story: Story) -> None:
    node, attempt = os.environ["AGENT_FOX_NODE"], int(os.environ["AGENT_FOX_ATTEMPT"])
    brief = json.loads(Path(os.environ["AGENT_FOX_BRIEF_JSON"]).read_text(encoding="utf-8"))
    failing = {failure["id"]: str(failure.get("evidence", "")) for failure in brief["failing"]}
    note(story, {"role": "coder", "node": node, "attempt": attempt, "failing": failing})
    said = story["coder_does"].get(f"{node}/{attempt}")
    cost(story, node)
    if said == "crash":
        leave("the coder was told to crash", CODER_EXIT)
    if said != "nothing":
        work(story, node, attempt, failing)


def work(story: Story, node: str, attempt: int, failing: Mapping[str, str]) -> None:
    """Write this group's proofs: right from the attempt that the story names, if it is new or asked for."""
    PROOFS.mkdir(exist_ok=True)
    for broken in story["breaks"].get(f"{node}/{attempt}", ()):
        proof(broken).write_text(f"broken by {node}")
    for rule in story["requirements"]:
        if f"{rule['spec']}:{rule['group']}" == node:
            write(rule, attempt, is_asked=rule["id"] in failing)


def write(rule: Story, attempt: int, *, is_asked: bool) -> None:
    path = proof(rule["id"])
    text = path.read_text() if path.exists() else None
    is_done = attempt >= rule["right_at"] and (is_asked or text is None)
    if is_done or text != RIGHT:
        path.write_text(RIGHT if is_done else f"wrong at attempt {attempt}")


def verify(story: Story) -> None:
    node, attempt, reading = (os.environ[f"AGENT_FOX_{name}"] for name in ("NODE", "ATTEMPT", "READING"))
    note(story, {"role": "verifier", "node": node, "attempt": int(attempt), "reading": int(reading)})
    spec = node.split(":")[0]
    said = story["verifier_says"].get(f"{spec}/{attempt}/{reading}")
    if said == "crash":
        leave("the verifier was told to crash", VERIFIER_EXIT)
    if said == "write":
        Path("verifier-was-here.txt").write_text("x")
    print(report(story, spec) if said in (None, "write") else said)  # noqa: T201 - a process's own standard output


def report(story: Story, spec: str) -> str:
    rows = [verdict(rule["id"]) for rule in story["requirements"] if rule["spec"] == spec]
    overall = "PASS" if all(row["verdict"] == "PASS" for row in rows) else "FAIL"
    document = {"verdicts": rows, "overall_verdict": overall, "summary": "read the proofs"}
    return f"Report follows.\n```json\n{json.dumps(document)}\n```"


def verdict(requirement: str) -> dict[str, str]:
    path = proof(requirement)
    text = path.read_text() if path.exists() else "absent"
    word = "PASS" if text == RIGHT else "FAIL"
    return {"requirement_id": requirement, "verdict": word, "evidence": f"{path}: {text}"}


def proof(requirement: str) -> Path:
    return PROOFS / f"{requirement}.txt"


def note(story: Story, row: Mapping[str, object]) -> None:
    with Path(story["log"]).open("a", encoding="utf-8") as log:
        log.write(json.dumps(row) + "\n")


def cost(story: Story, node: str) -> None:
    result = {"cost_usd": story["cost"], "input_tokens": 1000, "output_tokens": 100, "summary": f"did {node}"}
    if story["cost"] is not None:
        Path(os.environ["AGENT_FOX_RESULT"]).write_text(json.dumps(result), encoding="utf-8")


def leave(why: str, status: int) -> NoReturn:
    sys.stderr.write(f"{why}\n")
    raise SystemExit(status)


if __name__ == "__main__":
    play(sys.argv[1])
