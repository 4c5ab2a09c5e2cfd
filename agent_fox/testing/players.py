"""The scripted coder and verifier of a `World`: programs of their own, standard library only. They decide nothing.

`python players.py coder` (or `verifier`, `reviewer`) plays what the story file named by `STORY` says about this
session: the coder writes one proof file a requirement, the verifier reads those files and says one verdict about
each, the reviewer finds nothing unless it is told to.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes half as long to load as Python to start
    from typing import Any, NoReturn

    Story = Mapping[str, Any]

PROOFS = Path("proof")
RIGHT = "right"
CODER_EXIT, VERIFIER_EXIT = 7, 3
FOR_EVER, TICK = 3600, 0.02


def play(role: str) -> None:
    story = json.loads(Path(os.environ["STORY"]).read_text(encoding="utf-8"))
    time.sleep(story["seconds"])
    {"coder": code, "verifier": verify, "reviewer": review}[role](story)


def code(story: Story) -> None:
    node, attempt = os.environ["AGENT_FOX_NODE"], int(os.environ["AGENT_FOX_ATTEMPT"])
    brief = json.loads(Path(os.environ["AGENT_FOX_BRIEF_JSON"]).read_text(encoding="utf-8"))
    failing = {failure["id"]: str(failure.get("evidence", "")) for failure in brief["failing"]}
    row = {"role": "coder", "node": node, "attempt": attempt, "failing": failing, "reason": brief["reason"]}
    launches = note(story, row)
    order = order_for(story["coder_does"].get(f"{node}/{attempt}"), launches)
    cost(story, node)
    if order == "crash":
        leave("the coder was told to crash", CODER_EXIT)
    obey(order)
    if order.startswith("write "):
        Path(order.removeprefix("write ")).write_text(f"{node}\n")
    if order != "nothing":
        work(story, node, attempt, failing)


def order_for(what: str | Sequence[str] | None, launches: int) -> str:
    """What a session is told to do: one thing at every launch, or, from a list, one thing a launch and then nothing."""
    if what is None or isinstance(what, str):
        return what or ""
    return what[launches] if launches < len(what) else ""


def obey(order: str) -> None:
    """What any player may be told: to hang, to wait for a file, or to fail with last words of somebody's choice."""
    if order == "hang":
        time.sleep(FOR_EVER)
    if order.startswith("wait "):
        wait_for(Path(order.removeprefix("wait ")))
    if order.startswith("fail "):
        leave(order.removeprefix("fail "), 1)


def wait_for(path: Path) -> None:
    """As long as the session may take: its time limit is the bound."""
    while not path.exists():
        time.sleep(TICK)


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
    node, attempt, reading, launches = presented(story, "verifier")
    spec = node.split(":")[0]
    order = order_for(story["verifier_says"].get(f"{spec}/{attempt}/{reading}"), launches)
    if order == "crash":
        leave("the verifier was told to crash", VERIFIER_EXIT)
    obey(order)
    if order == "write":
        Path("verifier-was-here.txt").write_text("x")
        order = ""
    if order == "change":
        Path("README.md").write_text("the verifier was here\n")
        order = ""
    if order.startswith("wait "):
        order = ""
    print({"": report(story, spec), "nothing": ""}.get(order, order))  # noqa: T201 - a process's own standard output


def review(story: Story) -> None:
    node, attempt, reading, launches = presented(story, "reviewer")
    order = order_for(story["reviewer_says"].get(f"{node}/{attempt}/{reading}"), launches)
    obey(order)
    print(order or json.dumps({"findings": [], "summary": "nothing found"}))  # noqa: T201 - a process's own stdout


def presented(story: Story, role: str) -> tuple[str, int, int, int]:
    """Node, attempt and reading of a judging session, noted; and how often it was launched before."""
    node, attempt, reading = (os.environ[f"AGENT_FOX_{name}"] for name in ("NODE", "ATTEMPT", "READING"))
    row = {"role": role, "node": node, "attempt": int(attempt), "reading": int(reading)}
    return node, int(attempt), int(reading), note(story, row)


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


def note(story: Story, row: Mapping[str, object]) -> int:
    """Write the row down; how many rows of the same session stood there before."""
    path = Path(story["log"])
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    with path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(row) + "\n")
    return sum(ticket(json.loads(line)) == ticket(row) for line in lines)


def ticket(row: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(row.get(name) for name in ("node", "attempt", "reading"))


def cost(story: Story, node: str) -> None:
    result = {"cost_usd": story["cost"], "input_tokens": 1000, "output_tokens": 100, "summary": f"did {node}"}
    if story["cost"] is not None:
        Path(os.environ["AGENT_FOX_RESULT"]).write_text(json.dumps(result), encoding="utf-8")


def leave(why: str, status: int) -> NoReturn:
    sys.stderr.write(f"{why}\n")
    raise SystemExit(status)


if __name__ == "__main__":
    play(sys.argv[1])
